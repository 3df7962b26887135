/* One small assembly, compiled ahead: what is said of it, and what it says when it is damaged. */
#include "clr/image.h"

#include "base/status.h"
#include "clr/image_internal.h"
#include "fixture.h"

struct expected {
	uint32_t rva;
	uint32_t size;
	uint32_t start_rva;
	uint32_t token;
	bool is_instance;
	const char *name;
};

/* As the runtime names them in its jitdump. */
static const struct expected SHAPES_CODE[] = {
	{ 0x10710, 0x4, 0x10710, 0x06000002, false,
	  "int32 [Shapes] Shapes.Outer::Pointers(uint8*,void**,method string *(int32))[PreJIT]" },
	{ 0x10720, 0x34, 0x10720, 0x06000003, false,
	  "int32 [Shapes] Shapes.Outer::Guarded(int32[],int32)[PreJIT]" },
	{ 0x10754, 0x14, 0x10720, 0x06000003, false, /* its catch */
	  "int32 [Shapes] Shapes.Outer::Guarded(int32[],int32)[PreJIT]" },
	{ 0x10768, 0xf, 0x10720, 0x06000003, false, /* its finally */
	  "int32 [Shapes] Shapes.Outer::Guarded(int32[],int32)[PreJIT]" },
	{ 0x10780, 0x2c, 0x10780, 0x06000005, false, "int32 [Shapes] Shapes.Outer::Use()[PreJIT]" },
	{ 0x107b0, 0x1, 0x107b0, 0x06000006, false,
	  "instance void [Shapes] Shapes.Outer::.ctor()[PreJIT]" },
	{ 0x107c0, 0x35, 0x107c0, 0x06000007, true,
	  "instance !0 [Shapes] Shapes.Outer+Inner`1[System.Int32]::"
	  "Keep(!0,!0[0...,0...],int32[])[PreJIT]" },
	{ 0x10800, 0x1, 0x10800, 0x06000008, true,
	  "instance void [Shapes] Shapes.Outer+Inner`1[System.Int32]::.ctor()[PreJIT]" },
	{ 0x10810, 0x37, 0x10810, 0x06000007, true,
	  "instance !0 [Shapes] Shapes.Outer+Inner`1[System.__Canon]::"
	  "Keep(!0,!0[0...,0...],int32[])[PreJIT]" },
	{ 0x10850, 0x1, 0x10850, 0x06000008, true,
	  "instance void [Shapes] Shapes.Outer+Inner`1[System.__Canon]::.ctor()[PreJIT]" },
	{ 0x10860, 0x16, 0x10860, 0x06000001, true,
	  "instance !0 [Shapes] Shapes.Pair`2[System.__Canon,System.__Canon]::"
	  "Swap(!1&)[PreJIT]" },
	{ 0x10880, 0xb, 0x10880, 0x06000004, true,
	  "!!0 [Shapes] Shapes.Outer::Pick(bool,!!0,!!0)[PreJIT]" },
};
enum { SHAPES_COUNT = sizeof(SHAPES_CODE) / sizeof(SHAPES_CODE[0]) };

static struct bytes file;
static struct clr_image *image;

static int open_shapes(void **state)
{
	(void)state;
	file = read_fixture(SHAPES);
	return clr_image_open(&image, file);
}

static int close_shapes(void **state)
{
	(void)state;
	clr_image_free(image);
	free_fixture(file);
	return 0;
}

static void assert_bytes(struct bytes bytes, const char *text)
{
	assert_int_equal(bytes.size, strlen(text));
	assert_memory_equal(bytes.data, text, bytes.size);
}

static void test_methods(void **state)
{
	(void)state;
	struct sink name = { 0 };
	assert_int_equal(clr_image_method_count(image), SHAPES_COUNT);
	for (uint32_t i = 0; i < SHAPES_COUNT; i++) {
		const struct clr_method method = clr_image_method(image, i);
		assert_int_equal(method.rva, SHAPES_CODE[i].rva);
		assert_int_equal(method.size, SHAPES_CODE[i].size);
		assert_int_equal(method.start_rva, SHAPES_CODE[i].start_rva);
		assert_int_equal(method.token, SHAPES_CODE[i].token);
		assert_int_equal(method.is_instance, SHAPES_CODE[i].is_instance);
		assert_int_equal(method.component, 0);
		assert_false(method.is_cold);
		sink_reset(&name);
		assert_int_equal(clr_image_name(image, i, &name), 0);
		assert_bytes(sink_bytes(&name), SHAPES_CODE[i].name);
	}
	assert_int_equal(clr_image_method(image, SHAPES_COUNT).size, 0);
	assert_int_equal(clr_image_name(image, SHAPES_COUNT, &name), STATUS_CORRUPT);
	sink_clear(&name);
}

static void test_find(void **state)
{
	(void)state;
	uint32_t index = 99;
	for (uint32_t i = 0; i < SHAPES_COUNT; i++) {
		const struct expected *code = &SHAPES_CODE[i];
		assert_true(clr_image_find(image, code->rva, &index));
		assert_int_equal(index, i);
		assert_true(clr_image_find(image, code->rva + code->size - 1, &index));
		assert_int_equal(index, i);
	}
	assert_false(clr_image_find(image, 0, &index));
	assert_false(clr_image_find(image, 0x10714, &index)); /* padding */
	assert_false(clr_image_find(image, 0x1088b, &index));
	assert_false(clr_image_find(image, UINT32_MAX, &index));
}

static void test_identity(void **state)
{
	(void)state;
	struct clr_identity identity;
	static const uint8_t nothing[16] = { 0 };
	clr_image_identity(image, &identity);
	assert_bytes(identity.name, "Shapes");
	assert_bytes(identity.pdb_path, "/src/obj/Release/net10.0/linux-x64/Shapes.pdb");
	assert_true(identity.has_pdb_id);
	assert_memory_not_equal(identity.pdb_id, nothing, 16);
	assert_memory_not_equal(identity.mvid, nothing, 16);
	assert_int_equal(identity.embedded_pdb.size, 0);
	assert_false(identity.is_composite);
	assert_int_equal(identity.composite.size, 0);
	assert_int_equal(clr_image_component_count(image), 0);
	assert_int_equal(clr_image_component_name(image, 0).size, 0);
}

/* Crossgen keeps the assembly's identity. */
static void test_without_code(void **state)
{
	(void)state;
	struct clr_identity before;
	struct clr_identity after;
	struct clr_image *plain;
	uint32_t index;
	const struct bytes il = read_fixture(SHAPES_IL);
	assert_int_equal(clr_image_open(&plain, il), 0);
	clr_image_identity(plain, &before);
	clr_image_identity(image, &after);
	assert_bytes(before.name, "Shapes");
	assert_memory_equal(before.mvid, after.mvid, sizeof(before.mvid));
	assert_memory_equal(before.pdb_id, after.pdb_id, sizeof(before.pdb_id));
	assert_int_equal(clr_image_method_count(plain), 0);
	assert_false(clr_image_find(plain, 0x2050, &index));
	clr_image_free(plain);
	free_fixture(il);
}

static void test_offsets(void **state)
{
	(void)state;
	uint32_t off = 0;
	uint32_t rva = 0;
	assert_true(clr_image_offset_of_rva(image, 0x10720, &off));
	assert_true(clr_image_rva_of_offset(image, off, &rva));
	assert_int_equal(rva, 0x10720);
	assert_false(clr_image_rva_of_offset(image, 0, &rva)); /* headers */
	assert_false(clr_image_rva_of_offset(image, (uint32_t)file.size, &rva));
	assert_false(clr_image_offset_of_rva(image, 0, &off));
	assert_false(clr_image_offset_of_rva(image, UINT32_MAX, &off));
}

static void test_il_map(void **state)
{
	(void)state;
	static const struct clr_il_entry expected[] = {
		{ 0x0, CLR_IL_PROLOG },
		{ 0xa, 0 },
		{ 0x1a, CLR_IL_NONE },
		{ 0x22, 11 },
		{ 0x2b, 25 },
		{ 0x2e, CLR_IL_EPILOG },
		{ 0x34, CLR_IL_PROLOG },
		{ 0x35, 7 },
		{ 0x43, CLR_IL_EPILOG },
		{ 0x48, CLR_IL_PROLOG },
		{ 0x49, 11 },
		{ 0x52, 24 },
		{ 0x52, CLR_IL_EPILOG },
	};
	struct clr_il_map map = { 0 };
	for (uint32_t index = 1; index <= 3; index++) { /* funclets have their method's */
		assert_int_equal(clr_image_il_map(image, index, &map), 0);
		assert_int_equal(map.items.count, sizeof(expected) / sizeof(expected[0]));
		for (size_t i = 0; i < map.items.count; i++) {
			assert_int_equal(map.items.items[i].native_off, expected[i].native_off);
			assert_int_equal(map.items.items[i].il_off, expected[i].il_off);
		}
	}
	assert_int_equal(clr_image_il_map(image, SHAPES_COUNT, &map), STATUS_NOT_FOUND);
	assert_int_equal(map.items.count, 0);
	vector_clear(&map.items);
}

static void test_other_files(void **state)
{
	(void)state;
	struct clr_image *other;
	assert_int_equal(clr_image_open(&other, (struct bytes){ 0 }), STATUS_NOT_FORMAT);
	assert_null(other);
	static const uint8_t elf[64] = "\177ELF\2\1\1";
	assert_int_equal(clr_image_open(&other, (struct bytes){ elf, sizeof(elf) }),
			 STATUS_NOT_FORMAT);
	clr_image_free(NULL);
}

/* Everything that can be asked, of whatever was made of the bytes. */
static void use(struct bytes damaged)
{
	struct clr_image *opened;
	struct clr_identity identity;
	struct clr_il_map map = { 0 };
	struct sink name = { .limit = 1 << 20 };
	if (clr_image_open(&opened, damaged) != 0) {
		assert_null(opened);
		return;
	}
	clr_image_identity(opened, &identity);
	for (uint32_t i = 0; i < clr_image_method_count(opened); i++) {
		const struct clr_method method = clr_image_method(opened, i);
		uint32_t found = 0;
		assert_true(method.start_rva <= method.rva || method.is_cold);
		if (method.size) {
			assert_true(clr_image_find(opened, method.rva, &found));
			assert_int_equal(found, i);
		}
		sink_reset(&name);
		clr_image_name(opened, i, &name);
		assert_true(name.size > 0);
		clr_image_il_map(opened, i, &map);
	}
	vector_clear(&map.items);
	sink_clear(&name);
	clr_image_free(opened);
}

static void test_every_truncation(void **state)
{
	(void)state;
	for (size_t size = 0; size < file.size; size++) {
		uint8_t *copy = malloc(size ? size : 1);
		assert_non_null(copy);
		memcpy(copy, file.data, size);
		use((struct bytes){ copy, size });
		free(copy);
	}
}

static void test_every_changed_byte(void **state)
{
	(void)state;
	static const uint8_t changes[] = { 0x01, 0x80, 0xff };
	uint8_t *copy = malloc(file.size);
	assert_non_null(copy);
	memcpy(copy, file.data, file.size);
	for (size_t at = 0; at < file.size; at++)
		for (size_t i = 0; i < sizeof(changes); i++) {
			copy[at] ^= changes[i];
			use((struct bytes){ copy, file.size });
			copy[at] ^= changes[i];
		}
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_methods),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_without_code),
		cmocka_unit_test(test_offsets),
		cmocka_unit_test(test_il_map),
		cmocka_unit_test(test_other_files),
		cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_every_changed_byte),
	};
	return cmocka_run_group_tests(tests, open_shapes, close_shapes);
}
