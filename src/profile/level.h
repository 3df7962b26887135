/* level.h - what kind of code a tier is, in words that hold for all runtimes.
 *
 *   enum profile_level level = profile_level_of("v8", "maglev");       PROFILE_LEVEL_OPTIMISED
 *   puts(profile_level_text(level));                                   "optimised"
 *
 * Runtimes name their compilers ("c1-3", "dfg", "tier1"); a picture of a whole run needs few
 * colours. docs/formats/names.md lists the tiers. No state, no errors, any thread.
 */
#ifndef PROFILE_LEVEL_H
#define PROFILE_LEVEL_H

#include "profile/profile.h"

/* A key for programs, words for people. In the order in which views stack them. */
#define PROFILE_LEVEL_LIST(X)                         \
	X(INTERPRETER, "interpreter", "interpreter")  \
	X(BASELINE, "baseline", "baseline")           \
	X(OPTIMISED, "optimised", "optimised")        \
	X(COMPILED, "compiled", "compiled, one tier") \
	X(PRECOMPILED, "precompiled", "precompiled")  \
	X(STUB, "stub", "stubs and built-ins")        \
	X(NATIVE, "native", "native")                 \
	X(KERNEL, "kernel", "kernel")                 \
	X(UNKNOWN, "unknown", "unknown")

enum profile_level {
#define X(name, key, text) PROFILE_LEVEL_##name,
	PROFILE_LEVEL_LIST(X)
#undef X
	    PROFILE_LEVEL_COUNT
};

const char *profile_level_key(enum profile_level level);
const char *profile_level_text(enum profile_level level);

/* Of code of a runtime, both as a function has them. A tier that the runtime does not tell, or
 * that is none of its own, is COMPILED: somebody made it at run time.
 */
enum profile_level profile_level_of(const char *runtime, const char *tier);

enum profile_level profile_function_level(const struct profile *p, uint32_t function);

/* How far up a tier is among those that a function of the runtime may leave again, from 1; 0: the
 * runtime does not take code back, or this is no tier of functions.
 */
uint32_t profile_tier_rank(const char *runtime, const char *tier);

/* Whether a runtime compiles code of the tier only for a function that has nothing better in use:
 * that it does so after it compiled better code shows that this was given up. V8's and JSC's
 * baseline compilers run by the number of calls, whatever else there is.
 */
bool profile_tier_is_sign(const char *runtime, const char *tier);

/* The tier in which a function went on that is compiled in this one a second time: the code before
 * was given up. NULL where that shows nothing: V8 may optimise each closure of a function by
 * itself.
 */
const char *profile_tier_when_again(const char *runtime, const char *tier);

/* Whether each thread of the runtime that has code has its own: JavaScript's workers. */
bool profile_runtime_is_of_thread(const char *runtime);

#endif
