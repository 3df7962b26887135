#include "agent/jvmti/code.h"
#include "failing_memory.h"
#include "fake_jvm.h"
#include "test.h"

#include <jvmticmlr.h>
#include <stdlib.h>
#include <string.h>

enum { ALPHA = 1, BETA, GAMMA, LAMBDA, GONE, METHODS = GONE };

#define CODE 0x7f0000001000u

/* Not in order, as javac writes them for loops. */
static const jvmtiLineNumberEntry ALPHA_LINES[] = { { 0, 10 }, { 20, 14 }, { 8, 12 } };
static const jvmtiLineNumberEntry BETA_LINES[] = { { 0, 30 }, { 5, 31 } };
static const jvmtiLineNumberEntry GAMMA_LINES[] = { { 0, 7 } };

static const struct fake_method METHOD_TABLE[METHODS] = {
	{ "La/Work;", "alpha", "()V", "Work.java", ALPHA_LINES, 3 },
	{ "La/Work;", "beta", "(I)I", "Work.java", BETA_LINES, 2 },
	{ "Lb/Other;", "gamma", "()V", "Other.java", GAMMA_LINES, 1 },
	{ "La/Work$$Lambda$7.0x00000080;", "run", "()V", NULL, NULL, 0 },
	{ 0 },
};

static struct options options;
static struct code_builder builder;
static struct polyperf_jit_load_info load;
static struct jvm jvm;

static int setup(void **state)
{
	(void)state;
	fake = (struct fake_jvm){ .methods = METHOD_TABLE, .method_count = METHODS };
	options = (struct options){ .lines = true, .inlines = true };
	builder = (struct code_builder){ .options = &options, .is_hotspot = true };
	jvm = (struct jvm){ fake_jvmti(), fake_jni() };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	code_builder_clear(&builder);
	const bool is_clean = fake.given == 0 && fake.local_references == 0;
	return is_clean ? 0 : -1;
}

/* A place's frames, innermost first: method and bytecode, ended by a method of 0. */
struct place {
	uint32_t off;
	struct {
		int method;
		jint bytecode;
	} frames[6];
};

static void build(const struct place *places, size_t count, uint64_t size)
{
	enum { MOST = 64, DEPTH = 6 };
	static PCStackInfo infos[MOST];
	static jmethodID methods[MOST][DEPTH];
	static jint bytecodes[MOST][DEPTH];
	jvmtiCompiledMethodLoadDummyRecord other = { .header = { .kind = JVMTI_CMLR_DUMMY } };
	jvmtiCompiledMethodLoadInlineRecord record = {
		.header = { JVMTI_CMLR_INLINE_INFO, JVMTI_CMLR_MAJOR_VERSION_1, 0, NULL },
		.numpcs = (jint)count,
		.pcinfo = infos,
	};
	other.header.next = &record.header;
	for (size_t i = 0; i < count; i++) {
		jint depth = 0;
		for (; depth < DEPTH && places[i].frames[depth].method; depth++) {
			methods[i][depth] = fake_id((size_t)places[i].frames[depth].method);
			bytecodes[i][depth] = places[i].frames[depth].bytecode;
		}
		infos[i] = (PCStackInfo){ (void *)(uintptr_t)(CODE + places[i].off), depth,
					  methods[i], bytecodes[i] };
	}
	const struct code_event event = {
		.method = fake_id(ALPHA), .code_avma = CODE, .size = size, .compile_info = &other
	};
	load = (struct polyperf_jit_load_info){ .struct_size = sizeof(load) };
	code_build(&builder, &jvm, &event, &load);
}

static void expect_line(size_t index, uint64_t offset, uint32_t line, const char *file)
{
	assert_true(index < load.line_count);
	assert_int_equal(load.lines[index].offset, offset);
	assert_int_equal(load.lines[index].line, line);
	assert_string_equal(load.lines[index].file, file);
}

static void expect_inline(size_t index, struct polyperf_jit_inline wanted)
{
	assert_true(index < load.inline_count);
	const struct polyperf_jit_inline *got = &load.inlines[index];
	assert_int_equal(got->offset, wanted.offset);
	assert_int_equal(got->size, wanted.size);
	assert_int_equal(got->depth, wanted.depth);
	assert_int_equal(got->call_line, wanted.call_line);
	assert_int_equal(got->call_bytecode, wanted.call_bytecode);
	assert_string_equal(got->name, wanted.name);
	assert_string_equal(got->call_file, wanted.call_file);
}

static const struct place NESTED[] = {
	{ 0x10, { { ALPHA, 0 } } },
	{ 0x20, { { BETA, 2 }, { ALPHA, 9 } } },
	{ 0x28, { { GAMMA, 0 }, { BETA, 6 }, { ALPHA, 9 } } },
	{ 0x30, { { BETA, 6 }, { ALPHA, 9 } } },
	{ 0x38, { { BETA, 2 }, { ALPHA, 21 } } },
	{ 0x40, { { ALPHA, 21 } } },
};

static void test_places_hold_to_the_instruction_they_are_at(void **state)
{
	(void)state;
	build(NESTED, 6, 0x50);
	assert_string_equal(load.name, "La/Work;alpha()V");
	assert_int_equal(load.address, CODE);
	assert_int_equal(load.size, 0x50);
	assert_int_equal(load.line_count, 7);
	expect_line(0, 0x00, 10, "a/Work.java");
	expect_line(1, 0x11, 30, "a/Work.java");
	expect_line(2, 0x21, 7, "b/Other.java");
	expect_line(3, 0x29, 31, "a/Work.java");
	expect_line(4, 0x31, 30, "a/Work.java");
	expect_line(5, 0x39, 14, "a/Work.java");
	expect_line(6, 0x41, 0, "a/Work.java"); /* behind the last place nothing is known */
	assert_int_equal(load.bytecode_count, 7);
	assert_int_equal(load.bytecodes[2].offset, 0x21);
	assert_int_equal(load.bytecodes[2].bytecode, 0);
	assert_int_equal(load.bytecodes[6].bytecode, -1);
}

static void test_scopes_nest(void **state)
{
	(void)state;
	build(NESTED, 6, 0x50);
	assert_int_equal(load.inline_count, 3);
	expect_inline(0, (struct polyperf_jit_inline){ .offset = 0x11,
						       .size = 0x20,
						       .depth = 0,
						       .call_line = 12,
						       .call_bytecode = 9,
						       .name = "La/Work;beta(I)I",
						       .call_file = "a/Work.java" });
	expect_inline(1, (struct polyperf_jit_inline){ .offset = 0x21,
						       .size = 8,
						       .depth = 1,
						       .call_line = 31,
						       .call_bytecode = 6,
						       .name = "Lb/Other;gamma()V",
						       .call_file = "a/Work.java" });
	/* The same method, called elsewhere: another scope. */
	expect_inline(2, (struct polyperf_jit_inline){ .offset = 0x31,
						       .size = 8,
						       .depth = 0,
						       .call_line = 14,
						       .call_bytecode = 21,
						       .name = "La/Work;beta(I)I",
						       .call_file = "a/Work.java" });
}

static void test_other_jvms_put_places_in_front(void **state)
{
	(void)state;
	builder.is_hotspot = false;
	build(NESTED, 6, 0x50);
	assert_int_equal(load.line_count, 7);
	expect_line(0, 0x00, 0, "");
	expect_line(1, 0x10, 10, "a/Work.java");
	expect_line(6, 0x40, 14, "a/Work.java");
	assert_int_equal(load.inlines[0].offset, 0x20);
	assert_int_equal(load.inlines[0].size, 0x18);
}

static void test_without_inlines_lines_are_the_callers(void **state)
{
	(void)state;
	options.inlines = false;
	build(NESTED, 6, 0x50);
	assert_int_equal(load.inline_count, 0);
	assert_int_equal(load.line_count, 4);
	expect_line(1, 0x11, 12, "a/Work.java");
	expect_line(2, 0x31, 14, "a/Work.java");
	options = (struct options){ .inlines = true };
	build(NESTED, 6, 0x50);
	assert_int_equal(load.line_count, 0);
	assert_int_equal(load.bytecode_count, 0);
	assert_int_equal(load.inline_count, 3);
}

static void test_the_entry_is_before_the_first_bytecode(void **state)
{
	(void)state;
	static const struct place PLACES[] = { { 8, { { ALPHA, -1 } } }, { 16, { { ALPHA, 0 } } } };
	build(PLACES, 2, 16);
	assert_int_equal(load.line_count, 1);
	expect_line(0, 0, 10, "a/Work.java");
	assert_int_equal(load.bytecodes[0].bytecode, -1);
	assert_int_equal(load.bytecodes[1].bytecode, 0);
}

static void test_places_in_disorder(void **state)
{
	(void)state;
	static const struct place PLACES[] = {
		{ 0x20, { { ALPHA, 0 } } }, { 0x10, { { BETA, 0 } } },   { 0x90, { { BETA, 0 } } },
		{ 0x30, { { ALPHA, 8 } } }, { 0x30, { { ALPHA, 20 } } }, { 0x38, { { 0, 0 } } },
	};
	build(PLACES, 6, 0x50);
	assert_int_equal(load.line_count, 3);
	expect_line(0, 0x00, 10, "a/Work.java");
	expect_line(1, 0x21, 14, "a/Work.java"); /* of two in one place the last */
	expect_line(2, 0x31, 0, "a/Work.java");
	assert_int_equal(load.inline_count, 0);
}

static void test_records_that_make_no_sense(void **state)
{
	(void)state;
	PCStackInfo info = { (void *)(uintptr_t)(CODE + 8), 2, NULL, NULL };
	jvmtiCompiledMethodLoadInlineRecord record = {
		.header = { JVMTI_CMLR_INLINE_INFO, 2, 0, NULL }, .numpcs = 1, .pcinfo = &info
	};
	struct code_event event = {
		.method = fake_id(ALPHA), .code_avma = CODE, .size = 32, .compile_info = &record
	};
	load = (struct polyperf_jit_load_info){ 0 };
	code_build(&builder, &jvm, &event, &load);
	assert_int_equal(load.line_count, 0);
	record.header.majorinfoversion = 1;
	static const jint COUNTS[] = { -1, 0, INT32_MAX, 1 };
	for (size_t i = 0; i < 4; i++) {
		record.numpcs = COUNTS[i];
		code_build(&builder, &jvm, &event, &load);
		assert_int_equal(load.line_count, 0);
	}
	static const jint DEPTHS[] = { -1, 0, CODE_DEPTH_MAX + 1, INT32_MAX };
	jmethodID method = fake_id(ALPHA);
	jint bytecode = 0;
	info.methods = &method;
	info.bcis = &bytecode;
	for (size_t i = 0; i < 4; i++) {
		info.numstackframes = DEPTHS[i];
		code_build(&builder, &jvm, &event, &load);
		assert_int_equal(load.line_count, 0);
	}
	record.pcinfo = NULL;
	code_build(&builder, &jvm, &event, &load);
	/* A ring of records. */
	record.header =
	    (jvmtiCompiledMethodLoadRecordHeader){ JVMTI_CMLR_DUMMY, 1, 0, &record.header };
	code_build(&builder, &jvm, &event, &load);
	assert_int_equal(load.line_count, 0);
	assert_string_equal(load.name, "La/Work;alpha()V");
}

static void test_the_map_where_there_is_no_record(void **state)
{
	(void)state;
	const jvmtiAddrLocationMap map[] = { { (void *)(uintptr_t)(CODE + 8), 0 },
					     { (void *)(uintptr_t)(CODE + 24), 9 } };
	const struct code_event event = {
		.method = fake_id(ALPHA), .code_avma = CODE, .size = 32, .map = map, .map_length = 2
	};
	load = (struct polyperf_jit_load_info){ 0 };
	code_build(&builder, &jvm, &event, &load);
	assert_int_equal(load.line_count, 3);
	expect_line(0, 0, 10, "a/Work.java");
	expect_line(1, 9, 12, "a/Work.java");
	expect_line(2, 25, 0, "a/Work.java");
}

static void test_methods_without_lines_or_life(void **state)
{
	(void)state;
	static const struct place PLACES[] = {
		{ 8, { { LAMBDA, 3 }, { ALPHA, 0 } } },
		{ 16, { { GONE, 0 }, { ALPHA, 0 } } },
		{ 24, { { 77, 0 }, { GONE, 5 } } },
	};
	build(PLACES, 3, 24);
	assert_int_equal(load.inline_count, 3);
	assert_string_equal(load.inlines[0].name, "La/Work$$Lambda;run()V");
	assert_string_equal(load.inlines[1].name, "[unloaded method]");
	assert_string_equal(load.inlines[2].name, "[unloaded method]");
	assert_null(load.inlines[2].call_file);
	/* No line at all is no table. */
	assert_int_equal(load.line_count, 0);
}

static void test_each_refusal_of_jvmti(void **state)
{
	(void)state;
	build(NESTED, 6, 0x50);
	const int calls = fake.calls;
	for (int n = 1; n <= calls; n++) {
		code_builder_clear(&builder);
		fake.calls = 0;
		fake.refuse = n;
		build(NESTED, 6, 0x50);
		assert_non_null(load.name);
		assert_int_equal(load.inline_count, 3);
		assert_int_equal(fake.given, 0);
		assert_int_equal(fake.local_references, 0);
	}
}

static void test_methods_are_asked_for_once_a_second(void **state)
{
	(void)state;
	build(NESTED, 6, 0x50);
	const int calls = fake.calls;
	build(NESTED, 6, 0x50);
	assert_int_equal(fake.calls, calls);
	builder.methods.born_ns -= METHODS_LIFE_NS + 1;
	build(NESTED, 6, 0x50);
	assert_int_equal(fake.calls, 2 * calls);
}

static void test_more_methods_than_are_kept(void **state)
{
	(void)state;
	for (size_t i = 1; i <= METHODS_CAPACITY; i++)
		assert_non_null(methods_get(&builder.methods, &jvm, fake_id(i + METHODS)));
	assert_in_range(builder.methods.count, METHODS_MAX, METHODS_CAPACITY - 1);
	build(NESTED, 6, 0x50);
	assert_string_equal(load.name, "La/Work;alpha()V");
	assert_in_range(builder.methods.count, 1, METHODS);
}

static void test_without_memory_there_is_less(void **state)
{
	(void)state;
	for (size_t n = 1;; n++) {
		code_builder_clear(&builder);
		memory_fail_at(n);
		build(NESTED, 6, 0x50);
		const bool has_failed = memory_has_failed();
		memory_fail_at(0);
		assert_non_null(load.name);
		assert_true(load.inline_count <= 3 && load.line_count <= 7);
		if (!has_failed)
			break;
	}
	assert_int_equal(load.inline_count, 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_places_hold_to_the_instruction_they_are_at),
		TEST(test_scopes_nest),
		TEST(test_other_jvms_put_places_in_front),
		TEST(test_without_inlines_lines_are_the_callers),
		TEST(test_the_entry_is_before_the_first_bytecode),
		TEST(test_places_in_disorder),
		TEST(test_records_that_make_no_sense),
		TEST(test_the_map_where_there_is_no_record),
		TEST(test_methods_without_lines_or_life),
		TEST(test_each_refusal_of_jvmti),
		TEST(test_methods_are_asked_for_once_a_second),
		TEST(test_more_methods_than_are_kept),
		TEST(test_without_memory_there_is_less),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
