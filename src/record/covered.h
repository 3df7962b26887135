/* covered.h - which bytes of a process's memory were spoken of, byte by byte.
 *
 *   struct covered covered = { 0 };
 *   if (!covered_meets(&covered, start_avma, size))
 *           covered_add(&covered, start_avma, size);
 *   covered_clear(&covered);
 *
 * For ranges of at most some megabytes: the work and the memory (an eighth of a byte
 * for each byte, in whole pages) grow with their size. One thread.
 */
#ifndef RECORD_COVERED_H
#define RECORD_COVERED_H

#include "base/vector.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	COVERED_PAGE_BYTES = 4096,
	COVERED_PAGE_WORDS = COVERED_PAGE_BYTES / 64,
	COVERED_PAGE_LIMIT = 1 << 16, /* 33 MB */
};

struct covered_page {
	uint64_t number; /* address / COVERED_PAGE_BYTES */
	uint64_t bits[COVERED_PAGE_WORDS];
};

struct covered {
	VECTOR(struct covered_page) pages;
	uint32_t *slots; /* index + 1, or 0; by number */
	size_t slot_count;
};

/* True if any byte of the range was added. */
bool covered_meets(const struct covered *covered, uint64_t start_avma, uint64_t size);

/* False without memory, or beyond COVERED_PAGE_LIMIT: the range is then added in part. */
bool covered_add(struct covered *covered, uint64_t start_avma, uint64_t size);

/* Adds all that `other` holds. */
bool covered_merge(struct covered *covered, const struct covered *other);

void covered_clear(struct covered *covered);

#endif
