/* ladder.h - finding a number's place among many sorted ones, with few cache misses.
 *
 *   struct ladder times;
 *   uint64_t *keys = ladder_init(&times, arena, count);     NULL without memory
 *   ... fill keys[0 .. count - 1], ascending ...
 *   ladder_seal(&times, count);
 *   int64_t at = ladder_at_most(&times, key);
 *
 * Above the keys lies every 16th of them, above those every 16th again: a search
 * reads 16 neighbours a rung, where halving would read a new cache line each time.
 */
#ifndef TIMELINE_LADDER_H
#define TIMELINE_LADDER_H

#include "base/arena.h"

#include <stdint.h>

enum { LADDER_RUNGS = 8, LADDER_STEP = 16 };

struct ladder {
	uint64_t *rungs[LADDER_RUNGS]; /* [0] are the keys, padded to whole steps */
	uint32_t rung_count;
	uint32_t count;
};

/* Room for `capacity` keys. */
uint64_t *ladder_init(struct ladder *ladder, struct arena *arena, uint32_t capacity);

/* Builds the rungs above the keys; at most `capacity` of them. */
void ladder_seal(struct ladder *ladder, uint32_t count);

/* The position of the last key that is at most `key`; -1 where all are above it. */
int64_t ladder_at_most(const struct ladder *ladder, uint64_t key);

static inline uint64_t ladder_key(const struct ladder *ladder, uint32_t at)
{
	return ladder->rungs[0][at];
}

#endif
