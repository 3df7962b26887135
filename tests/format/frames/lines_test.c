#include "format/frames/lines.h"

#include "test.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TABLE = 4096 };

/* An exact copy, so that a sanitizer sees what goes beyond it. */
static struct bytes from_hex(const char *text)
{
	const size_t size = text[0] == '-' ? 0 : strlen(text) / 2;
	uint8_t *copy = malloc(size ? size : 1);
	assert_non_null(copy);
	for (size_t i = 0; i < size; i++) {
		unsigned byte;
		assert_int_equal(sscanf(text + 2 * i, "%2x", &byte), 1);
		copy[i] = (uint8_t)byte;
	}
	return (struct bytes){ copy, size };
}

/* All positions from one change of the line to the next. */
static size_t check_line(char *line)
{
	char *save = NULL;
	const unsigned kind = (unsigned)strtoul(strtok_r(line, " \n", &save), NULL, 10);
	const int32_t first = (int32_t)strtol(strtok_r(NULL, " \n", &save), NULL, 10);
	const struct bytes table = from_hex(strtok_r(NULL, " \n", &save));
	int32_t expected = 0;
	int32_t position = 0;
	size_t checked = 0;
	for (char *word; (word = strtok_r(NULL, " \n", &save));) {
		char *colon = strchr(word, ':');
		const int32_t next = (int32_t)strtol(word, NULL, 10);
		for (; position < next; position += 2, checked++)
			assert_int_equal(frames_line(kind, table, first, position), expected);
		expected = (int32_t)strtol(colon + 1, NULL, 10);
	}
	assert_int_equal(frames_line(kind, table, first, -2), first);
	free((void *)(uintptr_t)table.data);
	return checked;
}

/* What each version of CPython says of its own code. */
static void test_tables_of_all_versions(void **state)
{
	glob_t paths;
	(void)state;
	assert_int_equal(glob(TEST_DATA "/frames/*.lines", 0, NULL, &paths), 0);
	assert_true(paths.gl_pathc >= 6);
	for (size_t i = 0; i < paths.gl_pathc; i++) {
		FILE *in = fopen(paths.gl_pathv[i], "r");
		char *line = NULL;
		size_t room = 0;
		size_t checked = 0;
		assert_non_null(in);
		while (getline(&line, &room, in) > 0)
			checked += check_line(line);
		assert_true(checked > 100);
		free(line);
		fclose(in);
	}
	globfree(&paths);
}

/* A table that was cut answers for what it has. */
static void test_cut_tables(void **state)
{
	static const uint8_t locations[] = { 0x80, 0x00, 0xd8, 0x04, 0x05 };
	(void)state;
	for (size_t size = 0; size <= sizeof(locations); size++) {
		uint8_t *copy = malloc(size ? size : 1);
		assert_non_null(copy);
		memcpy(copy, locations, size);
		const struct bytes table = { copy, size };
		for (unsigned kind = 0; kind <= WALK_TABLE_KIND_COUNT; kind++)
			for (int32_t at = 0; at < 8; at++)
				(void)frames_line(kind, table, 1, at);
		assert_int_equal(frames_line(WALK_TABLE_LOCATIONS, table, 3, 0), 3);
		free(copy);
	}
}

static void test_numbers_without_end(void **state)
{
	uint8_t more[MAX_TABLE];
	(void)state;
	/* A kind with a line, and a number that goes on and on. */
	memset(more, 0x7f, sizeof(more));
	more[0] = 0xe8;
	(void)frames_line(WALK_TABLE_LOCATIONS, (struct bytes){ more, sizeof(more) }, 1, 0);
	memset(more, 0x80, sizeof(more));
	assert_int_equal(
	    frames_line(WALK_TABLE_LNOTAB, (struct bytes){ more, sizeof(more) }, 1, INT32_MAX), 0);
	assert_int_equal(
	    frames_line(WALK_TABLE_LINETABLE, (struct bytes){ more, sizeof(more) }, 1, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables_of_all_versions),
		cmocka_unit_test(test_cut_tables),
		cmocka_unit_test(test_numbers_without_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
