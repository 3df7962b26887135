/* spans.h - ranges of addresses that overlap, made into a table that answers by binary search.
 *
 *   struct span_table ranges = { 0 };
 *   *vector_push(&ranges) = (struct span){ start, end, value };
 *   span_seal(&ranges, &table);                    takes the ranges
 *   const struct span *span = span_find(&table, svma);
 *   vector_clear(&table);
 *
 * Where ranges overlap, the highest value has the addresses.
 */
#ifndef DEBUGINFO_SPANS_H
#define DEBUGINFO_SPANS_H

#include "base/vector.h"

#include <stdint.h>

struct span {
	uint64_t start_svma;
	uint64_t end_svma;
	uint32_t value;
};

struct span_table {
	struct span *items; /* in order, none of them empty, none over another */
	size_t count;
	size_t capacity;
};

/* Takes what was added, in any order, to `ranges`. False without memory. */
bool span_seal(struct span_table *ranges, struct span_table *table);

/* NULL in gaps. */
const struct span *span_find(const struct span_table *table, uint64_t svma);

/* Where the gap around an address that is in none begins and ends. */
void span_gap(const struct span_table *table, uint64_t svma, uint64_t *start_svma,
	      uint64_t *end_svma);

#endif
