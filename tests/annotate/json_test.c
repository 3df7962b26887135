/* JSON: the whole document, and always well-formed. */
#include "annotate/fixture.h"
#include "test.h"

#include <string.h>

/* Strings end, brackets match, no control byte is inside: enough to see what escaping broke. */
static void check_shape(const char *text)
{
	char open[64];
	size_t depth = 0;
	bool in_string = false;
	for (; *text; text++) {
		if (in_string) {
			assert_true((unsigned char)*text >= 0x20);
			if (*text == '\\')
				assert_true(*++text != '\0');
			else if (*text == '"')
				in_string = false;
		} else if (*text == '"') {
			in_string = true;
		} else if (*text == '{' || *text == '[') {
			assert_true(depth < sizeof(open));
			open[depth++] = *text == '{' ? '}' : ']';
		} else if (*text == '}' || *text == ']') {
			assert_true(depth && open[--depth] == *text);
		}
	}
	assert_false(in_string);
	assert_int_equal(depth, 0);
}

static void holds(const char *text, const char *part)
{
	if (!strstr(text, part))
		print_message("missing: %s\nin: %s\n", part, text);
	assert_non_null(strstr(text, part));
}

static void all_is_in_it(void **state)
{
	(void)state;
	struct fixture f;
	struct sink out = { 0 };
	fixture_begin(&f);
	fixture_fib(&f);
	assert_int_equal(fixture_build(&f, "fib"), 0);
	const char *text = fixture_write(&f, &out, FIXTURE_JSON, NULL);
	assert_non_null(text);
	check_shape(text);
	holds(text, "{\"event\":\"cpu-clock\",\"samples\":103,\"weight\":1030,\"files\":[\n"
		    "{\"path\":\"\",\"found\":null,\"is_newer\":false},\n"
		    "{\"path\":\"fib.js\",\"found\":\"fib.js\",\"is_newer\":false}");
	holds(text, "\"line\":1,\"samples\":5,\"weight\":50,\"text\":\"function fib(n) {\","
		    "\"samples_by_version\":[2,3]}");
	holds(text, "\"loaded_ns\":1500000000,\"unloaded_ns\":2000001000");
	holds(text, "{\"kind\":\"inside\",\"offset\":2,\"samples\":3,\"weight\":30,"
		    "\"file\":1,\"line\":1}");
	holds(text, "{\"kind\":\"code\",\"offset\":16,\"samples\":0,\"weight\":0,\"size\":2,"
		    "\"bytes\":\"75f2\",\"text\":\"jne     \",\"flow\":\"branch\","
		    "\"target\":\"0x401004\",\"target_offset\":4,\"notes\":["
		    "{\"offset\":16,\"size\":0,\"kind\":\"safepoint\",\"text\":\"\"},"
		    "{\"offset\":16,\"size\":0,\"kind\":\"deopt\",\"text\":\"wrong map\"}],");
	holds(text, "\"target\":\"0x401100\",\"target_name\":\"callee\"");
	holds(text, "\"bytecode\":12");
	holds(text, "\"scopes\":[{\"name\":\"g\",\"call_file\":\"fib.js\",\"call_line\":3,"
		    "\"call_column\":0,\"around\":null}]");
	holds(text, "\"file\":2,\"line\":7,\"scope\":0}");
	holds(text, "{\"kind\":\"nowhere\",\"samples\":1,\"weight\":10}");
	sink_clear(&out);
	fixture_end(&f);
}

static void without_code_and_of_files(void **state)
{
	(void)state;
	static const struct {
		const char *question;
		const char *part;
	} cases[] = {
		{ "main",
		  "\"no_instructions\":\"its code was not kept\",\"offsets\":[{\"offset\":1,"
		  "\"samples\":5,\"weight\":50}]}" },
		{ "g", "\"inlined_elsewhere\":{\"samples\":30,\"weight\":300,\"lines\":[\n"
		       "{\"file\":1,\"line\":7,\"samples\":30,\"weight\":300}],\"into\":["
		       "{\"symbol\":\"fib\",\"version\":2,\"samples\":30,\"weight\":300}]}" },
		{ "fib.js", "\"source\":\"fib.js\",\"source_line\":0,\"source_lines\":[" },
		{ "fib.js", "\"no_instructions\":null" },
		{ "g.js:7", "\"source\":\"g.js\",\"source_line\":7,\"source_lines\":[" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture f;
		struct sink out = { 0 };
		fixture_begin(&f);
		fixture_fib(&f);
		assert_int_equal(fixture_build(&f, cases[i].question), 0);
		const char *text = fixture_write(&f, &out, FIXTURE_JSON, NULL);
		assert_non_null(text);
		check_shape(text);
		holds(text, cases[i].part);
		sink_clear(&out);
		fixture_end(&f);
	}
}

static void hostile_names(void **state)
{
	(void)state;
	static const char evil[] = "\"},{\\\x01\x1b\n\xff</script>";
	struct fixture f;
	struct sink out = { 0 };
	fixture_begin(&f);
	fixture_fib(&f);
	for (size_t i = 0; i < f.profile.functions.count; i++)
		f.profile.functions.items[i].object = f.profile.functions.items[i].tier =
		    intern_text(&f.profile.strings, evil);
	f.listings[2].scopes.items[0].name = f.listings[2].scopes.items[0].call_file = evil;
	f.listings[2].lines.items[1].file = evil;
	f.listings[2].lines.items[1].text = evil;
	f.listings[2].notes.items[0].kind = f.listings[2].notes.items[0].text = evil;
	f.listings[0].reason = evil;
	assert_int_equal(fixture_build(&f, "fib"), 0);
	const char *text = fixture_write(&f, &out, FIXTURE_JSON, NULL);
	assert_non_null(text);
	check_shape(text);
	sink_clear(&out);
	fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_in_it),
		cmocka_unit_test(without_code_and_of_files),
		cmocka_unit_test(hostile_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
