#include "timeline/rankset.h"

enum { WORD_BITS = 64, WORD_SHIFT = 6 };

bool rankset_init(struct rankset *set, struct arena *arena, uint32_t capacity)
{
	*set = (struct rankset){ 0 };
	uint32_t words = capacity;
	do {
		/* One word more, so that the question below `capacity` stays inside. */
		words = words / WORD_BITS + 1;
		uint64_t *level = arena_new(arena, uint64_t, words);
		if (!level)
			return false;
		set->levels[set->level_count++] = level;
	} while (words > 1);
	return true;
}

static inline uint64_t bit_of(uint32_t rank)
{
	return UINT64_C(1) << (rank % WORD_BITS);
}

void rankset_add(struct rankset *set, uint32_t rank)
{
	for (uint32_t l = 0; l < set->level_count; l++) {
		set->levels[l][rank >> WORD_SHIFT] |= bit_of(rank);
		rank >>= WORD_SHIFT;
	}
}

void rankset_remove(struct rankset *set, uint32_t rank)
{
	for (uint32_t l = 0; l < set->level_count; l++) {
		uint64_t *word = &set->levels[l][rank >> WORD_SHIFT];
		*word &= ~bit_of(rank);
		if (*word)
			return;
		rank >>= WORD_SHIFT;
	}
}

bool rankset_has(const struct rankset *set, uint32_t rank)
{
	return set->levels[0][rank >> WORD_SHIFT] & bit_of(rank);
}

static inline uint32_t highest_in(uint32_t word_index, uint64_t word)
{
	return (word_index << WORD_SHIFT) + (uint32_t)(WORD_BITS - 1 - __builtin_clzll(word));
}

uint32_t rankset_below(const struct rankset *set, uint32_t rank)
{
	for (uint32_t l = 0; l < set->level_count; l++) {
		const uint32_t index = rank >> WORD_SHIFT;
		const uint64_t lower = set->levels[l][index] & (bit_of(rank) - 1);
		if (lower) {
			uint32_t found = highest_in(index, lower);
			while (l > 0)
				found = highest_in(found, set->levels[--l][found]);
			return found;
		}
		rank = index;
	}
	return RANKSET_NONE;
}
