/* match.h - the functions of several profiles, each found again in the others.
 *
 *   const struct diff_side sides[] = { { &old, 0 }, { &new, 1 } };
 *   struct diff_match match = { 0 };
 *   if (diff_match_build(&match, sides, 2) == 0) {
 *           const uint32_t id = diff_match_of(&match, 1, frame->function);
 *           const char *key = diff_match_key(&match, id);      the same in both profiles
 *   }
 *   diff_match_clear(&match);
 *
 * A function is (name, object, runtime), as in a report, whatever its tiers and versions. Profiles
 * of one side are runs of one build; the two sides may be two builds. How it is done:
 *
 * 1. Names that are equal when folded for runs (names/stable.h) are one function within a side.
 * 2. Between the sides names are folded for builds. Where each side has one function of a folded
 *    name, they are the same; equal ones without a position are, too.
 * 3. Functions of which a file has several (anonymous ones, `get` of two classes) are told apart by
 *    their lines: most functions of a file move by the same number of lines. The distance that
 *    explains most of them is believed first. Where nothing in the file moved, functions at two
 *    lines are two functions.
 * 4. Where an object is on one side only ("app-1", "app-2"), its functions are found by their names
 *    in the objects that are on the other side only.
 *
 * What is left is on one side only. Nothing is ever joined within a side that step 1 keeps apart.
 *
 * The match borrows nothing from the profiles. Work and memory grow with their functions. One
 * thread while it is built, any number after.
 */
#ifndef DIFF_MATCH_H
#define DIFF_MATCH_H

#include "base/intern.h"
#include "base/vector.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DIFF_BEFORE, DIFF_AFTER, DIFF_SIDES };

struct diff_side {
	const struct profile *profile;
	unsigned side; /* DIFF_BEFORE or DIFF_AFTER */
};

/* How it was found. */
#define DIFF_FOUND_LIST(X)                                          \
	X(ONCE, "once")           /* it is on one side only */      \
	X(SAME, "same")           /* by an equal name */            \
	X(FOLDED, "folded")       /* by a name folded for builds */ \
	X(MOVED, "moved")         /* by its place in the file */    \
	X(ELSEWHERE, "elsewhere") /* in an object of another name */

enum diff_found {
#define X(name, text) DIFF_FOUND_##name,
	DIFF_FOUND_LIST(X)
#undef X
};

const char *diff_found_name(enum diff_found found);

/* All texts are strings of the match. */
struct diff_function {
	uint32_t key; /* "NAME\tOBJECT\tRUNTIME", folded: no two functions have the same */
	uint32_t name[DIFF_SIDES]; /* as people write it; that of the other side where it is not */
	uint32_t object[DIFF_SIDES];
	uint32_t runtime;
	bool is_on[DIFF_SIDES];
	uint8_t found; /* enum diff_found */
};

struct diff_match {
	struct intern strings;
	VECTOR(struct diff_function) functions;
	VECTOR(uint32_t) ids; /* of all profiles' functions, one profile after the other */
	VECTOR(size_t) first; /* where a profile's begin */
};

/* Returns 0 or STATUS_NO_MEMORY. *match is zeroed before, and to be cleared in both cases. */
int diff_match_build(struct diff_match *match, const struct diff_side *sides, size_t count);
void diff_match_clear(struct diff_match *match);

/* Which of match->functions a function of the profile is; both must be in range. */
static inline uint32_t diff_match_of(const struct diff_match *match, size_t profile,
				     uint32_t function)
{
	return match->ids.items[match->first.items[profile] + function];
}

static inline const char *diff_match_key(const struct diff_match *match, uint32_t id)
{
	return intern_get(&match->strings, match->functions.items[id].key);
}

static inline const char *diff_match_text(const struct diff_match *match, uint32_t string)
{
	return intern_get(&match->strings, string);
}

#endif
