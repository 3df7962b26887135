/* Callgrind's format, of the fixture. */
#include "export/fixture.h"
#include "test.h"

#include <stdlib.h>

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("not there: %s", part);
}

static void numbers_stand_for_names_that_were_told(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	fixture.options.title = "two\nlines";
	char *text = fixture_write(&fixture, &export_callgrind, FIXTURE_CYCLES, NULL);
	has(text, "\ncmd: polyperf record -- app a b\ndesc: Title: two\\nlines\n"
		  "positions: line\nevents: Cycles_u Samples\nsummary: 15500 7\n");
	has(text, "fn=(1) main\n");
	has(text, "cfn=(2) alpha\ncalls=3 3\n10 7500 3\n");
	has(text, "fn=(2)\n4 7500 3\n");
	has(text, "fn=(7) job.run\n");
	has(text, "cfn=(8) zlib.compress\ncalls=4 0\n7 8000 4\n");
	has(text, "fn=(8)\n0 8000 4\n");
	has(text, "[thread]\nfn=(18) app\n");
	has(text, "cfn=(1)\ncalls=3 10\n0 7500 3\n");
	has(text, "\ntotals: 15500 7\n");
	free(text);
	fixture_close(&fixture);
}

/* Of what a function that is in a stack several times calls, and is called by, the sum is right. */
static void recursion_counts_once(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	char *text = fixture_write(&fixture, &export_callgrind, FIXTURE_CPU_CLOCK, NULL);
	has(text, "\nevents: Cpu_ns Samples\nsummary: 88500000 89\n");
	/* main calls alpha in 50 samples; alpha calls beta, which calls alpha again, in 6. */
	has(text, "cfn=(2) alpha\ncalls=50 3\n10 50000000 50\n");
	has(text, "cfn=(3)\ncalls=6 20\n4 6000000 6\n");
	has(text, "cfn=(2)\ncalls=6 3\n20 0 0\n");
	has(text, "cfn=(2)\ncalls=6 3\n4 0 0\n");
	/* An empty stack is the thread's own. */
	has(text, "fn=(18) app\n0 1000000 1\n");
	free(text);
	fixture_close(&fixture);
}

static void names_stay_in_their_lines(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	char *text = fixture_write(&fixture, &export_callgrind, FIXTURE_CPU_CLOCK, NULL);
	has(text, " +7\\n* 9\n");
	has(text, " (2)\\nfn=(1)\n");
	has(text, "fn=(15) (1) calls=2 3\n4294967295 1000000 1\n");
	has(text, "cfn=(16) [no name]\n");
	has(text, ") \\xff\\xfe bytes \\xe2\\x80\\xae left\n");
	free(text);
	struct profile *p = &fixture.profile;
	p->functions.items[0].name = intern_text(&p->strings, "   ");
	p->functions.items[1].name = intern_text(&p->strings, "  x ");
	p->events.items[FIXTURE_CYCLES] = intern_text(&p->strings, "r1;\xc3\xa4 b");
	text = fixture_write(&fixture, &export_callgrind, FIXTURE_CYCLES, NULL);
	has(text, "events: R1____b Samples\n");
	has(text, "fn=(1) [no name]\n");
	free(text);
	fixture_close(&fixture);
}

/* What has lines of another file, and nobody knows by what it was inlined. */
static void lines_of_other_files_are_told_by_fi(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	struct profile *p = &fixture.profile;
	p->frames.items[FRAME_MAIN_RETURN].file = intern_text(&p->strings, "/src/inlined.h");
	char *text = fixture_write(&fixture, &export_callgrind, FIXTURE_CPU_CLOCK, NULL);
	const char *fi = strstr(text, "\nfi=(");
	assert_non_null(fi);
	assert_null(strstr(fi + 1, "\nfi=("));
	const char *name = strchr(fi, ' ');
	assert_memory_equal(name, " /src/inlined.h\ncob=(", 20);
	has(fi, "calls=9 31\n12 9000000 9\n\nob=(");
	free(text);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_stand_for_names_that_were_told),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(names_stay_in_their_lines),
		cmocka_unit_test(lines_of_other_files_are_told_by_fi),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
