#include "profile/profile.h"

#include "base/hash.h"
#include "profile/weight.h"

#include <stdlib.h>
#include <string.h>

const char *profile_trust_name(enum profile_trust trust)
{
	static const char *const names[] = {
#define X(name, text) [PROFILE_##name] = text,
		PROFILE_TRUST_LIST(X)
#undef X
	};
	return (unsigned)trust < PROFILE_TRUST_COUNT ? names[trust] : "unknown";
}

const char *profile_end_key(enum profile_end end)
{
	static const char *const keys[] = {
#define X(name, key, text) [PROFILE_END_##name] = key,
		PROFILE_END_LIST(X)
#undef X
	};
	return (unsigned)end < PROFILE_END_COUNT ? keys[end] : "";
}

const char *profile_end_text(enum profile_end end)
{
	static const char *const texts[] = {
#define X(name, key, text) [PROFILE_END_##name] = text,
		PROFILE_END_LIST(X)
#undef X
	};
	return (unsigned)end < PROFILE_END_COUNT ? texts[end] : "";
}

void profile_clear(struct profile *p)
{
	intern_clear(&p->strings);
	vector_clear(&p->functions);
	vector_clear(&p->frames);
	vector_clear(&p->frame_ids);
	vector_clear(&p->stacks);
	vector_clear(&p->threads);
	vector_clear(&p->events);
	vector_clear(&p->rows);
	free(p->stack_slots.slots);
	free(p->row_slots.slots);
	free(p->thread_slots.slots);
	*p = (struct profile){ 0 };
}

/* What a table holds: how to hash an item again when the table grows. */
typedef uint64_t hash_item(const struct profile *p, uint32_t id);

static bool slots_grow(struct profile *p, struct profile_slots *table, size_t items,
		       hash_item *hash)
{
	if (items * 2 < table->count)
		return true;
	const size_t count = table->count ? table->count * 2 : 1024;
	uint32_t *slots = calloc(count, sizeof(*slots));
	if (!slots)
		return false;
	for (uint32_t id = 0; id < items; id++) {
		size_t at = hash(p, id) & (count - 1);
		while (slots[at])
			at = (at + 1) & (count - 1);
		slots[at] = id + 1;
	}
	free(table->slots);
	table->slots = slots;
	table->count = count;
	return true;
}

static uint64_t hash_stack(const struct profile *p, uint32_t id)
{
	const struct profile_stack *s = &p->stacks.items[id];
	return hash_bytes(p->frame_ids.items + s->first, s->depth * sizeof(uint32_t), s->end);
}

uint32_t profile_add_stack(struct profile *p, const uint32_t *frame_ids, uint32_t depth)
{
	return profile_add_ended_stack(p, frame_ids, depth, PROFILE_END_NOT_DUMPED);
}

uint32_t profile_add_ended_stack(struct profile *p, const uint32_t *frame_ids, uint32_t depth,
				 enum profile_end end)
{
	struct profile_slots *table = &p->stack_slots;
	if (!slots_grow(p, table, p->stacks.count, hash_stack))
		return INTERN_NONE;
	const size_t size = depth * sizeof(uint32_t);
	size_t at = hash_bytes(frame_ids, size, end) & (table->count - 1);
	for (; table->slots[at]; at = (at + 1) & (table->count - 1)) {
		const struct profile_stack *s = &p->stacks.items[table->slots[at] - 1];
		if (s->depth == depth && s->end == end &&
		    (!size || memcmp(p->frame_ids.items + s->first, frame_ids, size) == 0))
			return table->slots[at] - 1;
	}
	if (p->frame_ids.count + depth >= INTERN_NONE || !vector_reserve(&p->frame_ids, depth))
		return INTERN_NONE;
	struct profile_stack *stack = vector_push(&p->stacks);
	if (!stack)
		return INTERN_NONE;
	stack->first = (uint32_t)p->frame_ids.count;
	stack->depth = depth;
	stack->end = (uint8_t)end;
	if (size)
		memcpy(p->frame_ids.items + p->frame_ids.count, frame_ids, size);
	p->frame_ids.count += depth;
	table->slots[at] = (uint32_t)p->stacks.count;
	return table->slots[at] - 1;
}

static uint64_t thread_key(uint32_t pid, uint32_t tid, uint32_t comm)
{
	return hash_mix(((uint64_t)pid << 32) | tid, comm);
}

static uint64_t hash_thread(const struct profile *p, uint32_t id)
{
	const struct profile_thread *t = &p->threads.items[id];
	return thread_key(t->pid, t->tid, t->comm);
}

uint32_t profile_add_thread(struct profile *p, uint32_t pid, uint32_t tid, uint32_t comm)
{
	struct profile_slots *table = &p->thread_slots;
	if (!slots_grow(p, table, p->threads.count, hash_thread))
		return INTERN_NONE;
	size_t at = thread_key(pid, tid, comm) & (table->count - 1);
	for (; table->slots[at]; at = (at + 1) & (table->count - 1)) {
		const struct profile_thread *t = &p->threads.items[table->slots[at] - 1];
		if (t->pid == pid && t->tid == tid && t->comm == comm)
			return table->slots[at] - 1;
	}
	struct profile_thread *thread = vector_push(&p->threads);
	if (!thread)
		return INTERN_NONE;
	*thread = (struct profile_thread){ .pid = pid, .tid = tid, .comm = comm };
	table->slots[at] = (uint32_t)p->threads.count;
	return table->slots[at] - 1;
}

static uint64_t row_key(const struct profile_row *row)
{
	return hash_mix(((uint64_t)row->thread << 32) | row->stack, row->event);
}

static uint64_t hash_row(const struct profile *p, uint32_t id)
{
	return row_key(&p->rows.items[id]);
}

uint32_t profile_add(struct profile *p, const struct profile_row *sample)
{
	struct profile_slots *table = &p->row_slots;
	if (!slots_grow(p, table, p->rows.count, hash_row))
		return INTERN_NONE;
	size_t at = row_key(sample) & (table->count - 1);
	for (; table->slots[at]; at = (at + 1) & (table->count - 1)) {
		struct profile_row *row = &p->rows.items[table->slots[at] - 1];
		if (row->thread != sample->thread || row->stack != sample->stack ||
		    row->event != sample->event)
			continue;
		row->count += sample->count;
		row->weight = weight_sum(row->weight, sample->weight);
		return table->slots[at] - 1;
	}
	struct profile_row *row = vector_push(&p->rows);
	if (!row)
		return INTERN_NONE;
	*row = *sample;
	row->weight = weight_sum(0, sample->weight);
	table->slots[at] = (uint32_t)p->rows.count;
	return table->slots[at] - 1;
}

uint32_t profile_first_event(const struct profile *p)
{
	uint32_t first = INTERN_NONE;
	for (size_t i = 0; i < p->rows.count; i++)
		if (p->rows.items[i].event < first)
			first = p->rows.items[i].event;
	return first;
}

uint32_t profile_find_event(const struct profile *p, const char *name)
{
	for (uint32_t event = 0; event < p->events.count; event++)
		if (strcmp(profile_text(p, p->events.items[event]), name) == 0)
			return event;
	return INTERN_NONE;
}
