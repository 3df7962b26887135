#include "report/groups.h"

#include "base/hash.h"
#include "base/pattern.h"
#include "base/status.h"
#include "profile/weight.h"

#include <stdlib.h>

static uint64_t key_hash(const struct report_group_key *key)
{
	return hash_bytes(key, sizeof(*key), 0);
}

static bool grow(struct report_groups *groups)
{
	if (groups->items.count * 2 < groups->slot_count)
		return true;
	const size_t count = groups->slot_count ? groups->slot_count * 2 : 1024;
	uint32_t *slots = calloc(count, sizeof(*slots));
	if (!slots)
		return false;
	for (uint32_t i = 0; i < groups->items.count; i++) {
		size_t at = key_hash(&groups->items.items[i].key) & (count - 1);
		while (slots[at])
			at = (at + 1) & (count - 1);
		slots[at] = i + 1;
	}
	free(groups->slots);
	groups->slots = slots;
	groups->slot_count = count;
	return true;
}

static struct report_group_key key_of(const struct profile *profile, unsigned keys,
				      const struct profile_row *row, uint32_t frame_id)
{
	struct report_group_key key = { 0 };
	const struct profile_thread *thread = &profile->threads.items[row->thread];
	if (keys & REPORT_COMM)
		key.comm = thread->comm;
	if (keys & REPORT_PID)
		key.pid = thread->pid;
	if (keys & REPORT_TID)
		key.tid = thread->tid;
	if (frame_id == INTERN_NONE)
		return key;
	const struct profile_frame *frame = &profile->frames.items[frame_id];
	const struct profile_function *function = &profile->functions.items[frame->function];
	if (keys & REPORT_OBJECT)
		key.object = function->object;
	if (keys & REPORT_SYMBOL)
		key.symbol = function->name;
	if (keys & REPORT_RUNTIME)
		key.runtime = function->runtime;
	if (keys & REPORT_TIER)
		key.tier = function->tier;
	if (keys & REPORT_VERSION)
		key.version = function->version;
	if (keys & REPORT_SRCLINE) {
		key.file = frame->file;
		key.line = frame->line;
	}
	if (keys & REPORT_TRUST)
		key.trust = frame->trust + 1u;
	return key;
}

static uint32_t find_or_add(struct report_groups *groups, const struct profile *profile,
			    const struct report_options *options, const struct profile_row *row,
			    uint32_t frame)
{
	if (!grow(groups))
		return INTERN_NONE;
	const struct report_group_key key = key_of(profile, options->keys, row, frame);
	size_t at = key_hash(&key) & (groups->slot_count - 1);
	for (; groups->slots[at]; at = (at + 1) & (groups->slot_count - 1))
		if (memcmp(&groups->items.items[groups->slots[at] - 1].key, &key, sizeof(key)) == 0)
			return groups->slots[at] - 1;
	struct report_group *group = vector_push(&groups->items);
	if (!group)
		return INTERN_NONE;
	group->key = key;
	groups->slots[at] = (uint32_t)groups->items.count;
	return groups->slots[at] - 1;
}

/* Where a frame is in one group whatever the thread, it is looked up once; NULL where not. */
static uint32_t *remembered(struct report_groups *groups, const struct profile *profile,
			    unsigned keys, uint32_t frame)
{
	const unsigned of_threads = REPORT_COMM | REPORT_PID | REPORT_TID;
	if ((keys & of_threads) || frame >= profile->frames.count)
		return NULL;
	if (!groups->by_frame) {
		/* Without memory for it there is no short way. */
		groups->by_frame = calloc(profile->frames.count, sizeof(*groups->by_frame));
		groups->by_frame_count = groups->by_frame ? profile->frames.count : 0;
	}
	return frame < groups->by_frame_count ? &groups->by_frame[frame] : NULL;
}

uint32_t report_groups_of(struct report_groups *groups, const struct profile *profile,
			  const struct report_options *options, const struct profile_row *row,
			  uint32_t frame)
{
	uint32_t *known = remembered(groups, profile, options->keys, frame);
	if (known && *known)
		return *known - 1;
	const uint32_t group = find_or_add(groups, profile, options, row, frame);
	if (known && group != INTERN_NONE)
		*known = group + 1;
	return group;
}

/* The smallest tier makes room for one that is not kept yet: few functions have more. */
static void count_tier(struct report_group *group, uint32_t tier, uint64_t count)
{
	if (!tier)
		return;
	int smallest = 0;
	for (int i = 0; i < REPORT_TIERS_KEPT; i++) {
		if (group->tiers[i].tier == tier || !group->tiers[i].tier) {
			group->tiers[i].tier = tier;
			group->tiers[i].count += count;
			return;
		}
		if (group->tiers[i].count < group->tiers[smallest].count)
			smallest = i;
	}
	if (group->tiers[smallest].count < count) {
		group->tiers[smallest].tier = tier;
		group->tiers[smallest].count = count;
	}
}

static void describe(struct report_group *group, const struct profile *profile, uint32_t frame_id,
		     uint64_t count)
{
	if (frame_id == INTERN_NONE)
		return;
	const struct profile_frame *frame = &profile->frames.items[frame_id];
	group->trust_counts[frame->trust] += count;
	count_tier(group, profile->functions.items[frame->function].tier, count);
}

static int add_row(struct report_groups *groups, const struct profile *profile, uint32_t row_id,
		   const struct report_options *options)
{
	const struct profile_row *row = &profile->rows.items[row_id];
	const struct profile_stack *stack = &profile->stacks.items[row->stack];
	const uint32_t *frames = profile->frame_ids.items + stack->first;
	groups->total_count += row->count;
	groups->total_weight = weight_sum(groups->total_weight, row->weight);
	const uint32_t depth = options->children && stack->depth ? stack->depth : 1;
	for (uint32_t i = 0; i < depth; i++) {
		const uint32_t frame = stack->depth ? frames[i] : (uint32_t)INTERN_NONE;
		const uint32_t id = report_groups_of(groups, profile, options, row, frame);
		if (id == INTERN_NONE)
			return STATUS_NO_MEMORY;
		struct report_group *group = &groups->items.items[id];
		if (group->last_row == row_id + 1)
			continue;
		group->last_row = row_id + 1;
		group->total_count += row->count;
		group->total_weight = weight_sum(group->total_weight, row->weight);
		if (i == 0) {
			group->self_count += row->count;
			group->self_weight = weight_sum(group->self_weight, row->weight);
		}
		describe(group, profile, frame, row->count);
	}
	return 0;
}

static int by_tier_count(const void *left, const void *right)
{
	const uint64_t a = ((const __typeof__(((struct report_group *)0)->tiers[0]) *)left)->count;
	const uint64_t b = ((const __typeof__(((struct report_group *)0)->tiers[0]) *)right)->count;
	return a < b ? 1 : a > b ? -1 : 0;
}

/* qsort_r's context: whose weights, and which profile names equal ones. */
struct ordering {
	const struct report_groups *groups;
	const struct profile *profile;
};

static int by_weight(const void *left, const void *right, void *context)
{
	const struct ordering *ordering = context;
	const struct report_group *a = &ordering->groups->items.items[*(const uint32_t *)left];
	const struct report_group *b = &ordering->groups->items.items[*(const uint32_t *)right];
	if (a->total_weight != b->total_weight)
		return a->total_weight < b->total_weight ? 1 : -1;
	if (a->self_weight != b->self_weight)
		return a->self_weight < b->self_weight ? 1 : -1;
	const int name = strcmp(profile_text(ordering->profile, a->key.symbol),
				profile_text(ordering->profile, b->key.symbol));
	return name ? name : memcmp(&a->key, &b->key, sizeof(a->key));
}

double report_percent(const struct report_groups *groups, uint64_t weight)
{
	return groups->total_weight ? 100.0 * (double)weight / (double)groups->total_weight : 0;
}

static int choose_rows(struct report_groups *groups, const struct profile *profile,
		       const struct report_options *options)
{
	for (uint32_t i = 0; i < groups->items.count; i++) {
		struct report_group *group = &groups->items.items[i];
		group->is_shown =
		    pattern_matches(options->objects, profile_text(profile, group->key.object)) &&
		    pattern_matches(options->symbols, profile_text(profile, group->key.symbol));
		qsort(group->tiers, REPORT_TIERS_KEPT, sizeof(group->tiers[0]), by_tier_count);
		if (!group->is_shown ||
		    report_percent(groups, group->total_weight) < options->percent_limit)
			continue;
		uint32_t *slot = vector_push(&groups->order);
		if (!slot)
			return STATUS_NO_MEMORY;
		*slot = i;
	}
	struct ordering ordering = { groups, profile };
	if (groups->order.count)
		qsort_r(groups->order.items, groups->order.count, sizeof(uint32_t), by_weight,
			&ordering);
	return 0;
}

int report_groups_build(struct report_groups *groups, const struct profile *profile, uint32_t event,
			const struct report_options *options)
{
	for (uint32_t i = 0; i < profile->rows.count; i++) {
		if (profile->rows.items[i].event != event)
			continue;
		const int got = add_row(groups, profile, i, options);
		if (got < 0)
			return got;
	}
	return choose_rows(groups, profile, options);
}

void report_groups_clear(struct report_groups *groups)
{
	vector_clear(&groups->items);
	vector_clear(&groups->order);
	free(groups->slots);
	free(groups->by_frame);
	*groups = (struct report_groups){ 0 };
}
