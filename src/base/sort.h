/* sort.h - stable sorting of many 64-bit keys that carry an index.
 *
 * Radix sort by bytes: linear, whatever the input; bytes that all keys share
 * cost nothing, and input that is in order already costs one look at it.
 */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

struct pair {
	uint64_t key;
	uint32_t value;
};

/* Sorts pairs[] by key; equal keys keep their order. `spare` has as much room. */
void sort_pairs(struct pair *pairs, struct pair *spare, size_t count);

#endif
