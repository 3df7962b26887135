/* What is told is what the reader finds. */
#include "emit_lib.h"

#include <errno.h>
#include <sys/mman.h>
#include <time.h>

/* Ends the handle and reads what it wrote. */
static void close_and_read(struct polyperf_jit *jit, struct dump *dump)
{
	char path[PATH_SIZE];
	path_of(jit, path);
	polyperf_jit_close(jit);
	dump_read(dump, path);
}

static const struct polyperf_jit_line lines[] = {
	{ 0, 10, 1, "work.js" },
	{ 8, 11, 5, NULL },
	{ 20, 3, 0, "lib.js" },
};
static const struct polyperf_jit_inline scopes[] = {
	{ 4, 28, 0, 11, 7, 2, "outer", "work.js" },
	{ 8, 8, 1, 3, 0, -1, "inner", NULL },
	{ 20, 8, 1, 4, 0, 9, "inner", "lib.js" },
};
static const struct polyperf_jit_bytecode bytecodes[] = { { 0, -1 }, { 4, 0 }, { 12, 7 } };
static const struct polyperf_jit_note notes[] = {
	{ 0, 0, POLYPERF_JIT_NOTE_TIER, 0, "optimised" },
	{ 0, 4, POLYPERF_JIT_NOTE_PROLOGUE, 0, NULL },
	{ 16, 0, POLYPERF_JIT_NOTE_DEOPT, 0, "wrong map" },
};

static struct polyperf_jit_load_info full_load(void)
{
	static uint8_t eh_frame[20] = { 1, 2, 3 };
	static const struct polyperf_jit_unwinding unwinding = { eh_frame, 20, 8, 0 };
	struct polyperf_jit_load_info info = a_load("alpha", 0x7f0000001000, 64);
	info.lines = lines;
	info.line_count = 3;
	info.inlines = scopes;
	info.inline_count = 3;
	info.bytecodes = bytecodes;
	info.bytecode_count = 3;
	info.notes = notes;
	info.note_count = 3;
	info.unwinding = &unwinding;
	return info;
}

static void check_lines(struct dump *dump)
{
	struct jitdump_record record;
	expect(dump, JITDUMP_DEBUG_INFO, &record);
	assert_int_equal(record.debug_info.code_avma, 0x7f0000001000);
	assert_int_equal(record.debug_info.entry_count, 3);
	struct cursor c = record.debug_info.entries;
	static const char *const files[] = { "work.js", "work.js", "lib.js" };
	for (int i = 0; i < 3; i++) {
		assert_int_equal(cursor_u64(&c), 0x7f0000001000 + lines[i].offset);
		assert_int_equal(cursor_u32(&c), lines[i].line);
		assert_int_equal(cursor_u32(&c), lines[i].column);
		assert_string_equal(cursor_cstr(&c), files[i]);
	}
	assert_int_equal(cursor_left(&c), 0);
}

static void check_inlines(struct dump *dump)
{
	struct jitdump_record record;
	struct jitdump_inline scope;
	expect(dump, JITDUMP_INLINES, &record);
	assert_int_equal(record.about.code_avma, 0x7f0000001000);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(jitdump_inline_next(&record.about, &scope), 1);
		assert_int_equal(scope.offset, scopes[i].offset);
		assert_int_equal(scope.size, scopes[i].size);
		assert_int_equal(scope.depth, scopes[i].depth);
		assert_int_equal(scope.call_line, scopes[i].call_line);
		assert_int_equal(scope.call_column, scopes[i].call_column);
		assert_int_equal(scope.call_bytecode, scopes[i].call_bytecode);
		assert_text(scope.name, scopes[i].name);
		assert_text(scope.call_file, scopes[i].call_file ? scopes[i].call_file : "");
	}
	assert_int_equal(jitdump_inline_next(&record.about, &scope), 0);
}

static void check_bytecodes_and_notes(struct dump *dump)
{
	struct jitdump_record record;
	struct jitdump_bytecode bytecode;
	struct jitdump_annotation note;
	expect(dump, JITDUMP_BYTECODES, &record);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(jitdump_bytecode_next(&record.about, &bytecode), 1);
		assert_int_equal(bytecode.offset, bytecodes[i].offset);
		assert_int_equal(bytecode.bytecode, bytecodes[i].bytecode);
	}
	assert_int_equal(jitdump_bytecode_next(&record.about, &bytecode), 0);
	expect(dump, JITDUMP_ANNOTATIONS, &record);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(jitdump_annotation_next(&record.about, &note), 1);
		assert_int_equal(note.offset, notes[i].offset);
		assert_int_equal(note.size, notes[i].size);
		assert_int_equal(note.kind, notes[i].kind);
		assert_text(note.text, notes[i].text ? notes[i].text : "");
	}
	assert_int_equal(jitdump_annotation_next(&record.about, &note), 0);
}

static void check_load(struct dump *dump, uint64_t index, uint64_t from_ns)
{
	struct jitdump_record record;
	expect(dump, JITDUMP_CODE_LOAD, &record);
	const struct jitdump_code_load *got = &record.code_load;
	assert_int_equal(got->pid, getpid());
	assert_int_equal(got->tid, gettid());
	assert_int_equal(got->vma, 0x7f0000001000);
	assert_int_equal(got->code_avma, 0x7f0000001000);
	assert_int_equal(got->code_size, 64);
	assert_int_equal(got->code_index, index);
	assert_text(got->name, "alpha");
	assert_int_equal(got->code.size, 64);
	assert_memory_equal(got->code.data, code_bytes, 64);
	assert_true(record.time_ns >= from_ns && record.time_ns <= now_ns());
}

static void writes_all_that_is_said_of_a_load(void **state)
{
	(void)state;
	const uint64_t from_ns = now_ns();
	struct polyperf_jit *jit = open_in(dir, (struct polyperf_jit_options){ 0 });
	struct polyperf_jit_load_info info = full_load();
	uint64_t index = 99;
	info.code_index = &index;
	assert_int_equal(polyperf_jit_load(jit, &info), 0);
	assert_int_equal(index, 0);
	assert_int_equal(stats_of(jit).record_count, 1);

	struct dump dump;
	struct jitdump_record record;
	close_and_read(jit, &dump);
	assert_int_equal(dump.reader.pid, getpid());
	assert_int_equal(dump.reader.version, 1);
	assert_int_equal(dump.reader.flags, 0);
	check_lines(&dump);
	expect(&dump, JITDUMP_UNWINDING_INFO, &record);
	assert_int_equal(record.unwinding_info.unwinding_size, 20);
	assert_int_equal(record.unwinding_info.eh_frame_hdr_size, 8);
	assert_int_equal(record.unwinding_info.unwinding.data[2], 3);
	check_inlines(&dump);
	check_bytecodes_and_notes(&dump);
	check_load(&dump, 0, from_ns);
	expect(&dump, JITDUMP_CLOSE, &record);
	assert_int_equal(dump_next(&dump, &record), 0);
	dump_free(&dump);
}

static void writes_what_becomes_of_code(void **state)
{
	(void)state;
	struct polyperf_jit *jit = open_in(dir, (struct polyperf_jit_options){ .pid = 4242 });
	assert_int_equal(load(jit, "alpha", 0x10000, 64), 0);
	assert_int_equal(polyperf_jit_move(jit, 0x10000, 0x20000, 64, 0), 0);
	assert_int_equal(polyperf_jit_unload(jit, 0x20000, 64, POLYPERF_JIT_NO_INDEX), 0);
	const struct polyperf_jit_bytecode_line method_lines[] = { { 0, 5 }, { 7, 6 } };
	const struct polyperf_jit_method_info method = {
		.struct_size = sizeof(method),
		.name = "interpreted",
		.id = 0x6000,
		.bytecode_address = 0x7000,
		.bytecode_size = 12,
		.file = "work.js",
		.line = 5,
		.lines = method_lines,
		.line_count = 2,
	};
	assert_int_equal(polyperf_jit_method(jit, &method), 0);

	struct dump dump;
	struct jitdump_record record;
	close_and_read(jit, &dump);
	assert_int_equal(dump.reader.pid, 4242);
	expect(&dump, JITDUMP_CODE_LOAD, &record);
	expect(&dump, JITDUMP_CODE_MOVE, &record);
	assert_int_equal(record.code_move.old_avma, 0x10000);
	assert_int_equal(record.code_move.new_avma, 0x20000);
	assert_int_equal(record.code_move.code_size, 64);
	assert_int_equal(record.code_move.code_index, 0);
	expect(&dump, JITDUMP_UNLOAD, &record);
	assert_int_equal(record.unload.code_avma, 0x20000);
	assert_int_equal(record.unload.pid, 4242);
	assert_true(record.unload.code_index == UINT64_MAX);
	expect(&dump, JITDUMP_METHOD, &record);
	assert_text(record.method.name, "interpreted");
	assert_text(record.method.file, "work.js");
	assert_int_equal(record.method.first_line, 5);
	struct jitdump_method_line line;
	assert_int_equal(jitdump_method_line_next(&record.method, &line), 1);
	assert_int_equal(jitdump_method_line_next(&record.method, &line), 1);
	assert_int_equal(line.bytecode, 7);
	expect(&dump, JITDUMP_CLOSE, &record);
	dump_free(&dump);
}

static void stamps_what_was_there_before_with_zero(void **state)
{
	(void)state;
	struct polyperf_jit *jit = open_in(dir, (struct polyperf_jit_options){ 0 });
	struct polyperf_jit_load_info info = full_load();
	info.flags = POLYPERF_JIT_EXISTING;
	assert_int_equal(polyperf_jit_load(jit, &info), 0);
	assert_int_equal(load(jit, "beta", 0x7f0000002000, 64), 0);
	struct dump dump;
	struct jitdump_record record;
	close_and_read(jit, &dump);
	for (int i = 0; i < 6; i++) {
		assert_int_equal(dump_next(&dump, &record), 1);
		assert_int_equal(record.time_ns, 0);
	}
	assert_int_equal(record.id, JITDUMP_CODE_LOAD);
	assert_int_equal(dump_next(&dump, &record), 1);
	assert_true(record.time_ns > 0);
	dump_free(&dump);
}

/* A page that can be read, then one that cannot. */
static uint8_t *half_readable(void)
{
	uint8_t *pages =
	    mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(pages != MAP_FAILED);
	memset(pages, 0xab, 4096);
	assert_int_equal(mprotect(pages + 4096, 4096, PROT_NONE), 0);
	return pages;
}

static void survives_code_that_cannot_be_read(void **state)
{
	(void)state;
	uint8_t *pages = half_readable();
	struct polyperf_jit *jit = open_in(dir, (struct polyperf_jit_options){ 0 });
	struct polyperf_jit_load_info info = a_load("half", (uintptr_t)pages + 4000, 200);
	info.code = NULL;
	assert_int_equal(polyperf_jit_load(jit, &info), 0);
	info.flags = POLYPERF_JIT_CODE_MAY_VANISH;
	assert_int_equal(polyperf_jit_load(jit, &info), 0);
	assert_int_equal(polyperf_jit_code(jit, "nowhere", (void *)16, 100), 0);
	assert_int_equal(stats_of(jit).unreadable_count, 3);

	struct dump dump;
	struct jitdump_record record;
	struct jitdump_annotation note;
	close_and_read(jit, &dump);
	for (int i = 0; i < 2; i++) {
		expect(&dump, JITDUMP_ANNOTATIONS, &record);
		assert_int_equal(jitdump_annotation_next(&record.about, &note), 1);
		assert_int_equal(note.kind, JITDUMP_NOTE_UNREADABLE);
		assert_int_equal(note.offset, 96);
		assert_int_equal(note.size, 104);
		expect(&dump, JITDUMP_CODE_LOAD, &record);
		assert_int_equal(record.code_load.code.size, 200);
		assert_int_equal(record.code_load.code.data[95], 0xab);
		assert_int_equal(record.code_load.code.data[96], 0);
	}
	expect(&dump, JITDUMP_ANNOTATIONS, &record);
	expect(&dump, JITDUMP_CODE_LOAD, &record);
	assert_text(record.code_load.name, "nowhere");
	dump_free(&dump);
	munmap(pages, 8192);
}

static void leaves_code_out_when_asked(void **state)
{
	(void)state;
	struct polyperf_jit *jit = open_in(dir, (struct polyperf_jit_options){ 0 });
	struct polyperf_jit_load_info info = a_load("stubs", 0x10000, 1 << 20);
	info.flags = POLYPERF_JIT_WITHOUT_CODE;
	assert_int_equal(polyperf_jit_load(jit, &info), 0);
	struct dump dump;
	struct jitdump_record record;
	close_and_read(jit, &dump);
	expect(&dump, JITDUMP_CODE_LOAD, &record);
	assert_int_equal(record.code_load.code_size, 1 << 20);
	assert_int_equal(record.code_load.code.size, 0);
	dump_free(&dump);
}

static void takes_any_name(void **state)
{
	(void)state;
	static char long_name[100000];
	memset(long_name, 'x', sizeof(long_name) - 1);
	memcpy(long_name + 59999, "\xc3\xa4", 2); /* one character over the limit's edge */
	struct polyperf_jit *jit = open_in(dir, (struct polyperf_jit_options){ 0 });
	assert_int_equal(load(jit, "", 0x10000, 64), 0);
	assert_int_equal(load(jit, "a\nb \x01", 0x20000, 64), 0);
	assert_int_equal(load(jit, long_name, 0x30000, 64), 0);
	struct polyperf_jit_load_info info = a_load("cut\0here", 0x40000, 64);
	info.name_size = 8;
	assert_int_equal(polyperf_jit_load(jit, &info), 0);
	info.name = "not terminated";
	info.name_size = 3;
	assert_int_equal(polyperf_jit_load(jit, &info), 0);
	struct dump dump;
	struct jitdump_record record;
	close_and_read(jit, &dump);
	expect(&dump, JITDUMP_CODE_LOAD, &record);
	assert_text(record.code_load.name, "");
	expect(&dump, JITDUMP_CODE_LOAD, &record);
	assert_text(record.code_load.name, "a\nb \x01");
	expect(&dump, JITDUMP_CODE_LOAD, &record);
	assert_int_equal(record.code_load.name.size, 59999);
	expect(&dump, JITDUMP_CODE_LOAD, &record);
	assert_text(record.code_load.name, "cut");
	expect(&dump, JITDUMP_CODE_LOAD, &record);
	assert_text(record.code_load.name, "not");
	dump_free(&dump);
}

static void refuses_what_makes_no_sense(void **state)
{
	(void)state;
	struct polyperf_jit *jit = open_in(dir, (struct polyperf_jit_options){ 0 });
	assert_int_equal(load(jit, NULL, 0x10000, 64), POLYPERF_JIT_INVALID);
	assert_int_equal(load(jit, "a", 0, 64), POLYPERF_JIT_INVALID);
	assert_int_equal(load(jit, "a", 0x10000, 0), POLYPERF_JIT_INVALID);
	assert_int_equal(load(jit, "a", UINT64_MAX - 10, 64), POLYPERF_JIT_INVALID);
	assert_int_equal(polyperf_jit_load(jit, NULL), POLYPERF_JIT_INVALID);
	assert_int_equal(polyperf_jit_move(jit, 0, 1, 2, 0), POLYPERF_JIT_INVALID);
	struct polyperf_jit_load_info info = a_load("a", 0x10000, 64);
	info.line_count = 1;
	assert_int_equal(polyperf_jit_load(jit, &info), POLYPERF_JIT_INVALID);
	info = a_load("a", 0x10000, UINT64_C(5) << 30);
	info.flags = POLYPERF_JIT_WITHOUT_CODE;
	assert_int_equal(polyperf_jit_load(jit, &info), POLYPERF_JIT_TOO_BIG);
	info = a_load("a", 0x10000, 64);
	info.struct_size = 8;
	assert_int_equal(polyperf_jit_load(jit, &info), POLYPERF_JIT_INVALID);
	assert_int_equal(stats_of(jit).drop_count, 9);
	assert_int_equal(stats_of(jit).record_count, 0);
	polyperf_jit_close(jit);
}

/* A caller that was compiled with a newer header, and one with an older. */
static void takes_structs_of_other_sizes(void **state)
{
	(void)state;
	struct newer {
		struct polyperf_jit_load_info load;
		uint64_t more;
	} newer = { .load = a_load("newer", 0x10000, 64) };
	struct polyperf_jit *jit = open_in(dir, (struct polyperf_jit_options){ 0 });
	newer.load.struct_size = sizeof(newer);
	assert_int_equal(polyperf_jit_load(jit, &newer.load), 0);
	newer.more = 1;
	assert_int_equal(polyperf_jit_load(jit, &newer.load), POLYPERF_JIT_UNSUPPORTED);

	struct polyperf_jit_load_info older = full_load();
	older.struct_size = offsetof(struct polyperf_jit_load_info, lines);
	assert_int_equal(polyperf_jit_load(jit, &older), 0);
	struct dump dump;
	struct jitdump_record record;
	close_and_read(jit, &dump);
	expect(&dump, JITDUMP_CODE_LOAD, &record);
	expect(&dump, JITDUMP_CODE_LOAD, &record);
	expect(&dump, JITDUMP_CLOSE, &record);
	dump_free(&dump);
}

static void does_nothing_without_a_handle(void **state)
{
	(void)state;
	const struct polyperf_jit_options options = { .struct_size = sizeof(options),
						      .flags = POLYPERF_JIT_NULL };
	struct polyperf_jit *jit = (struct polyperf_jit *)dir;
	assert_int_equal(polyperf_jit_open(&options, &jit), 0);
	assert_null(jit);
	assert_int_equal(load(NULL, "a", 0x10000, 64), POLYPERF_JIT_OFF);
	assert_int_equal(polyperf_jit_unload(NULL, 1, 2, 3), POLYPERF_JIT_OFF);
	assert_int_equal(polyperf_jit_enable(NULL, 1), POLYPERF_JIT_OFF);
	assert_int_equal(stats_of(NULL).record_count, 0);
	assert_int_equal(polyperf_jit_path(NULL, dir + 200, 0), 0);
	polyperf_jit_close(NULL);
	assert_int_equal(count_dumps(dir), 0);
}

static void says_why_it_cannot_open(void **state)
{
	(void)state;
	struct polyperf_jit_options options = { .struct_size = sizeof(options),
						.directory = "/nonexistent" };
	struct polyperf_jit *jit = (struct polyperf_jit *)dir;
	errno = 77;
	assert_int_equal(polyperf_jit_open(&options, &jit), POLYPERF_JIT_FAILED);
	assert_null(jit);
	options.directory = dir;
	options.clock = 99;
	assert_int_equal(polyperf_jit_open(&options, &jit), POLYPERF_JIT_INVALID);
	options.clock = 0;
	options.flags = 1u << 31;
	assert_int_equal(polyperf_jit_open(&options, &jit), POLYPERF_JIT_UNSUPPORTED);
	options.struct_size = 3;
	assert_int_equal(polyperf_jit_open(&options, &jit), POLYPERF_JIT_INVALID);
	assert_int_equal(errno, 77);
	assert_int_equal(count_dumps(dir), 0);
}

static void keeps_errno(void **state)
{
	(void)state;
	struct polyperf_jit *jit = open_in(dir, (struct polyperf_jit_options){ 0 });
	errno = 77;
	assert_int_equal(polyperf_jit_code(jit, "nowhere", (void *)16, 100), 0);
	assert_int_equal(load(jit, "a", 0, 64), POLYPERF_JIT_INVALID);
	assert_int_equal(errno, 77);
	polyperf_jit_close(jit);
	assert_int_equal(errno, 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(writes_all_that_is_said_of_a_load, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(writes_what_becomes_of_code, set_up, tear_down),
		cmocka_unit_test_setup_teardown(stamps_what_was_there_before_with_zero, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(survives_code_that_cannot_be_read, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(leaves_code_out_when_asked, set_up, tear_down),
		cmocka_unit_test_setup_teardown(takes_any_name, set_up, tear_down),
		cmocka_unit_test_setup_teardown(refuses_what_makes_no_sense, set_up, tear_down),
		cmocka_unit_test_setup_teardown(takes_structs_of_other_sizes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(does_nothing_without_a_handle, set_up, tear_down),
		cmocka_unit_test_setup_teardown(says_why_it_cannot_open, set_up, tear_down),
		cmocka_unit_test_setup_teardown(keeps_errno, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
