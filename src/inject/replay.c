#include "inject/replay.h"

#include "base/sort.h"
#include "base/status.h"
#include "inject/steer.h"
#include "load/order.h"

#include <stdlib.h>

struct replay {
	const struct replay_options *options;
	struct replay_counts *counts;
	struct perfdata *perf;
	struct steer steer;
	uint32_t *next;     /* by code: the process's next one without a time, index + 1 */
	struct pair *loads; /* codes by time */
	size_t load_count;
	size_t next_load;
};

static int show_loads(struct replay *replay, uint64_t until_ns)
{
	int got = 0;
	while (got == 0 && replay->next_load < replay->load_count &&
	       replay->loads[replay->next_load].key <= until_ns) {
		const uint32_t index = replay->loads[replay->next_load].value;
		struct steer_process *process =
		    steer_process(&replay->steer, replay->options->images->codes.items[index].pid);
		got = process ? steer_show_load(&replay->steer, process, index,
						replay->loads[replay->next_load].key)
			      : STATUS_NO_MEMORY;
		replay->next_load++;
	}
	return got;
}

/* Code of unknown age is shown to the process's first sample. */
static int show_untimed(struct replay *replay, struct steer_process *process, uint64_t time_ns)
{
	int got = 0;
	for (uint32_t i = process->first_untimed; got == 0 && i; i = replay->next[i - 1])
		got = steer_show_load(&replay->steer, process, i - 1, time_ns);
	process->first_untimed = 0;
	return got;
}

/* Sets perf right, and copies it. */
static int put_sample(struct replay *replay, const struct perfdata_record *record,
		      const struct perfdata_sample *sample, bool is_interpreted)
{
	struct steer_process *process = steer_process(&replay->steer, sample->pid);
	if (!process)
		return STATUS_NO_MEMORY;
	int got = show_untimed(replay, process, sample->time_ns);
	if (got == 0 && is_interpreted)
		got = steer_show_interpreted(&replay->steer, process, replay->options->interpreted,
					     sample->time_ns);
	if (got == 0)
		got = steer_sample(&replay->steer, record, sample);
	if (got == 0)
		inject_output_copy(replay->options->output, record);
	return got;
}

static int take_sample(struct replay *replay, const struct perfdata_record *record)
{
	struct perfdata_sample sample;
	struct interpreted_taken taken;
	if (perfdata_decode_sample(replay->perf, record, &sample) < 0) {
		replay->counts->samples++;
		inject_output_copy(replay->options->output, record);
		return 0;
	}
	const int got = interpreted_take(replay->options->interpreted, record, &sample, &taken);
	if (got < 0)
		return got;
	replay->counts->walk_records += taken.kind == MERGED_RECORD;
	replay->counts->samples += taken.kind != MERGED_RECORD;
	replay->counts->interpreted += taken.kind == MERGED_STACK;
	if (taken.kind == MERGED_STACK)
		return put_sample(replay, &taken.record, &taken.sample, true);
	return taken.kind == MERGED_RECORD ? 0 : put_sample(replay, record, &sample, false);
}

static int take_fork(struct replay *replay, const struct perfdata_record *record)
{
	struct perfdata_task task;
	if (perfdata_decode_task(replay->perf, record, &task) < 0)
		return 0;
	return steer_fork(&replay->steer, task.parent_pid, task.pid,
			  !(record->misc & PERFDATA_MISC_FORK_EXEC));
}

/* Says in *dropped whether the event would only hide code: runtimes map the memory of their code
 * again and again, to change what may be done with it.
 */
static int take_mmap(struct replay *replay, const struct perfdata_record *record, bool *dropped)
{
	struct perfdata_mmap map;
	if (perfdata_decode_mmap(replay->perf, record, &map) < 0 || map.is_kernel || !map.size)
		return 0;
	struct steer_process *process = steer_process(&replay->steer, map.pid);
	if (!process)
		return STATUS_NO_MEMORY;
	const uint64_t end =
	    map.start_avma + map.size < map.start_avma ? UINT64_MAX : map.start_avma + map.size;
	*dropped =
	    load_is_memory(map.path) && (belief_has_code(process->ground, map.start_avma, end) ||
					 belief_has_code(process->belief, map.start_avma, end));
	replay->counts->dropped += *dropped;
	return *dropped ? 0 : steer_mapping(&replay->steer, process, &map, end);
}

static int take(void *context, const struct perfdata_record *record)
{
	struct replay *replay = context;
	bool dropped = false;
	int got = show_loads(replay, perfdata_record_time_ns(replay->perf, record));
	if (got < 0)
		return got;
	if (record->type == PERFDATA_SAMPLE)
		return take_sample(replay, record);
	if (record->type == PERFDATA_FORK)
		got = take_fork(replay, record);
	else if (record->type == PERFDATA_MMAP || record->type == PERFDATA_MMAP2)
		got = take_mmap(replay, record, &dropped);
	if (got == 0 && !dropped)
		inject_output_copy(replay->options->output, record);
	return got;
}

static int prepare_code(struct replay *replay, uint32_t index)
{
	const struct images_code *code = &replay->options->images->codes.items[index];
	if (code->image == IMAGES_NONE)
		return 0;
	struct steer_process *process = steer_process(&replay->steer, code->pid);
	if (!process)
		return STATUS_NO_MEMORY;
	if (code->time_ns && !replay->options->only_needed)
		replay->loads[replay->load_count++] =
		    (struct pair){ .key = code->time_ns, .value = index };
	return belief_put(&process->ground, code->start_avma, code->end_avma, index);
}

/* From the last to the first, so that each process's chain is in the order of telling. */
static int chain_untimed(struct replay *replay, uint32_t count)
{
	for (uint32_t i = count; i-- > 0;) {
		const struct images_code *code = &replay->options->images->codes.items[i];
		if (code->image == IMAGES_NONE || code->time_ns || replay->options->only_needed)
			continue;
		struct steer_process *process = steer_process(&replay->steer, code->pid);
		if (!process)
			return STATUS_NO_MEMORY;
		replay->next[i] = process->first_untimed;
		process->first_untimed = i + 1;
	}
	return 0;
}

static int prepare(struct replay *replay)
{
	const uint32_t count = (uint32_t)replay->options->images->codes.count;
	replay->next = calloc(count + 1u, sizeof(*replay->next));
	replay->loads = calloc(count + 1u, sizeof(*replay->loads));
	struct pair *spare = calloc(count + 1u, sizeof(*spare));
	int got =
	    replay->next && replay->loads && spare ? steer_init(&replay->steer) : STATUS_NO_MEMORY;
	for (uint32_t i = 0; got == 0 && i < count; i++)
		got = prepare_code(replay, i);
	if (got == 0)
		got = chain_untimed(replay, count);
	if (got == 0)
		sort_pairs(replay->loads, spare, replay->load_count);
	free(spare);
	return got;
}

static int walk(struct replay *replay)
{
	struct perfdata_record record;
	struct load *load = replay->options->load;
	struct order *order = order_new(replay->perf, take, replay);
	int got = order ? 0 : STATUS_NO_MEMORY;
	perfdata_rewind(replay->perf);
	while (got == 0 && load_next(load, &record, "writing") > 0) {
		const enum inject_omission omission =
		    inject_output_omission(replay->perf, record.type);
		if (record.type == PERFDATA_FINISHED_ROUND)
			got = order_round(order);
		else if (record.type == PERFDATA_SAMPLE)
			got = order_put_at(order, &record, merged_time_ns(load, &record));
		else if (omission == INJECT_COPIED)
			got = order_put(order, &record);
		else
			replay->counts->left_out += omission == INJECT_HARDWARE_TRACE;
	}
	if (got == 0)
		got = order_flush(order);
	order_free(order);
	return got;
}

int replay_run(const struct replay_options *options, struct replay_counts *counts)
{
	struct replay replay = { .options = options,
				 .counts = counts,
				 .perf = load_recording(options->load) };
	replay.steer = (struct steer){ .load = options->load,
				       .perf = replay.perf,
				       .images = options->images,
				       .output = options->output };
	*counts = (struct replay_counts){ 0 };
	int got = prepare(&replay);
	if (got == 0)
		got = walk(&replay);
	counts->loads = replay.steer.loads;
	counts->corrections = replay.steer.corrections;
	steer_clear(&replay.steer);
	free(replay.next);
	free(replay.loads);
	return got;
}
