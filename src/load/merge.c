#include "load/merge.h"

#include "base/status.h"
#include "load/evaluator.h"
#include "load/naming.h"
#include "load/walked.h"

#include <stdio.h>
#include <stdlib.h>

/* Kept while a profile is filled. */
struct merge_cache {
	VECTOR(uint8_t) roles;  /* by function: 0 is not looked at; else see role_of() */
	struct idmap explained; /* by (frame, reason): frame + 1 */
	merge_units merged;
};

enum { LANGUAGE_SHIFT = 4, ROLE_MASK = (1 << LANGUAGE_SHIFT) - 1 };

struct work {
	struct load *load;
	struct merge_cache *cache;
	const struct stacks_item *item;
	const struct merge_native *native;
	const merge_units *units;
	uint32_t ends[WALK_MAX_FRAMES + 2]; /* of each group: behind its last frame */
	ptrdiff_t group_count;
	ptrdiff_t next_group; /* of the next evaluator; below 0: it has none */
	size_t evaluators;
	size_t tail; /* where what starts programs begins, outside of all evaluators */
};

/* The role that the function of an address has for the interpreter; that of the frame around all
 * that was inlined there.
 */
static enum evaluator_role role_of(const struct work *work, size_t index)
{
	const struct merge_unit *unit = &work->units->items[index];
	const struct profile *profile = work->load->profile;
	const struct profile_frame *frame = &profile->frames.items[unit->frame];
	if (unit->is_kernel)
		return EVALUATOR_NONE;
	while (frame->inlined_into)
		frame = &profile->frames.items[frame->inlined_into - 1];
	uint8_t *known = &work->cache->roles.items[frame->function];
	if (!*known) {
		const uint32_t name = profile->functions.items[frame->function].raw_name;
		enum walk_language language;
		const enum evaluator_role role =
		    evaluator_role(profile_text(profile, name), &language);
		*known = (uint8_t)((role + 1u) | (uint8_t)language << LANGUAGE_SHIFT);
	}
	const enum evaluator_role role = (enum evaluator_role)((*known & ROLE_MASK) - 1);
	const bool is_ours = *known >> LANGUAGE_SHIFT == work->item->language;
	return is_ours || role == EVALUATOR_START ? role : EVALUATOR_NONE;
}

static bool make_room_for_roles(const struct work *work)
{
	struct merge_cache *cache = work->cache;
	const size_t functions = work->load->profile->functions.count;
	if (cache->roles.count >= functions)
		return true;
	if (!vector_reserve(&cache->roles, functions - cache->roles.count))
		return false;
	memset(cache->roles.items + cache->roles.count, 0, functions - cache->roles.count);
	cache->roles.count = functions;
	return true;
}

static void find_groups(struct work *work)
{
	const struct stacks_item *item = work->item;
	if (item->is_bare)
		work->ends[work->group_count++] = 0;
	for (uint32_t i = 0; i < item->frame_count; i++)
		if (item->frames[i].flags & WALK_FRAME_ENTRY || i + 1 == item->frame_count)
			work->ends[work->group_count++] = i + 1;
}

static uint32_t begin_of(const struct work *work, ptrdiff_t group)
{
	return group ? work->ends[group - 1] : 0;
}

static bool has_frames(const struct work *work, ptrdiff_t group)
{
	return group >= 0 && group < work->group_count && work->ends[group] > begin_of(work, group);
}

static void find_evaluators(struct work *work)
{
	work->tail = work->units->count;
	for (size_t i = 0; i < work->units->count; i++) {
		const enum evaluator_role role = role_of(work, i);
		if (role == EVALUATOR_START && work->tail > i)
			work->tail = i;
		else if (role == EVALUATOR_ACTIVATION) {
			work->evaluators++;
			work->tail = work->units->count;
		}
	}
}

/* The group of the innermost evaluator. Both whole, they are aligned at the root. */
static ptrdiff_t first_group(const struct work *work)
{
	const ptrdiff_t more = work->group_count - (ptrdiff_t)work->evaluators;
	const bool is_whole = !work->native->is_cut && work->item->end == WALK_END_ROOT;
	if (!is_whole || !work->evaluators)
		return 0;
	return more == -1 || (more == 1 && work->item->is_bare) ? more : 0;
}

static bool put(const struct work *work, uint32_t frame, bool is_kernel)
{
	struct merge_unit *unit = vector_push(&work->cache->merged);
	if (unit)
		*unit = (struct merge_unit){ .frame = frame, .is_kernel = is_kernel };
	return unit != NULL;
}

static bool put_units(const struct work *work, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (!put(work, work->units->items[i].frame, work->units->items[i].is_kernel))
			return false;
	return true;
}

/* The same frame with a reason; INTERN_NONE without memory. */
static uint32_t explained(const struct work *work, uint32_t frame, const char *reason)
{
	struct load *load = work->load;
	const uint32_t text = profile_intern(load, reason);
	uint32_t *known = text == INTERN_NONE
			      ? NULL
			      : idmap_put(&work->cache->explained, (uint64_t)frame << 32 | text);
	if (!known)
		return INTERN_NONE;
	if (!*known) {
		struct profile_frame copy = load->profile->frames.items[frame];
		uint32_t id;
		copy.reason = text;
		if (load_put_frame(load, &copy, load->frame_load_ns.items[frame], &id) < 0)
			return INTERN_NONE;
		*known = id + 1;
	}
	return *known - 1;
}

/* What the language has for a function written in C, by its address. */
static int native_frame(const struct work *work, const struct walk_frame *frame, uint32_t *id)
{
	const struct address address = { .pid = work->item->pid,
					 .space = work->native->space,
					 .time_ns = work->native->time_ns,
					 .avma = frame->code_avma };
	struct resolved resolved;
	const int got = load_resolve(work->load, &address, &resolved);
	*id = resolved.frame;
	return got;
}

/* Functions in C without a name are on the native stack under the one that they have there. */
static bool put_frame(const struct work *work, uint32_t index, bool has_native)
{
	const struct walk_frame *frame = &work->item->frames[index];
	const struct frames_code *code = stacks_code(work->load, work->item, frame);
	const bool is_nameless = code && code->kind == WALK_CODE_NATIVE && !*code->name;
	uint32_t id;
	if (is_nameless && has_native)
		return true;
	const int got = is_nameless ? native_frame(work, frame, &id)
				    : walked_frame(work->load, work->item, frame, &id);
	if (got < 0)
		return false;
	if (index + 1 == work->item->frame_count && work->item->end != WALK_END_ROOT) {
		char reason[128];
		(void)snprintf(reason, sizeof(reason), "its callers are not known: %s",
			       frames_end_text(work->item->end));
		id = explained(work, id, reason);
	}
	return id != INTERN_NONE && put(work, id, false);
}

static bool put_group(const struct work *work, ptrdiff_t group, bool has_native)
{
	for (uint32_t i = begin_of(work, group); i < work->ends[group]; i++)
		if (!put_frame(work, i, has_native))
			return false;
	return true;
}

static bool put_without_group(const struct work *work, size_t index, ptrdiff_t group)
{
	const bool is_unlinked = group < 0 || (group == 0 && work->item->is_bare);
	char reason[128];
	(void)snprintf(reason, sizeof(reason), "no frame of the interpreter: %s",
		       is_unlinked                        ? "none is linked, as yet or any more"
		       : work->item->end == WALK_END_ROOT ? "another one runs here"
							  : frames_end_text(work->item->end));
	const uint32_t id = explained(work, work->units->items[index].frame, reason);
	return id != INTERN_NONE && put(work, id, false);
}

/* An evaluator, with its parts from `parts` on. */
static bool put_activation(struct work *work, size_t parts, size_t index)
{
	const ptrdiff_t group = work->next_group++;
	if (!has_frames(work, group))
		return put_units(work, parts, index) && put_without_group(work, index, group);
	if (work->load->options.native_frames && !put_units(work, parts, index + 1))
		return false;
	return put_group(work, group, true);
}

/* Groups that no evaluator is there for. */
static bool put_rest(struct work *work)
{
	ptrdiff_t group = work->next_group > 0 ? work->next_group : 0;
	for (; group < work->group_count; group++)
		if (!put_group(work, group, false))
			return false;
	return true;
}

/* Parts whose evaluator is not on the native stack: it was not recorded, or cut. */
static bool are_hidden(const struct work *work, size_t behind)
{
	return behind == work->tail && !work->load->options.native_frames &&
	       work->next_group >= 0 && work->next_group < work->group_count;
}

static bool merge(struct work *work)
{
	const size_t count = work->units->count;
	size_t at;
	for (size_t i = 0; i < count; i = at + 1) {
		at = i;
		if (i == work->tail && !put_rest(work))
			return false;
		while (at < count && role_of(work, at) == EVALUATOR_PART)
			at++;
		if (at < count && role_of(work, at) == EVALUATOR_ACTIVATION) {
			if (!put_activation(work, i, at))
				return false;
		} else if (at > i) {
			if (!are_hidden(work, at) && !put_units(work, i, at))
				return false;
			at--;
		} else if (!put_units(work, i, i + 1)) {
			return false;
		}
	}
	return work->tail < count || put_rest(work);
}

int merge_stack(struct load *load, const struct stacks_item *item,
		const struct merge_native *native, merge_units *units)
{
	if (!load->merge)
		load->merge = calloc(1, sizeof(*load->merge));
	struct merge_cache *cache = load->merge;
	struct work work = {
		.load = load, .cache = cache, .item = item, .native = native, .units = units
	};
	if (!cache || !make_room_for_roles(&work))
		return STATUS_NO_MEMORY;
	find_groups(&work);
	find_evaluators(&work);
	work.next_group = first_group(&work);
	cache->merged.count = 0;
	if (!merge(&work))
		return STATUS_NO_MEMORY;
	const merge_units swap = *units;
	*units = cache->merged;
	cache->merged.items = swap.items;
	cache->merged.count = swap.count;
	cache->merged.capacity = swap.capacity;
	return 0;
}

void merge_free(struct load *load)
{
	walked_free(load);
	if (!load->merge)
		return;
	vector_clear(&load->merge->roles);
	vector_clear(&load->merge->merged);
	idmap_clear(&load->merge->explained);
	free(load->merge);
	load->merge = NULL;
}
