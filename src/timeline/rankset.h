/* rankset.h - a set of small numbers that knows the largest member below another.
 *
 * A bitmap with summaries above it, 64 to one: three or four words are touched
 * by any operation, however many members there are.
 */
#ifndef TIMELINE_RANKSET_H
#define TIMELINE_RANKSET_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { RANKSET_LEVELS = 6, RANKSET_NONE = 0xffffffff };

struct rankset {
	uint64_t *levels[RANKSET_LEVELS]; /* [0] holds the members */
	uint32_t level_count;
};

/* Empty, for the numbers 0 .. capacity - 1. False without memory. */
bool rankset_init(struct rankset *set, struct arena *arena, uint32_t capacity);

void rankset_add(struct rankset *set, uint32_t rank);
void rankset_remove(struct rankset *set, uint32_t rank);
bool rankset_has(const struct rankset *set, uint32_t rank);

/* The largest member below `rank` (at most the capacity), or RANKSET_NONE. */
uint32_t rankset_below(const struct rankset *set, uint32_t rank);

#endif
