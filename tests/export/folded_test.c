/* Folded stacks, of the fixture. */
#include "export/fixture.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#define HOSTILE "evil:\\n<b>_3;"

/* The long name is cut to its first characters. */
static void expect(const struct export_fixture *fixture, uint32_t event, const char *expected)
{
	char *text = fixture_write(fixture, &export_folded, event, NULL);
	char *name = strstr(text, ";xxxx");
	if (name) {
		char *end = name + 1 + FIXTURE_LONG_NAME_BYTES;
		assert_int_equal(end[-1], 'x');
		assert_int_not_equal(*end, 'x');
		memmove(name + 5, end, strlen(end) + 1);
	}
	assert_string_equal(text, expected);
	free(text);
}

/* One line whichever tier, line or thread; in order; what a name ends in is no count and no kind.
 */
static void stacks_are_joined_by_names(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	expect(
	    &fixture, FIXTURE_CPU_CLOCK,
	    "app 1\n"
	    "app;[unknown] 1\n"
	    "app;main;alpha 39\n"
	    "app;main;alpha;alpha;alpha 3\n"
	    "app;main;alpha;beta;alpha;beta 6\n"
	    "app;main;alpha;do_syscall_64 2\n"
	    "app;main;beta 1\n" HOSTILE "(1) calls=2_3 1\n" HOSTILE
	    "(1) calls=2_3;[no name];xxxx 4\n" HOSTILE
	    "a:b\\nc\\t<script>alert(\"x\")</script>&amp:' --> ]]> \\x1b[31m;sum of_12 2\n" HOSTILE
	    "kind_(j);\\xff\\xfe bytes \\xe2\\x80\\xae left;[no name] 3\n"
	    "worker;main;job.run 9\n"
	    "worker;main;job.run;zlib.compress 8\n"
	    "worker;main;outer 2\n"
	    "worker;main;outer;middle;inner 7\n");
	expect(&fixture, FIXTURE_CYCLES,
	       "app;job.run;zlib.compress 4\n"
	       "app;main;alpha 3\n");
	fixture_close(&fixture);
}

static void options_change_names_and_counts(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	fixture.options.weigh = true;
	expect(&fixture, FIXTURE_CYCLES,
	       "app;job.run;zlib.compress 8000\n"
	       "app;main;alpha 7500\n");
	fixture.options = (struct export_options){ .title = "", .threads = true };
	expect(&fixture, FIXTURE_CYCLES,
	       "app-7/7;main;alpha 3\n"
	       "app-7/9;job.run;zlib.compress 4\n");
	fixture.options = (struct export_options){ .title = "", .reverse = true };
	expect(&fixture, FIXTURE_CYCLES,
	       "alpha;main;app 3\n"
	       "zlib.compress;job.run;app 4\n");
	fixture_close(&fixture);
}

static void kinds_end_names(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	fixture.options.kinds = true;
	char *text = fixture_write(&fixture, &export_folded, FIXTURE_CPU_CLOCK, NULL);
	assert_non_null(strstr(text, "\napp;main;alpha_[j];do_syscall_64_[k] 2\n"));
	assert_non_null(strstr(text, "\nworker;main;job.run_[0];zlib.compress_[0] 8\n"));
	assert_non_null(strstr(text, "\nworker;main;outer_[j];middle_[i];inner_[i] 7\n"));
	assert_non_null(strstr(text, ";kind_(j)_[j];"));
	free(text);
	fixture_close(&fixture);
}

static void one_name_of_two_kinds_is_two(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	for (size_t i = 0; i < fixture.profile.frames.count; i++)
		if (i == FRAME_SLOW)
			fixture.profile.frames.items[i].is_jit = false;
	fixture.options.kinds = true;
	char *text = fixture_write(&fixture, &export_folded, FIXTURE_CPU_CLOCK, NULL);
	assert_non_null(strstr(text, "\napp;main;alpha 5\n"));
	assert_non_null(strstr(text, "\napp;main;alpha_[j] 34\n"));
	free(text);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_are_joined_by_names),
		cmocka_unit_test(options_change_names_and_counts),
		cmocka_unit_test(kinds_end_names),
		cmocka_unit_test(one_name_of_two_kinds_is_two),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
