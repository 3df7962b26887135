#include "inject/perfconfig.h"

#include "test.h"

#include <stdlib.h>

/* The text in memory of its exact size, so that ASan sees a step too far. */
static bool find(const char *text, size_t size, struct sink *value)
{
	uint8_t *copy = malloc(size ? size : 1);
	assert_non_null(copy);
	memcpy(copy, text, size);
	const bool found = perfconfig_find((struct bytes){ copy, size }, "buildid", "dir", value);
	free(copy);
	return found;
}

static void expect(const char *text, const char *expected)
{
	struct sink value = { 0 };
	const bool found = find(text, strlen(text), &value);
	assert_int_equal(found, expected != NULL);
	sink_u8(&value, 0);
	if (expected)
		assert_string_equal((const char *)value.data, expected);
	sink_clear(&value);
}

/* Each held against perf 6.1: where buildid-cache put a file with such a ~/.perfconfig. */
static void values_are_those_that_perf_reads(void **state)
{
	(void)state;
	expect("[buildid]\ndir = /a\n", "/a");
	expect("[buildid]\n\tdir=/a", "/a");
	expect("[BuildId]\ndir = /a\n", "/a");
	expect("[buildid]\nDIR = /a\n", NULL);
	expect("[buildid \"x\"]\ndir = /a\n", NULL);
	expect("[a]\ndir = /b\n[buildid]dir = /a\n", "/a");
	expect("[buildid]\ndir = /a\n[other]\ndir = /b\n", "/a");
	expect("[buildid]\ndir = /a\ndir = /b\n", "/b");
	expect("# c\n; d\n[buildid] # e\n dir = /a # f\n", "/a");
	expect("[buildid]\ndir = /a ; c\n", "/a");
	expect("[buildid]\ndir = \"/a  b\" # c\n", "/a  b");
	expect("[buildid]\ndir = /a   b  \n", "/a b");
	expect("[buildid]\ndir = \"/a;#b\"\n", "/a;#b");
	expect("[buildid]\ndir = /a\\\\b\\\"\n", "/a\\b\"");
	expect("[buildid]\ndir = /a\\\nb\n", "/ab");
	expect("[buildid]\ndir = \n", "");
	expect("[buildid]\r\ndir = /a\r\n", "/a");
	expect("[buildid]\ndirectory = /a\n", NULL);
	expect("dir = /a\n", NULL);
	expect("", NULL);
}

static void nothing_counts_behind_nonsense(void **state)
{
	(void)state;
	expect("[buildid]\ndir = /a\nnonsense\"\ndir = /b\n", "/a");
	expect("[buildid]\ndir = /a\n[x y]\ndir = /b\n", "/a");
	expect("[buildid]\ndir\ndir = /a\n", "/a");
	expect("[buildid]\n= /a\n", NULL);
	expect("[buildid]\ndir = \"/a\n", NULL);
	expect("[buildid]\ndir = /a\\x\n", NULL);
	expect("[buildid\ndir = /a\n", NULL);
	expect("[]\ndir = /a\n", NULL);
	expect("[buildid \"x]\ndir = /a\n", NULL);
	expect("\xff[buildid]\ndir = /a\n", NULL);
}

static const char TEXT[] =
    "# c\n[buildid \"a\"]\n[buildid]\n\tdir = \"/a b\"\\t\\\\x ; d\n[o]\nk\n";

static void every_truncation_and_changed_byte_is_stood(void **state)
{
	(void)state;
	char changed[sizeof(TEXT)];
	struct sink value = { 0 };
	for (size_t size = 0; size < sizeof(TEXT); size++) {
		sink_reset(&value);
		if (find(TEXT, size, &value) && size > 52)
			assert_true(value.size > 0);
	}
	for (size_t i = 0; i < sizeof(TEXT); i++) {
		for (unsigned byte = 0; byte < 256; byte++) {
			memcpy(changed, TEXT, sizeof(TEXT));
			changed[i] = (char)byte;
			sink_reset(&value);
			(void)find(changed, sizeof(TEXT) - 1, &value);
			assert_true(value.size < sizeof(TEXT));
		}
	}
	sink_clear(&value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_those_that_perf_reads),
		cmocka_unit_test(nothing_counts_behind_nonsense),
		cmocka_unit_test(every_truncation_and_changed_byte_is_stood),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
