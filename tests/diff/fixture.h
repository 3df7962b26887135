/* fixture.h - profiles with given functions and counts. */
#ifndef TESTS_DIFF_FIXTURE_H
#define TESTS_DIFF_FIXTURE_H

#include "profile/profile.h"

/* A function of its own stack, `count` samples of weight 1 each; returns its id. Strings that a
 * test does not care for: object "[jit]", runtime "v8".
 */
uint32_t fixture_add(struct profile *p, const char *name, uint64_t count);

struct fixture_function {
	const char *name;
	const char *object;
	const char *runtime;
	uint64_t count;
	uint64_t weight; /* of all samples together */
	uint32_t caller; /* function id + 1; 0: none */
};
uint32_t fixture_put(struct profile *p, const struct fixture_function *function);

/* A number below `limit` of a sequence that is the same in every run. */
uint32_t fixture_random(uint64_t *state, uint32_t limit);

/* How many of `count` samples hit something of that probability. */
uint64_t fixture_draw(uint64_t *state, uint64_t count, double probability);

#endif
