#include "diff/write.h"

#include "diff/fixture.h"
#include "test.h"

#include <string.h>

/* "evil" ends the row, the field, the string and the terminal's line; the long one is cut. */
static const char EVIL[] = "evil\"\n,\x1b[31m";
static const char LONG[] = "aVeryLongNameOfAFunctionThatNoTerminalShowsWhole w.js:7:1";

struct scene {
	struct profile profiles[DIFF_SIDES];
	struct diff diff;
	struct sink out;
};

static void make(struct scene *s, enum diff_by by)
{
	memset(s, 0, sizeof(*s));
	fixture_add(&s->profiles[0], EVIL, 1000);
	fixture_add(&s->profiles[0], LONG, 500);
	fixture_add(&s->profiles[0], "gone w.js:1:1", 300);
	fixture_add(&s->profiles[1], EVIL, 2000);
	fixture_add(&s->profiles[1], LONG, 510);
	fixture_add(&s->profiles[1], "fresh w.js:2:1", 300);
	fixture_add(&s->profiles[1], "rare w.js:3:1", 1);
	const struct diff_recording recordings[] = { { .profile = &s->profiles[0] },
						     { .profile = &s->profiles[1], .side = 1 } };
	assert_int_equal(diff_build(&s->diff, recordings, 2, &(struct diff_options){ .by = by }),
			 0);
}

static void clear(struct scene *s)
{
	diff_clear(&s->diff);
	profile_clear(&s->profiles[0]);
	profile_clear(&s->profiles[1]);
	sink_clear(&s->out);
}

static const char *name_of(const struct scene *s, size_t at)
{
	const struct diff_row *row = &s->diff.rows.items[s->diff.order.items[at]];
	const struct diff_function *f = &s->diff.match.functions.items[row->function];
	return diff_match_text(&s->diff.match, f->name[DIFF_AFTER]);
}

static struct diff_view view_of(const struct scene *s)
{
	return (struct diff_view){ .diff = &s->diff, .events = { "cycles", "cycles\x1b" } };
}

static const char *written(struct scene *s)
{
	assert_false(sink_failed(&s->out));
	sink_u8(&s->out, '\0');
	return (const char *)s->out.data;
}

static void test_text(void **state)
{
	(void)state;
	struct scene s;
	make(&s, DIFF_BY_TOTAL);
	const struct diff_view view = view_of(&s);
	diff_write_text(&s.out, &view, 80);
	const char *text = written(&s);
	assert_null(strchr(text, '\x1b'));
	assert_non_null(strstr(text, "cycles before, cycles\\x1b after, events: "));
	assert_non_null(strstr(text, "1.00 k  2.00 k  +1.00 k    137  more"));
	assert_non_null(strstr(text, "  more      evil\"\\n,\\x1b[31m"));
	assert_non_null(strstr(text, "  vanished  gone w.js:1:1"));
	assert_non_null(strstr(text, "  appeared  fresh w.js:2:1"));
	assert_non_null(strstr(text, "  noise     aVeryLong"));
	assert_non_null(strstr(text, "~  [jit]\n"));
	/* No line of the table is wider than the terminal. */
	const char *line = strstr(text, "\n\n") + 2;
	for (const char *end; (end = strchr(line, '\n')); line = end + 1)
		assert_true(end - line <= 80);
	clear(&s);
}

static void test_csv(void **state)
{
	(void)state;
	struct scene s;
	make(&s, DIFF_BY_SHARE);
	const struct diff_view view = view_of(&s);
	diff_choose(&s.diff, &(struct diff_choice){ .symbols = "evil*,gone*" });
	diff_write_csv(&s.out, &view);
	const char *text = written(&s);
	assert_non_null(strstr(text, ",1000,2000,\"evil\"\"\\n,\\x1b[31m\","));
	assert_non_null(strstr(text, "vanished,16.6666667,0,-16.6666667,"));
	assert_non_null(strstr(text, ",300,0,gone w.js:1:1,gone w.js:1:1,[jit],v8,once\n"));
	assert_null(strstr(text, "fresh"));
	clear(&s);
}

static void test_json(void **state)
{
	(void)state;
	struct scene s;
	make(&s, DIFF_BY_SHARE);
	const struct diff_view view = view_of(&s);
	diff_choose(&s.diff, &(struct diff_choice){ .changed = true });
	diff_write_json(&s.out, &view);
	const char *text = written(&s);
	assert_non_null(strstr(text, "\"symbol\":\"evil\\\"\\u000a,\\u001b[31m\""));
	assert_non_null(strstr(text, "\"event\":\"cycles\\u001b\""));
	assert_null(strstr(text, "rare"));
	assert_null(strchr(text, '\x1b'));
	clear(&s);
}

static void test_choice(void **state)
{
	(void)state;
	struct scene s;
	make(&s, DIFF_BY_SHARE);
	diff_choose(&s.diff, &(struct diff_choice){ .sort = DIFF_SORT_AFTER, .percent_limit = 1 });
	assert_int_equal(s.diff.order.count, 4);
	assert_string_equal(name_of(&s, 0), EVIL);
	assert_string_equal(name_of(&s, 1), LONG);
	diff_choose(&s.diff, &(struct diff_choice){ .sort = DIFF_SORT_SYMBOL });
	assert_string_equal(name_of(&s, 0), LONG);
	diff_choose(&s.diff, &(struct diff_choice){ .sort = DIFF_SORT_RATIO, .top = 2 });
	assert_int_equal(s.diff.order.count, 2);
	assert_true(strstr(name_of(&s, 0), "gone") || strstr(name_of(&s, 0), "fresh"));
	assert_int_equal(diff_sort_find("before"), DIFF_SORT_BEFORE);
	assert_int_equal(diff_sort_find("colour"), -1);
	clear(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_choice),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
