#include "timeline/ladder.h"

static uint32_t steps_over(uint32_t count)
{
	return count / LADDER_STEP + (count % LADDER_STEP != 0);
}

uint64_t *ladder_init(struct ladder *ladder, struct arena *arena, uint32_t capacity)
{
	*ladder = (struct ladder){ 0 };
	uint32_t steps = capacity;
	do {
		steps = steps_over(steps);
		uint64_t *rung = arena_new(arena, uint64_t, (size_t)steps * LADDER_STEP);
		if (!rung)
			return NULL;
		ladder->rungs[ladder->rung_count++] = rung;
	} while (steps > 1);
	return ladder->rungs[0];
}

void ladder_seal(struct ladder *ladder, uint32_t count)
{
	ladder->count = count;
	for (uint32_t r = 0;; r++) {
		uint64_t *rung = ladder->rungs[r];
		const uint32_t steps = steps_over(count);
		for (uint32_t i = count; i < steps * LADDER_STEP; i++)
			rung[i] = UINT64_MAX;
		/* Fewer keys than there was room for can need fewer rungs. */
		if (steps <= 1) {
			ladder->rung_count = r + 1;
			return;
		}
		for (uint32_t s = 0; s < steps; s++)
			ladder->rungs[r + 1][s] = rung[(size_t)s * LADDER_STEP];
		count = steps;
	}
}

int64_t ladder_at_most(const struct ladder *ladder, uint64_t key)
{
	if (!ladder->count || key < ladder->rungs[0][0])
		return -1;
	/* Equals the padding too. */
	if (key == UINT64_MAX)
		return (int64_t)ladder->count - 1;
	size_t at = 0;
	for (uint32_t r = ladder->rung_count; r-- > 0;) {
		const uint64_t *step = ladder->rungs[r] + at * LADDER_STEP;
		size_t below = 0;
		/* All of them, always: counting costs less than guessing where to stop. */
		for (size_t i = 0; i < LADDER_STEP; i += 8) {
			const size_t low = (size_t)(step[i] <= key) + (step[i + 1] <= key) +
					   (step[i + 2] <= key) + (step[i + 3] <= key);
			const size_t high = (size_t)(step[i + 4] <= key) + (step[i + 5] <= key) +
					    (step[i + 6] <= key) + (step[i + 7] <= key);
			below += low + high;
		}
		at = at * LADDER_STEP + below - 1;
	}
	return (int64_t)at;
}
