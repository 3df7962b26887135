#include "format/frames/reader.h"

#include "base/status.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = 512 };

struct record {
	uint8_t bytes[ROOM];
	size_t size;
};

static void put(struct record *record, const void *data, size_t size)
{
	assert_true(record->size + size <= ROOM);
	memcpy(record->bytes + record->size, data, size);
	record->size += size;
}

static struct walk_head head(uint8_t kind, size_t size)
{
	return (struct walk_head){ WALK_MAGIC, WALK_VERSION,   kind, WALK_PYTHON,
				   0,          (uint32_t)size, 77 };
}

static struct record make_stack(void)
{
	struct record record = { .size = 0 };
	const struct walk_frame frames[] = { { 0x1000, 5, -2, WALK_FRAME_ENTRY },
					     { 0x2000, 6, 12, WALK_FRAME_GENERATOR } };
	const struct walk_stack stack = { .head = head(WALK_STACK, sizeof(stack) + sizeof(frames)),
					  .time_ns = 1,
					  .ip_avma = 2,
					  .tid = 78,
					  .runtime = 3,
					  .frame_count = 2,
					  .end = WALK_END_ROOT };
	put(&record, &stack, sizeof(stack));
	put(&record, frames, sizeof(frames));
	return record;
}

static struct record make_definition(void)
{
	struct record record = { .size = 0 };
	static const char name[8] = "name";
	static const char owner[8] = "\xfc\xdf";
	static const uint16_t file[8] = { 'a', 0x416, 0xd800, 0xffff, '.' };
	static const uint8_t table[5] = { 1, 2, 3, 4, 5 };
	const size_t size = sizeof(struct walk_definition) + sizeof(name) + sizeof(owner) +
			    sizeof(file) + sizeof(table);
	const struct walk_definition definition = {
		.head = head(WALK_DEFINITION, size),
		.key = { 0x1000, 5, 77, 3 },
		.first_line = 10,
		.table_bytes = 4000,
		.table_here = sizeof(table),
		.table_kind = WALK_TABLE_LNOTAB,
		.texts = { { 4, WALK_UTF8, 0 }, { 2, WALK_UCS1, 0 }, { 10, WALK_UCS2, 0 } },
	};
	put(&record, &definition, sizeof(definition));
	put(&record, name, sizeof(name));
	put(&record, owner, sizeof(owner));
	put(&record, file, sizeof(file));
	put(&record, table, sizeof(table));
	return record;
}

static struct record make_table(void)
{
	struct record record = { .size = 0 };
	static const uint8_t bytes[9] = { 9, 8, 7, 6, 5, 4, 3, 2, 1 };
	const struct walk_table table = { .head = head(WALK_TABLE, sizeof(table) + sizeof(bytes)),
					  .key = { 0x1000, 5, 77, 3 },
					  .offset = 2048,
					  .bytes = sizeof(bytes) };
	put(&record, &table, sizeof(table));
	put(&record, bytes, sizeof(bytes));
	return record;
}

static struct record make_told(void)
{
	struct record record = { .size = 0 };
	const struct walk_told told = {
		.head = head(WALK_RUNTIME, sizeof(told)),
		.time_ns = 9,
		.runtime = { .id = 4, .language = WALK_SLOT, .slot = { .frame_bytes = 40 } }
	};
	put(&record, &told, sizeof(told));
	return record;
}

/* Reads an exact copy and all that was read; returns what frames_read() does. */
static int read_all(const uint8_t *bytes, size_t size)
{
	struct frames_record record;
	struct sink out = { .limit = 1 << 16 };
	uint8_t *copy = malloc(size ? size : 1);
	assert_non_null(copy);
	memcpy(copy, bytes, size);
	const int result = frames_read(&record, (struct bytes){ copy, size });
	if (result == 0 && record.head.kind == WALK_DEFINITION)
		for (int i = 0; i < WALK_TEXT_COUNT; i++)
			frames_text(&out, &record, (enum walk_text_index)i);
	if (result == 0 && record.head.kind == WALK_STACK)
		for (uint32_t i = 0; i <= record.stack.frame_count; i++)
			(void)frames_at(&record, i);
	if (result == 0)
		sink_put(&out, record.piece.data, record.piece.size);
	sink_clear(&out);
	free(copy);
	return result;
}

static void test_stack(void **state)
{
	const struct record made = make_stack();
	struct frames_record record;
	(void)state;
	assert_int_equal(frames_read(&record, (struct bytes){ made.bytes, made.size }), 0);
	assert_int_equal(record.stack.head.pid, 77);
	assert_int_equal(record.stack.time_ns, 1);
	assert_int_equal(record.stack.ip_avma, 2);
	assert_int_equal(record.stack.tid, 78);
	assert_int_equal(record.stack.runtime, 3);
	assert_int_equal(record.stack.frame_count, 2);
	assert_int_equal(frames_at(&record, 0).position, -2);
	assert_int_equal(frames_at(&record, 1).code_avma, 0x2000);
	assert_int_equal(frames_at(&record, 1).flags, WALK_FRAME_GENERATOR);
	assert_int_equal(frames_at(&record, 2).code_avma, 0);
}

static void check_text(const struct frames_record *record, enum walk_text_index index,
		       const char *expected)
{
	struct sink out = { .limit = 100 };
	frames_text(&out, record, index);
	sink_u8(&out, 0);
	assert_string_equal((char *)out.data, expected);
	sink_clear(&out);
}

static void test_definition(void **state)
{
	const struct record made = make_definition();
	struct frames_record record;
	(void)state;
	assert_int_equal(frames_read(&record, (struct bytes){ made.bytes, made.size }), 0);
	assert_int_equal(record.definition.key.check, 5);
	assert_int_equal(record.definition.first_line, 10);
	assert_int_equal(record.definition.table_bytes, 4000);
	assert_int_equal(record.piece.size, 5);
	assert_int_equal(record.piece.data[4], 5);
	check_text(&record, WALK_TEXT_NAME, "name");
	check_text(&record, WALK_TEXT_OWNER, "üß");
	check_text(&record, WALK_TEXT_FILE, "aЖ\xef\xbf\xbd\xef\xbf\xbf.");
}

static void test_table(void **state)
{
	const struct record made = make_table();
	struct frames_record record;
	(void)state;
	assert_int_equal(frames_read(&record, (struct bytes){ made.bytes, made.size }), 0);
	assert_int_equal(record.table.offset, 2048);
	assert_int_equal(record.piece.size, 9);
	assert_int_equal(record.piece.data[0], 9);
}

static void test_told(void **state)
{
	const struct record made = make_told();
	struct frames_record record;
	(void)state;
	assert_int_equal(frames_read(&record, (struct bytes){ made.bytes, made.size }), 0);
	assert_int_equal(record.told.head.pid, 77);
	assert_int_equal(record.told.time_ns, 9);
	assert_int_equal(record.told.runtime.id, 4);
	assert_int_equal(record.told.runtime.slot.frame_bytes, 40);
}

/* In a file they follow one another, filled up. */
static void test_many(void **state)
{
	const struct record made[] = { make_table(), make_told(), make_stack() };
	struct frames_record record;
	uint8_t *all = calloc(3, ROOM);
	size_t size = 0;
	(void)state;
	assert_non_null(all);
	for (size_t i = 0; i < 3; i++) {
		memcpy(all + size, made[i].bytes, made[i].size);
		size += (made[i].size + 7) & ~(size_t)7;
	}
	struct bytes left = { all, size };
	assert_int_equal(frames_next(&record, &left), 0);
	assert_int_equal(record.head.kind, WALK_TABLE);
	assert_int_equal(frames_next(&record, &left), 0);
	assert_int_equal(record.head.kind, WALK_RUNTIME);
	const struct bytes last = left;
	assert_int_equal(frames_next(&record, &left), 0);
	assert_int_equal(record.stack.frame_count, 2);
	assert_int_equal(frames_next(&record, &left), STATUS_NOT_FOUND);
	for (size_t cut = 1; cut < last.size; cut++) {
		left = (struct bytes){ last.data, cut };
		assert_int_equal(frames_next(&record, &left), STATUS_TRUNCATED);
		assert_int_equal(left.size, cut);
	}
	free(all);
}

/* As the kernel hands them over: filled up to a multiple of 8, less the 4 of a size. */
static void test_padding(void **state)
{
	struct record made = make_definition();
	(void)state;
	made.size += 7;
	assert_int_equal(read_all(made.bytes, made.size), 0);
	made.size += 1;
	assert_int_equal(read_all(made.bytes, made.size), STATUS_CORRUPT);
}

static void test_other_versions(void **state)
{
	struct record made = make_stack();
	(void)state;
	made.bytes[4]++;
	assert_int_equal(read_all(made.bytes, made.size), STATUS_UNSUPPORTED);
	made = make_stack();
	made.bytes[0]++;
	assert_int_equal(read_all(made.bytes, made.size), STATUS_NOT_FORMAT);
}

static void test_every_truncation(void **state)
{
	const struct record all[] = { make_stack(), make_definition(), make_table(), make_told() };
	(void)state;
	for (size_t i = 0; i < 4; i++)
		for (size_t size = 0; size < all[i].size; size++)
			assert_int_equal(read_all(all[i].bytes, size),
					 size < sizeof(struct walk_head) ? STATUS_NOT_FORMAT
									 : STATUS_TRUNCATED);
}

static void test_every_changed_byte(void **state)
{
	struct record all[] = { make_stack(), make_definition(), make_table(), make_told() };
	(void)state;
	for (size_t i = 0; i < 4; i++)
		for (size_t at = 0; at < all[i].size; at++)
			for (unsigned bit = 0; bit < 8; bit++) {
				all[i].bytes[at] ^= (uint8_t)(1u << bit);
				(void)read_all(all[i].bytes, all[i].size);
				all[i].bytes[at] ^= (uint8_t)(1u << bit);
			}
}

/* Sizes inside that leave the record, or contradict it. */
static void test_contradictions(void **state)
{
	struct record made = make_stack();
	(void)state;
	made.bytes[offsetof(struct walk_stack, frame_count)] = 3;
	assert_int_equal(read_all(made.bytes, made.size), STATUS_CORRUPT);
	made.bytes[offsetof(struct walk_stack, frame_count)] = 1;
	assert_int_equal(read_all(made.bytes, made.size), STATUS_CORRUPT);
	made = make_definition();
	made.bytes[offsetof(struct walk_definition, texts)] = 255;
	assert_int_equal(read_all(made.bytes, made.size), STATUS_CORRUPT);
	made = make_table();
	made.bytes[offsetof(struct walk_table, offset) + 3] = 1;
	assert_int_equal(read_all(made.bytes, made.size), STATUS_CORRUPT);
	made = make_table();
	made.bytes[offsetof(struct walk_head, kind)] = 9;
	assert_int_equal(read_all(made.bytes, made.size), STATUS_CORRUPT);
}

/* A name may be wrong that comes from a record like this. */
static void test_what_nobody_writes(void **state)
{
	const struct record all[] = { make_stack(), make_definition(), make_table() };
	static const struct {
		size_t record, at;
		uint8_t value;
	} CHANGES[] = {
		{ 0, offsetof(struct walk_head, language), WALK_NO_LANGUAGE },
		{ 0, offsetof(struct walk_head, zero), 1 },
		{ 0, offsetof(struct walk_stack, end), WALK_END_COUNT },
		{ 0, offsetof(struct walk_stack, zero), 1 },
		{ 1, offsetof(struct walk_head, pid), 78 },
		{ 1, offsetof(struct walk_definition, zero), 1 },
		{ 1, offsetof(struct walk_definition, table_kind), WALK_TABLE_KIND_COUNT },
		{ 1, offsetof(struct walk_definition, code_kind), WALK_CODE_EVALUATOR + 1 },
		{ 1, offsetof(struct walk_definition, texts[2].encoding), WALK_UCS4 + 1 },
		{ 2, offsetof(struct walk_head, pid), 78 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(CHANGES) / sizeof(*CHANGES); i++) {
		struct record made = all[CHANGES[i].record];
		assert_int_equal(read_all(made.bytes, made.size), 0);
		made.bytes[CHANGES[i].at] = CHANGES[i].value;
		assert_int_equal(read_all(made.bytes, made.size), STATUS_CORRUPT);
	}
}

static void test_reasons(void **state)
{
	(void)state;
	for (unsigned i = 0; i < WALK_END_COUNT; i++)
		assert_true(strlen(frames_end_text(i)) > 0);
	assert_string_equal(frames_end_text(WALK_END_COUNT), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stack),
		cmocka_unit_test(test_definition),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_told),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_padding),
		cmocka_unit_test(test_other_versions),
		cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_every_changed_byte),
		cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_what_nobody_writes),
		cmocka_unit_test(test_reasons),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
