/* HTML: what is shown, and that no name gets out of its place. */
#include "annotate/fixture.h"
#include "test.h"

#include <string.h>

static void holds(const char *text, const char *part)
{
	if (!strstr(text, part))
		print_message("missing: %s\nin: %s\n", part, text);
	assert_non_null(strstr(text, part));
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;
	for (; (text = strstr(text, part)); text += strlen(part))
		count++;
	return count;
}

static void versions_lines_and_jumps(void **state)
{
	(void)state;
	struct fixture f;
	struct sink out = { 0 };
	fixture_begin(&f);
	fixture_fib(&f);
	assert_int_equal(fixture_build(&f, "fib"), 0);
	const char *text =
	    fixture_write(&f, &out, FIXTURE_HTML, &(struct annotate_options){ .context = 1 });
	assert_non_null(text);
	holds(text, "<!DOCTYPE html>");
	holds(text, "<details id=f0v1 open><summary>Version 2, turbofan: 96 samples</summary>");
	holds(text, "<details id=f0v0><summary>Version 1, sparkplug: 2 samples</summary>");
	/* A jump leads to the row that it jumps to. */
	holds(text, "<a href=\"#f0v1-4\">4</a>");
	holds(text, "<tr id=f0v1-4><td class=\"p hot\" style=\"--p:62.5\">62.50%<td>60");
	holds(text, "<tr id=f0v1-b>");
	holds(text, "inlined g</span> <b>at fib.js:3</b>");
	holds(text, "back in fib</span>");
	holds(text, "safepoint, deopt: wrong map");
	holds(text, "call    callee");
	holds(text, "<th>v1<th>v2");
	assert_int_equal(count_of(text, "<details"), count_of(text, "</details>"));
	assert_int_equal(count_of(text, "<table"), count_of(text, "</table>"));
	assert_int_equal(count_of(text, "<div"), count_of(text, "</div>"));
	/* Nothing is loaded, nothing runs. */
	assert_null(strstr(text, "<script"));
	assert_null(strstr(text, "src="));
	assert_null(strstr(text, "http:"));
	assert_null(strstr(text, "https:"));
	sink_clear(&out);
	fixture_unbuild(&f);
	assert_int_equal(fixture_build(&f, "g.js:7"), 0);
	text =
	    fixture_write(&f, &out, FIXTURE_HTML, &(struct annotate_options){ .raw_bytes = true });
	assert_non_null(text);
	holds(text, "<tr class=asked>");
	holds(text, "8d 04 3f");
	assert_null(strstr(text, "75 f2"));
	sink_clear(&out);
	fixture_end(&f);
}

/* Every tag in the text is one that we write: names and sources bring none. */
static void hostile_names(void **state)
{
	(void)state;
	static const char evil[] =
	    "</title></script></style><evil x=\"\" y=''>&lt;\x1b\xe2\x80\xae\xff\">--><evil>";
	static const char *const questions[] = { "fib", "g", "g.js:7", "g.js" };
	for (size_t q = 0; q < 4; q++) {
		struct fixture f;
		struct sink out = { 0 };
		fixture_begin(&f);
		fixture_fib(&f);
		const uint32_t id = intern_text(&f.profile.strings, evil);
		f.profile.events.items[0] = id;
		for (size_t i = 0; i < f.profile.functions.count; i++) {
			struct profile_function *function = &f.profile.functions.items[i];
			function->object = function->tier = function->runtime = id;
			if (q > 1)
				function->name = id;
		}
		f.listings[2].scopes.items[0].name = f.listings[2].scopes.items[0].call_file = evil;
		f.listings[2].lines.items[1].file = evil;
		f.listings[2].lines.items[1].text = evil;
		f.listings[2].notes.items[0].kind = f.listings[2].notes.items[0].text = evil;
		f.listings[0].reason = evil;
		f.source_text = evil;
		assert_int_equal(fixture_build(&f, questions[q]), 0);
		const char *text = fixture_write(&f, &out, FIXTURE_HTML,
						 &(struct annotate_options){ .context = 9 });
		assert_non_null(text);
		assert_null(strstr(text, "<evil"));
		assert_null(strstr(text, "</script"));
		assert_null(strstr(text, "\x1b"));
		assert_null(strstr(text, "\xe2\x80\xae"));
		assert_int_equal(count_of(text, "</title"), 1);
		assert_int_equal(count_of(text, "</style"), 1);
		assert_int_equal(count_of(text, "-->"), 0);
		holds(text, "evil");
		sink_clear(&out);
		fixture_end(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_lines_and_jumps),
		cmocka_unit_test(hostile_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
