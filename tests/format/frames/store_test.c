#include "format/frames/store.h"

#include "base/status.h"
#include "failing_memory.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

static struct walk_key key_of(uint64_t code)
{
	return (struct walk_key){ .code_avma = code, .check = 5, .pid = 7, .runtime = 1 };
}

static struct frames_record definition(uint64_t code, const char *name, struct bytes piece,
				       uint32_t table_bytes)
{
	struct frames_record record = { .head = { .kind = WALK_DEFINITION,
						  .language = WALK_PYTHON } };
	record.definition.key = key_of(code);
	record.definition.first_line = 10;
	record.definition.table_kind = WALK_TABLE_LNOTAB;
	record.definition.table_bytes = table_bytes;
	record.texts[WALK_TEXT_NAME] = (struct bytes){ (const uint8_t *)name, strlen(name) };
	record.piece = piece;
	return record;
}

static struct frames_record piece_of(uint64_t code, uint32_t offset, struct bytes piece)
{
	struct frames_record record = { .head = { .kind = WALK_TABLE } };
	record.table.key = key_of(code);
	record.table.offset = offset;
	record.piece = piece;
	return record;
}

static struct frames_store *open_store(size_t limit)
{
	struct frames_store *store;
	assert_int_equal(frames_store_open(&store, limit), 0);
	return store;
}

static const struct frames_code *get(struct frames_store *store, uint64_t code)
{
	const struct walk_key key = key_of(code);
	return frames_store_find(store, &key);
}

static const uint8_t table[] = { 0, 1, 4, 2, 4, 3 };
static const struct bytes whole = { table, sizeof(table) };
static const struct bytes beginning = { table, 2 };
static const struct bytes rest = { table + 2, 4 };

static void test_keys_are_told_apart(void **state)
{
	struct frames_store *store = open_store(0);
	(void)state;
	for (uint64_t i = 0; i < 3000; i++) {
		char name[32];
		(void)snprintf(name, sizeof(name), "f%d", (int)i);
		const struct frames_record record = definition(i, name, whole, sizeof(table));
		assert_int_equal(frames_store_add(store, &record), 0);
	}
	assert_int_equal(frames_store_count(store), 3000);
	assert_string_equal(get(store, 2999)->name, "f2999");
	assert_string_equal(get(store, 0)->name, "f0");
	assert_string_equal(get(store, 0)->file, "");
	assert_null(get(store, 3000));
	struct walk_key other = key_of(4);
	other.check++;
	assert_null(frames_store_find(store, &other));
	other = key_of(4);
	other.pid++;
	assert_null(frames_store_find(store, &other));
	other = key_of(4);
	other.runtime++;
	assert_null(frames_store_find(store, &other));
	frames_store_close(store);
	frames_store_close(NULL);
}

static void test_tables_in_pieces(void **state)
{
	struct frames_store *store = open_store(0);
	struct walk_frame frame = { .position = 6 };
	(void)state;
	struct frames_record record = definition(1, "f", beginning, sizeof(table));
	assert_int_equal(frames_store_add(store, &record), 0);
	assert_int_equal(frames_code_line(get(store, 1), &frame), 11);
	/* Of another code, in a wrong place, too long: nothing changes. */
	record = piece_of(2, 2, rest);
	assert_int_equal(frames_store_add(store, &record), 0);
	record = piece_of(1, 3, rest);
	assert_int_equal(frames_store_add(store, &record), 0);
	record = piece_of(1, 2, whole);
	assert_int_equal(frames_store_add(store, &record), 0);
	assert_int_equal(get(store, 1)->table.size, 2);
	record = piece_of(1, 2, rest);
	assert_int_equal(frames_store_add(store, &record), 0);
	assert_int_equal(frames_code_line(get(store, 1), &frame), 13);
	frame.position = 8;
	assert_int_equal(frames_code_line(get(store, 1), &frame), 16);
	frames_store_close(store);
}

static void test_told_again(void **state)
{
	struct frames_store *store = open_store(0);
	(void)state;
	struct frames_record record = definition(1, "", beginning, sizeof(table));
	record.definition.texts[WALK_TEXT_NAME].flags = WALK_TEXT_UNREAD;
	assert_int_equal(frames_store_add(store, &record), 0);
	assert_false(get(store, 1)->is_whole);
	/* Whole, but for its table ... */
	record = definition(1, "half", beginning, sizeof(table));
	assert_int_equal(frames_store_add(store, &record), 0);
	assert_string_equal(get(store, 1)->name, "half");
	record = definition(1, "f", whole, sizeof(table));
	assert_int_equal(frames_store_add(store, &record), 0);
	assert_string_equal(get(store, 1)->name, "f");
	/* ... and whole: the same again changes nothing. */
	record = definition(1, "g", beginning, sizeof(table));
	assert_int_equal(frames_store_add(store, &record), 0);
	assert_string_equal(get(store, 1)->name, "f");
	assert_int_equal(get(store, 1)->table.size, sizeof(table));
	assert_int_equal(frames_store_count(store), 1);
	frames_store_close(store);
}

static void test_lines_of_frames(void **state)
{
	const struct frames_code code = { .first_line = 3, .table_kind = WALK_TABLE_NONE };
	struct walk_frame frame = { .position = 5, .flags = WALK_FRAME_IS_LINE };
	(void)state;
	assert_int_equal(frames_code_line(&code, &frame), 5);
	frame.flags |= WALK_FRAME_NO_POSITION;
	assert_int_equal(frames_code_line(&code, &frame), 0);
	frame.flags = 0;
	assert_int_equal(frames_code_line(&code, &frame), 3);
	frame = (struct walk_frame){ .position = -5, .flags = WALK_FRAME_IS_LINE };
	assert_int_equal(frames_code_line(&code, &frame), 0);
}

/* Functions of Lua have a place, those of LuaJIT's libraries a number. */
static void test_luajit_names(void **state)
{
	static const struct {
		const char *file;
		const char *name;
		enum walk_code_kind kind;
		uint64_t number;
		const char *expected;
	} cases[] = {
		{ "/srv/app/work.lua", "", WALK_CODE_FUNCTION, 5, "work.lua:10" },
		{ "stdin", "", WALK_CODE_FUNCTION, 5, "stdin:10" },
		{ "odd/", "", WALK_CODE_FUNCTION, 5, "odd/:10" },
		{ "", "", WALK_CODE_FUNCTION, 5, "[string]:10" },
		{ "work.lua", "", WALK_CODE_TOPLEVEL, 5, "" },
		{ "work.lua", "named", WALK_CODE_FUNCTION, 5, "named" },
		{ "", "", WALK_CODE_NATIVE, 2, "assert" },
		{ "", "", WALK_CODE_NATIVE, 222, "buffer.decode" },
		{ "", "", WALK_CODE_NATIVE, 1, "" }, /* some function in C */
		{ "", "", WALK_CODE_NATIVE, 223, "" },
		{ "", "", WALK_CODE_NATIVE, UINT64_MAX, "" },
		{ "", "", WALK_CODE_EVALUATOR, 0, "" },
	};
	struct frames_store *store = open_store(0);
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct frames_record record =
		    definition(i, cases[i].name, (struct bytes){ table, 0 }, 0);
		record.head.language = WALK_LUAJIT;
		record.definition.key.check = cases[i].number;
		record.definition.code_kind = cases[i].kind;
		record.texts[WALK_TEXT_FILE] =
		    (struct bytes){ (const uint8_t *)cases[i].file, strlen(cases[i].file) };
		assert_int_equal(frames_store_add(store, &record), 0);
		const struct frames_code *code = frames_store_find(store, &record.definition.key);
		assert_non_null(code);
		assert_string_equal(code->name, cases[i].expected);
	}
	frames_store_close(store);
}

static void test_limit(void **state)
{
	struct frames_store *store = open_store(40000);
	int result = 0;
	(void)state;
	size_t added = 0;
	for (uint64_t i = 0; result == 0 && i < 10000; i++, added++) {
		const struct frames_record record =
		    definition(i, "name", whole, WALK_MAX_TABLE / 16);
		result = frames_store_add(store, &record);
	}
	assert_int_equal(result, STATUS_NO_MEMORY);
	assert_true(added > 1 && added < 100);
	/* What is there is whole. */
	assert_int_equal(frames_store_count(store), added - 1);
	assert_string_equal(get(store, added - 2)->name, "name");
	assert_null(get(store, added - 1));
	frames_store_close(store);
}

static void test_without_memory(void **state)
{
	(void)state;
	for (size_t n = 1;; n++) {
		struct frames_store *store = NULL;
		const struct frames_record record = definition(1, "name", whole, sizeof(table));
		memory_fail_at(n);
		int result = frames_store_open(&store, 0);
		if (result == 0)
			result = frames_store_add(store, &record);
		const bool has_failed = memory_has_failed();
		memory_fail_at(0);
		if (!has_failed) {
			assert_int_equal(result, 0);
			assert_string_equal(get(store, 1)->name, "name");
			frames_store_close(store);
			assert_true(n > 3);
			return;
		}
		assert_int_equal(result, STATUS_NO_MEMORY);
		if (store)
			assert_null(get(store, 1));
		frames_store_close(store);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys_are_told_apart), cmocka_unit_test(test_tables_in_pieces),
		cmocka_unit_test(test_told_again),          cmocka_unit_test(test_lines_of_frames),
		cmocka_unit_test(test_luajit_names),        cmocka_unit_test(test_limit),
		cmocka_unit_test(test_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
