#include "page/rows.h"

#include "base/hash.h"
#include "base/status.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 1024, SHIFT_LIMIT = 63 };

static size_t place(const struct page_rows *rows, const struct page_row *key)
{
	uint64_t hash = hash_mix((uint64_t)key->node << 32 | key->bucket,
				 (uint64_t)key->thread << 32 | key->event);
	for (size_t at = (size_t)hash;; at++) {
		const uint32_t slot = rows->slots[at & (rows->slot_count - 1)];
		const struct page_row *row = slot ? &rows->items.items[slot - 1] : NULL;
		if (!row || (row->node == key->node && row->bucket == key->bucket &&
			     row->thread == key->thread && row->event == key->event))
			return at & (rows->slot_count - 1);
	}
}

static int grow(struct page_rows *rows)
{
	const size_t count = rows->slot_count ? rows->slot_count * 2 : FIRST_SLOTS;
	uint32_t *slots = calloc(count, sizeof(*slots));
	if (!slots)
		return STATUS_NO_MEMORY;
	free(rows->slots);
	rows->slots = slots;
	rows->slot_count = count;
	for (size_t i = 0; i < rows->items.count; i++)
		slots[place(rows, &rows->items.items[i])] = (uint32_t)i + 1;
	return 0;
}

/* Two buckets become one, in place. */
static void halve(struct page_rows *rows)
{
	const size_t count = rows->items.count;
	memset(rows->slots, 0, rows->slot_count * sizeof(*rows->slots));
	rows->items.count = 0;
	rows->shift++;
	for (size_t i = 0; i < count; i++) {
		struct page_row row = rows->items.items[i];
		row.bucket /= 2;
		uint32_t *slot = &rows->slots[place(rows, &row)];
		if (*slot) {
			rows->items.items[*slot - 1].count += row.count;
			rows->items.items[*slot - 1].weight += row.weight;
		} else {
			rows->items.items[rows->items.count++] = row;
			*slot = (uint32_t)rows->items.count;
		}
	}
}

static bool is_one_bucket(const struct page_rows *rows)
{
	for (size_t i = 0; i < rows->items.count; i++)
		if (rows->items.items[i].bucket)
			return false;
	return true;
}

/* What has one bucket cannot get smaller: there are so many distinct stacks. */
static void fit(struct page_rows *rows)
{
	const size_t wanted = rows->limit / 4 * 3;
	while (rows->items.count > wanted && rows->shift < SHIFT_LIMIT && !is_one_bucket(rows))
		halve(rows);
	if (rows->items.count > wanted)
		rows->limit = rows->items.count * 2;
}

/* A sample may come before the first one: bucket 0 then is what was before, too. */
static uint32_t bucket_of(struct page_rows *rows, uint64_t time_ns)
{
	if (!time_ns || !rows->slot_count)
		return 0;
	if (!rows->first_ns)
		rows->first_ns = time_ns;
	const uint64_t since_ns = time_ns > rows->first_ns ? time_ns - rows->first_ns : 0;
	while (since_ns >> rows->shift >= PAGE_BUCKETS)
		halve(rows);
	return (uint32_t)(since_ns >> rows->shift);
}

int page_rows_add(struct page_rows *rows, const struct page_sample *sample)
{
	if (!rows->shift) {
		rows->shift = PAGE_FIRST_SHIFT;
		rows->limit = PAGE_ROWS;
	}
	if (rows->items.count >= rows->slot_count / 2 && grow(rows) < 0)
		return STATUS_NO_MEMORY;
	struct page_row row = {
		.bucket = bucket_of(rows, sample->time_ns),
		.thread = sample->thread,
		.event = sample->event,
		.node = sample->node,
		.count = sample->count,
		.weight = sample->weight,
	};
	uint32_t *slot = &rows->slots[place(rows, &row)];
	if (*slot) {
		rows->items.items[*slot - 1].count += row.count;
		rows->items.items[*slot - 1].weight += row.weight;
		return 0;
	}
	struct page_row *made = vector_push(&rows->items);
	if (!made)
		return STATUS_NO_MEMORY;
	*made = row;
	*slot = (uint32_t)rows->items.count;
	if (rows->items.count > rows->limit)
		fit(rows);
	return 0;
}

void page_rows_coarsen(struct page_rows *rows, unsigned shift)
{
	while (rows->slot_count && rows->shift < shift)
		halve(rows);
}

static int compare(const void *a_row, const void *b_row)
{
	const struct page_row *a = a_row;
	const struct page_row *b = b_row;
	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	if (a->bucket != b->bucket)
		return a->bucket < b->bucket ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

void page_rows_sort(struct page_rows *rows)
{
	if (rows->items.count)
		qsort(rows->items.items, rows->items.count, sizeof(*rows->items.items), compare);
	free(rows->slots);
	rows->slots = NULL;
	rows->slot_count = 0;
}

void page_rows_clear(struct page_rows *rows)
{
	vector_clear(&rows->items);
	free(rows->slots);
	*rows = (struct page_rows){ 0 };
}
