#include "debuginfo/spans.h"

#include "base/search.h"

#include <stdlib.h>

/* Ranges that reach the place where the sweep is; a heap, the highest value on top. */
struct reaching {
	struct span *items;
	size_t count;
	size_t capacity;
};

static void swap(struct span *a, struct span *b)
{
	const struct span old = *a;
	*a = *b;
	*b = old;
}

static bool push(struct reaching *heap, const struct span *range)
{
	struct span *slot = vector_push(heap);
	if (!slot)
		return false;
	*slot = *range;
	for (size_t at = heap->count - 1; at; at = (at - 1) / 2) {
		if (heap->items[(at - 1) / 2].value >= heap->items[at].value)
			break;
		swap(&heap->items[(at - 1) / 2], &heap->items[at]);
	}
	return true;
}

static void pop(struct reaching *heap)
{
	heap->items[0] = heap->items[--heap->count];
	for (size_t at = 0;;) {
		size_t child = at * 2 + 1;
		if (child >= heap->count)
			return;
		if (child + 1 < heap->count &&
		    heap->items[child + 1].value > heap->items[child].value)
			child++;
		if (heap->items[child].value <= heap->items[at].value)
			return;
		swap(&heap->items[child], &heap->items[at]);
		at = child;
	}
}

static bool put(struct span_table *table, uint64_t start_svma, uint64_t end_svma, uint32_t value)
{
	struct span *last = table->count ? &table->items[table->count - 1] : NULL;
	if (last && last->value == value && last->end_svma == start_svma) {
		last->end_svma = end_svma;
		return true;
	}
	struct span *slot = vector_push(table);
	if (slot)
		*slot = (struct span){ start_svma, end_svma, value };
	return slot != NULL;
}

static int by_start(const void *left, const void *right)
{
	const struct span *a = left;
	const struct span *b = right;
	return a->start_svma < b->start_svma ? -1 : a->start_svma > b->start_svma;
}

static bool sweep(const struct span_table *ranges, struct reaching *heap, struct span_table *table)
{
	uint64_t at = 0;
	for (size_t i = 0; i < ranges->count || heap->count;) {
		if (!heap->count)
			at = ranges->items[i].start_svma;
		for (; i < ranges->count && ranges->items[i].start_svma <= at; i++)
			if (!push(heap, &ranges->items[i]))
				return false;
		while (heap->count && heap->items[0].end_svma <= at)
			pop(heap);
		if (!heap->count)
			continue;
		uint64_t end = heap->items[0].end_svma;
		if (i < ranges->count && ranges->items[i].start_svma < end)
			end = ranges->items[i].start_svma;
		if (!put(table, at, end, heap->items[0].value))
			return false;
		at = end;
	}
	return true;
}

bool span_seal(struct span_table *ranges, struct span_table *table)
{
	struct reaching heap = { 0 };
	if (ranges->count)
		qsort(ranges->items, ranges->count, sizeof(*ranges->items), by_start);
	const bool done = sweep(ranges, &heap, table);
	vector_clear(&heap);
	vector_clear(ranges);
	return done;
}

/* How many begin at or before the address. */
static size_t count_before(const struct span_table *table, uint64_t svma)
{
	size_t count;
	SEARCH(count, table->count, i, table->items[i].start_svma <= svma);
	return count;
}

const struct span *span_find(const struct span_table *table, uint64_t svma)
{
	const size_t before = count_before(table, svma);
	if (!before || table->items[before - 1].end_svma <= svma)
		return NULL;
	return &table->items[before - 1];
}

void span_gap(const struct span_table *table, uint64_t svma, uint64_t *start_svma,
	      uint64_t *end_svma)
{
	const size_t before = count_before(table, svma);
	*start_svma = before ? table->items[before - 1].end_svma : 0;
	*end_svma = before < table->count ? table->items[before].start_svma : UINT64_MAX;
}
