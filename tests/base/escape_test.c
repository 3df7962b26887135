#include "base/escape.h"

#include "test.h"

#define TEXT(literal) ((struct bytes){ (const uint8_t *)(literal), sizeof(literal) - 1 })

static void assert_escaped(void (*escape)(struct sink *, struct bytes), struct bytes text,
			   const char *expected)
{
	struct sink out = { 0 };
	escape(&out, text);
	sink_u8(&out, '\0');
	assert_false(sink_failed(&out));
	assert_string_equal((char *)out.data, expected);
	sink_clear(&out);
}

static void terminals_get_no_control_bytes(void **state)
{
	(void)state;
	assert_escaped(escape_terminal, TEXT(""), "");
	assert_escaped(escape_terminal, TEXT("Work.alpha(int, \"x\")"), "Work.alpha(int, \"x\")");
	assert_escaped(escape_terminal,
		       TEXT("gr\xc3\xb6\xc3\x9f\x65 \xe2\x82\xac \xf0\x9f\x98\x80"),
		       "gr\xc3\xb6\xc3\x9f\x65 \xe2\x82\xac \xf0\x9f\x98\x80");
	assert_escaped(escape_terminal, TEXT("\x1b[31mred\x7f\a"), "\\x1b[31mred\\x7f\\x07");
	assert_escaped(escape_terminal, TEXT("a\nb\tc\rd\0e"), "a\\nb\\tc\\x0dd\\x00e");
	/* C1 controls: U+0085 and U+009B as UTF-8. */
	assert_escaped(escape_terminal, TEXT("\xc2\x85\xc2\x9b"), "\\xc2\\x85\\xc2\\x9b");
	/* U+202E turns the rest of the line, U+2066 a part of it; U+2028 ends it. */
	assert_escaped(escape_terminal,
		       TEXT("a\xe2\x80\xae"
			    "b"),
		       "a\\xe2\\x80\\xae"
		       "b");
	assert_escaped(escape_terminal, TEXT("\xe2\x81\xa6\xe2\x80\xa8"),
		       "\\xe2\\x81\\xa6\\xe2\\x80\\xa8");
	assert_escaped(escape_terminal, TEXT("\xe2\x80\xa7\xe2\x80\xaf"),
		       "\xe2\x80\xa7\xe2\x80\xaf");
	/* Not UTF-8: alone, cut, overlong, a surrogate, past U+10FFFF. */
	assert_escaped(escape_terminal, TEXT("\xff"), "\\xff");
	assert_escaped(escape_terminal, TEXT("\xe2\x82"), "\\xe2\\x82");
	assert_escaped(escape_terminal, TEXT("\xc0\xaf"), "\\xc0\\xaf");
	assert_escaped(escape_terminal, TEXT("\xed\xa0\x80"), "\\xed\\xa0\\x80");
	assert_escaped(escape_terminal, TEXT("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

static void json_stays_a_string(void **state)
{
	(void)state;
	assert_escaped(escape_json, TEXT("a\"b\\c"), "a\\\"b\\\\c");
	assert_escaped(escape_json, TEXT("\x01\n\x7f"), "\\u0001\\u000a\\u007f");
	assert_escaped(escape_json, TEXT("\xc3\xb6\xff"), "\xc3\xb6\xef\xbf\xbd");
	assert_escaped(escape_json, TEXT("\xc2\x9b"), "\\u009b");
	assert_escaped(escape_json, TEXT("\xe2\x80\xae"), "\\u202e");
}

static void csv_stays_one_field(void **state)
{
	(void)state;
	assert_escaped(escape_csv, TEXT("plain"), "plain");
	assert_escaped(escape_csv, TEXT("alpha(int, int)"), "\"alpha(int, int)\"");
	assert_escaped(escape_csv, TEXT("say \"x\""), "\"say \"\"x\"\"\"");
	assert_escaped(escape_csv, TEXT("two\nlines"), "two\\nlines");
	assert_escaped(escape_csv, TEXT(""), "");
}

static void html_stays_text(void **state)
{
	(void)state;
	assert_escaped(escape_html, TEXT("plain größe"), "plain größe");
	assert_escaped(escape_html, TEXT("</script><b a=\"x\" c='&amp;'>"),
		       "&#60;/script&#62;&#60;b a=&#34;x&#34; c=&#39;&#38;amp;&#39;&#62;");
	assert_escaped(escape_html, TEXT("\0\x1b[2J\xe2\x80\xae\xff\n"),
		       "\\x00\\x1b[2J\\xe2\\x80\\xae\\xff\\n");
	assert_escaped(escape_html, TEXT(""), "");
}

/* Every byte in every place: what comes out is plain, and plain text comes out unchanged. */
static void the_result_is_always_plain(void **state)
{
	(void)state;
	for (unsigned value = 0; value < 0x10000; value++) {
		const uint8_t text[4] = { 'x', (uint8_t)(value >> 8), (uint8_t)value, 'y' };
		const struct bytes in = { text, sizeof(text) };
		struct sink once = { 0 };
		struct sink twice = { 0 };
		escape_terminal(&once, in);
		assert_true(escape_is_plain(sink_bytes(&once)));
		escape_terminal(&twice, sink_bytes(&once));
		assert_int_equal(once.size, twice.size);
		assert_memory_equal(once.data, twice.data, once.size);
		const bool same = once.size == in.size && memcmp(once.data, text, in.size) == 0;
		assert_int_equal(escape_is_plain(in), same);
		sink_clear(&once);
		sink_clear(&twice);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(terminals_get_no_control_bytes),
		cmocka_unit_test(json_stays_a_string),
		cmocka_unit_test(csv_stays_one_field),
		cmocka_unit_test(html_stays_text),
		cmocka_unit_test(the_result_is_always_plain),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
