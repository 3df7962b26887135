/* Flame graphs, of the fixture. */
#include "export/fixture.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("not there: %s", part);
}

static void has_not(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("there: %s", part);
}

/* 89 samples on 1180 pixels. */
static void boxes_have_names_widths_and_kinds(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	char *text = fixture_write(&fixture, &export_svg, FIXTURE_CPU_CLOCK, NULL);
	has(text, "<g class=\"all\"><title>all (89 samples, 100%)</title>"
		  "<rect x=\"10.00000\" y=\"160\" width=\"1180.00000\"");
	has(text, "<g class=\"native\"><title>main (51 samples, 57.30%)\nnative, app</title>"
		  "<rect x=\"23.25843\" y=\"128\" width=\"676.17978\" height=\"15\" rx=\"1\"/>"
		  "<text x=\"26.26\" y=\"139\">main</text></g>");
	has(text, "<g class=\"optimised\"><title>alpha (50 samples, 56.18%)\nturbofan, v8, [jit]<");
	has(text, "<g class=\"baseline\"><title>alpha (6 samples, 6.74%)\nsparkplug, v8, [jit]<");
	has(text, "<title>inner (7 samples, 7.87%)\nc2, jvm, [jit], inlined<");
	has(text, "<g class=\"kernel\"><title>do_syscall_64 (2 samples, 2.25%)\n");
	has(text, ">89 samples of cpu-clock<");
	has(text, ">interpreter</text>");
	has(text, ">zlib.compress</text>");
	has(text, ">al..</text>");
	has_not(text, "too narrow");
	free(text);
	fixture_close(&fixture);
}

static void names_stay_within_their_place(void **state)
{
	struct export_fixture fixture;
	size_t scripts = 0;
	(void)state;
	fixture_open(&fixture);
	fixture.options.title = "</title><script>\xff\xef\xbf\xbf";
	char *text = fixture_write(&fixture, &export_svg, FIXTURE_CPU_CLOCK, NULL);
	for (const char *at = text; (at = strstr(at, "<script")); at++)
		scripts++;
	assert_int_equal(scripts, 1);
	has(text, "<title>&#60;/title&#62;&#60;script&#62;\\xff\xef\xbf\xbd</title>");
	has(text,
	    "<title>a;b\\nc\\t&#60;script&#62;alert(&#34;x&#34;)&#60;/script&#62;&#38;amp;&#39;"
	    " --&#62; ]]&#62; \\x1b[31m (2 samples, 2.25%)\n");
	has(text, "<title>[no name] (4 samples, 4.49%)</title>");
	has(text, "xxxx... (4 samples, 4.49%)\n");
	has_not(text, "\xe2\x80\xae");
	assert_true(strlen(text) < 40000);
	free(text);
	fixture_close(&fixture);
}

static void options_turn_it_round(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	fixture.options = (struct export_options){ .title = "", .icicle = true, .reverse = true };
	char *text = fixture_write(&fixture, &export_svg, FIXTURE_CYCLES, NULL);
	has(text, "<title>Icicle graph</title>");
	has(text, ">7 samples of cycles:u, from functions to their callers<");
	has(text, "<title>all (7 samples, 100%)</title><rect x=\"10.00000\" y=\"64\"");
	has(text, "<title>alpha (3 samples, 42.86%)\nturbofan, v8, [jit]</title>"
		  "<rect x=\"10.00000\" y=\"80\" width=\"505.71429\"");
	free(text);
	fixture.options = (struct export_options){ .title = "", .weigh = true };
	text = fixture_write(&fixture, &export_svg, FIXTURE_CYCLES, NULL);
	has(text, "<title>alpha (7,500 cycles:u, 48.39%)\n");
	has(text, ">15,500 cycles:u<");
	free(text);
	text = fixture_write(&fixture, &export_svg, FIXTURE_CPU_CLOCK, NULL);
	has(text, "<title>all (88.500 ms, 100%)</title>");
	has(text, "<title>beta (500.000 us, 0.56%)\n");
	free(text);
	fixture_close(&fixture);
}

/* One sample of 20000 is narrower than a tenth of a pixel; of 11000 it is not. */
static void what_is_too_narrow_is_told_of(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	struct profile_row *row = &fixture.profile.rows.items[0];
	row->count += 11000 - 89;
	char *text = fixture_write(&fixture, &export_svg, FIXTURE_CPU_CLOCK, NULL);
	has_not(text, "too narrow");
	has(text, "<g class=\"optimised thin\"><title>beta (1 sample, 0.01%)");
	free(text);
	row->count += 9000;
	text = fixture_write(&fixture, &export_svg, FIXTURE_CPU_CLOCK, NULL);
	has_not(text, "<title>beta (1 sample,");
	/* [unknown] and beta; an empty stack is the thread's. */
	has(text, ">2 functions are too narrow to be drawn, of 2 samples<");
	free(text);
	fixture_close(&fixture);
}

static void far_eastern_names_fit_too(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	struct profile *p = &fixture.profile;
	/* Its box has room for four columns. */
	p->functions.items[p->frames.items[FRAME_HOSTILE_KIND].function].name =
	    intern_text(&p->strings, "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2");
	char *text = fixture_write(&fixture, &export_svg, FIXTURE_CPU_CLOCK, NULL);
	has(text, ">\xe6\xbc\xa2..</text>");
	free(text);
	fixture_close(&fixture);
}

static void nothing_is_a_picture_too(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	fixture.profile.rows.count = 0;
	char *text = fixture_write(&fixture, &export_svg, FIXTURE_CPU_CLOCK, NULL);
	has(text, "<title>all (0 samples, 100%)</title><rect x=\"10.00000\" y=\"64\" "
		  "width=\"1180.00000\"");
	has(text, "</svg>");
	free(text);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boxes_have_names_widths_and_kinds),
		cmocka_unit_test(names_stay_within_their_place),
		cmocka_unit_test(options_turn_it_round),
		cmocka_unit_test(what_is_too_narrow_is_told_of),
		cmocka_unit_test(far_eastern_names_fit_too),
		cmocka_unit_test(nothing_is_a_picture_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
