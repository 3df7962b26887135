/* A JVM's own description of itself, made up: the shape of JDK 17's and 25's tables, over a code
 * heap of a few segments.
 */
#include "agent/jvmti/vm_structs.h"
#include "test.h"

#include <string.h>

struct field {
	const char *type;
	const char *name;
	const char *of_type;
	int32_t is_static;
	uint64_t offset;
	void *address;
};

struct type {
	const char *name;
	const char *super;
	int32_t is_oop;
	int32_t is_integer;
	int32_t is_unsigned;
	uint64_t size;
};

enum { SEGMENT = 128, SEGMENTS = 2048, CODE_OFF = 80 };

/* The made-up JVM's own data. */
struct space {
	char *low_boundary;
	char *low;
	char *high;
};

struct heap {
	int64_t something;
	struct space memory;
	struct space segmap;
	int32_t log2_segment;
};

struct block {
	uint64_t length;
	uint8_t used;
};

struct nmethod {
	void *virtual_table;
	char *code_begin;
	int32_t code_offset;
	int32_t frame_size;
	int16_t frame_complete;
	int32_t entry_bci;
	int32_t compile_id;
	int8_t comp_level;
};

struct const_method {
	uint64_t fingerprint;
	uint16_t code_size;
};

struct method {
	void *virtual_table;
	struct const_method *constant;
};

struct array {
	int32_t length;
	int32_t capacity;
	struct heap **data;
};

static _Alignas(SEGMENT) char memory[SEGMENTS * SEGMENT];
static uint8_t segmap[SEGMENTS];
static struct heap heap;
static struct heap *heaps[2] = { &heap, &heap };
static struct array array;
static struct array *heaps_variable;

static struct field fields[32];
static struct type types[16];

static const char *find_name;
static struct {
	const char *name;
	uint64_t value;
} variables[16];

static void set_tables(void)
{
	const struct field all[] = {
		{ "CodeCache", "_heaps", "GrowableArray<CodeHeap*>*", 1, 0, &heaps_variable },
		{ "GrowableArrayBase", "_len", "int", 0, offsetof(struct array, length), NULL },
		{ "GrowableArray<int>", "_data", "int*", 0, offsetof(struct array, data), NULL },
		{ "CodeHeap", "_memory", "VirtualSpace", 0, offsetof(struct heap, memory), NULL },
		{ "CodeHeap", "_segmap", "VirtualSpace", 0, offsetof(struct heap, segmap), NULL },
		{ "CodeHeap", "_log2_segment_size", "int", 0, offsetof(struct heap, log2_segment),
		  NULL },
		{ "VirtualSpace", "_low", "char*", 0, offsetof(struct space, low), NULL },
		{ "VirtualSpace", "_high", "char*", 0, offsetof(struct space, high), NULL },
		{ "HeapBlock::Header", "_used", "bool", 0, offsetof(struct block, used), NULL },
		{ "CodeBlob", "_code_begin", "address", 0, offsetof(struct nmethod, code_begin),
		  NULL },
		{ "CodeBlob", "_frame_size", "int", 0, offsetof(struct nmethod, frame_size), NULL },
		{ "CodeBlob", "_frame_complete_offset", "int16_t", 0,
		  offsetof(struct nmethod, frame_complete), NULL },
		{ "nmethod", "_entry_bci", "int", 0, offsetof(struct nmethod, entry_bci), NULL },
		{ "nmethod", "_compile_id", "int", 0, offsetof(struct nmethod, compile_id), NULL },
		{ "nmethod", "_comp_level", "CompLevel", 0, offsetof(struct nmethod, comp_level),
		  NULL },
		{ "Method", "_constMethod", "ConstMethod*", 0, offsetof(struct method, constant),
		  NULL },
		{ "ConstMethod", "_code_size", "u2", 0, offsetof(struct const_method, code_size),
		  NULL },
		{ "Other", "_x", "int", 0, 4, NULL },
		{ 0 },
	};
	const struct type known[] = {
		{ "int", NULL, 0, 1, 0, 4 },
		{ "CompLevel", NULL, 0, 1, 0, 1 },
		{ "bool", NULL, 0, 1, 0, 1 },
		{ "int16_t", NULL, 0, 1, 0, 2 },
		{ "HeapBlock", NULL, 0, 0, 0, sizeof(struct block) },
		{ "nmethod", "CodeBlob", 0, 0, 0, sizeof(struct nmethod) },
		{ "ConstMethod", "MetaspaceObj", 0, 0, 0, sizeof(struct const_method) },
		{ 0 },
	};
	memcpy(fields, all, sizeof(all));
	memcpy(types, known, sizeof(known));
}

static void set_variables(void)
{
	size_t i = 0;
#define SET(n, v) (variables[i].name = (n), variables[i++].value = (v))
	SET("gHotSpotVMStructs", (uint64_t)(uintptr_t)fields);
	SET("gHotSpotVMStructEntryArrayStride", sizeof(struct field));
	SET("gHotSpotVMStructEntryTypeNameOffset", offsetof(struct field, type));
	SET("gHotSpotVMStructEntryFieldNameOffset", offsetof(struct field, name));
	SET("gHotSpotVMStructEntryTypeStringOffset", offsetof(struct field, of_type));
	SET("gHotSpotVMStructEntryIsStaticOffset", offsetof(struct field, is_static));
	SET("gHotSpotVMStructEntryOffsetOffset", offsetof(struct field, offset));
	SET("gHotSpotVMStructEntryAddressOffset", offsetof(struct field, address));
	SET("gHotSpotVMTypes", (uint64_t)(uintptr_t)types);
	SET("gHotSpotVMTypeEntryArrayStride", sizeof(struct type));
	SET("gHotSpotVMTypeEntryTypeNameOffset", offsetof(struct type, name));
	SET("gHotSpotVMTypeEntrySizeOffset", offsetof(struct type, size));
#undef SET
}

static void *find(void *context, const char *name)
{
	(void)context;
	if (find_name && strcmp(find_name, name) == 0)
		return NULL;
	for (size_t i = 0; i < 16 && variables[i].name; i++)
		if (strcmp(variables[i].name, name) == 0)
			return &variables[i].value;
	return NULL;
}

/* A block of so many segments; its code begins CODE_OFF behind the nmethod's start. */
static uint64_t put_method(size_t segment, size_t count, int8_t level, int32_t bci)
{
	struct block *block = (struct block *)(void *)(memory + segment * SEGMENT);
	struct nmethod *method = (struct nmethod *)(void *)(block + 1);
	*block = (struct block){ count, 1 };
	*method = (struct nmethod){ .code_begin = (char *)method + CODE_OFF,
				    .code_offset = CODE_OFF,
				    .entry_bci = bci,
				    .compile_id = 17,
				    .comp_level = level };
	for (size_t i = 0; i < count; i++)
		segmap[segment + i] = (uint8_t)(i < 254 ? i : 254);
	return (uint64_t)(uintptr_t)method->code_begin;
}

static int setup(void **state)
{
	(void)state;
	memset(memory, 0, sizeof(memory));
	memset(segmap, 255, sizeof(segmap));
	heap = (struct heap){ .memory = { memory, memory, memory + sizeof(memory) },
			      .segmap = { (char *)segmap, (char *)segmap,
					  (char *)segmap + sizeof(segmap) },
			      .log2_segment = 7 };
	array = (struct array){ 1, 2, heaps };
	heaps_variable = &array;
	find_name = NULL;
	set_tables();
	set_variables();
	return 0;
}

static void test_tiers_are_found(void **state)
{
	(void)state;
	struct vm_structs structs;
	struct vm_code code;
	assert_true(vm_structs_open(&structs, find, NULL));
	const uint64_t c1 = put_method(2, 3, 3, -1);
	const uint64_t c2 = put_method(5, 700, 4, 12);
	assert_true(vm_structs_code(&structs, c1, &code));
	assert_string_equal(vm_code_tier(&code), "c1-3");
	assert_int_equal(code.compile_id, 17);
	assert_true(vm_structs_code(&structs, c2, &code));
	assert_string_equal(vm_code_tier(&code), "c2-osr");
	assert_int_equal(code.entry_bci, 12);
}

static void test_frames_are_found(void **state)
{
	(void)state;
	struct vm_structs structs;
	struct vm_frame frame;
	assert_true(vm_structs_open(&structs, find, NULL));
	const uint64_t avma = put_method(2, 3, 3, -1);
	struct nmethod *method = (struct nmethod *)(void *)(memory + 2 * SEGMENT + 16);
	method->frame_size = 12;
	method->frame_complete = 44;
	assert_true(vm_structs_frame(&structs, avma, &frame));
	assert_int_equal(frame.words, 12);
	assert_int_equal(frame.complete_off, 44);
	/* Never complete, as stubs say. */
	method->frame_complete = -1;
	assert_true(vm_structs_frame(&structs, avma, &frame));
	assert_int_equal(frame.complete_off, 0);
	method->frame_size = -1;
	assert_false(vm_structs_frame(&structs, avma, &frame));
	assert_false(vm_structs_frame(&structs, avma + 1, &frame));
}

static void test_code_far_from_its_blocks_start(void **state)
{
	(void)state;
	struct vm_structs structs;
	struct vm_code code;
	assert_true(vm_structs_open(&structs, find, NULL));
	(void)put_method(3, 2000, 2, -1);
	struct nmethod *method = (struct nmethod *)(void *)(memory + 3 * SEGMENT + 16);
	method->code_begin = memory + 1900 * SEGMENT;
	assert_true(vm_structs_code(&structs, (uint64_t)(uintptr_t)method->code_begin, &code));
	assert_string_equal(vm_code_tier(&code), "c1-2");
}

static void test_newer_jvms_tell_an_offset(void **state)
{
	(void)state;
	struct vm_structs structs;
	struct vm_code code;
	for (size_t i = 0; fields[i].type; i++)
		if (strcmp(fields[i].name, "_code_begin") == 0)
			fields[i] = (struct field){ "CodeBlob",
						    "_code_offset",
						    "int",
						    0,
						    offsetof(struct nmethod, code_offset),
						    NULL };
	assert_true(vm_structs_open(&structs, find, NULL));
	const uint64_t avma = put_method(9, 1, 1, -1);
	assert_true(vm_structs_code(&structs, avma, &code));
	assert_string_equal(vm_code_tier(&code), "c1-1");
}

static void test_what_is_no_code_has_no_tier(void **state)
{
	(void)state;
	struct vm_structs structs;
	struct vm_code code;
	const uint64_t low = (uint64_t)(uintptr_t)memory;
	assert_true(vm_structs_open(&structs, find, NULL));
	const uint64_t avma = put_method(4, 2, 4, -1);
	assert_false(vm_structs_code(&structs, avma + 1, &code));
	assert_false(vm_structs_code(&structs, low, &code)); /* free */
	assert_false(vm_structs_code(&structs, low - 1, &code));
	assert_false(vm_structs_code(&structs, low + sizeof(memory), &code));
	assert_false(vm_structs_code(&structs, 0, &code));
	memory[4 * SEGMENT + offsetof(struct block, used)] = 0;
	assert_false(vm_structs_code(&structs, avma, &code));
	code = (struct vm_code){ .comp_level = 9 };
	assert_null(vm_code_tier(&code));
	code.comp_level = -2;
	assert_null(vm_code_tier(&code));
}

static void test_each_missing_variable_and_field(void **state)
{
	(void)state;
	struct vm_structs structs;
	struct vm_code code;
	const uint64_t avma = put_method(4, 2, 4, -1);
	for (size_t i = 0; variables[i].name; i++) {
		find_name = variables[i].name;
		assert_false(vm_structs_open(&structs, find, NULL));
		assert_false(vm_structs_code(&structs, avma, &code));
	}
	find_name = NULL;
	for (size_t i = 0; fields[i].type; i++) {
		const char *name = fields[i].name;
		const bool is_of_methods = strstr(fields[i].type, "Method") != NULL;
		const bool is_of_frames = strncmp(name, "_frame_", 7) == 0;
		const bool is_needed = strcmp(name, "_x") != 0 &&
				       strcmp(name, "_compile_id") != 0 && !is_of_methods &&
				       !is_of_frames;
		struct vm_frame frame;
		fields[i].name = "_gone";
		assert_int_equal(vm_structs_open(&structs, find, NULL), !is_needed);
		assert_int_equal(structs.const_method_size == 0, is_of_methods);
		if (!is_needed)
			assert_int_equal(vm_structs_frame(&structs, avma, &frame),
					 strcmp(name, "_frame_size") != 0);
		fields[i].name = name;
	}
}

/* Wrong numbers anywhere lead to "not known", and to no fault. */
static void test_wrong_offsets_are_harmless(void **state)
{
	(void)state;
	static const uint64_t WRONG[] = { 1, 8, 4095, 4096, 1 << 20, UINT64_MAX - 4, UINT64_MAX };
	struct vm_structs structs;
	struct vm_code code;
	const uint64_t avma = put_method(4, 2, 4, -1);
	for (size_t i = 0; fields[i].type; i++)
		for (size_t w = 0; w < sizeof(WRONG) / sizeof(WRONG[0]); w++) {
			const struct field kept = fields[i];
			fields[i].offset = WRONG[w];
			fields[i].address = (void *)(uintptr_t)WRONG[w];
			if (vm_structs_open(&structs, find, NULL))
				(void)vm_structs_code(&structs, avma, &code);
			fields[i] = kept;
		}
	for (size_t i = 0; types[i].name; i++)
		for (size_t w = 0; w < sizeof(WRONG) / sizeof(WRONG[0]); w++) {
			const struct type kept = types[i];
			types[i].size = WRONG[w];
			if (vm_structs_open(&structs, find, NULL))
				(void)vm_structs_code(&structs, avma, &code);
			types[i] = kept;
		}
}

static void test_a_heap_that_makes_no_sense(void **state)
{
	(void)state;
	struct vm_structs structs;
	struct vm_code code;
	const uint64_t avma = put_method(4, 2, 4, -1);
	const struct heap kept = heap;
	heap.log2_segment = 63;
	assert_true(vm_structs_open(&structs, find, NULL));
	assert_false(vm_structs_code(&structs, avma, &code));
	heap = kept;
	heap.segmap.low = (char *)8;
	assert_true(vm_structs_open(&structs, find, NULL));
	assert_false(vm_structs_code(&structs, avma, &code));
	heap = kept;
	array.length = 1000000;
	assert_true(vm_structs_open(&structs, find, NULL));
	assert_false(vm_structs_code(&structs, avma, &code));
	array.length = 1;
	/* Steps that never end at a first segment, or lead before the map. */
	memset(segmap, 1, sizeof(segmap));
	assert_true(vm_structs_open(&structs, find, NULL));
	assert_false(vm_structs_code(&structs, avma, &code));
	memset(segmap, 254, sizeof(segmap));
	assert_false(vm_structs_code(&structs, avma, &code));
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

static void test_jmethod_ids_lead_to_methods(void **state)
{
	(void)state;
	struct const_method constant = { .code_size = 300 };
	struct method method = { .constant = &constant };
	struct method *id = &method;
	const uint64_t id_avma = (uint64_t)(uintptr_t)&id;
	struct vm_structs vm;
	struct vm_method found;
	assert_true(vm_structs_open(&vm, find, NULL));
	assert_true(vm_structs_method(&vm, id_avma, &found));
	assert_int_equal(found.method_avma, (uintptr_t)&method);
	assert_int_equal(found.bytecode_avma, (uintptr_t)(&constant + 1));
	assert_int_equal(found.bytecode_size, 300);
	struct vm_method known;
	vm_structs_known_method(&vm, id_avma, &known);
	assert_int_equal(known.method_avma, found.method_avma);
	assert_int_equal(known.bytecode_avma, found.bytecode_avma);
	/* Whatever cannot be read. */
	assert_false(vm_structs_method(&vm, 8, &found));
	method.constant = (struct const_method *)(uintptr_t)16;
	assert_false(vm_structs_method(&vm, id_avma, &found));
	id = (struct method *)(uintptr_t)24;
	assert_false(vm_structs_method(&vm, id_avma, &found));
	/* A JVM that tells of its code alone. */
	for (size_t i = 0; fields[i].type; i++)
		if (strcmp(fields[i].type, "Method") == 0)
			fields[i].name = "_other";
	assert_true(vm_structs_open(&vm, find, NULL));
	assert_int_equal(vm.const_method_size, 0);
	id = &method;
	assert_false(vm_structs_method(&vm, id_avma, &found));
}

static void test_words_are_read_where_there_are_some(void **state)
{
	(void)state;
	enum { COUNT = 700 };
	static uint64_t source[COUNT];
	static uint64_t avmas[COUNT];
	static uint64_t words[COUNT];
	for (size_t i = 0; i < COUNT; i++) {
		source[i] = i + 1;
		avmas[i] = i % 7 == 3 ? i : (uint64_t)(uintptr_t)&source[i];
	}
	vm_structs_words(avmas, COUNT, words);
	for (size_t i = 0; i < COUNT; i++)
		assert_int_equal(words[i], i % 7 == 3 ? 0 : i + 1);
	vm_structs_words(avmas, 0, words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_tiers_are_found),
		TEST(test_frames_are_found),
		TEST(test_code_far_from_its_blocks_start),
		TEST(test_newer_jvms_tell_an_offset),
		TEST(test_what_is_no_code_has_no_tier),
		TEST(test_each_missing_variable_and_field),
		TEST(test_wrong_offsets_are_harmless),
		TEST(test_a_heap_that_makes_no_sense),
		cmocka_unit_test_setup(test_jmethod_ids_lead_to_methods, setup),
		cmocka_unit_test(test_words_are_read_where_there_are_some),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
