#include "base/sort.h"

#include <stdbool.h>
#include <string.h>

enum { SMALL = 32, DIGITS = 8, BUCKETS = 256 };

static bool is_sorted(const struct pair *pairs, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (pairs[i].key < pairs[i - 1].key)
			return false;
	}
	return true;
}

static void insertion_sort(struct pair *pairs, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		const struct pair moved = pairs[i];
		size_t at = i;
		for (; at > 0 && pairs[at - 1].key > moved.key; at--)
			pairs[at] = pairs[at - 1];
		pairs[at] = moved;
	}
}

static inline unsigned digit_of(uint64_t key, unsigned digit)
{
	return (unsigned)(key >> (8 * digit)) & (BUCKETS - 1);
}

static void scatter(struct pair *to, const struct pair *from, size_t count, unsigned digit,
		    size_t *bucket_counts)
{
	size_t at = 0;
	for (unsigned b = 0; b < BUCKETS; b++) {
		const size_t here = bucket_counts[b];
		bucket_counts[b] = at;
		at += here;
	}
	for (size_t i = 0; i < count; i++)
		to[bucket_counts[digit_of(from[i].key, digit)]++] = from[i];
}

void sort_pairs(struct pair *pairs, struct pair *spare, size_t count)
{
	if (is_sorted(pairs, count))
		return;
	if (count <= SMALL) {
		insertion_sort(pairs, count);
		return;
	}

	size_t counts[DIGITS][BUCKETS] = { { 0 } };
	for (size_t i = 0; i < count; i++) {
		for (unsigned d = 0; d < DIGITS; d++)
			counts[d][digit_of(pairs[i].key, d)]++;
	}
	struct pair *from = pairs;
	struct pair *to = spare;
	for (unsigned d = 0; d < DIGITS; d++) {
		if (counts[d][digit_of(from[0].key, d)] == count)
			continue;
		scatter(to, from, count, d, counts[d]);
		struct pair *const filled = to;
		to = from;
		from = filled;
	}
	if (from != pairs)
		memcpy(pairs, from, count * sizeof(*pairs));
}
