#include "timeline/internal.h"

#include "base/status.h"

#include <stdlib.h>

enum { DEFAULT_SKEW_NS = 20 * 1000 * 1000 };

/* Indices are 32 bits wide and top bits are taken. */
static const size_t max_ops = UINT32_MAX / 8;

struct timeline *timeline_new(const struct timeline_options *options)
{
	struct timeline *tl = calloc(1, sizeof(*tl));
	if (tl)
		tl->skew_ns = options && options->skew_ns ? options->skew_ns : DEFAULT_SKEW_NS;
	return tl;
}

void timeline_free(struct timeline *tl)
{
	if (!tl)
		return;
	vector_clear(&tl->ops);
	vector_clear(&tl->entries);
	vector_clear(&tl->runs);
	vector_clear(&tl->processes);
	vector_clear(&tl->spaces);
	arena_clear(&tl->arena);
	free(tl);
}

static int log_op(struct timeline *tl, const struct op *op)
{
	if (tl->is_sealed)
		return 0;
	struct op *logged = tl->ops.count < max_ops ? vector_push(&tl->ops) : NULL;
	if (!logged)
		return STATUS_NO_MEMORY;
	*logged = *op;
	return 0;
}

int timeline_fork(struct timeline *tl, uint32_t parent_pid, uint32_t pid, uint64_t time_ns)
{
	return log_op(
	    tl,
	    &(struct op){ .kind = OP_FORK, .pid = pid, .object = parent_pid, .time_ns = time_ns });
}

int timeline_exec(struct timeline *tl, uint32_t pid, uint64_t time_ns)
{
	return log_op(tl, &(struct op){ .kind = OP_EXEC, .pid = pid, .time_ns = time_ns });
}

int timeline_exit(struct timeline *tl, uint32_t pid, uint64_t time_ns)
{
	return log_op(tl, &(struct op){ .kind = OP_EXIT, .pid = pid, .time_ns = time_ns });
}

int timeline_map(struct timeline *tl, uint32_t pid, uint64_t time_ns,
		 const struct timeline_mapping *mapping)
{
	if (!mapping->size)
		return 0;
	return log_op(tl, &(struct op){ .kind = OP_MAP,
					.pid = pid,
					.time_ns = time_ns,
					.start_avma = mapping->start_avma,
					.size = mapping->size,
					.earliest_ns = mapping->file_off,
					.object = mapping->object });
}

int timeline_load(struct timeline *tl, uint32_t pid, const struct timeline_load *load)
{
	const uint64_t best_ns = load->time_ns;
	return log_op(
	    tl,
	    &(struct op){ .kind = OP_LOAD,
			  .pid = pid,
			  .time_ns = best_ns,
			  .start_avma = load->start_avma,
			  .size = load->size,
			  .earliest_ns = load->earliest_ns < best_ns ? load->earliest_ns : best_ns,
			  .latest_ns = load->latest_ns > best_ns ? load->latest_ns : best_ns,
			  .object = load->object });
}

int timeline_unload(struct timeline *tl, uint32_t pid, uint64_t time_ns, uint64_t start_avma)
{
	return log_op(
	    tl, &(struct op){
		    .kind = OP_UNLOAD, .pid = pid, .time_ns = time_ns, .start_avma = start_avma });
}

int timeline_move(struct timeline *tl, uint32_t pid, uint64_t time_ns, uint64_t old_avma,
		  const struct timeline_load *to)
{
	struct timeline_load load = *to;
	if (!load.time_ns) {
		load.earliest_ns = time_ns;
		load.time_ns = time_ns;
		load.latest_ns = time_ns;
	}
	const int got = timeline_unload(tl, pid, time_ns, old_avma);
	return got < 0 ? got : timeline_load(tl, pid, &load);
}

int timeline_untimed(struct timeline *tl, uint32_t pid, const struct timeline_load *load)
{
	if (tl->is_sealed)
		return 0;
	const size_t at = tl->entries.count;
	struct untimed_run *run = tl->runs.count ? &tl->runs.items[tl->runs.count - 1] : NULL;
	if (at >= max_ops || !vector_reserve(&tl->entries, 1))
		return STATUS_NO_MEMORY;
	if (!run || run->pid != pid || run->time_ns != load->time_ns) {
		run = vector_push(&tl->runs);
		if (!run)
			return STATUS_NO_MEMORY;
		*run = (struct untimed_run){ .pid = pid,
					     .time_ns = load->time_ns,
					     .first = (uint32_t)at };
	}
	run->count++;
	tl->entries.items[tl->entries.count++] = (struct untimed_entry){
		.start_avma = load->start_avma, .end_avma = load->size, .object = load->object
	};
	return 0;
}

static bool seal_layers(struct timeline *tl, const struct dealt_ops *dealt)
{
	for (uint32_t s = 0; s < tl->spaces.count; s++) {
		struct space *space = &tl->spaces.items[s];
		const uint32_t *ops = dealt->ops + dealt->offsets[s];
		const uint32_t count = dealt->offsets[s + 1] - dealt->offsets[s];
		if (space->parent != SPACE_NONE) {
			const struct space *parent = &tl->spaces.items[space->parent];
			const struct ancestor here = { .space = space->parent,
						       .fork_ns = space->begin_ns };
			space->code_above = parent->code ? here : parent->code_above;
			space->mapping_above = parent->mapping ? here : parent->mapping_above;
		}
		if (!code_build(tl, space, ops, count) || !mapping_build(tl, space, ops, count))
			return false;
	}
	return true;
}

static void seal_untimed_links(struct timeline *tl)
{
	for (uint32_t s = 0; s < tl->spaces.count; s++) {
		struct space *space = &tl->spaces.items[s];
		if (space->parent == SPACE_NONE)
			continue;
		const struct space *parent = &tl->spaces.items[space->parent];
		space->untimed_above = parent->untimed ? space->parent : parent->untimed_above;
	}
}

int timeline_seal(struct timeline *tl)
{
	if (tl->is_sealed)
		return 0;
	struct arena scratch = { 0 };
	struct dealt_ops dealt;
	const bool done =
	    spaces_build(tl, &scratch, &dealt) && seal_layers(tl, &dealt) && untimed_build(tl);
	arena_clear(&scratch);
	if (!done)
		return STATUS_NO_MEMORY;
	seal_untimed_links(tl);
	vector_clear(&tl->ops);
	vector_clear(&tl->entries);
	vector_clear(&tl->runs);
	tl->is_sealed = true;
	return 0;
}
