#include "inject/steer.h"

#include "base/hash.h"
#include "base/status.h"

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

/* An address for which perf's answer is right, as long as nothing changes in its page. */
struct steer_checked {
	uint64_t avma;
	uint64_t valid_from_ns;
	uint64_t valid_to_ns; /* 0: a free entry */
	uint32_t pid;
	uint32_t stamp;
	bool is_return;
};

static uint32_t *stamp_of(const struct steer *steer, uint64_t page)
{
	return &steer->stamps[hash_mix(page, 0) & (STAMPS - 1)];
}

static uint32_t stamp_at(const struct steer *steer, uint64_t avma)
{
	return *stamp_of(steer, avma >> PAGE_SHIFT) + steer->all_stamp;
}

static void touch(struct steer *steer, uint64_t start_avma, uint64_t end_avma)
{
	const uint64_t first = start_avma >> PAGE_SHIFT;
	const uint64_t last = (end_avma - 1) >> PAGE_SHIFT;
	if (last - first >= PAGES_LIMIT) {
		steer->all_stamp++;
		return;
	}
	for (uint64_t page = first; page <= last; page++)
		++*stamp_of(steer, page);
}

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

/* Writes an mmap event of the process, of the time given. */
static void put_mmap(struct steer *steer, struct perfdata_new_mmap2 *map, uint64_t time_ns)
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
	inject_output_records(steer->output, sink_bytes(&steer->record));
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
	put_mmap(
	    steer,
	    &(struct perfdata_new_mmap2){ .pid = process->pid,
					  .start_avma = tables->map.start_avma,
					  .size = tables->map.size,
					  .file_off = tables->map.file_off,
					  .build_id = { image->build_id, sizeof(image->build_id) },
					  .path = tables->path },
	    time_ns);
	return 0;
}

static int show_code(struct steer *steer, struct steer_process *process, uint32_t index,
		     uint64_t time_ns)
{
	const struct images *images = steer->images;
	const struct images_code *code = &images->codes.items[index];
	const struct images_image *image = &images->items.items[code->image];
	const bool is_unwound = code->unwind_map != IMAGES_NONE;
	if (is_unwound && show_unwind_map(steer, process, code, time_ns) < 0)
		return STATUS_NO_MEMORY;
	put_mmap(steer,
		 &(struct perfdata_new_mmap2){
		     .pid = process->pid,
		     .start_avma = code->start_avma,
		     .size = code->end_avma - code->start_avma,
		     .file_off = code->file_off,
		     .build_id = { image->build_id, sizeof(image->build_id) },
		     .path = is_unwound ? images->unwind_maps.items[code->unwind_map].path
					: image->path },
		 time_ns);
	touch(steer, code->start_avma, code->end_avma);
	return belief_put(&process->belief, code->start_avma, code->end_avma, index);
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
	return show_code(steer, process, index, time_ns);
}

/* Takes what perf believes to be `code` away, as far as the mapping there reaches. */
static int take_away(struct steer *steer, struct steer_process *process,
		     const struct load_owner *owner, uint64_t start_avma, uint64_t end_avma,
		     uint64_t time_ns)
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
	put_mmap(steer, &map, time_ns);
	touch(steer, start_avma, end_avma);
	return belief_cut(&process->belief, start_avma, end_avma);
}

/* Where perf looks for an address: unlike us at a return address itself. */
static uint64_t perf_looks_at(const struct steer *steer, const struct load_place *place,
			      const struct load_owner *owner)
{
	const bool is_behind = place->is_return && owner->kind == LOAD_OWNER_CODE &&
			       place->avma == steer->images->codes.items[owner->code].end_avma;
	return is_behind ? place->avma - 1 : place->avma;
}

static int set_right(struct steer *steer, struct steer_process *process,
		     const struct load_place *place, const struct load_owner *owner)
{
	uint64_t start;
	uint64_t end;
	const uint32_t believed =
	    belief_at(process->belief, perf_looks_at(steer, place, owner), &start, &end);
	const bool is_code = owner->kind == LOAD_OWNER_CODE &&
			     steer->images->codes.items[owner->code].image != IMAGES_NONE;
	if (is_code ? believed == owner->code : believed == BELIEF_NONE)
		return 0;
	steer->corrections++;
	if (is_code)
		return show_code(steer, process, owner->code, place->time_ns);
	struct load_owner other = *owner;
	if (other.kind == LOAD_OWNER_CODE)
		other.kind = LOAD_OWNER_NOBODY;
	return take_away(steer, process, &other, start, end, place->time_ns);
}

static struct steer_checked *checked_of(const struct steer *steer, const struct load_place *place)
{
	const uint64_t hash = hash_mix(place->avma, ((uint64_t)place->pid << 1) | place->is_return);
	return &steer->checked[hash & (CHECKED - 1)];
}

int steer_check(void *context, const struct load_place *place)
{
	struct steer *steer = context;
	struct steer_checked *checked = checked_of(steer, place);
	if (checked->avma == place->avma && checked->pid == place->pid &&
	    checked->is_return == place->is_return && place->time_ns >= checked->valid_from_ns &&
	    place->time_ns < checked->valid_to_ns && checked->stamp == stamp_at(steer, place->avma))
		return 0;
	struct load_owner owner;
	int got = load_owner_at(steer->load, place, &owner);
	struct steer_process *process = got == 0 ? steer_process(steer, place->pid) : NULL;
	if (!process)
		return STATUS_NO_MEMORY;
	got = set_right(steer, process, place, &owner);
	*checked = (struct steer_checked){ .avma = place->avma,
					   .valid_from_ns = owner.valid_from_ns,
					   .valid_to_ns = owner.valid_to_ns,
					   .pid = place->pid,
					   .stamp = stamp_at(steer, place->avma),
					   .is_return = place->is_return };
	return got;
}

/* Our records have the trailer that those of the first event have. */
static void choose_id(struct steer *steer)
{
	const struct perfdata_event *event =
	    perfdata_event_count(steer->perf) ? perfdata_event(steer->perf, 0) : NULL;
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

int steer_cut(struct steer *steer, struct steer_process *process, uint64_t start_avma,
	      uint64_t end_avma)
{
	touch(steer, start_avma, end_avma);
	return belief_cut(&process->belief, start_avma, end_avma);
}

int steer_init(struct steer *steer)
{
	steer->checked = calloc(CHECKED, sizeof(*steer->checked));
	steer->stamps = calloc(STAMPS, sizeof(*steer->stamps));
	choose_id(steer);
	return steer->checked && steer->stamps ? 0 : STATUS_NO_MEMORY;
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
	free(steer->checked);
	free(steer->stamps);
	sink_clear(&steer->record);
}
