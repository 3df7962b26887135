#include "inject/replay.h"

#include "base/hash.h"
#include "base/idmap.h"
#include "base/sort.h"
#include "base/status.h"
#include "format/perfdata/writer.h"
#include "inject/addresses.h"
#include "inject/belief.h"
#include "load/order.h"

#include <stdlib.h>

enum {
	CHECKED = 1 << 14, /* addresses that are remembered as right */
	STAMPS = 1 << 14,
	PAGE_SHIFT = 12,
	PAGES_LIMIT = 1024, /* more pages than this are all pages */
	PROT_READ_EXEC = 5,
	FLAGS_PRIVATE = 2,
};

/* What perf shows where code was and is no more. */
static const char gone[] = "[unloaded]";

struct process {
	uint32_t pid;
	uint32_t first_untimed; /* code without a time: index + 1; chained by replay.next */
	struct belief *belief;
	struct belief *ground;  /* where this process has code at any time */
	VECTOR(uint32_t) shown; /* unwind maps that are there */
};

/* An address for which perf's answer is right, as long as nothing changes in its page. */
struct checked {
	uint64_t avma;
	uint64_t valid_from_ns;
	uint64_t valid_to_ns; /* 0: a free entry */
	uint32_t pid;
	uint32_t stamp;
	bool is_return;
};

struct replay {
	const struct replay_options *options;
	struct replay_counts *counts;
	struct load *load;
	struct perfdata *perf;
	VECTOR(struct process) processes;
	struct idmap process_of_pid;
	uint32_t *next;     /* by code: the process's next one without a time, index + 1 */
	struct pair *loads; /* codes by time */
	size_t load_count;
	size_t next_load;
	struct checked *checked;
	uint32_t *stamps; /* by page: how often something in it changed */
	uint32_t all_stamp;
	struct perfdata_new_id id; /* of the records that we make */
	bool has_id;
	struct sink record;
};

static uint32_t *stamp_of(const struct replay *replay, uint64_t page)
{
	return &replay->stamps[hash_mix(page, 0) & (STAMPS - 1)];
}

static uint32_t stamp_at(const struct replay *replay, uint64_t avma)
{
	return *stamp_of(replay, avma >> PAGE_SHIFT) + replay->all_stamp;
}

static void touch(struct replay *replay, uint64_t start_avma, uint64_t end_avma)
{
	const uint64_t first = start_avma >> PAGE_SHIFT;
	const uint64_t last = (end_avma - 1) >> PAGE_SHIFT;
	if (last - first >= PAGES_LIMIT) {
		replay->all_stamp++;
		return;
	}
	for (uint64_t page = first; page <= last; page++)
		++*stamp_of(replay, page);
}

/* Good until the next call. */
static struct process *process_of(struct replay *replay, uint32_t pid)
{
	uint32_t *slot = idmap_put(&replay->process_of_pid, pid);
	if (slot && !*slot) {
		struct process *process = vector_push(&replay->processes);
		if (!process)
			return NULL;
		*process =
		    (struct process){ .pid = pid, .belief = belief_new(), .ground = belief_new() };
		if (!process->belief || !process->ground)
			return NULL;
		*slot = (uint32_t)replay->processes.count;
	}
	return slot ? &replay->processes.items[*slot - 1] : NULL;
}

/* Writes an mmap event of the process, of the time given. */
static void put_mmap(struct replay *replay, struct perfdata_new_mmap2 *map, uint64_t time_ns)
{
	struct perfdata_new_id id = replay->id;
	id.pid = map->pid;
	id.tid = map->pid;
	id.time_ns = time_ns;
	map->tid = map->pid;
	map->misc = PERFDATA_CPUMODE_USER;
	map->prot = PROT_READ_EXEC;
	map->flags = FLAGS_PRIVATE;
	sink_reset(&replay->record);
	perfdata_put_mmap2(&replay->record, map, replay->has_id ? &id : NULL);
	inject_output_records(replay->options->output, sink_bytes(&replay->record));
}

/* An unwinder in perf reads the image's tables through this. */
static int show_unwind_map(struct replay *replay, struct process *process,
			   const struct images_code *code, uint64_t time_ns)
{
	const struct images *images = replay->options->images;
	for (size_t i = 0; i < process->shown.count; i++)
		if (process->shown.items[i] == code->unwind_map)
			return 0;
	uint32_t *slot = vector_push(&process->shown);
	if (!slot)
		return STATUS_NO_MEMORY;
	*slot = code->unwind_map;
	const struct images_unwind_map *tables = &images->unwind_maps.items[code->unwind_map];
	const struct images_image *image = &images->items.items[code->image];
	put_mmap(
	    replay,
	    &(struct perfdata_new_mmap2){ .pid = process->pid,
					  .start_avma = tables->map.start_avma,
					  .size = tables->map.size,
					  .file_off = tables->map.file_off,
					  .build_id = { image->build_id, sizeof(image->build_id) },
					  .path = tables->path },
	    time_ns);
	return 0;
}

static int show_code(struct replay *replay, struct process *process, uint32_t index,
		     uint64_t time_ns)
{
	const struct images *images = replay->options->images;
	const struct images_code *code = &images->codes.items[index];
	const struct images_image *image = &images->items.items[code->image];
	const bool is_unwound = code->unwind_map != IMAGES_NONE;
	if (is_unwound && show_unwind_map(replay, process, code, time_ns) < 0)
		return STATUS_NO_MEMORY;
	put_mmap(replay,
		 &(struct perfdata_new_mmap2){
		     .pid = process->pid,
		     .start_avma = code->start_avma,
		     .size = code->end_avma - code->start_avma,
		     .file_off = code->file_off,
		     .build_id = { image->build_id, sizeof(image->build_id) },
		     .path = is_unwound ? images->unwind_maps.items[code->unwind_map].path
					: image->path },
		 time_ns);
	touch(replay, code->start_avma, code->end_avma);
	return belief_put(&process->belief, code->start_avma, code->end_avma, index);
}

/* Code at its load time, unless perf has it already or somebody else owns the place. */
static int show_load(struct replay *replay, struct process *process, uint32_t index,
		     uint64_t time_ns)
{
	const struct images_code *code = &replay->options->images->codes.items[index];
	uint64_t start;
	uint64_t end;
	if (belief_at(process->belief, code->start_avma, &start, &end) == index &&
	    start == code->start_avma && end == code->end_avma)
		return 0;
	const struct load_place place = { .pid = process->pid,
					  .avma = code->start_avma,
					  .time_ns = time_ns };
	struct load_owner owner;
	const int got = load_owner_at(replay->load, &place, &owner);
	if (got < 0 || owner.kind != LOAD_OWNER_CODE || owner.code != index)
		return got;
	replay->counts->loads++;
	return show_code(replay, process, index, time_ns);
}

static int show_loads(struct replay *replay, uint64_t until_ns)
{
	int got = 0;
	while (got == 0 && replay->next_load < replay->load_count &&
	       replay->loads[replay->next_load].key <= until_ns) {
		const uint32_t index = replay->loads[replay->next_load].value;
		struct process *process =
		    process_of(replay, replay->options->images->codes.items[index].pid);
		got = process
			  ? show_load(replay, process, index, replay->loads[replay->next_load].key)
			  : STATUS_NO_MEMORY;
		replay->next_load++;
	}
	return got;
}

/* Code of unknown age is shown to the process's first sample. */
static int show_untimed(struct replay *replay, struct process *process, uint64_t time_ns)
{
	int got = 0;
	for (uint32_t i = process->first_untimed; got == 0 && i; i = replay->next[i - 1])
		got = show_load(replay, process, i - 1, time_ns);
	process->first_untimed = 0;
	return got;
}

/* Takes what perf believes to be `code` away, as far as the mapping there reaches. */
static int take_away(struct replay *replay, struct process *process, const struct load_owner *owner,
		     uint64_t start_avma, uint64_t end_avma, uint64_t time_ns)
{
	struct perfdata_new_mmap2 map = { .pid = process->pid, .path = gone };
	if (owner->kind != LOAD_OWNER_NOBODY) {
		const uint64_t end = owner->start_avma + owner->size;
		start_avma = start_avma > owner->start_avma ? start_avma : owner->start_avma;
		end_avma = end_avma < end ? end_avma : end;
	}
	if (owner->kind == LOAD_OWNER_FILE) {
		map.path = owner->path;
		map.build_id = owner->build_id;
		map.file_off = owner->file_off + (start_avma - owner->start_avma);
	}
	map.start_avma = start_avma;
	map.size = end_avma - start_avma;
	put_mmap(replay, &map, time_ns);
	touch(replay, start_avma, end_avma);
	return belief_cut(&process->belief, start_avma, end_avma);
}

/* Where perf looks for an address: unlike us at a return address itself. */
static uint64_t perf_looks_at(const struct replay *replay, const struct load_place *place,
			      const struct load_owner *owner)
{
	const bool is_behind =
	    place->is_return && owner->kind == LOAD_OWNER_CODE &&
	    place->avma == replay->options->images->codes.items[owner->code].end_avma;
	return is_behind ? place->avma - 1 : place->avma;
}

static int set_right(struct replay *replay, struct process *process, const struct load_place *place,
		     const struct load_owner *owner)
{
	uint64_t start;
	uint64_t end;
	const uint32_t believed =
	    belief_at(process->belief, perf_looks_at(replay, place, owner), &start, &end);
	const bool is_code = owner->kind == LOAD_OWNER_CODE &&
			     replay->options->images->codes.items[owner->code].image != IMAGES_NONE;
	if (is_code ? believed == owner->code : believed == BELIEF_NONE)
		return 0;
	replay->counts->corrections++;
	if (is_code)
		return show_code(replay, process, owner->code, place->time_ns);
	struct load_owner other = *owner;
	if (other.kind == LOAD_OWNER_CODE)
		other.kind = LOAD_OWNER_NOBODY;
	return take_away(replay, process, &other, start, end, place->time_ns);
}

static struct checked *checked_of(const struct replay *replay, const struct load_place *place)
{
	const uint64_t hash = hash_mix(place->avma, ((uint64_t)place->pid << 1) | place->is_return);
	return &replay->checked[hash & (CHECKED - 1)];
}

static int check(void *context, const struct load_place *place)
{
	struct replay *replay = context;
	struct checked *checked = checked_of(replay, place);
	if (checked->avma == place->avma && checked->pid == place->pid &&
	    checked->is_return == place->is_return && place->time_ns >= checked->valid_from_ns &&
	    place->time_ns < checked->valid_to_ns &&
	    checked->stamp == stamp_at(replay, place->avma))
		return 0;
	struct load_owner owner;
	int got = load_owner_at(replay->load, place, &owner);
	struct process *process = got == 0 ? process_of(replay, place->pid) : NULL;
	if (!process)
		return STATUS_NO_MEMORY;
	got = set_right(replay, process, place, &owner);
	*checked = (struct checked){ .avma = place->avma,
				     .valid_from_ns = owner.valid_from_ns,
				     .valid_to_ns = owner.valid_to_ns,
				     .pid = place->pid,
				     .stamp = stamp_at(replay, place->avma),
				     .is_return = place->is_return };
	return got;
}

static int take_sample(struct replay *replay, const struct perfdata_record *record)
{
	struct perfdata_sample sample;
	replay->counts->samples++;
	if (perfdata_decode_sample(replay->perf, record, &sample) < 0)
		return 0;
	struct process *process = process_of(replay, sample.pid);
	if (!process)
		return STATUS_NO_MEMORY;
	const int got = show_untimed(replay, process, sample.time_ns);
	return got < 0 ? got : addresses_walk(replay->load, record, &sample, check, replay);
}

/* perf gives a child its parent's mappings, but not where the fork was made up afterwards. */
static int take_fork(struct replay *replay, const struct perfdata_record *record)
{
	struct perfdata_task task;
	if (perfdata_decode_task(replay->perf, record, &task) < 0 || task.pid == task.parent_pid)
		return 0;
	if (!process_of(replay, task.pid) || !process_of(replay, task.parent_pid))
		return STATUS_NO_MEMORY;
	struct process *child = process_of(replay, task.pid);
	const struct process *parent = process_of(replay, task.parent_pid);
	belief_free(child->belief);
	child->shown.count = 0;
	child->belief =
	    record->misc & PERFDATA_MISC_FORK_EXEC ? belief_new() : belief_share(parent->belief);
	if (!child->belief || !vector_reserve(&child->shown, parent->shown.count))
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < parent->shown.count; i++)
		child->shown.items[child->shown.count++] = parent->shown.items[i];
	replay->all_stamp++;
	return 0;
}

/* Runtimes map the memory of their code again and again, to change what may be done with it. */
static bool is_without_file(const char *path)
{
	return strncmp(path, "//anon", 6) == 0 || strncmp(path, "[anon", 5) == 0 ||
	       strncmp(path, "/memfd:", 7) == 0 || strncmp(path, "/dev/zero", 9) == 0 ||
	       strncmp(path, "/anon_hugepage", 14) == 0;
}

/* Says in *dropped whether the event would only hide code. */
static int take_mmap(struct replay *replay, const struct perfdata_record *record, bool *dropped)
{
	struct perfdata_mmap map;
	if (perfdata_decode_mmap(replay->perf, record, &map) < 0 || map.is_kernel || !map.size)
		return 0;
	struct process *process = process_of(replay, map.pid);
	if (!process)
		return STATUS_NO_MEMORY;
	const uint64_t end =
	    map.start_avma + map.size < map.start_avma ? UINT64_MAX : map.start_avma + map.size;
	if (is_without_file(map.path)) {
		*dropped = belief_overlaps(process->ground, map.start_avma, end) ||
			   belief_overlaps(process->belief, map.start_avma, end);
		replay->counts->dropped += *dropped;
		if (*dropped)
			return 0;
	}
	touch(replay, map.start_avma, end);
	return belief_cut(&process->belief, map.start_avma, end);
}

static int take(void *context, const struct perfdata_record *record)
{
	struct replay *replay = context;
	bool dropped = false;
	int got = show_loads(replay, perfdata_record_time_ns(replay->perf, record));
	if (got < 0)
		return got;
	if (record->type == PERFDATA_SAMPLE)
		got = take_sample(replay, record);
	else if (record->type == PERFDATA_FORK)
		got = take_fork(replay, record);
	else if (record->type == PERFDATA_MMAP || record->type == PERFDATA_MMAP2)
		got = take_mmap(replay, record, &dropped);
	if (got == 0 && !dropped)
		inject_output_copy(replay->options->output, record);
	return got;
}

/* Our records have the trailer that those of the first event have. */
static void choose_id(struct replay *replay)
{
	const struct perfdata_event *event =
	    perfdata_event_count(replay->perf) ? perfdata_event(replay->perf, 0) : NULL;
	if (!event || !(event->attr.flags & PERFDATA_ATTR_SAMPLE_ID_ALL))
		return;
	replay->has_id = true;
	replay->id.sample_type = event->attr.sample_type;
	replay->id.id = event->id_count ? event->ids[0] : 0;
}

static int prepare_code(struct replay *replay, uint32_t index)
{
	const struct images_code *code = &replay->options->images->codes.items[index];
	if (code->image == IMAGES_NONE)
		return 0;
	struct process *process = process_of(replay, code->pid);
	if (!process || belief_put(&process->ground, code->start_avma, code->end_avma, index) < 0)
		return STATUS_NO_MEMORY;
	if (code->time_ns && !replay->options->only_needed)
		replay->loads[replay->load_count++] =
		    (struct pair){ .key = code->time_ns, .value = index };
	return 0;
}

/* From the last to the first, so that each process's chain is in the order of telling. */
static int chain_untimed(struct replay *replay, uint32_t count)
{
	for (uint32_t i = count; i-- > 0;) {
		const struct images_code *code = &replay->options->images->codes.items[i];
		if (code->image == IMAGES_NONE || code->time_ns || replay->options->only_needed)
			continue;
		struct process *process = process_of(replay, code->pid);
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
	replay->checked = calloc(CHECKED, sizeof(*replay->checked));
	replay->stamps = calloc(STAMPS, sizeof(*replay->stamps));
	struct pair *spare = calloc(count + 1u, sizeof(*spare));
	int got = replay->next && replay->loads && replay->checked && replay->stamps && spare
		      ? 0
		      : STATUS_NO_MEMORY;
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
	struct order *order = order_new(replay->perf, take, replay);
	int got = order ? 0 : STATUS_NO_MEMORY;
	perfdata_rewind(replay->perf);
	while (got == 0 && perfdata_next(replay->perf, &record) > 0) {
		const enum inject_omission omission =
		    inject_output_omission(replay->perf, record.type);
		if (record.type == PERFDATA_FINISHED_ROUND)
			got = order_round(order);
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

static void clear(struct replay *replay)
{
	for (size_t i = 0; i < replay->processes.count; i++) {
		struct process *process = &replay->processes.items[i];
		belief_free(process->belief);
		belief_free(process->ground);
		vector_clear(&process->shown);
	}
	vector_clear(&replay->processes);
	idmap_clear(&replay->process_of_pid);
	free(replay->next);
	free(replay->loads);
	free(replay->checked);
	free(replay->stamps);
	sink_clear(&replay->record);
}

int replay_run(const struct replay_options *options, struct replay_counts *counts)
{
	struct replay replay = { .options = options,
				 .counts = counts,
				 .load = options->load,
				 .perf = load_recording(options->load) };
	*counts = (struct replay_counts){ 0 };
	choose_id(&replay);
	int got = prepare(&replay);
	if (got == 0)
		got = walk(&replay);
	clear(&replay);
	return got;
}
