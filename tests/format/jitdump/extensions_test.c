/* polyperf's own records, in both byte orders, and every way to shorten or change one. */
#include "build_own.h"
#include "changed_bytes.h"

#include "base/status.h"

static void assert_text(struct bytes got, const char *want)
{
	assert_int_equal(got.size, strlen(want));
	assert_memory_equal(got.data, want, got.size);
}

static void next(struct jitdump_reader *reader, uint32_t id, struct jitdump_record *record)
{
	assert_int_equal(jitdump_reader_next(reader, record), 1);
	assert_int_equal(record->id, id);
	assert_false(record->is_torn);
}

static void check_inlines(struct jitdump_about about)
{
	struct jitdump_inline scope;
	assert_int_equal(about.code_avma, 0x7f0000001000);
	assert_int_equal(about.entry_count, 2);
	assert_int_equal(jitdump_inline_next(&about, &scope), 1);
	assert_int_equal(scope.offset, 4);
	assert_int_equal(scope.size, 20);
	assert_int_equal(scope.depth, 0);
	assert_int_equal(scope.call_line, 17);
	assert_int_equal(scope.call_column, 3);
	assert_int_equal(scope.call_bytecode, 5);
	assert_text(scope.name, "outer");
	assert_text(scope.call_file, "a.js");
	assert_int_equal(jitdump_inline_next(&about, &scope), 1);
	assert_int_equal(scope.depth, 1);
	assert_int_equal(scope.call_bytecode, -1);
	assert_text(scope.name, "inner");
	assert_text(scope.call_file, "");
	assert_int_equal(jitdump_inline_next(&about, &scope), 0);
}

static void check_rest_of_load(struct jitdump_reader *reader)
{
	struct jitdump_record record;
	struct jitdump_bytecode bytecode;
	struct jitdump_annotation note;
	next(reader, JITDUMP_BYTECODES, &record);
	assert_int_equal(jitdump_bytecode_next(&record.about, &bytecode), 1);
	assert_int_equal(bytecode.bytecode, -1);
	assert_int_equal(jitdump_bytecode_next(&record.about, &bytecode), 1);
	assert_int_equal(bytecode.offset, 12);
	assert_int_equal(bytecode.bytecode, 34);
	assert_int_equal(jitdump_bytecode_next(&record.about, &bytecode), 0);

	next(reader, JITDUMP_ANNOTATIONS, &record);
	assert_int_equal(jitdump_annotation_next(&record.about, &note), 1);
	assert_int_equal(note.kind, JITDUMP_NOTE_TIER);
	assert_text(note.text, "C2");
	assert_int_equal(jitdump_annotation_next(&record.about, &note), 1);
	assert_int_equal(note.offset, 4);
	assert_int_equal(note.size, 9);
	assert_int_equal(note.kind, JITDUMP_NOTE_PROLOGUE);
	assert_text(note.text, "");
	assert_int_equal(jitdump_annotation_next(&record.about, &note), 0);
	next(reader, JITDUMP_CODE_LOAD, &record);
}

static void check_method(struct jitdump_method *method)
{
	struct jitdump_method_line line;
	assert_int_equal(method->pid, 4711);
	assert_int_equal(method->method_id, 0x600010);
	assert_int_equal(method->bytecode_avma, 0x5000);
	assert_int_equal(method->bytecode_size, 60);
	assert_int_equal(method->first_line, 9);
	assert_text(method->name, "gamma");
	assert_text(method->file, "g.js");
	assert_int_equal(jitdump_method_line_next(method, &line), 1);
	assert_int_equal(jitdump_method_line_next(method, &line), 1);
	assert_int_equal(line.bytecode, 8);
	assert_int_equal(line.line, 10);
	assert_int_equal(jitdump_method_line_next(method, &line), 0);
}

static void reads_our_own_kinds_in_both_byte_orders(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		const struct bytes dump = build_own_kinds(swap);
		struct jitdump_reader reader;
		struct jitdump_record record;
		assert_int_equal(jitdump_reader_init(&reader, dump), 0);
		next(&reader, JITDUMP_INLINES, &record);
		check_inlines(record.about);
		check_rest_of_load(&reader);
		next(&reader, JITDUMP_PAD, &record);
		assert_int_equal(record.body.size, 41 - 16);
		next(&reader, JITDUMP_UNLOAD, &record);
		assert_int_equal(record.unload.tid, 4712);
		assert_int_equal(record.unload.code_avma, 0x7f0000001000);
		assert_int_equal(record.unload.code_size, 32);
		assert_int_equal(record.unload.code_index, 7);
		next(&reader, JITDUMP_METHOD, &record);
		check_method(&record.method);
		next(&reader, JITDUMP_CODE_LOAD, &record);
		next(&reader, JITDUMP_CLOSE, &record);
		assert_int_equal(jitdump_reader_next(&reader, &record), 0);
		assert_int_equal(reader.problem_count, 0);
		build_free(dump);
	}
}

/* Code from before the recording: all of its records are stamped 0. */
static void reads_records_without_a_time(void **state)
{
	(void)state;
	struct build b = { 0 };
	build_header(&b, 40);
	build_inlines(&b, 0, 0x7f0000001000);
	build_annotations(&b, 0, 0x7f0000001000);
	build_load(&b, 0, 0x7f0000001000, "alpha", 32);
	build_method(&b, 0, 0x600010);
	build_load(&b, BUILD_TIME, 0x7f0000003000, "beta", 64);
	const struct bytes dump = build_copy(&b);
	struct jitdump_reader reader;
	struct jitdump_record record;
	assert_int_equal(jitdump_reader_init(&reader, dump), 0);
	next(&reader, JITDUMP_INLINES, &record);
	next(&reader, JITDUMP_ANNOTATIONS, &record);
	next(&reader, JITDUMP_CODE_LOAD, &record);
	next(&reader, JITDUMP_METHOD, &record);
	next(&reader, JITDUMP_CODE_LOAD, &record);
	assert_int_equal(jitdump_reader_next(&reader, &record), 0);
	assert_int_equal(reader.problem_count, 0);
	build_free(dump);
}

static void names_every_known_kind(void **state)
{
	(void)state;
	assert_string_equal(jitdump_record_name(JITDUMP_CODE_LOAD), "LOAD");
	assert_string_equal(jitdump_record_name(JITDUMP_PAD), "PAD");
	assert_string_equal(jitdump_record_name(JITDUMP_METHOD), "METHOD");
	for (uint32_t id = 0; id < 16; id++) {
		assert_int_equal(jitdump_record_name(id) != NULL, jitdump_is_known(id));
		const uint32_t own = JITDUMP_EXTENSION_FIRST + id;
		assert_int_equal(jitdump_record_name(own) != NULL, jitdump_is_known(own));
	}
}

static void assert_inside(struct bytes part, struct bytes file)
{
	if (!part.size)
		return;
	assert_true(part.data >= file.data && part.size <= file.size);
	assert_true((size_t)(part.data - file.data) <= file.size - part.size);
}

static void read_entries(const struct jitdump_record *record, struct bytes file)
{
	struct jitdump_about about = record->about;
	struct jitdump_method method = record->method;
	struct jitdump_inline scope;
	struct jitdump_annotation note;
	struct jitdump_bytecode bytecode;
	struct jitdump_method_line line;
	while (record->id == JITDUMP_INLINES && jitdump_inline_next(&about, &scope) > 0) {
		assert_inside(scope.name, file);
		assert_inside(scope.call_file, file);
	}
	while (record->id == JITDUMP_ANNOTATIONS && jitdump_annotation_next(&about, &note) > 0)
		assert_inside(note.text, file);
	size_t count = 0;
	while (record->id == JITDUMP_BYTECODES && jitdump_bytecode_next(&about, &bytecode) > 0)
		assert_true(++count < file.size);
	if (record->id != JITDUMP_METHOD)
		return;
	assert_inside(method.name, file);
	assert_inside(method.file, file);
	while (jitdump_method_line_next(&method, &line) > 0)
		assert_true(++count < file.size);
}

static size_t offsets_of(struct bytes dump, size_t offsets[BUILD_OWN_COUNT + 1])
{
	struct jitdump_reader reader;
	struct jitdump_record record;
	size_t count = 0;
	assert_int_equal(jitdump_reader_init(&reader, dump), 0);
	while (jitdump_reader_next(&reader, &record) > 0)
		offsets[count++] = record.offset;
	offsets[count] = dump.size;
	assert_int_equal(count, BUILD_OWN_COUNT);
	return count;
}

/* Marks in found[] which of the sound dump's records the reader still finds. */
static void read_and_mark(struct bytes dump, const size_t *offsets, bool *found)
{
	struct jitdump_reader reader;
	struct jitdump_record record;
	memset(found, 0, BUILD_OWN_COUNT);
	if (jitdump_reader_init(&reader, dump) < 0)
		return;
	while (jitdump_reader_next(&reader, &record) > 0) {
		read_entries(&record, dump);
		for (size_t i = 0; i < BUILD_OWN_COUNT; i++)
			found[i] |= offsets[i] == record.offset;
	}
}

static void survives_every_truncation(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		const struct bytes dump = build_own_kinds(swap);
		size_t offsets[BUILD_OWN_COUNT + 1];
		bool found[BUILD_OWN_COUNT];
		offsets_of(dump, offsets);
		for (size_t size = 0; size < dump.size; size++) {
			const struct bytes part = build_part(dump, size);
			read_and_mark(part, offsets, found);
			for (size_t i = 0; i < BUILD_OWN_COUNT; i++)
				if (offsets[i + 1] <= size && !found[i])
					fail_msg("cut at %zu: record %zu is lost", size, i);
			build_free(part);
		}
		build_free(dump);
	}
}

static void loses_no_record_but_the_changed_one(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		const struct bytes dump = build_own_kinds(swap);
		size_t offsets[BUILD_OWN_COUNT + 1];
		bool found[BUILD_OWN_COUNT];
		offsets_of(dump, offsets);
		changed_bytes_lose_no_other(dump, offsets, BUILD_OWN_COUNT, found, read_and_mark);
		build_free(dump);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_our_own_kinds_in_both_byte_orders),
		cmocka_unit_test(reads_records_without_a_time),
		cmocka_unit_test(names_every_known_kind),
		cmocka_unit_test(survives_every_truncation),
		cmocka_unit_test(loses_no_record_but_the_changed_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
