/* What the text looks like. */
#include "annotate/fixture.h"
#include "test.h"

#include "base/escape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(const char *question, const struct annotate_options *options,
		   const struct annotate_style *style, const char *wanted)
{
	struct fixture f;
	struct sink out = { 0 };
	fixture_begin(&f);
	fixture_fib(&f);
	assert_int_equal(fixture_build(&f, question), 0);
	annotate_write_text(&out, &f.doc, options, style);
	sink_u8(&out, 0);
	assert_false(sink_failed(&out));
	/* cmocka cuts long messages. */
	if (strcmp((const char *)out.data, wanted) != 0)
		fprintf(stderr, "%s\ninstead of\n%s\n", (const char *)out.data, wanted);
	assert_string_equal((const char *)out.data, wanted);
	sink_clear(&out);
	fixture_end(&f);
}

#define HEAD                                           \
	"fib  [jit]  v8\n"                             \
	"98 samples, 95.15% of all 103 of cpu-clock\n" \
	"30 of them in functions inlined into it\n"    \
	" Version  Tier        Loaded            Unloaded            Bytes   Samples  Percent\n"

static void instructions_below_their_lines(void **state)
{
	(void)state;
	expect(
	    "fib", &(struct annotate_options){ .context = 3 },
	    &(struct annotate_style){ .ascii = true },
	    HEAD
	    "       1  sparkplug   -                 -                      20         2    2.04%\n"
	    "*      2  turbofan    1.500000          2.000001               20        96   97.96%\n"
	    "\n"
	    "Version 2, turbofan\n"
	    "  62.50%       60  fib.js:2  while (n > 0)\n"
	    "  31.25%       30  g.js:7\n"
	    "   3.12%        3  fib.js:1  function fib(n) {\n"
	    " Percent  Samples   Off\n"
	    "                             fib.js:\n"
	    "                                 1 function fib(n) {\n"
	    "                      0      push    rbp                          ; prologue, 4 "
	    "bytes\n"
	    "                      1      mov     rbp, rsp\n"
	    "   3.12%        3     2      (inside the instruction above)\n"
	    "                                 2         while (n > 0)\n"
	    "  62.50%       60     4  .-> test    edi, edi                     ; bytecode 12\n"
	    "                      6  |.- jle     b\n"
	    "                         ||  > inlined g at fib.js:3\n"
	    "                         ||  g.js:\n"
	    "                         ||      7\n"
	    "  31.25%       30     8  ||  lea     eax, [rdi + rdi]\n"
	    "                         ||  < back in fib\n"
	    "                         ||  fib.js:\n"
	    "                         ||      3                 n = g(n);\n"
	    "                      b  |'> call    callee\n"
	    "                     10  '-- jne     4                            ; safepoint, "
	    "deopt: wrong map\n"
	    "                     12      pop     rbp\n"
	    "                     13      ret\n"
	    "   2.08%        2    40      (behind the code that is known)\n"
	    "   1.04%        1            (at an unknown place)\n");
}

static void source_lines(void **state)
{
	(void)state;
	expect(
	    "fib", &(struct annotate_options){ .view = ANNOTATE_SOURCE, .context = 1 },
	    &(struct annotate_style){ .width = 0 },
	    HEAD
	    "       1  sparkplug   -                 -                      20         2    2.04%\n"
	    "       2  turbofan    1.500000          2.000001               20        96   97.96%\n"
	    "\n"
	    " Percent  Samples    Line\n"
	    "No file known:\n"
	    "   1.02%        1       -  line not known\n"
	    "fib.js\n"
	    "   2.04%        2       -  line not known\n"
	    "   5.10%        5       1  function fib(n) {\n"
	    "  61.22%       60       2          while (n > 0)\n"
	    "                        3                  n = g(n);\n"
	    "g.js  (source not found)\n"
	    "  30.61%       30       7\n");
}

static void versions_side_by_side(void **state)
{
	(void)state;
	expect(
	    "fib", &(struct annotate_options){ .view = ANNOTATE_VERSIONS, .percent_limit = 5 },
	    &(struct annotate_style){ .width = 0 },
	    HEAD
	    "       1  sparkplug   -                 -                      20         2    2.04%\n"
	    "       2  turbofan    1.500000          2.000001               20        96   97.96%\n"
	    "\n"
	    " Percent  Samples         v1        v2   Line\n"
	    "fib.js\n"
	    "   5.10%        5          2         3      1  function fib(n) {\n"
	    "  61.22%       60                   60      2          while (n > 0)\n"
	    "g.js  (source not found)\n"
	    "  30.61%       30                   30      7\n");
}

static void a_line_and_its_instructions(void **state)
{
	(void)state;
	expect(
	    "g.js:7", &(struct annotate_options){ .context = 1, .raw_bytes = true },
	    &(struct annotate_style){ .ascii = true },
	    "g.js: 30 samples, 29.13% of all 103 of cpu-clock\n"
	    "\n"
	    " Percent  Samples    Line\n"
	    "g.js  (source not found)\n"
	    " 100.00%       30       7\n"
	    "\n"
	    "fib  [jit]  v8\n"
	    "30 samples, 29.13% of all 103 of cpu-clock\n"
	    "30 of them in functions inlined into it\n"
	    " Version  Tier        Loaded            Unloaded            Bytes   Samples  Percent\n"
	    "       2  turbofan    1.500000          2.000001               20        30  100.00%\n"
	    "\n"
	    " Percent  Samples   Off\n"
	    "                                             ...\n"
	    "                                         ||  > inlined g at fib.js:3\n"
	    "                                         ||  g.js:\n"
	    "                                         ||      7\n"
	    " 100.00%       30     8  8d 04 3f        ||  lea     eax, [rdi + rdi]             ; "
	    "bytecode 12\n"
	    "                                             ...\n");
}

static void what_has_no_code(void **state)
{
	(void)state;
	expect("main", &(struct annotate_options){ .context = 1 },
	       &(struct annotate_style){ .width = 60 },
	       "main  [jit]  v8\n"
	       "5 samples, 4.85% of all 103 of cpu-clock\n"
	       " Version  Tier        Loaded            Unloaded\n"
	       "       1  sparkplug   -                 -\n"
	       "\n"
	       "No instructions: its code was not kept.\n"
	       " Percent  Samples    Line\n"
	       "app.js  (source not found)\n"
	       " 100.00%        5      30\n");
	expect("g", &(struct annotate_options){ .context = 1 },
	       &(struct annotate_style){ .width = 0 },
	       "g  [jit]\n"
	       "30 samples where it was inlined into fib (30)\n"
	       "It has no code of its own here: its lines are shown.\n"
	       "\n"
	       " Percent  Samples    Line\n"
	       "g.js  (source not found)\n"
	       " 100.00%       30       7\n");
}

/* Without colour no control byte gets through; with it, only the colours. */
/* A function that was inlined into two versions of another one. */
static void versions_of_one_host_are_told_apart(void **state)
{
	(void)state;
	struct fixture f;
	struct sink text = { 0 };
	struct sink page = { 0 };
	fixture_begin(&f);
	const uint32_t inner = fixture_function(&f, "inner", "c2", 1);
	for (uint32_t version = 1; version <= 2; version++) {
		const uint32_t host = fixture_function(&f, "host", "c2", version);
		const uint32_t around = fixture_frame(&f, host, 4, "a.js", 1);
		fixture_sample(&f, fixture_inlined(&f, inner, around, "a.js", 2), 3 - version);
	}
	const uint32_t other = fixture_function(&f, "other", "c2", 1);
	fixture_sample(&f, fixture_frame(&f, other, 4, "a.js", 9), 1);
	assert_int_equal(fixture_build(&f, "inner"), 0);
	const struct annotate_options options = { .context = 1 };
	annotate_write_text(&text, &f.doc, &options, &(struct annotate_style){ .width = 0 });
	annotate_write_html(&page, &f.doc, &options);
	sink_u8(&text, 0);
	sink_u8(&page, 0);
	assert_non_null(strstr((const char *)text.data,
			       "3 samples where it was inlined into host version 1 (2), host "
			       "version 2 (1)\n"));
	assert_non_null(strstr((const char *)page.data, "<code>host</code> version 2 (1)"));
	text.size = page.size = 0;
	annotate_clear(&f.doc);
	annotate_choice_clear(&f.choice);
	assert_int_equal(fixture_build(&f, "other"), 0);
	annotate_write_text(&text, &f.doc, &options, &(struct annotate_style){ .width = 0 });
	annotate_write_html(&page, &f.doc, &options);
	sink_u8(&text, 0);
	sink_u8(&page, 0);
	assert_non_null(strstr((const char *)text.data, "\n1 sample, 25.00% of all 4"));
	assert_non_null(strstr((const char *)page.data, "<p>1 sample, 25.00% of all 4"));
	sink_clear(&text);
	sink_clear(&page);
	fixture_end(&f);
}

static void of_very_long_lines_a_part_is_shown(void **state)
{
	(void)state;
	enum { SIZE = 100000, AT = 60000 };
	char *source = malloc(SIZE + 1);
	assert_non_null(source);
	/* Characters of two bytes, which are not to be cut. */
	for (size_t i = 0; i < SIZE; i++)
		source[i] = i % 2 ? '\xa4' : '\xc3';
	memcpy(source + AT, "here", 4);
	source[SIZE] = '\0';
	for (int is_page = 0; is_page < 2; is_page++) {
		struct fixture f;
		struct sink out = { 0 };
		fixture_begin(&f);
		fixture_fib(&f);
		f.source_text = source;
		for (size_t i = 0; i < f.listings[2].lines.count; i++)
			f.listings[2].lines.items[i].column = AT + 1;
		assert_int_equal(fixture_build(&f, "fib"), 0);
		const struct annotate_options options = { .context = 1 };
		if (is_page)
			annotate_write_html(&out, &f.doc, &options);
		else
			annotate_write_text(&out, &f.doc, &options, &(struct annotate_style){ 0 });
		sink_u8(&out, 0);
		assert_in_range(out.size, 1000, 20000);
		assert_non_null(strstr((const char *)out.data, "...\xc3\xa4"));
		assert_non_null(strstr((const char *)out.data, "\xa4here\xc3"));
		assert_non_null(strstr((const char *)out.data, "\xc3\xa4..."));
		sink_clear(&out);
		fixture_end(&f);
	}
	free(source);
}

static void hostile_names(void **state)
{
	(void)state;
	static const char evil[] = "\x1b[2J\r\n\xe2\x80\xae\x07<b>";
	for (int colour = 0; colour < 2; colour++) {
		struct fixture f;
		struct sink out = { 0 };
		fixture_begin(&f);
		fixture_fib(&f);
		const uint32_t id = intern_text(&f.profile.strings, evil);
		for (size_t i = 0; i < f.profile.functions.count; i++)
			f.profile.functions.items[i].tier = f.profile.functions.items[i].object =
			    id;
		f.listings[2].scopes.items[0].name = f.listings[2].scopes.items[0].call_file = evil;
		f.listings[2].lines.items[1].file = evil;
		f.listings[2].notes.items[0].kind = f.listings[2].notes.items[0].text = evil;
		f.source_text = "function\x1b[31m\x9b\n\r\x0b\x0c\n";
		assert_int_equal(fixture_build(&f, "fib"), 0);
		annotate_write_text(&out, &f.doc,
				    &(struct annotate_options){ .all_versions = true },
				    &(struct annotate_style){ .colour = colour });
		size_t start = 0;
		size_t colours = 0;
		for (size_t i = 0; i < out.size; i++) {
			if (out.data[i] == '\x1b' && out.data[i + 1] == '[' && colour) {
				colours++;
				out.data[i] = '#';
			}
			if (out.data[i] != '\n')
				continue;
			assert_true(escape_is_plain((struct bytes){ out.data + start, i - start }));
			start = i + 1;
		}
		assert_int_equal(colours > 20 && colours % 2 == 0, colour);
		assert_null(memmem(out.data, out.size, "#[2J", 4));
		sink_clear(&out);
		fixture_end(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_below_their_lines),
		cmocka_unit_test(source_lines),
		cmocka_unit_test(versions_side_by_side),
		cmocka_unit_test(a_line_and_its_instructions),
		cmocka_unit_test(what_has_no_code),
		cmocka_unit_test(versions_of_one_host_are_told_apart),
		cmocka_unit_test(of_very_long_lines_a_part_is_shown),
		cmocka_unit_test(hostile_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
