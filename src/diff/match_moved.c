#include "diff/match_internal.h"

#include "base/status.h"

#include <stdlib.h>

/* No more pairs are looked at of one scope: beyond it only functions that did not move are paired.
 */
enum { PAIRS_MOST = 200000 };

/* A file counts as edited where one in so many of its functions moved: fewer may be two functions
 * of one name, of which each side has samples of another.
 */
enum { MOVED_SHARE = 8 };

/* Two functions that may be one, or, where they are sure to be, an anchor. One of the numbers grew
 * by `by`; equal numbers are 0, 0.
 */
struct candidate {
	int64_t by;
	unsigned number;
	uint32_t before; /* items */
	uint32_t after;
	bool is_anchor;
};

/* Candidates that moved equally far: a run of them in their order. */
struct distance {
	size_t start;
	size_t end;
	size_t anchors;
};

struct scope {
	struct matching *m;
	size_t start; /* a run of m->order */
	size_t end;
	size_t still; /* anchors that did not move */
	size_t moved;
	bool is_edited; /* what is known without looking at the scope */
	VECTOR(struct candidate) candidates;
	VECTOR(struct distance) distances;
};

/* False where more than one number differs. */
static bool measure(const struct matching *m, struct candidate *c)
{
	const struct stable_numbers *before = &m->items.items[c->before].numbers;
	const struct stable_numbers *after = &m->items.items[c->after].numbers;
	unsigned changed = 0;
	if (before->count != after->count)
		return false;
	for (unsigned i = 0; i < before->count; i++) {
		if (before->items[i] == after->items[i])
			continue;
		if (changed++)
			return false;
		c->number = i;
		c->by = (int64_t)(after->items[i] - before->items[i]);
	}
	return true;
}

static bool put_candidate(struct scope *s, const struct candidate *c)
{
	struct candidate *slot = vector_push(&s->candidates);
	if (!slot)
		return false;
	*slot = *c;
	return true;
}

/* All open items of one group against each other. */
static bool put_pairs(struct scope *s, size_t start, size_t end)
{
	const struct matching *m = s->m;
	size_t counts[DIFF_SIDES] = { 0 };
	for (size_t i = start; i < end; i++)
		for (unsigned side = 0; side < DIFF_SIDES; side++)
			counts[side] += item_is_open(&m->items.items[m->order.items[i]], side);
	const bool is_big =
	    counts[DIFF_BEFORE] && s->candidates.count < PAIRS_MOST &&
	    counts[DIFF_AFTER] > (PAIRS_MOST - s->candidates.count) / counts[DIFF_BEFORE];
	for (size_t i = start; i < end; i++) {
		const uint32_t before = m->order.items[i];
		if (!item_is_open(&m->items.items[before], DIFF_BEFORE) ||
		    !m->items.items[before].numbers.count)
			continue;
		const size_t from = is_big ? i : start;
		const size_t to = is_big ? i + 1 : end;
		for (size_t j = from; j < to; j++) {
			struct candidate c = { .before = before, .after = m->order.items[j] };
			if (item_is_open(&m->items.items[c.after], DIFF_AFTER) && measure(m, &c) &&
			    !put_candidate(s, &c))
				return false;
		}
	}
	return true;
}

static bool put_anchor(struct scope *s, uint32_t before)
{
	const struct item *item = &s->m->items.items[before];
	struct candidate c = { .before = before, .is_anchor = true };
	if (!item->partner || !item->numbers.count)
		return true;
	c.after = item->partner - 1;
	if (!measure(s->m, &c)) {
		s->moved++;
		return true;
	}
	*(c.by ? &s->moved : &s->still) += 1;
	return put_candidate(s, &c);
}

static int by_distance(const void *left, const void *right)
{
	const struct candidate *a = left;
	const struct candidate *b = right;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	if (a->by != b->by)
		return a->by < b->by ? -1 : 1;
	if (a->before != b->before)
		return a->before < b->before ? -1 : 1;
	return a->after < b->after ? -1 : a->after > b->after;
}

static uint64_t size_of(const struct candidate *c)
{
	return c->by < 0 ? -(uint64_t)c->by : (uint64_t)c->by;
}

/* Most candidates first; of equally many the shortest way. */
static int by_votes(const void *left, const void *right, void *context)
{
	const struct scope *s = context;
	const struct distance *a = left;
	const struct distance *b = right;
	const size_t votes_a = a->end - a->start;
	const size_t votes_b = b->end - b->start;
	if (votes_a != votes_b)
		return votes_a < votes_b ? 1 : -1;
	const uint64_t size_a = size_of(&s->candidates.items[a->start]);
	const uint64_t size_b = size_of(&s->candidates.items[b->start]);
	if (size_a != size_b)
		return size_a < size_b ? -1 : 1;
	return a->start < b->start ? -1 : 1;
}

static bool put_distances(struct scope *s)
{
	struct candidate *items = s->candidates.items;
	const size_t count = s->candidates.count;
	if (count)
		qsort(items, count, sizeof(*items), by_distance);
	for (size_t i = 0; i < count;) {
		struct distance *d = vector_push(&s->distances);
		if (!d)
			return false;
		d->start = i;
		for (; i < count && items[i].by == items[d->start].by &&
		       items[i].number == items[d->start].number;
		     i++)
			d->anchors += items[i].is_anchor;
		d->end = i;
	}
	if (s->distances.count)
		qsort_r(s->distances.items, s->distances.count, sizeof(struct distance), by_votes,
			s);
	return true;
}

/* Whether the scope's functions can have moved at all. */
static bool is_edited(const struct scope *s)
{
	if (s->moved || s->still)
		return s->moved * MOVED_SHARE > s->still;
	const struct distance *best = s->distances.items;
	if (s->candidates.items[best->start].by == 0)
		return false;
	for (size_t i = 0; i < s->distances.count; i++)
		if (s->candidates.items[s->distances.items[i].start].by == 0)
			return best->end - best->start > 1;
	return s->is_edited;
}

static void pair_distances(struct scope *s)
{
	if (!s->distances.count)
		return;
	const bool has_anchors = s->moved || s->still;
	const bool may_move = is_edited(s);
	for (size_t i = 0; i < s->distances.count; i++) {
		const struct distance *d = &s->distances.items[i];
		const bool is_still = s->candidates.items[d->start].by == 0;
		/* Where things moved, one pair alone at its distance is chance. */
		const bool is_likely = may_move ? d->end - d->start > 1 || !has_anchors : is_still;
		for (size_t at = d->start; is_likely && at < d->end; at++) {
			const struct candidate *c = &s->candidates.items[at];
			if (item_is_open(&s->m->items.items[c->before], DIFF_BEFORE) &&
			    item_is_open(&s->m->items.items[c->after], DIFF_AFTER))
				item_pair(s->m, c->before, c->after, DIFF_FOUND_MOVED);
		}
	}
}

static bool pair_scope(struct scope *s)
{
	const struct matching *m = s->m;
	s->candidates.count = s->distances.count = s->still = s->moved = 0;
	for (size_t i = s->start, end; i < s->end; i = end) {
		const uint32_t group = m->items.items[m->order.items[i]].group;
		for (end = i; end < s->end; end++) {
			const uint32_t item = m->order.items[end];
			if (m->items.items[item].group != group)
				break;
			if (!put_anchor(s, item))
				return false;
		}
		if (!put_pairs(s, i, end))
			return false;
	}
	if (!put_distances(s))
		return false;
	pair_distances(s);
	return true;
}

/* Whether functions moved at all, going by those that are sure; true where there is none. */
static bool is_program_edited(const struct matching *m)
{
	size_t still = 0;
	size_t moved = 0;
	for (size_t i = 0; i < m->items.count; i++) {
		const struct item *item = &m->items.items[i];
		struct candidate c = { .before = (uint32_t)i, .after = item->partner - 1 };
		if (item->partner && item->numbers.count)
			*(measure(m, &c) && !c.by ? &still : &moved) += 1;
	}
	return !still || moved * MOVED_SHARE > still;
}

int match_moved(struct matching *m)
{
	struct scope s = { .m = m, .is_edited = is_program_edited(m) };
	bool is_done = true;
	for (size_t i = 0, end; is_done && i < m->order.count; i = end) {
		const uint32_t scope = m->items.items[m->order.items[i]].scope;
		for (end = i;
		     end < m->order.count && m->items.items[m->order.items[end]].scope == scope;
		     end++)
			;
		s.start = i;
		s.end = end;
		is_done = pair_scope(&s);
	}
	vector_clear(&s.candidates);
	vector_clear(&s.distances);
	return is_done ? 0 : STATUS_NO_MEMORY;
}
