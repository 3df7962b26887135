/* One fault a case in a perf map, or in the times beside it. */
#include "check.h"

#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>

/* A heap copy without a byte to spare, so that ASan guards its end. */
static struct bytes copy_of(const char *text, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	assert_non_null(copy);
	memcpy(copy, text, size);
	return (struct bytes){ .data = copy, .size = size };
}

static void free_copy(struct bytes copy)
{
	free((void *)(uintptr_t)copy.data);
}

static uint64_t finds(const char *text, enum lint_kind kind, uint64_t offset)
{
	const struct bytes copy = copy_of(text, strlen(text));
	const uint64_t count = check_finds(copy, kind, offset);
	free_copy(copy);
	return count;
}

static void finds_nothing_in_a_sound_map(void **state)
{
	(void)state;
	static const char text[] = "7f10 10 alpha\n7f20 0x10 be ta\n0x7f30 8 gr\xc3\xb6\xc3\x9f"
				   "e;f<1>\n";
	const struct bytes copy = copy_of(text, sizeof(text) - 1);
	check_clean(copy);
	free_copy(copy);
}

static void finds_bad_lines(void **state)
{
	(void)state;
	assert_int_equal(finds("10 10 a\nalpha beta\n20 10 b\n", LINT_NO_ENTRY, 8), 1);
	assert_int_equal(finds("10 10 a\n20 10 b", LINT_CUT_LINE, 8), 1);
	assert_int_equal(finds("10 10 a\n20 1", LINT_NO_ENTRY, 8), 1);
	assert_int_equal(finds("10 10 a\r\n20 10 b\r\n", LINT_CRLF, 0), 2);
	assert_int_equal(finds("10 10 a\n20 0 b\n", LINT_SIZE_ZERO, 8), 1);
	assert_int_equal(finds("10 10 a\n9 1 b\n", LINT_UNSORTED, 8), 1);
	assert_int_equal(finds("10 10 a\n20 10 (null)\n", LINT_NAME_NULL, 8), 1);
	assert_int_equal(finds("10 10 a\n20 10 \n", LINT_NAME_EMPTY, 8), 1);
	assert_int_equal(finds("10 10 a\n20 10 \x1b[2J\n", LINT_NAME_CONTROL, 8), 1);
	assert_int_equal(finds("10 10 a\n20 10 gr\xf6\xdf\n", LINT_NAME_BYTES, 8), 1);
}

static void finds_lost_newlines(void **state)
{
	(void)state;
	assert_int_equal(finds("10 10 a\n20 10 gr\xc3 00007F1484580018 48 b\n", LINT_TWO_IN_ONE, 8),
			 1);
	/* Words and numbers in names are none. */
	static const char *const sound[] = {
		"10 10 deadbeef 12\n",
		"10 10 a 1234567 12 b\n",
		"10 10 deadbeef xyz 12 b\n",
		"10 10 deadbeef 12xyz b\n",
	};
	for (size_t i = 0; i < sizeof(sound) / sizeof(sound[0]); i++) {
		const struct bytes copy = copy_of(sound[i], strlen(sound[i]));
		check_clean(copy);
		free_copy(copy);
	}
}

static void finds_entries_in_each_others_way(void **state)
{
	(void)state;
	assert_int_equal(finds("10 10 a\n10 10 a\n", LINT_DUPLICATE, 8), 1);
	assert_int_equal(finds("10 10 a\n10 10 b\n", LINT_TWO_NAMES, 8), 1);
	assert_int_equal(finds("10 10 a\n10 8 b\n", LINT_TWO_NAMES, 8), 1);
	assert_int_equal(finds("10 10 a\n10 8 a\n", LINT_MAP_OVERLAP, 8), 1);
	assert_int_equal(finds("10 10 a\n1f 8 b\n", LINT_MAP_OVERLAP, 8), 1);
	/* The third lies in the first, behind the second. */
	assert_int_equal(finds("10 20 a\n12 2 b\n18 8 c\n", LINT_MAP_OVERLAP, 8), 2);
	/* What another entry's name forged: all of user space. */
	assert_int_equal(finds("10 10 a\n400000 7fffffffff FORGED\n", LINT_HUGE, 8), 1);
}

static void finds_an_entry_over_many(void **state)
{
	(void)state;
	struct sink map = { 0 };
	sink_text(&map, "1000 100000 everything\n");
	for (int i = 0; i < 64; i++)
		sink_printf(&map, "%x 10 f%d\n", 0x1010 + i * 0x10, i);
	struct lint lint = { .limit = 0 };
	assert_int_equal(lint_file(&lint, sink_bytes(&map)), 0);
	assert_int_equal(lint.counts[LINT_MAP_OVERLAP], 64);
	assert_int_equal(lint.counts[LINT_HUGE], 1);
	assert_int_equal(check_find(&lint, LINT_HUGE)->line, 1);
	lint_clear(&lint);
	sink_clear(&map);
}

static void finds_bad_times(void **state)
{
	(void)state;
	static const char start[] = "perfmap-times 1\n100 5 7 9\n";
	struct bytes copy = copy_of(start, sizeof(start) - 1);
	check_clean(copy);
	free_copy(copy);
	assert_int_equal(
	    finds("perfmap-times 1\n100 5 7 9\n90 5 7 9\n200 9 9 9\n", LINT_TIMES_LINE, 26), 1);
	assert_int_equal(finds("perfmap-times 1\nx\ny\n200 9 9 9\nz\n", LINT_TIMES_LINE, 16), 3);
	assert_int_equal(finds("perfmap-times 1\n100 5 7 9\n200 9 9", LINT_TIMES_LINE, 26), 1);
	copy = copy_of("perfmap-times 2\n", 16);
	struct lint lint = { .limit = 0 };
	assert_int_equal(lint_file(&lint, copy), STATUS_NOT_FORMAT);
	lint_clear(&lint);
	free_copy(copy);
}

static void survives_every_truncation_and_change(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"0x10 0x20 alpha one\r\n7F000030 40 b\xff 12345678 9 c\n7f000030 8 gamma",
		"perfmap-times 1\n100 5 7 9\n181 9 10 11\n300 11 11 11\n",
	};
	for (size_t which = 0; which < 2; which++) {
		const size_t size = strlen(texts[which]);
		for (size_t cut = 0; cut <= size; cut++) {
			const struct bytes part = copy_of(texts[which], cut);
			struct lint lint = { .limit = 0 };
			(void)lint_file(&lint, part);
			lint_clear(&lint);
			free_copy(part);
		}
		for (size_t at = 0; at < size * 8; at++) {
			const struct bytes copy = copy_of(texts[which], size);
			((uint8_t *)(uintptr_t)copy.data)[at / 8] ^= (uint8_t)(1 << at % 8);
			struct lint lint = { .limit = 0 };
			(void)lint_file(&lint, copy);
			lint_clear(&lint);
			free_copy(copy);
		}
	}
}

static void finds_every_kind(void **state)
{
	(void)state;
	check_all_seen(LINT_NO_ENTRY, LINT_TIMES_LINE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_nothing_in_a_sound_map),
		cmocka_unit_test(finds_bad_lines),
		cmocka_unit_test(finds_lost_newlines),
		cmocka_unit_test(finds_entries_in_each_others_way),
		cmocka_unit_test(finds_an_entry_over_many),
		cmocka_unit_test(finds_bad_times),
		cmocka_unit_test(survives_every_truncation_and_change),
		cmocka_unit_test(finds_every_kind),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
