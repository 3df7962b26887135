#include "profile/level.h"

#include <string.h>

const char *profile_level_key(enum profile_level level)
{
	static const char *const keys[] = {
#define X(name, key, text) [PROFILE_LEVEL_##name] = key,
		PROFILE_LEVEL_LIST(X)
#undef X
	};
	return (unsigned)level < PROFILE_LEVEL_COUNT ? keys[level] : "unknown";
}

const char *profile_level_text(enum profile_level level)
{
	static const char *const texts[] = {
#define X(name, key, text) [PROFILE_LEVEL_##name] = text,
		PROFILE_LEVEL_LIST(X)
#undef X
	};
	return (unsigned)level < PROFILE_LEVEL_COUNT ? texts[level] : "unknown";
}

/* One tier of a runtime; of all runtimes where that is NULL. */
struct tier {
	const char *runtime;
	const char *tier;
	enum profile_level level;
	uint8_t rank; /* as profile_tier_rank() */
	bool is_sign; /* as profile_tier_is_sign() */
};

#define TIER(runtime, tier, level, rank)                          \
	{                                                         \
		runtime, tier, PROFILE_LEVEL_##level, rank, false \
	}
#define SIGN(runtime, tier, level, rank)                         \
	{                                                        \
		runtime, tier, PROFILE_LEVEL_##level, rank, true \
	}

/* A method that C1 compiled without profiling is not worse off than one with: one rank. */
static const struct tier TIERS[] = {
	TIER("v8", "ignition", INTERPRETER, 1),
	TIER("v8", "sparkplug", BASELINE, 2),
	SIGN("v8", "maglev", OPTIMISED, 3),
	SIGN("v8", "turbofan", OPTIMISED, 4),
	TIER("v8", "bytecode", INTERPRETER, 0),
	TIER("jsc", "llint", INTERPRETER, 1),
	TIER("jsc", "baseline", BASELINE, 2),
	SIGN("jsc", "dfg", OPTIMISED, 3),
	SIGN("jsc", "ftl", OPTIMISED, 4),
	TIER("jvm", "interpreter", INTERPRETER, 1),
	SIGN("jvm", "c1-1", BASELINE, 2),
	SIGN("jvm", "c1-2", BASELINE, 2),
	SIGN("jvm", "c1-3", BASELINE, 2),
	SIGN("jvm", "c2", OPTIMISED, 3),
	TIER("jvm", "c1-1-osr", BASELINE, 0),
	TIER("jvm", "c1-2-osr", BASELINE, 0),
	TIER("jvm", "c1-3-osr", BASELINE, 0),
	TIER("jvm", "c2-osr", OPTIMISED, 0),
	TIER("jvm", "native", STUB, 0),
	TIER("dotnet", "prejit", PRECOMPILED, 0),
	TIER("dotnet", "aot", PRECOMPILED, 0),
	TIER("dotnet", "quick", BASELINE, 0),
	TIER("dotnet", "minopt", BASELINE, 0),
	TIER("dotnet", "instrumented", BASELINE, 0),
	TIER("dotnet", "tier1", OPTIMISED, 0),
	TIER("dotnet", "optimized", OPTIMISED, 0),
	TIER("dotnet", "osr", OPTIMISED, 0),
	TIER("wasm", "ipint", INTERPRETER, 0),
	TIER("wasm", "liftoff", BASELINE, 0),
	TIER("wasm", "bbq", BASELINE, 0),
	TIER("wasm", "turbofan", OPTIMISED, 0),
	TIER("wasm", "omg", OPTIMISED, 0),
	/* It does nothing but to call the interpreter for one function. */
	TIER("python", "trampoline", INTERPRETER, 0),
	TIER(NULL, "interpreter", INTERPRETER, 0),
	TIER(NULL, "stub", STUB, 0),
	TIER(NULL, "builtin", STUB, 0),
	TIER(NULL, "thunk", STUB, 0),
	TIER(NULL, "ic", STUB, 0),
	TIER(NULL, "wrapper", STUB, 0),
};

static const struct tier *find_tier(const char *runtime, const char *tier)
{
	for (size_t i = 0; i < sizeof(TIERS) / sizeof(TIERS[0]); i++)
		if (strcmp(TIERS[i].tier, tier) == 0 &&
		    (!TIERS[i].runtime || strcmp(TIERS[i].runtime, runtime) == 0))
			return &TIERS[i];
	return NULL;
}

enum profile_level profile_level_of(const char *runtime, const char *tier)
{
	if (strcmp(runtime, "kernel") == 0)
		return PROFILE_LEVEL_KERNEL;
	if (strcmp(runtime, "native") == 0)
		return PROFILE_LEVEL_NATIVE;
	const struct tier *found = find_tier(runtime, tier);
	if (found)
		return found->level;
	return *runtime ? PROFILE_LEVEL_COMPILED : PROFILE_LEVEL_UNKNOWN;
}

/* Of a function without a name: who owns the memory it is in. */
static enum profile_level level_of_object(const char *object)
{
	static const char kernel[] = "[kernel";
	if (strncmp(object, kernel, sizeof(kernel) - 1) == 0)
		return PROFILE_LEVEL_KERNEL;
	const bool is_file = *object && *object != '[' && *object != '/';
	return is_file || strcmp(object, "[vdso]") == 0 ? PROFILE_LEVEL_NATIVE
							: PROFILE_LEVEL_UNKNOWN;
}

enum profile_level profile_function_level(const struct profile *p, uint32_t function)
{
	const struct profile_function *f = &p->functions.items[function];
	const char *runtime = profile_text(p, f->runtime);
	if (!*runtime)
		return level_of_object(profile_text(p, f->object));
	return profile_level_of(runtime, profile_text(p, f->tier));
}

uint32_t profile_tier_rank(const char *runtime, const char *tier)
{
	const struct tier *found = find_tier(runtime, tier);
	return found ? found->rank : 0;
}

bool profile_tier_is_sign(const char *runtime, const char *tier)
{
	const struct tier *found = find_tier(runtime, tier);
	return found && found->is_sign;
}

const char *profile_tier_when_again(const char *runtime, const char *tier)
{
	const bool is_c2 = strcmp(runtime, "jvm") == 0 && strcmp(tier, "c2") == 0;
	return is_c2 ? "interpreter" : NULL;
}

bool profile_runtime_is_of_thread(const char *runtime)
{
	return strcmp(runtime, "v8") == 0 || strcmp(runtime, "jsc") == 0;
}
