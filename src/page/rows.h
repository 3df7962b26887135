/* rows.h - samples summed up by time, thread, event and stack, in bounded memory.
 *
 *   struct page_rows rows = { 0 };
 *   page_rows_add(&rows, &(struct page_sample){ .time_ns = ..., ... });
 *   page_rows_sort(&rows);
 *   page_rows_clear(&rows);
 *
 * Time is cut into buckets of equal length, a power of two of nanoseconds. When there would be more
 * than PAGE_BUCKETS of them, or more rows than PAGE_ROWS, two buckets become one: what is kept
 * grows with the distinct stacks, not with the samples. Samples come in any order; those without a
 * time are in the first bucket. One thread.
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

struct page_sample {
	uint64_t time_ns; /* 0: not known */
	uint32_t thread;
	uint32_t event;
	uint32_t node; /* of a page_tree */
	uint64_t count;
	uint64_t weight;
};

struct page_row {
	uint32_t bucket;
	uint32_t thread;
	uint32_t event;
	uint32_t node;
	uint64_t count;
	uint64_t weight;
};

struct page_rows {
	VECTOR(struct page_row) items;
	uint32_t *slots; /* index + 1; 0: free */
	size_t slot_count;
	size_t limit;      /* of rows */
	uint64_t first_ns; /* the start of bucket 0; 0: no sample with a time yet */
	unsigned shift;    /* a bucket's length is 1 << shift ns */
};

/* 0, or STATUS_NO_MEMORY. */
int page_rows_add(struct page_rows *rows, const struct page_sample *sample);
/* Makes buckets longer, up to 1 << shift ns: for two recordings on one axis. */
void page_rows_coarsen(struct page_rows *rows, unsigned shift);
/* By event, bucket, thread and node. Nothing can be added after. */
void page_rows_sort(struct page_rows *rows);
void page_rows_clear(struct page_rows *rows);

#endif
