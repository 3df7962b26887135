#include "base/pattern.h"
#include "test.h"

#include <string.h>

static void one_of_a_list_is_enough(void **state)
{
	(void)state;
	assert_true(pattern_matches("a", "a"));
	assert_true(pattern_matches("b,a", "a"));
	assert_true(pattern_matches("b,a*,c", "abc"));
	assert_true(pattern_matches("lib?.so", "libc.so"));
	assert_false(pattern_matches("lib?.so", "libc.so.6"));
	assert_false(pattern_matches("b", "a"));
}

static void no_list_is_everything_and_an_empty_one_nothing(void **state)
{
	(void)state;
	assert_true(pattern_matches(NULL, "a"));
	assert_false(pattern_matches("", "a"));
	assert_false(pattern_matches(",", ""));
}

static void a_pattern_without_end_matches_nothing(void **state)
{
	(void)state;
	char stars[514];
	memset(stars, '*', sizeof(stars) - 1);
	stars[sizeof(stars) - 1] = '\0';
	assert_false(pattern_matches(stars, "a"));
	stars[511] = '\0';
	assert_true(pattern_matches(stars, "a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_a_list_is_enough),
		cmocka_unit_test(no_list_is_everything_and_an_empty_one_nothing),
		cmocka_unit_test(a_pattern_without_end_matches_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
