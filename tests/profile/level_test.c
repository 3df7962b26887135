#include "profile/level.h"

#include "test.h"

#include <string.h>

static void check(const char *runtime, const char *tier, const char *level, uint32_t rank)
{
	assert_string_equal(profile_level_key(profile_level_of(runtime, tier)), level);
	assert_int_equal(profile_tier_rank(runtime, tier), rank);
}

static void tiers_have_levels(void **state)
{
	(void)state;
	check("v8", "ignition", "interpreter", 1);
	check("v8", "turbofan", "optimised", 4);
	check("v8", "builtin", "stub", 0);
	check("v8", "regexp", "compiled", 0);
	check("wasm", "turbofan", "optimised", 0);
	check("jvm", "c1-2", "baseline", 2);
	check("jvm", "c2-osr", "optimised", 0);
	check("jvm", "compiled", "compiled", 0);
	check("jvm", "native", "stub", 0);
	check("dotnet", "prejit", "precompiled", 0);
	check("dotnet", "", "compiled", 0);
	check("php", "interpreter", "interpreter", 0);
	check("python", "trampoline", "interpreter", 0);
	check("bpf", "", "compiled", 0);
	check("native", "", "native", 0);
	check("kernel", "", "kernel", 0);
	check("", "", "unknown", 0);
}

static void only_some_tiers_are_signs(void **state)
{
	(void)state;
	assert_true(profile_tier_is_sign("v8", "maglev"));
	assert_true(profile_tier_is_sign("jvm", "c1-3"));
	assert_false(profile_tier_is_sign("v8", "sparkplug"));
	assert_false(profile_tier_is_sign("jvm", "c1-3-osr"));
	assert_false(profile_tier_is_sign("dotnet", "quick"));
	assert_string_equal(profile_tier_when_again("jvm", "c2"), "interpreter");
	assert_null(profile_tier_when_again("jvm", "c1-3"));
	assert_null(profile_tier_when_again("v8", "turbofan"));
}

static enum profile_level level_in(const char *object)
{
	struct profile p = { 0 };
	struct profile_function *f = vector_push(&p.functions);
	assert_non_null(f);
	f->object = intern_text(&p.strings, object);
	f->is_unknown = true;
	const enum profile_level level = profile_function_level(&p, 0);
	profile_clear(&p);
	return level;
}

static void nameless_code_has_its_owners_level(void **state)
{
	(void)state;
	assert_int_equal(level_in("libc.so.6"), PROFILE_LEVEL_NATIVE);
	assert_int_equal(level_in("[vdso]"), PROFILE_LEVEL_NATIVE);
	assert_int_equal(level_in("[kernel]"), PROFILE_LEVEL_KERNEL);
	assert_int_equal(level_in("//anon"), PROFILE_LEVEL_UNKNOWN);
	assert_int_equal(level_in("[unknown]"), PROFILE_LEVEL_UNKNOWN);
}

static void every_level_has_its_words(void **state)
{
	(void)state;
	for (unsigned a = 0; a < PROFILE_LEVEL_COUNT; a++) {
		assert_true(*profile_level_text((enum profile_level)a));
		for (unsigned b = 0; b < a; b++)
			assert_string_not_equal(profile_level_key((enum profile_level)a),
						profile_level_key((enum profile_level)b));
	}
	assert_string_equal(profile_level_key(PROFILE_LEVEL_COUNT), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tiers_have_levels),
		cmocka_unit_test(only_some_tiers_are_signs),
		cmocka_unit_test(nameless_code_has_its_owners_level),
		cmocka_unit_test(every_level_has_its_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
