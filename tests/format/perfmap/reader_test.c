/* Perf maps as runtimes write them, and as they must not. */
#include "test.h"

#include "format/perfmap/reader.h"

#include <stdlib.h>

/* A heap copy without a byte to spare, so that ASan guards its end. */
static struct bytes copy_of(const void *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	assert_non_null(copy);
	memcpy(copy, data, size);
	return (struct bytes){ .data = copy, .size = size };
}

static void free_copy(struct bytes copy)
{
	free((void *)(uintptr_t)copy.data);
}

/* Reads a text of one line; returns 1 with *entry (its name copied to `name`), or 0. */
static int read_one(const char *text, struct perfmap_entry *entry, char name[128])
{
	const struct bytes copy = copy_of(text, strlen(text));
	struct perfmap_reader reader;
	struct perfmap_entry extra;
	perfmap_reader_init(&reader, copy);
	const int got = perfmap_reader_next(&reader, entry);
	assert_int_equal(perfmap_reader_next(&reader, &extra), 0);
	assert_int_equal(reader.problem_count, got ? 0 : 1);
	if (got) {
		assert_true(entry->name.size < 128);
		memcpy(name, entry->name.data, entry->name.size);
		name[entry->name.size] = '\0';
	}
	free_copy(copy);
	return got;
}

static void assert_entry(const char *text, uint64_t start, uint64_t size, const char *name)
{
	struct perfmap_entry entry;
	char got_name[128];
	if (read_one(text, &entry, got_name) != 1)
		fail_msg("no entry in \"%s\"", text);
	assert_int_equal(entry.start_avma, start);
	assert_int_equal(entry.size, size);
	assert_string_equal(got_name, name);
	assert_int_equal(entry.end_offset, strlen(text));
}

static void assert_no_entry(const char *text)
{
	struct perfmap_entry entry;
	char name[128];
	if (read_one(text, &entry, name))
		fail_msg("an entry in \"%s\"", text);
}

static void reads_the_shapes_that_runtimes_write(void **state)
{
	(void)state;
	assert_entry("7fc0de00 1a4 LazyCompile:~alpha /tmp/work.js:1\n", 0x7fc0de00, 0x1a4,
		     "LazyCompile:~alpha /tmp/work.js:1");
	assert_entry("0x00007f0a 0x40 int Work.alpha(int, int)\n", 0x7f0a, 0x40,
		     "int Work.alpha(int, int)");
	assert_entry("00007F1484580018 48 stub<1> Allocate<X>\n", 0x7f1484580018, 0x48,
		     "stub<1> Allocate<X>");
	assert_entry("0X7F0A 0XfF alpha\n", 0x7f0a, 0xff, "alpha");
	assert_entry("0000000000000000000007f0a 40 wide\n", 0x7f0a, 0x40, "wide");
	assert_entry("0 0 zero\n", 0, 0, "zero");
	assert_entry("0x0 0x0 zero\n", 0, 0, "zero");
	assert_entry("ffffffffffffff00 ff last\n", 0xffffffffffffff00, 0xff, "last");
}

static void keeps_every_byte_of_the_name(void **state)
{
	(void)state;
	assert_entry("10 20 with  two spaces \n", 0x10, 0x20, "with  two spaces ");
	assert_entry("10 20  begins with one\n", 0x10, 0x20, " begins with one");
	assert_entry("10 20 gr\xf6\xdf"
		     "e\x01\n",
		     0x10, 0x20,
		     "gr\xf6\xdf"
		     "e\x01");
	assert_entry("10 20 0x30 40\n", 0x10, 0x20, "0x30 40");
}

static void takes_other_blanks_and_line_ends(void **state)
{
	(void)state;
	assert_entry("10 20 alpha\r\n", 0x10, 0x20, "alpha");
	assert_entry("  10\t 20\talpha\n", 0x10, 0x20, "alpha");
	assert_entry("\xef\xbb\xbf"
		     "10 20 alpha\n",
		     0x10, 0x20, "alpha");
	assert_entry("10 20 \n", 0x10, 0x20, "");
	assert_entry("10 20\n", 0x10, 0x20, "");
	assert_entry("10 20\r\n", 0x10, 0x20, "");
}

static void passes_over_what_is_no_entry(void **state)
{
	(void)state;
	assert_no_entry("\n");
	assert_no_entry("   \n");
	assert_no_entry(" Script:~ evalmachine.<anonymous>:1\n");
	assert_no_entry("alpha\n"); /* "a" is hex, "al" is not */
	assert_no_entry("10\n");
	assert_no_entry("10 \n");
	assert_no_entry("10 name\n");
	assert_no_entry("10 20name\n");
	assert_no_entry("0x 20 name\n");
	assert_no_entry("-10 20 name\n");
	assert_no_entry("10000000000000000 20 more than 64 bits\n");
	assert_no_entry("ffffffffffffff00 101 wraps\n");
	assert_no_entry("10 ffffffffffffffff wraps\n");
}

static void says_that_the_last_line_is_torn(void **state)
{
	(void)state;
	struct perfmap_entry entry;
	char name[128];
	assert_int_equal(read_one("10 20 alp", &entry, name), 1);
	assert_true(entry.is_last_torn);
	assert_string_equal(name, "alp");
	assert_int_equal(read_one("10 20 alpha\n", &entry, name), 1);
	assert_false(entry.is_last_torn);
	/* A size that may go on is no size. */
	assert_no_entry("10 2");
	assert_no_entry("10 ");
	assert_no_entry("1");
}

static void takes_nuls_for_bytes(void **state)
{
	(void)state;
	static const char text[] = "10 20 a\0b\n\0\0\0\0\n30 40 c\n\0\0\0";
	const struct bytes copy = copy_of(text, sizeof(text) - 1);
	struct perfmap_reader reader;
	struct perfmap_entry entry;
	perfmap_reader_init(&reader, copy);
	assert_int_equal(perfmap_reader_next(&reader, &entry), 1);
	assert_int_equal(entry.name.size, 3);
	assert_memory_equal(entry.name.data, "a\0b", 3);
	assert_int_equal(perfmap_reader_next(&reader, &entry), 1);
	assert_int_equal(entry.start_avma, 0x30);
	assert_int_equal(perfmap_reader_next(&reader, &entry), 0);
	assert_int_equal(reader.problem_count, 2);
	free_copy(copy);
}

static void note_line(void *context, const struct perfmap_problem *problem)
{
	assert_non_null(problem->what);
	uint64_t *place = context;
	place[0] = problem->line;
	place[1] = problem->offset;
}

static void counts_lines_and_offsets(void **state)
{
	(void)state;
	static const char text[] = "10 20 a\n30 40 b\nnonsense\n10 20 a\n";
	const struct bytes copy = copy_of(text, sizeof(text) - 1);
	uint64_t place[2] = { 0 };
	struct perfmap_reader reader;
	struct perfmap_entry entry;
	perfmap_reader_init(&reader, copy);
	reader.on_problem = note_line;
	reader.context = place;
	assert_int_equal(perfmap_reader_next(&reader, &entry), 1);
	assert_int_equal(entry.offset, 0);
	assert_int_equal(entry.end_offset, 8);
	assert_int_equal(perfmap_reader_next(&reader, &entry), 1);
	assert_int_equal(entry.offset, 8);
	assert_int_equal(reader.line, 2);
	assert_int_equal(perfmap_reader_next(&reader, &entry), 1);
	assert_int_equal(entry.offset, 25);
	assert_int_equal(entry.end_offset, 33);
	assert_int_equal(reader.line, 4);
	assert_int_equal(place[0], 3);
	assert_int_equal(place[1], 16);
	assert_int_equal(perfmap_reader_next(&reader, &entry), 0);
	free_copy(copy);
}

static size_t count_entries(struct bytes map)
{
	struct perfmap_reader reader;
	struct perfmap_entry entry;
	size_t count = 0;
	uint64_t offset = 0;
	perfmap_reader_init(&reader, map);
	while (perfmap_reader_next(&reader, &entry) > 0) {
		count++;
		assert_true(entry.offset >= offset && entry.end_offset > entry.offset);
		assert_true(entry.name.data >= map.data + entry.offset);
		assert_true(entry.name.data + entry.name.size <= map.data + entry.end_offset);
		offset = entry.end_offset;
	}
	assert_int_equal(reader.line, count + reader.problem_count);
	return count;
}

static void survives_every_truncation_and_change(void **state)
{
	(void)state;
	static const char text[] = "0x10 0x20 alpha one\r\n"
				   "7F000030 40 b\xff\n"
				   "7f000070 8 gamma";
	static const uint8_t changes[] = { 0x01, 0x10, 0x20, 0x80, 0xff };
	static const size_t ends[] = { 21, 36 };
	const size_t size = sizeof(text) - 1;
	for (size_t cut = 0; cut < size; cut++) {
		const struct bytes part = copy_of(text, cut);
		assert_true(count_entries(part) >= (size_t)(cut >= ends[0]) + (cut >= ends[1]));
		free_copy(part);
	}
	for (size_t at = 0; at < size; at++) {
		for (size_t c = 0; c < sizeof(changes); c++) {
			const struct bytes copy = copy_of(text, size);
			((uint8_t *)(uintptr_t)copy.data)[at] ^= changes[c];
			/* A lost newline merges two lines; nothing else reaches the next line. */
			assert_true(count_entries(copy) >= 2);
			free_copy(copy);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_shapes_that_runtimes_write),
		cmocka_unit_test(keeps_every_byte_of_the_name),
		cmocka_unit_test(takes_other_blanks_and_line_ends),
		cmocka_unit_test(passes_over_what_is_no_entry),
		cmocka_unit_test(says_that_the_last_line_is_torn),
		cmocka_unit_test(takes_nuls_for_bytes),
		cmocka_unit_test(counts_lines_and_offsets),
		cmocka_unit_test(survives_every_truncation_and_change),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
