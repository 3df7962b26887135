#include "inject/perf_model.h"

static struct model_process *find(const struct perf_model *model, uint32_t pid)
{
	for (size_t i = 0; i < model->processes.count; i++)
		if (model->processes.items[i].pid == pid)
			return &model->processes.items[i];
	return NULL;
}

static struct model_process *process_of(struct perf_model *model, uint32_t pid)
{
	struct model_process *process = find(model, pid);
	if (process)
		return process;
	process = vector_push(&model->processes);
	if (process)
		process->pid = pid;
	return process;
}

static bool take_mmap(struct perf_model *model, struct perfdata *perf,
		      const struct perfdata_record *record)
{
	struct perfdata_mmap map;
	if (perfdata_decode_mmap(perf, record, &map) < 0 || map.is_kernel || !map.size)
		return true;
	struct model_process *process = process_of(model, map.pid);
	struct model_mapping *slot = process ? vector_push(&process->mappings) : NULL;
	if (!slot)
		return false;
	const uint64_t last = map.start_avma + (map.size - 1);
	*slot = (struct model_mapping){ .start_avma = map.start_avma,
					.last_avma = last < map.start_avma ? UINT64_MAX : last,
					.file_off = map.file_off,
					.is_data = !map.is_exec,
					.path = map.path };
	model->mapping_count++;
	return true;
}

static bool take_fork(struct perf_model *model, struct perfdata *perf,
		      const struct perfdata_record *record)
{
	struct perfdata_task task;
	if (perfdata_decode_task(perf, record, &task) < 0 || task.pid == task.parent_pid)
		return true;
	if (!process_of(model, task.parent_pid) || !process_of(model, task.pid))
		return false;
	const struct model_process *parent = find(model, task.parent_pid);
	struct model_process *child = find(model, task.pid);
	model->mapping_count -= child->mappings.count;
	child->mappings.count = 0;
	if (record->misc & PERFDATA_MISC_FORK_EXEC || !parent->mappings.count)
		return true;
	if (!vector_reserve(&child->mappings, parent->mappings.count))
		return false;
	memcpy(child->mappings.items, parent->mappings.items,
	       parent->mappings.count * sizeof(*parent->mappings.items));
	child->mappings.count = parent->mappings.count;
	model->mapping_count += child->mappings.count;
	return true;
}

bool perf_model_take(struct perf_model *model, struct perfdata *perf,
		     const struct perfdata_record *record)
{
	if (record->type == PERFDATA_MMAP || record->type == PERFDATA_MMAP2)
		return take_mmap(model, perf, record);
	return record->type != PERFDATA_FORK || take_fork(model, perf, record);
}

bool perf_model_at(const struct perf_model *model, uint32_t pid, uint64_t avma,
		   struct model_mapping *mapping)
{
	const struct model_process *process = find(model, pid);
	for (size_t i = process ? process->mappings.count : 0; i-- > 0;) {
		const struct model_mapping *at = &process->mappings.items[i];
		if (at->start_avma <= avma && avma <= at->last_avma) {
			*mapping = *at;
			return true;
		}
	}
	return false;
}

void perf_model_clear(struct perf_model *model)
{
	for (size_t i = 0; i < model->processes.count; i++)
		vector_clear(&model->processes.items[i].mappings);
	vector_clear(&model->processes);
}
