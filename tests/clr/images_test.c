/* The assembly of image_test.c as compiled by other versions, for other machines, into a composite
 * image with another assembly, and with its code split.
 */
#include "base/status.h"
#include "clr/image.h"
#include "failing_memory.h"
#include "fixture.h"

#define NAMED(name) TEST_DATA "/../../fuzz/corpus/clr_image/" name

struct opened {
	struct bytes file;
	struct clr_image *image;
};

static struct opened open_named(const char *path)
{
	struct opened opened = { .file = read_fixture(path) };
	assert_int_equal(clr_image_open(&opened.image, opened.file), 0);
	return opened;
}

static void close_opened(struct opened *opened)
{
	clr_image_free(opened->image);
	free_fixture(opened->file);
}

static void assert_name(const struct clr_image *image, uint32_t index, const char *expected)
{
	struct sink name = { 0 };
	assert_int_equal(clr_image_name(image, index, &name), 0);
	sink_u8(&name, 0);
	assert_string_equal((const char *)name.data, expected);
	sink_clear(&name);
}

static void assert_map(const struct clr_image *image, uint32_t index,
		       const struct clr_il_entry *expected, size_t count)
{
	struct clr_il_map map = { 0 };
	assert_int_equal(clr_image_il_map(image, index, &map), 0);
	assert_int_equal(map.items.count, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(map.items.items[i].native_off, expected[i].native_off);
		assert_int_equal(map.items.items[i].il_off, expected[i].il_off);
	}
	vector_clear(&map.items);
}

/* The method with a catch and a finally, and the last one; all others are alike. */
static const char GUARDED[] = "int32 [Shapes] Shapes.Outer::Guarded(int32[],int32)[PreJIT]";
static const char PICK[] = "!!0 [Shapes] Shapes.Outer::Pick(bool,!!0,!!0)[PreJIT]";

struct version {
	const char *path;
	uint32_t start_rva;
	uint32_t sizes[3]; /* method, catch, finally */
	uint32_t last_size;
	size_t map_count;
	struct clr_il_entry map[4]; /* its begin */
};

static const struct version VERSIONS[] = {
	{ NAMED("net8"),
	  0x10680,
	  { 0x39, 0x24, 0x20 },
	  0xb,
	  13,
	  { { 0, CLR_IL_PROLOG }, { 0xe, 0 }, { 0x1e, CLR_IL_NONE }, { 0x26, 11 } } },
	{ NAMED("net9-macos-arm64"),
	  0x106d0,
	  { 0x6c, 0x20, 0x30 },
	  0x18,
	  13,
	  { { 0, CLR_IL_PROLOG }, { 0x10, 0 }, { 0x2c, CLR_IL_NONE }, { 0x44, 11 } } },
	{ NAMED("x86-windows"),
	  0x15f0,
	  { 0x39, 0xf, 0x1a },
	  0xc,
	  13,
	  { { 0, CLR_IL_PROLOG }, { 4, 0 }, { 0x12, CLR_IL_NONE }, { 0x1a, 11 } } },
	{ NAMED("arm"), 0x11520, { 0x5a, 0x1a, 0x2c }, 0x10, 13, { { 0, CLR_IL_PROLOG } } },
	{ NAMED("arm64"), 0x10750, { 0x64, 0x18, 0x28 }, 0x18, 13, { { 0, CLR_IL_PROLOG } } },
};
enum { VERSION_COUNT = sizeof(VERSIONS) / sizeof(VERSIONS[0]), METHODS = 12 };

static void assert_version(const struct version *version, const struct clr_image *image)
{
	struct clr_il_map map = { 0 };
	assert_int_equal(clr_image_method_count(image), METHODS);
	for (uint32_t i = 0; i < 3; i++) {
		const struct clr_method method = clr_image_method(image, 1 + i);
		assert_int_equal(method.size, version->sizes[i]);
		assert_int_equal(method.start_rva, version->start_rva);
		assert_int_equal(method.token, 0x06000003);
		assert_name(image, 1 + i, GUARDED);
	}
	assert_int_equal(clr_image_method(image, METHODS - 1).size, version->last_size);
	assert_name(image, METHODS - 1, PICK);
	assert_int_equal(clr_image_il_map(image, 1, &map), 0);
	assert_int_equal(map.items.count, version->map_count);
	for (size_t i = 0; i < 4 && (!i || version->map[i].native_off); i++) {
		assert_int_equal(map.items.items[i].native_off, version->map[i].native_off);
		assert_int_equal(map.items.items[i].il_off, version->map[i].il_off);
	}
	vector_clear(&map.items);
}

static void test_versions(void **state)
{
	(void)state;
	for (size_t i = 0; i < VERSION_COUNT; i++) {
		struct opened opened = open_named(VERSIONS[i].path);
		assert_version(&VERSIONS[i], opened.image);
		close_opened(&opened);
	}
}

static void test_cold_code(void **state)
{
	(void)state;
	struct opened opened = open_named(NAMED("hot-cold"));
	const struct clr_image *image = opened.image;
	for (uint32_t i = 10; i < 12; i++) {
		const struct clr_method method = clr_image_method(image, i);
		assert_true(method.is_cold);
		assert_int_equal(method.start_rva, 0x10730);
		assert_int_equal(method.token, 0x06000003);
		assert_name(image, i,
			    "int32 [Shapes] Shapes.Outer::Guarded(int32[],int32)[PreJit-cold]");
	}
	assert_false(clr_image_method(image, 1).is_cold);
	assert_name(image, 1, GUARDED);
	assert_int_equal(clr_image_native_off(image, 1, 0x10733), 3);
	assert_int_equal(clr_image_native_off(image, 10, 0x110b0), 0x34);
	assert_int_equal(clr_image_native_off(image, 11, 0x110c6), 0x34 + 0x14 + 2);
	assert_int_equal(clr_image_native_off(image, 12, 0x110c6), 0);
	close_opened(&opened);
}

static void assert_text(struct bytes bytes, const char *text)
{
	assert_int_equal(bytes.size, strlen(text));
	assert_memory_equal(bytes.data, text, bytes.size);
}

static void test_components(void **state)
{
	(void)state;
	struct clr_identity identity;
	struct opened users = open_named(NAMED("component-of-two"));
	clr_image_identity(users.image, &identity);
	assert_text(identity.name, "Users");
	assert_text(identity.composite, "both.r2r.dll");
	assert_text(identity.pdb_path, "Users.pdb");
	assert_int_not_equal(identity.embedded_pdb.size, 0);
	assert_memory_equal(identity.embedded_pdb.data, "MPDB", 4);
	assert_false(identity.is_composite);
	assert_int_equal(clr_image_method_count(users.image), 0);
	close_opened(&users);
}

static void test_composite_alone(void **state)
{
	(void)state;
	struct clr_identity identity;
	struct opened both = open_named(NAMED("composite"));
	clr_image_identity(both.image, &identity);
	assert_true(identity.is_composite);
	assert_int_equal(identity.name.size, 0);
	assert_int_equal(clr_image_component_count(both.image), 2);
	assert_text(clr_image_component_name(both.image, 0), "Shapes");
	assert_text(clr_image_component_name(both.image, 1), "Users");
	assert_name(both.image, 0, "Shapes!0x06000002[PreJIT]");
	assert_name(both.image, 8, "Users!0x06000002[PreJIT]");
	assert_name(both.image, 11, "Shapes!0x06000007[PreJIT]");
	assert_int_equal(clr_image_method(both.image, 8).component, 1);
	assert_int_equal(clr_image_method(both.image, 11).component, 0);
	close_opened(&both);
}

static void test_composite(void **state)
{
	(void)state;
	static const struct clr_il_entry map[] = { { 0, CLR_IL_PROLOG },
						   { 0x1f, 57 },
						   { 0x68, CLR_IL_EPILOG } };
	struct opened both = open_named(NAMED("composite"));
	struct opened shapes = open_named(NAMED("component-of-one"));
	struct opened users = open_named(NAMED("component-of-two"));
	clr_image_set_component(both.image, 0, shapes.image);
	assert_name(both.image, 11,
		    "instance !0 [Shapes] Shapes.Outer+Inner`1[Users!0x02000002]::"
		    "Keep(!0,!0[0...,0...],int32[])[PreJIT]");
	clr_image_set_component(both.image, 1, users.image);
	clr_image_set_component(both.image, 2, users.image); /* there is none */
	assert_name(both.image, 0,
		    "int32 [Shapes] Shapes.Outer::Pointers(uint8*,void**,"
		    "method string *(int32))[PreJIT]");
	assert_name(both.image, 6,
		    "string [Users] Users.Program::Choose(class [Shapes]Shapes.Outer/Inner`1"
		    "<valuetype Users.Kind>,valuetype Users.Kind,string[])[PreJIT]");
	assert_name(both.image, 11,
		    "instance !0 [Shapes] Shapes.Outer+Inner`1[Users.Kind]::"
		    "Keep(!0,!0[0...,0...],int32[])[PreJIT]");
	assert_map(both.image, 8, map, sizeof(map) / sizeof(map[0]));
	close_opened(&both);
	close_opened(&shapes);
	close_opened(&users);
}

/* All that a damaged image answers, with components and without. */
static void use(struct bytes damaged, const struct clr_image *component)
{
	struct clr_image *image;
	struct clr_il_map map = { 0 };
	struct sink name = { .limit = 1 << 20 };
	if (clr_image_open(&image, damaged) != 0)
		return;
	for (size_t i = 0; component && i < clr_image_component_count(image); i++)
		clr_image_set_component(image, i, component);
	for (uint32_t i = 0; i < clr_image_method_count(image); i++) {
		const struct clr_method method = clr_image_method(image, i);
		sink_reset(&name);
		clr_image_name(image, i, &name);
		assert_true(name.size > 0);
		clr_image_il_map(image, i, &map);
		clr_image_native_off(image, i, method.rva);
	}
	vector_clear(&map.items);
	sink_clear(&name);
	clr_image_free(image);
}

static const char *const DAMAGED[] = { NAMED("composite"), NAMED("hot-cold"), NAMED("net8"),
				       NAMED("component-of-two") };
enum { DAMAGED_COUNT = sizeof(DAMAGED) / sizeof(DAMAGED[0]) };

static void test_every_truncation(void **state)
{
	(void)state;
	struct opened shapes = open_named(NAMED("component-of-one"));
	for (size_t i = 0; i < DAMAGED_COUNT; i++) {
		const struct bytes whole = read_fixture(DAMAGED[i]);
		for (size_t size = 0; size < whole.size; size++) {
			uint8_t *copy = malloc(size ? size : 1);
			assert_non_null(copy);
			memcpy(copy, whole.data, size);
			use((struct bytes){ copy, size }, shapes.image);
			free(copy);
		}
		free_fixture(whole);
	}
	close_opened(&shapes);
}

static void test_every_changed_byte(void **state)
{
	(void)state;
	struct opened shapes = open_named(NAMED("component-of-one"));
	for (size_t i = 0; i < DAMAGED_COUNT; i++) {
		const struct bytes whole = read_fixture(DAMAGED[i]);
		uint8_t *bytes = (uint8_t *)whole.data;
		for (size_t at = 0; at < whole.size; at++) {
			bytes[at] ^= 0xff;
			use(whole, shapes.image);
			bytes[at] ^= 0xff;
		}
		free_fixture(whole);
	}
	close_opened(&shapes);
}

static void test_without_memory(void **state)
{
	(void)state;
	const struct bytes file = read_fixture(NAMED("composite"));
	for (size_t n = 1;; n++) {
		struct clr_image *image;
		memory_fail_at(n);
		const int status = clr_image_open(&image, file);
		const bool has_failed = memory_has_failed();
		memory_fail_at(0);
		if (!has_failed) {
			assert_int_equal(status, 0);
			assert_true(n > 3); /* image, functions and components */
			clr_image_free(image);
			break;
		}
		assert_int_equal(status, STATUS_NO_MEMORY);
		assert_null(image);
	}
	free_fixture(file);
}

static void test_answers_without_memory(void **state)
{
	(void)state;
	struct opened opened = open_named(NAMED("net8"));
	for (size_t n = 1;; n++) {
		struct clr_il_map map = { 0 };
		struct sink name = { 0 };
		memory_fail_at(n);
		const int named = clr_image_name(opened.image, 6, &name);
		const int mapped = clr_image_il_map(opened.image, 6, &map);
		const bool has_failed = memory_has_failed();
		memory_fail_at(0);
		assert_true(!has_failed || named == STATUS_CORRUPT || sink_failed(&name) ||
			    mapped == STATUS_NO_MEMORY);
		vector_clear(&map.items);
		sink_clear(&name);
		if (!has_failed)
			break;
	}
	close_opened(&opened);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_cold_code),
		cmocka_unit_test(test_components),
		cmocka_unit_test(test_composite_alone),
		cmocka_unit_test(test_composite),
		cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_every_changed_byte),
		cmocka_unit_test(test_without_memory),
		cmocka_unit_test(test_answers_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
