#include "agent/jvmti/options.h"
#include "test.h"

#include <string.h>

static void expect_wrong(const char *text, const char *at)
{
	struct options options;
	const char *wrong = NULL;
	assert_false(options_parse(&options, text, &wrong));
	assert_string_equal(wrong, at);
}

static void test_nothing_is_the_default(void **state)
{
	(void)state;
	static const char *const SAME[] = { NULL, "", ",", ",,," };
	for (size_t i = 0; i < sizeof(SAME) / sizeof(SAME[0]); i++) {
		struct options options;
		const char *wrong;
		assert_true(options_parse(&options, SAME[i], &wrong));
		assert_string_equal(options.directory, "");
		assert_string_equal(options.control, "");
		assert_true(options.lines && options.inlines);
		assert_false(options.map || options.interpreted || options.stop);
	}
}

static void test_all_words(void **state)
{
	(void)state;
	struct options options;
	const char *wrong;
	assert_true(options_parse(
	    &options, "dir=/a=b/c,control=/run/x,lines=off,inlines=off,map=on,interpreted=on,stop",
	    &wrong));
	assert_string_equal(options.directory, "/a=b/c");
	assert_string_equal(options.control, "/run/x");
	assert_false(options.lines || options.inlines);
	assert_true(options.map && options.interpreted && options.stop);
}

static void test_what_is_not_understood_is_pointed_at(void **state)
{
	(void)state;
	expect_wrong("dir=/a,line=on", "line=on");
	expect_wrong("lines=yes,map=on", "lines=yes,map=on");
	expect_wrong("dir=relative", "dir=relative");
	expect_wrong("map=on,dir=", "dir=");
	expect_wrong("start", "start");
	expect_wrong("dir=/a,=", "=");
}

static void test_the_longest_path(void **state)
{
	(void)state;
	char text[8 + OPTIONS_PATH_SIZE + 1] = "dir=/";
	struct options options;
	const char *wrong;
	memset(text + 5, 'x', OPTIONS_PATH_SIZE - 2);
	assert_true(options_parse(&options, text, &wrong));
	assert_int_equal(strlen(options.directory), OPTIONS_PATH_SIZE - 1);
	text[5 + OPTIONS_PATH_SIZE - 2] = 'x';
	assert_false(options_parse(&options, text, &wrong));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_the_default),
		cmocka_unit_test(test_all_words),
		cmocka_unit_test(test_what_is_not_understood_is_pointed_at),
		cmocka_unit_test(test_the_longest_path),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
