/* rows.h - samples summed up by time, thread, event and stack, in bounded memory.
 *
 *   struct page_rows rows = { 0 };
 *   uint32_t series = page_rows_series(&rows, &(struct page_key){ thread, event, node });
 *   page_rows_add(&rows, series, &(struct page_amount){ time_ns, 1, period });
 *   page_rows_sort(&rows);
 *   page_rows_clear(&rows);
 *
 * Time is cut into buckets of equal length, a power of two of nanoseconds. When there would be more
 * than PAGE_BUCKETS of them, or more rows than PAGE_ROWS, two buckets become one: what is kept
 * grows with the distinct stacks, not with the samples. A series is what has one thread, event and
 * stack; it knows its newest row, so that samples in the order of time cost no look-up. They may
 * come in any order; those without a time are in the first bucket. One thread.
 */
#ifndef PAGE_ROWS_H
#define PAGE_ROWS_H

#include "base/vector.h"

#include <stdint.h>

enum {
	PAGE_BUCKETS = 2000,
	PAGE_ROWS = 600 * 1000,
	PAGE_FIRST_SHIFT = 18, /* a quarter of a millisecond */
};

struct page_key {
	uint32_t thread;
	uint32_t event;
	uint32_t node; /* of a page_tree */
};

struct page_amount {
	uint64_t time_ns; /* 0: not known */
	uint64_t count;
	uint64_t weight;
};

struct page_row {
	uint32_t bucket;
	uint32_t series;
	uint64_t count;
	uint64_t weight;
};

struct page_series {
	struct page_key key;
	uint32_t bucket; /* of its newest row */
	uint32_t row;    /* index + 1; 0: none */
};

struct page_rows {
	VECTOR(struct page_row) items;
	VECTOR(struct page_series) series;
	uint32_t *slots; /* of series: index + 1; 0: free */
	size_t slot_count;
	size_t limit;      /* of rows; 0: PAGE_ROWS */
	uint64_t first_ns; /* the start of bucket 0; 0: no sample with a time yet */
	unsigned shift;    /* a bucket's length is 1 << shift ns; 0: none added yet */
};

/* INTERN_NONE without memory. */
uint32_t page_rows_series(struct page_rows *rows, const struct page_key *key);

/* All return 0 or STATUS_NO_MEMORY. */
int page_rows_add(struct page_rows *rows, uint32_t series, const struct page_amount *amount);
/* Makes buckets longer, up to 1 << shift ns: for two recordings on one axis. */
int page_rows_coarsen(struct page_rows *rows, unsigned shift);
/* By event, bucket, thread and node, each once. */
int page_rows_sort(struct page_rows *rows);
void page_rows_clear(struct page_rows *rows);

static inline const struct page_key *page_row_key(const struct page_rows *rows, size_t index)
{
	return &rows->series.items[rows->items.items[index].series].key;
}

#endif
