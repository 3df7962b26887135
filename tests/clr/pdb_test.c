/* The PDBs of tests/data/clr/Demo.cs: portable.pdb, sources.pdb (optimised), and one embedded. */
#include "clr/pdb.h"

#include "base/status.h"
#include "clr/pdb_exercise.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#define DATA TEST_DATA "/clr/"
#define CORPUS TEST_DATA "/../../fuzz/corpus/clr_pdb/"

/* Methods of Demo, in the order of the source. */
enum {
	TWICE = 0x06000001,
	SUM,
	SEVERAL,
	COUNT_KICKOFF = 0x06000005,
	LATER_KICKOFF = 0x06000004,
	AREA = 0x06000008,
	LATER_MOVE_NEXT = 0x06000016,
	COUNT_MOVE_NEXT = 0x0600000f,
	NO_METHOD = 0x06ffffff,
};

/* Memory of exactly this size, so that a read behind it is seen. Freed by the caller. */
static struct bytes read_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	if (!file)
		fail_msg("%s cannot be opened", path);
	static uint8_t room[1 << 16];
	const size_t size = fread(room, 1, sizeof(room), file);
	(void)fclose(file);
	uint8_t *data = malloc(size);
	assert_non_null(data);
	memcpy(data, room, size);
	return (struct bytes){ data, size };
}

static void free_bytes(struct bytes bytes)
{
	free((void *)bytes.data);
}

static void check_place(const struct clr_pdb *pdb, uint32_t token, uint32_t il_off,
			const char *wanted)
{
	struct clr_line line;
	struct sink out = { 0 };
	if (clr_pdb_find(pdb, token, il_off, &line)) {
		assert_true(clr_pdb_document(pdb, line.document, &out));
		sink_printf(&out, ":%u:%u-%u:%u", line.line, line.column, line.end_line,
			    line.end_column);
	}
	sink_u8(&out, '\0');
	assert_string_equal((const char *)out.data, wanted);
	sink_clear(&out);
}

static void test_lines(void **state)
{
	(void)state;
	const struct bytes file = read_file(CORPUS "portable.pdb");
	struct clr_pdb *pdb;
	assert_int_equal(clr_pdb_open(&pdb, file), 0);
	check_place(pdb, TWICE, 0, "/src/Demo.cs:9:5-9:6");
	check_place(pdb, TWICE, 1, "/src/Demo.cs:10:9-10:22");
	check_place(pdb, TWICE, 6, "/src/Demo.cs:10:9-10:22");
	check_place(pdb, TWICE, 7, "/src/Demo.cs:11:5-11:6");
	check_place(pdb, TWICE, UINT32_MAX, "/src/Demo.cs:11:5-11:6");
	/* The compiler's own code between the parts of a loop. */
	check_place(pdb, SUM, 7, "/src/Demo.cs:16:32-16:39");
	check_place(pdb, SUM, 8, "");
	check_place(pdb, SUM, 9, "");
	check_place(pdb, SUM, 10, "/src/Demo.cs:16:18-16:28");
	/* Three files in one method. */
	check_place(pdb, SEVERAL, 1, "/src/Demo.cs:25:9-25:16");
	check_place(pdb, SEVERAL, 6, "/src/other.cs:100:9-100:16");
	check_place(pdb, SEVERAL, 11, "/src/third.cs:7:9-7:16");
	check_place(pdb, SEVERAL, 16, "/src/Demo.cs:31:9-31:18");
	/* A state machine begins with what is the compiler's own. */
	check_place(pdb, LATER_MOVE_NEXT, 0, "");
	check_place(pdb, LATER_MOVE_NEXT, 15, "/src/Demo.cs:36:9-36:29");
	/* Methods without lines, and what is no method. */
	check_place(pdb, AREA, 0, "");
	check_place(pdb, LATER_KICKOFF, 0, "");
	check_place(pdb, NO_METHOD, 0, "");
	check_place(pdb, 0x06000000, 0, "");
	check_place(pdb, 0x0a000001, 0, "");
	check_place(pdb, 1, 0, "");
	clr_pdb_free(pdb);
	free_bytes(file);
}

static void test_all_points_of_a_method(void **state)
{
	(void)state;
	const struct bytes file = read_file(CORPUS "portable.pdb");
	struct clr_pdb *pdb;
	const struct clr_line *lines;
	const struct clr_line *again;
	assert_int_equal(clr_pdb_open(&pdb, file), 0);
	assert_int_equal(clr_pdb_lines(pdb, SUM, &lines), 13);
	assert_int_equal(lines[4].il_off, 8);
	assert_int_equal(lines[4].line, 0);
	assert_int_equal(lines[12].line, 21);
	/* It is decoded once. */
	assert_int_equal(clr_pdb_lines(pdb, SUM, &again), 13);
	assert_ptr_equal(lines, again);
	assert_int_equal(clr_pdb_lines(pdb, NO_METHOD, &lines), 0);
	assert_null(lines);
	assert_int_equal(clr_pdb_method_count(pdb), 0x17);
	assert_int_equal(clr_pdb_document_count(pdb), 3);
	clr_pdb_free(pdb);
	free_bytes(file);
}

static void test_kickoff(void **state)
{
	(void)state;
	const struct bytes file = read_file(CORPUS "portable.pdb");
	struct clr_pdb *pdb;
	assert_int_equal(clr_pdb_open(&pdb, file), 0);
	assert_int_equal(clr_pdb_kickoff(pdb, LATER_MOVE_NEXT), LATER_KICKOFF);
	assert_int_equal(clr_pdb_kickoff(pdb, COUNT_MOVE_NEXT), COUNT_KICKOFF);
	assert_int_equal(clr_pdb_kickoff(pdb, TWICE), 0);
	assert_int_equal(clr_pdb_kickoff(pdb, NO_METHOD), 0);
	assert_int_equal(clr_pdb_kickoff(pdb, 0), 0);
	clr_pdb_free(pdb);
	free_bytes(file);
}

static void check_source(const struct clr_pdb *pdb, uint32_t document, const char *path)
{
	const struct bytes wanted = read_file(path);
	struct sink text = { 0 };
	assert_int_equal(clr_pdb_source(pdb, document, &text), 0);
	assert_int_equal(text.size, wanted.size);
	assert_memory_equal(text.data, wanted.data, wanted.size);
	sink_clear(&text);
	free_bytes(wanted);
}

/* Long texts are deflated, short ones are not. */
static void test_sources(void **state)
{
	(void)state;
	const struct bytes file = read_file(CORPUS "sources.pdb");
	struct clr_pdb *pdb;
	struct sink text = { 0 };
	assert_int_equal(clr_pdb_open(&pdb, file), 0);
	check_source(pdb, 1, DATA "Demo.cs");
	check_source(pdb, 2, DATA "other.cs");
	check_source(pdb, 3, DATA "third.cs");
	assert_int_equal(clr_pdb_source(pdb, 0, &text), STATUS_NOT_FOUND);
	assert_int_equal(clr_pdb_source(pdb, 4, &text), STATUS_NOT_FOUND);
	assert_false(clr_pdb_document(pdb, 0, &text));
	assert_false(clr_pdb_document(pdb, 4, &text));
	assert_int_equal(text.size, 0);
	clr_pdb_free(pdb);
	free_bytes(file);
	const struct bytes without = read_file(CORPUS "portable.pdb");
	assert_int_equal(clr_pdb_open(&pdb, without), 0);
	assert_int_equal(clr_pdb_source(pdb, 1, &text), STATUS_NOT_FOUND);
	clr_pdb_free(pdb);
	free_bytes(without);
}

static void test_embedded(void **state)
{
	(void)state;
	const struct bytes file = read_file(CORPUS "embedded");
	struct clr_pdb *pdb;
	assert_int_equal(clr_pdb_open(&pdb, file), STATUS_NOT_FORMAT);
	assert_int_equal(clr_pdb_open_embedded(&pdb, file), 0);
	free_bytes(file); /* it is in memory of its own */
	check_place(pdb, SEVERAL, 6, "/src/other.cs:100:9-100:16");
	check_source(pdb, 1, DATA "Demo.cs");
	clr_pdb_free(pdb);
}

static void test_id(void **state)
{
	(void)state;
	static const uint8_t WANTED[20] = { 0xf3, 0xd6, 0x5b, 0x88, 0x1d, 0x83, 0x93,
					    0x40, 0xaa, 0x84, 0x3a, 0x65, 0x18, 0x4f,
					    0xa7, 0xb8, 0xdf, 0xaa, 0x51, 0xc7 };
	const struct bytes file = read_file(CORPUS "portable.pdb");
	struct clr_pdb *pdb;
	uint8_t id[20];
	assert_int_equal(clr_pdb_open(&pdb, file), 0);
	clr_pdb_id(pdb, id);
	assert_memory_equal(id, WANTED, sizeof(id));
	clr_pdb_free(pdb);
	free_bytes(file);
}

static int open_text(const char *text, size_t size)
{
	struct clr_pdb *pdb;
	const int got = clr_pdb_open(&pdb, (struct bytes){ (const uint8_t *)text, size });
	assert_true(got < 0);
	assert_null(pdb);
	return got;
}

static int open_packed(const char *text, size_t size)
{
	struct clr_pdb *pdb;
	const int got = clr_pdb_open_embedded(&pdb, (struct bytes){ (const uint8_t *)text, size });
	assert_true(got < 0);
	assert_null(pdb);
	return got;
}

static void test_what_is_no_pdb(void **state)
{
	(void)state;
	assert_int_equal(open_text("Microsoft C/C++ MSF 7.00\r\n", 26), STATUS_UNSUPPORTED);
	assert_int_equal(open_text("MZ", 2), STATUS_NOT_FORMAT);
	assert_int_equal(open_text("", 0), STATUS_NOT_FORMAT);
	assert_int_equal(open_text("BSJB", 4), STATUS_CORRUPT);
	assert_int_equal(open_packed("", 0), STATUS_NOT_FORMAT);
	assert_int_equal(open_packed("MPDB", 4), STATUS_CORRUPT);
	assert_int_equal(open_packed("MPDB\0\0\0\0", 8), STATUS_CORRUPT);
	assert_int_equal(open_packed("MPDB\0\0\0\x7f", 8), STATUS_TOO_BIG);
	/* More than so few bytes can become. */
	assert_int_equal(open_packed("MPDB\0\0\0\x01\x03\0", 10), STATUS_CORRUPT);
}

/* An embedded one is as long as it says, not a byte more or less. */
static void test_wrong_sizes(void **state)
{
	(void)state;
	const struct bytes file = read_file(CORPUS "embedded");
	uint8_t *size = (uint8_t *)file.data + 4;
	struct clr_pdb *pdb;
	size[0]++;
	assert_int_equal(clr_pdb_open_embedded(&pdb, file), STATUS_CORRUPT);
	size[0] = (uint8_t)(size[0] - 2);
	assert_int_equal(clr_pdb_open_embedded(&pdb, file), STATUS_CORRUPT);
	free_bytes(file);
}

static const char *const FILES[] = { CORPUS "portable.pdb", CORPUS "sources.pdb",
				     CORPUS "embedded" };
enum { FILE_COUNT = sizeof(FILES) / sizeof(FILES[0]) };

static void test_every_truncation(void **state)
{
	(void)state;
	for (size_t i = 0; i < FILE_COUNT; i++) {
		const struct bytes file = read_file(FILES[i]);
		const size_t whole = pdb_exercise_bytes(file);
		assert_in_range(whole, 30, 100);
		for (size_t size = 0; size < file.size; size++) {
			uint8_t *cut = malloc(size ? size : 1);
			assert_non_null(cut);
			memcpy(cut, file.data, size);
			assert_true(pdb_exercise_bytes((struct bytes){ cut, size }) <= whole);
			free(cut);
		}
		free_bytes(file);
	}
}

static void test_every_changed_byte(void **state)
{
	(void)state;
	static const uint8_t CHANGES[] = { 0x01, 0x02, 0x40, 0x80, 0xff };
	for (size_t i = 0; i < FILE_COUNT; i++) {
		const struct bytes file = read_file(FILES[i]);
		uint8_t *data = (uint8_t *)file.data;
		for (size_t at = 0; at < file.size * sizeof(CHANGES); at++) {
			const uint8_t change = CHANGES[at % sizeof(CHANGES)];
			data[at / sizeof(CHANGES)] ^= change;
			(void)pdb_exercise_bytes(file);
			data[at / sizeof(CHANGES)] ^= change;
		}
		free_bytes(file);
	}
}

/* A PDB of one document, whose path has so many empty parts and so many of a hundred bytes. */
static struct sink document_of_parts(uint32_t empty_count, uint32_t part_count)
{
	enum { PART = 100, PDB_STREAM = 32, TABLES = 36, HEADERS = 16 + 16 + 12 + 20 };
	const uint32_t name_size = 1 + empty_count + part_count;
	const uint32_t blob_size = 2 + PART + 4 + name_size;
	struct sink out = { 0 };
	sink_text(&out, "BSJB");
	sink_u32(&out, 0x00010001);
	sink_u32(&out, 0);
	sink_u32(&out, 4);
	sink_put(&out, "v1\0", 4);
	sink_u16(&out, 0);
	sink_u16(&out, 3);
	sink_u32(&out, HEADERS + 20);
	sink_u32(&out, PDB_STREAM);
	sink_put(&out, "#Pdb\0\0\0", 8);
	sink_u32(&out, HEADERS + 20 + PDB_STREAM);
	sink_u32(&out, TABLES);
	sink_put(&out, "#~\0", 4);
	sink_u32(&out, HEADERS + 20 + PDB_STREAM + TABLES);
	sink_u32(&out, blob_size);
	sink_put(&out, "#Blob\0\0", 8);
	while (out.size < HEADERS + 20 + PDB_STREAM)
		sink_u8(&out, 0);
	sink_u32(&out, 0);
	sink_u32(&out, 0x01000002);
	sink_u64(&out, UINT64_C(1) << 0x30);
	sink_u64(&out, 0);
	sink_u32(&out, 1);
	sink_u16(&out, 2 + PART); /* the name's blob */
	sink_u16(&out, 0);
	sink_u32(&out, 0);
	sink_u8(&out, 0);
	sink_u8(&out, PART);
	for (uint32_t i = 0; i < PART; i++)
		sink_u8(&out, 'x');
	sink_u8(&out, (uint8_t)(0xc0 | name_size >> 24));
	sink_u8(&out, (uint8_t)(name_size >> 16));
	sink_u8(&out, (uint8_t)(name_size >> 8));
	sink_u8(&out, (uint8_t)name_size);
	sink_u8(&out, '/');
	for (uint32_t i = 0; i < empty_count + part_count; i++)
		sink_u8(&out, i < empty_count ? 0 : 1);
	return out;
}

/* Separators count, too: behind the limit there is no room for anything. */
static void test_long_path(void **state)
{
	static const struct {
		uint32_t empty_count;
		uint32_t part_count;
		size_t size; /* 0: too long */
	} cases[] = {
		{ 0, 3, 302 },   { 32000, 1, 32100 }, { 32668, 1, 32768 }, { 32669, 1, 0 },
		{ 32768, 1, 0 }, { 32769, 0, 32768 }, { 32770, 0, 0 },     { 40000, 1000, 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sink file = document_of_parts(cases[i].empty_count, cases[i].part_count);
		struct sink path = { 0 };
		struct clr_pdb *pdb;
		assert_int_equal(clr_pdb_open(&pdb, sink_bytes(&file)), 0);
		assert_int_equal(clr_pdb_document(pdb, 1, &path), cases[i].size != 0);
		assert_int_equal(path.size, cases[i].size);
		clr_pdb_free(pdb);
		sink_clear(&path);
		sink_clear(&file);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_all_points_of_a_method),
		cmocka_unit_test(test_kickoff),
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_embedded),
		cmocka_unit_test(test_long_path),
		cmocka_unit_test(test_id),
		cmocka_unit_test(test_what_is_no_pdb),
		cmocka_unit_test(test_wrong_sizes),
		cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_every_changed_byte),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
