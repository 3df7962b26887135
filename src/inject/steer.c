#include "inject/steer_internal.h"

#include "base/status.h"

#include <stdlib.h>

enum { PROT_READ_EXEC = 5, FLAGS_PRIVATE = 2 };

struct steer_process *steer_process(struct steer *steer, uint32_t pid)
{
	uint32_t *slot = idmap_put(&steer->process_of_pid, pid);
	if (slot && !*slot) {
		struct steer_process *process = vector_push(&steer->processes);
		if (!process)
			return NULL;
		*process = (struct steer_process){ .pid = pid,
						   .belief = belief_new(),
						   .ground = belief_new() };
		if (!process->belief || !process->ground)
			return NULL;
		*slot = (uint32_t)steer->processes.count;
	}
	return slot ? &steer->processes.items[*slot - 1] : NULL;
}

/* Equal numbers: perf finds the same offset of the same file at an address. */
uint32_t steer_file_number(struct steer *steer, const char *path, uint64_t start_avma,
			   uint64_t file_off)
{
	sink_reset(&steer->file);
	sink_u64(&steer->file, start_avma - file_off);
	sink_text(&steer->file, path);
	const uint32_t id = sink_failed(&steer->file)
				? INTERN_NONE
				: intern_bytes(&steer->files, sink_bytes(&steer->file));
	return id == INTERN_NONE ? BELIEF_NONE : BELIEF_OTHER + id;
}

static int put_mmap(struct steer *steer, struct perfdata_new_mmap2 *map, uint64_t time_ns)
{
	struct perfdata_new_id id = steer->id;
	id.pid = map->pid;
	id.tid = map->pid;
	id.time_ns = time_ns;
	map->tid = map->pid;
	map->misc = PERFDATA_CPUMODE_USER;
	map->prot = PROT_READ_EXEC;
	map->flags = FLAGS_PRIVATE;
	sink_reset(&steer->record);
	perfdata_put_mmap2(&steer->record, map, steer->has_id ? &id : NULL);
	if (sink_failed(&steer->record))
		return STATUS_NO_MEMORY;
	inject_output_records(steer->output, sink_bytes(&steer->record));
	return 0;
}

int steer_put(struct steer *steer, struct steer_process *process, struct perfdata_new_mmap2 *map,
	      uint32_t number, uint64_t time_ns)
{
	const uint64_t end = map->start_avma + map->size;
	const int got = put_mmap(steer, map, time_ns);
	if (got < 0)
		return got;
	steer_touch(steer, map->start_avma, end);
	return belief_put(&process->belief, map->start_avma, end, number);
}

/* An unwinder in perf reads the image's tables through this. */
static int show_unwind_map(struct steer *steer, struct steer_process *process,
			   const struct images_code *code, uint64_t time_ns)
{
	const struct images *images = steer->images;
	for (size_t i = 0; i < process->shown.count; i++)
		if (process->shown.items[i] == code->unwind_map)
			return 0;
	uint32_t *slot = vector_push(&process->shown);
	if (!slot)
		return STATUS_NO_MEMORY;
	*slot = code->unwind_map;
	const struct images_unwind_map *tables = &images->unwind_maps.items[code->unwind_map];
	const struct images_image *image = &images->items.items[code->image];
	struct perfdata_new_mmap2 map = {
		.pid = process->pid,
		.start_avma = tables->map.start_avma,
		.size = tables->map.size,
		.file_off = tables->map.file_off,
		.build_id = { image->build_id, sizeof(image->build_id) },
		.path = tables->path,
	};
	return steer_put(steer, process, &map, STEER_GONE, time_ns);
}

int steer_show_code(struct steer *steer, struct steer_process *process, uint32_t index,
		    const struct steer_range *range, uint64_t time_ns)
{
	const struct images *images = steer->images;
	const struct images_code *code = &images->codes.items[index];
	const struct images_image *image = &images->items.items[code->image];
	const bool is_unwound = code->unwind_map != IMAGES_NONE;
	if (is_unwound && show_unwind_map(steer, process, code, time_ns) < 0)
		return STATUS_NO_MEMORY;
	struct perfdata_new_mmap2 map = {
		.pid = process->pid,
		.start_avma = range->start_avma,
		.size = range->end_avma - range->start_avma,
		.file_off = code->file_off + (range->start_avma - code->start_avma),
		.build_id = { image->build_id, sizeof(image->build_id) },
		.path = is_unwound ? images->unwind_maps.items[code->unwind_map].path : image->path,
	};
	return steer_put(steer, process, &map, index, time_ns);
}

int steer_show_load(struct steer *steer, struct steer_process *process, uint32_t index,
		    uint64_t time_ns)
{
	const struct images_code *code = &steer->images->codes.items[index];
	uint64_t start;
	uint64_t end;
	if (belief_at(process->belief, code->start_avma, &start, &end) == index &&
	    start == code->start_avma && end == code->end_avma)
		return 0;
	const struct load_place place = { .pid = process->pid,
					  .avma = code->start_avma,
					  .time_ns = time_ns };
	struct load_owner owner;
	const int got = load_owner_at(steer->load, &place, &owner);
	if (got < 0 || owner.kind != LOAD_OWNER_CODE || owner.code != index)
		return got;
	steer->loads++;
	const struct steer_range all = { code->start_avma, code->end_avma };
	return steer_show_code(steer, process, index, &all, time_ns);
}

int steer_show_interpreted(struct steer *steer, struct steer_process *process,
			   const struct interpreted *interpreted, uint64_t time_ns)
{
	struct perfdata_new_mmap2 map = {
		.pid = process->pid,
		.start_avma = interpreted->start_avma,
		.size = interpreted->size,
		.file_off = interpreted->file_off,
		.build_id = { interpreted->build_id, sizeof(interpreted->build_id) },
		.path = interpreted->path,
	};
	uint64_t start;
	uint64_t end;
	const uint32_t number = steer_file_number(steer, map.path, map.start_avma, map.file_off);
	if (number == BELIEF_NONE)
		return STATUS_NO_MEMORY;
	if (belief_at(process->belief, map.start_avma, &start, &end) == number)
		return 0;
	return steer_put(steer, process, &map, number, time_ns);
}

/* NULL: there is none. That of the walk is not in the output. */
static const struct perfdata_event *first_event(const struct steer *steer)
{
	const size_t count = perfdata_event_count(steer->perf);
	for (size_t i = 0; i < count; i++)
		if (!merged_is_event(steer->load, i))
			return perfdata_event(steer->perf, i);
	return count ? perfdata_event(steer->perf, 0) : NULL;
}

/* Our records have the trailer that those of the first event have. */
static void choose_id(struct steer *steer)
{
	const struct perfdata_event *event = first_event(steer);
	if (!event || !(event->attr.flags & PERFDATA_ATTR_SAMPLE_ID_ALL))
		return;
	steer->has_id = true;
	steer->id.sample_type = event->attr.sample_type;
	steer->id.id = event->id_count ? event->ids[0] : 0;
}

int steer_fork(struct steer *steer, uint32_t parent_pid, uint32_t pid, bool copies)
{
	if (!steer_process(steer, pid) || !steer_process(steer, parent_pid))
		return STATUS_NO_MEMORY;
	struct steer_process *child = steer_process(steer, pid);
	const struct steer_process *parent = steer_process(steer, parent_pid);
	if (child == parent)
		return 0;
	belief_free(child->belief);
	child->shown.count = 0;
	child->belief = copies ? belief_share(parent->belief) : belief_new();
	if (!child->belief || !vector_reserve(&child->shown, parent->shown.count))
		return STATUS_NO_MEMORY;
	for (size_t i = 0; copies && i < parent->shown.count; i++)
		child->shown.items[child->shown.count++] = parent->shown.items[i];
	steer->all_stamp++;
	return 0;
}

int steer_mapping(struct steer *steer, struct steer_process *process,
		  const struct perfdata_mmap *map, uint64_t end_avma)
{
	steer_touch(steer, map->start_avma, end_avma);
	if (!steer_follows_files(steer) || load_is_memory(map->path))
		return belief_cut(&process->belief, map->start_avma, end_avma);
	const uint32_t file =
	    map->is_exec ? steer_file_number(steer, map->path, map->start_avma, map->file_off)
			 : STEER_DATA;
	if (file == BELIEF_NONE)
		return STATUS_NO_MEMORY;
	return belief_put(&process->belief, map->start_avma, end_avma, file);
}

int steer_init(struct steer *steer)
{
	choose_id(steer);
	return steer_checks_init(steer);
}

void steer_clear(struct steer *steer)
{
	for (size_t i = 0; i < steer->processes.count; i++) {
		struct steer_process *process = &steer->processes.items[i];
		belief_free(process->belief);
		belief_free(process->ground);
		vector_clear(&process->shown);
	}
	vector_clear(&steer->processes);
	idmap_clear(&steer->process_of_pid);
	steer_checks_clear(steer);
	sink_clear(&steer->record);
	intern_clear(&steer->files);
	sink_clear(&steer->file);
}
