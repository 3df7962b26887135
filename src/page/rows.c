#include "page/rows.h"

#include "base/hash.h"
#include "base/intern.h"
#include "base/sort.h"
#include "base/status.h"
#include "profile/weight.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 1024, SHIFT_LIMIT = 63 };

/* --- series --- */

static bool is_same(const struct page_key *a, const struct page_key *b)
{
	return a->thread == b->thread && a->event == b->event && a->node == b->node;
}

static uint32_t *slot_of(struct page_rows *rows, const struct page_key *key)
{
	const uint64_t hash = hash_mix(key->node, (uint64_t)key->thread << 32 | key->event);
	for (size_t at = (size_t)hash;; at++) {
		uint32_t *slot = &rows->slots[at & (rows->slot_count - 1)];
		if (!*slot || is_same(&rows->series.items[*slot - 1].key, key))
			return slot;
	}
}

static bool grow(struct page_rows *rows)
{
	const size_t count = rows->slot_count ? rows->slot_count * 2 : FIRST_SLOTS;
	uint32_t *slots = calloc(count, sizeof(*slots));
	if (!slots)
		return false;
	free(rows->slots);
	rows->slots = slots;
	rows->slot_count = count;
	for (size_t i = 0; i < rows->series.count; i++)
		*slot_of(rows, &rows->series.items[i].key) = (uint32_t)i + 1;
	return true;
}

uint32_t page_rows_series(struct page_rows *rows, const struct page_key *key)
{
	if (rows->series.count >= rows->slot_count / 2 && !grow(rows))
		return INTERN_NONE;
	uint32_t *slot = slot_of(rows, key);
	if (!*slot) {
		struct page_series *made = vector_push(&rows->series);
		if (!made)
			return INTERN_NONE;
		made->key = *key;
		*slot = (uint32_t)rows->series.count;
	}
	return *slot - 1;
}

/* --- sorting and joining --- */

/* Where the samples of a series go among those of its bucket, and of its event. */
struct place {
	uint32_t rank;
	uint32_t event; /* counted among those that there are */
};

static uint64_t key_of(const struct page_row *row, const struct place *places)
{
	const uint64_t bucket = row->bucket;
	if (!places)
		return bucket;
	return (uint64_t)places[row->series].event << 43 | bucket << 32 | places[row->series].rank;
}
_Static_assert(PAGE_BUCKETS <= 1 << 11, "a bucket's place in a key");

static bool is_sorted(const struct page_rows *rows, const struct place *places)
{
	for (size_t i = 1; i < rows->items.count; i++)
		if (key_of(&rows->items.items[i - 1], places) >
		    key_of(&rows->items.items[i], places))
			return false;
	return true;
}

/* What is equal keeps its order. */
static int sort(struct page_rows *rows, const struct place *places)
{
	const size_t count = rows->items.count;
	if (is_sorted(rows, places))
		return 0;
	struct pair *pairs = calloc(count * 2, sizeof(*pairs));
	struct page_row *sorted = calloc(count, sizeof(*sorted));
	if (pairs && sorted) {
		for (size_t i = 0; i < count; i++)
			pairs[i] =
			    (struct pair){ key_of(&rows->items.items[i], places), (uint32_t)i };
		sort_pairs(pairs, pairs + count, count);
		for (size_t i = 0; i < count; i++)
			sorted[i] = rows->items.items[pairs[i].value];
		memcpy(rows->items.items, sorted, count * sizeof(*sorted));
	}
	const int got = pairs && sorted ? 0 : STATUS_NO_MEMORY;
	free(pairs);
	free(sorted);
	return got;
}

/* Rows of one series and bucket become one. Those of a series are sorted by bucket. */
static void join(struct page_rows *rows)
{
	size_t kept = 0;
	for (size_t i = 0; i < rows->series.count; i++)
		rows->series.items[i].row = 0;
	for (size_t i = 0; i < rows->items.count; i++) {
		const struct page_row row = rows->items.items[i];
		struct page_series *series = &rows->series.items[row.series];
		if (series->row && series->bucket == row.bucket) {
			rows->items.items[series->row - 1].count += row.count;
			rows->items.items[series->row - 1].weight =
			    weight_sum(rows->items.items[series->row - 1].weight, row.weight);
			continue;
		}
		rows->items.items[kept++] = row;
		series->bucket = row.bucket;
		series->row = (uint32_t)kept;
	}
	rows->items.count = kept;
}

/* Two buckets become one. */
static int halve(struct page_rows *rows)
{
	rows->shift++;
	for (size_t i = 0; i < rows->items.count; i++)
		rows->items.items[i].bucket /= 2;
	const int got = sort(rows, NULL);
	if (got == 0)
		join(rows);
	return got;
}

static bool is_one_bucket(const struct page_rows *rows)
{
	for (size_t i = 0; i < rows->items.count; i++)
		if (rows->items.items[i].bucket)
			return false;
	return true;
}

/* What has one bucket cannot get smaller: there are so many distinct stacks. */
static int fit(struct page_rows *rows)
{
	const size_t wanted = rows->limit / 4 * 3;
	int got = sort(rows, NULL);
	if (got == 0)
		join(rows);
	while (got == 0 && rows->items.count > wanted && rows->shift < SHIFT_LIMIT &&
	       !is_one_bucket(rows))
		got = halve(rows);
	if (rows->items.count > wanted)
		rows->limit = rows->items.count * 2;
	return got;
}

/* --- adding --- */

/* A sample may come before the first one: bucket 0 then is what was before, too. */
static int find_bucket(struct page_rows *rows, uint64_t time_ns, uint32_t *bucket)
{
	*bucket = 0;
	if (!time_ns)
		return 0;
	if (!rows->first_ns)
		rows->first_ns = time_ns;
	const uint64_t since_ns = time_ns > rows->first_ns ? time_ns - rows->first_ns : 0;
	while (since_ns >> rows->shift >= PAGE_BUCKETS)
		if (halve(rows) < 0)
			return STATUS_NO_MEMORY;
	*bucket = (uint32_t)(since_ns >> rows->shift);
	return 0;
}

int page_rows_add(struct page_rows *rows, uint32_t series_id, const struct page_amount *amount)
{
	uint32_t bucket;
	if (!rows->shift) {
		rows->shift = PAGE_FIRST_SHIFT;
		rows->limit = rows->limit ? rows->limit : PAGE_ROWS;
	}
	if (find_bucket(rows, amount->time_ns, &bucket) < 0)
		return STATUS_NO_MEMORY;
	struct page_series *series = &rows->series.items[series_id];
	if (series->row && series->bucket == bucket) {
		rows->items.items[series->row - 1].count += amount->count;
		rows->items.items[series->row - 1].weight =
		    weight_sum(rows->items.items[series->row - 1].weight, amount->weight);
		return 0;
	}
	struct page_row *made = vector_push(&rows->items);
	if (!made)
		return STATUS_NO_MEMORY;
	*made = (struct page_row){ bucket, series_id, amount->count, amount->weight };
	series->bucket = bucket;
	series->row = (uint32_t)rows->items.count;
	return rows->items.count > rows->limit ? fit(rows) : 0;
}

int page_rows_coarsen(struct page_rows *rows, unsigned shift)
{
	int got = 0;
	while (got == 0 && rows->shift && rows->shift < shift)
		got = halve(rows);
	return got;
}

/* --- the end --- */

static int compare(const void *a_series, const void *b_series, void *context)
{
	const struct page_rows *rows = context;
	const struct page_key *a = &rows->series.items[*(const uint32_t *)a_series].key;
	const struct page_key *b = &rows->series.items[*(const uint32_t *)b_series].key;
	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

static void find_places(struct page_rows *rows, uint32_t *order, struct place *places)
{
	uint32_t event = 0;
	for (uint32_t i = 0; i < rows->series.count; i++)
		order[i] = i;
	qsort_r(order, rows->series.count, sizeof(*order), compare, rows);
	for (uint32_t i = 0; i < rows->series.count; i++) {
		const struct page_series *series = &rows->series.items[order[i]];
		if (i && series->key.event != rows->series.items[order[i - 1]].key.event)
			event++;
		places[order[i]] = (struct place){ .rank = i, .event = event };
	}
}

int page_rows_sort(struct page_rows *rows)
{
	uint32_t *order = calloc(rows->series.count + 1, sizeof(*order));
	struct place *places = calloc(rows->series.count + 1, sizeof(*places));
	int got = STATUS_NO_MEMORY;
	if (order && places) {
		find_places(rows, order, places);
		got = sort(rows, places);
	}
	if (got == 0)
		join(rows);
	free(order);
	free(places);
	return got;
}

void page_rows_clear(struct page_rows *rows)
{
	vector_clear(&rows->items);
	vector_clear(&rows->series);
	free(rows->slots);
	*rows = (struct page_rows){ 0 };
}
