/* Symbols of assemblies, alone and in a program that was published as one file. */
#include "base/sink.h"
#include "base/status.h"
#include "clr/build_id.h"
#include "clr/fixture.h"
#include "clr/image.h"
#include "memory_files.h"
#include "single_build.h"

#include <elf.h>

static const struct bytes NO_ID = { 0 };

/* In the fixture, code is where it is in memory, but for this. */
enum { TEXT_RVA_MINUS_OFF = 0x10000, GUARDED_OFF = 0x720, GUARDED_SIZE = 0x57 };

static const char GUARDED[] = "int32 [Shapes] Shapes.Outer::Guarded(int32[],int32)[PreJIT]";

static uint8_t *writable(struct bytes file)
{
	return (uint8_t *)(uintptr_t)file.data;
}

static struct symbol at(const struct symbol_table *table, uint64_t file_off, uint64_t *svma)
{
	struct symbol symbol = { 0 };
	if (symbol_file_to_svma(table, file_off, svma))
		(void)symbol_find(table, *svma, &symbol);
	return symbol;
}

static void test_methods(void **state)
{
	(void)state;
	const struct bytes file = read_fixture(SHAPES);
	struct memory_files disk = { .count = 1, .entries = { { "/app/a.dll", file } } };
	const struct symbol_files files = memory_files(&disk);
	struct symbol_table *table = NULL;
	assert_true(symbol_may_have_methods(&files, "/app/a.dll"));
	assert_int_equal(symbol_table_file(&table, &files, "/app/a.dll", NO_ID), STATUS_OK);
	assert_true(symbol_is_assembly(table));
	assert_int_equal(symbol_machine(table), EM_X86_64);
	assert_int_equal(symbol_count(table), 12);
	/* The body, and both funclets behind it. */
	for (uint64_t off = GUARDED_OFF; off < GUARDED_OFF + GUARDED_SIZE; off++) {
		uint64_t svma;
		const struct symbol symbol = at(table, off, &svma);
		assert_int_equal(svma, off + TEXT_RVA_MINUS_OFF);
		assert_string_equal(symbol.name, GUARDED);
		assert_int_equal(symbol.start_svma, GUARDED_OFF + TEXT_RVA_MINUS_OFF);
		assert_int_equal(symbol.size, GUARDED_SIZE);
		assert_true(symbol.is_method);
		assert_null(symbol.assembly);
	}
	struct symbol symbol;
	assert_false(symbol_find(table, 0x1077f, &symbol));
	assert_false(symbol_find(table, 0x10000, &symbol));
	assert_false(symbol_find(table, UINT64_C(0x100010720), &symbol));
	assert_true(symbol_find_name(table, GUARDED, &symbol));
	assert_int_equal(symbol.start_svma, GUARDED_OFF + TEXT_RVA_MINUS_OFF);
	assert_false(symbol_find_name(table, "Guarded", &symbol));
	const struct bytes code = symbol_code(table, 0x10750, 1000);
	assert_ptr_equal(code.data, file.data + 0x750);
	assert_int_equal(code.size, 0x27);
	assert_int_equal(symbol_code(table, 0x10750, 3).size, 3);
	assert_int_equal(symbol_code(table, 0x1077f, 1).size, 0);
	uint64_t svma;
	assert_false(symbol_file_to_svma(table, UINT64_C(0x100000720), &svma));
	symbol_table_free(table);
	assert_int_equal(disk.open_count, 0);
	free_fixture(file);
}

static void test_build_id(void **state)
{
	(void)state;
	const struct bytes file = read_fixture(SHAPES);
	struct memory_files disk = { .count = 1, .entries = { { "/app/a.dll", file } } };
	const struct symbol_files files = memory_files(&disk);
	struct symbol_table *table = NULL;
	uint8_t id[CLR_BUILD_ID_SIZE];
	assert_true(clr_build_id_of(file, id));
	const struct bytes build_id = { id, sizeof(id) };
	assert_int_equal(symbol_table_file(&table, &files, "/app/a.dll", build_id), STATUS_OK);
	symbol_table_free(table);
	id[19] ^= 1;
	assert_int_equal(symbol_table_file(&table, &files, "/app/a.dll", build_id),
			 STATUS_NOT_FOUND);
	assert_int_equal(disk.open_count, 0);
	free_fixture(file);
}

static void test_without_code(void **state)
{
	(void)state;
	const struct bytes file = read_fixture(SHAPES_IL);
	const struct bytes none = { (const uint8_t *)"MZ but no more", 14 };
	struct memory_files disk = {
		.count = 2, .entries = { { "/app/a.dll", file }, { "/app/b.exe", none } }
	};
	const struct symbol_files files = memory_files(&disk);
	struct symbol_table *table = NULL;
	struct symbol symbol;
	assert_int_equal(symbol_table_file(&table, &files, "/app/a.dll", NO_ID), STATUS_OK);
	assert_int_equal(symbol_count(table), 0);
	assert_false(symbol_find(table, 0x2050, &symbol));
	symbol_table_free(table);
	assert_true(symbol_table_file(&table, &files, "/app/b.exe", NO_ID) < 0);
	assert_false(symbol_may_have_methods(&files, "/app/c.dll"));
	assert_int_equal(disk.open_count, 0);
	free_fixture(file);
}

/* With the map beside it: `damaged_off` is a byte of the file that is not what it was. */
static void check_name(struct bytes file, size_t damaged_off, struct bytes map,
		       const char *expected)
{
	struct memory_files disk = {
		.count = 2, .entries = { { "/app/a.dll", file }, { "/app/a.r2rmap", map } }
	};
	const struct symbol_files files = memory_files(&disk);
	struct symbol_table *table = NULL;
	uint64_t svma;
	writable(file)[damaged_off] ^= 0xff;
	assert_int_equal(symbol_table_file(&table, &files, "/app/a.dll", NO_ID), STATUS_OK);
	assert_string_equal(at(table, GUARDED_OFF, &svma).name, expected);
	symbol_table_free(table);
	assert_int_equal(disk.open_count, 0);
	writable(file)[damaged_off] ^= 0xff;
}

/* A byte of the metadata without which the method has no full name. */
static size_t find_damage(struct bytes file)
{
	for (size_t off = 0x300; off < file.size; off++) {
		struct clr_image *image;
		struct sink name = { 0 };
		uint32_t index;
		int got = 0;
		writable(file)[off] ^= 0xff;
		if (clr_image_open(&image, file) == 0) {
			if (clr_image_find(image, GUARDED_OFF + TEXT_RVA_MINUS_OFF, &index))
				got = clr_image_name(image, index, &name);
			clr_image_free(image);
		}
		writable(file)[off] ^= 0xff;
		sink_clear(&name);
		if (got < 0)
			return off;
	}
	fail();
	return 0;
}

/* Turns the entry for the PDB's checksum into one for a map of this signature, 16 letters. */
static void name_map(struct bytes file, const char *signature)
{
	enum { KIND_CHECKSUM = 19, KIND_MAP = 21, KIND_BEFORE = 12 };
	uint8_t *data = memmem(file.data, file.size, "SHA256", 7);
	assert_non_null(data);
	const uint32_t data_off = (uint32_t)(data - file.data);
	uint8_t *pointer = memmem(file.data, file.size, &data_off, sizeof(data_off));
	assert_non_null(pointer);
	assert_int_equal(pointer[-KIND_BEFORE], KIND_CHECKSUM);
	pointer[-KIND_BEFORE] = KIND_MAP;
	memcpy(data, "R2RM", 4);
	memcpy(data + 4, signature, 16);
	memset(data + 20, 0, 4);
	memcpy(data + 24, "a.r2rmap", 9);
}

/* What the metadata does not tell crossgen's map does, where it is of this very image. */
static void test_map(void **state)
{
	(void)state;
	const struct bytes file = read_fixture(SHAPES);
	name_map(file, "\x82@@@@@@@@@@@@@@\xbc");
	static char text[] = "FFFFFFFF 00 824040404040404040404040404040BC\n"
			     "00010720 34 System.Int32 Told::ByMap(System.Int32[])\n";
	const struct bytes map = { (const uint8_t *)text, strlen(text) };
	const size_t damaged_off = find_damage(file);
	/* Asked only where it is needed. */
	check_name(file, file.size - 1, map, GUARDED);
	check_name(file, damaged_off, map,
		   "System.Int32 [Shapes] Told::ByMap(System.Int32[])[PreJIT]");
	text[12] = '9';
	/* Another image's map. */
	struct sink partial = { 0 };
	struct clr_image *image;
	uint32_t index;
	writable(file)[damaged_off] ^= 0xff;
	assert_int_equal(clr_image_open(&image, file), 0);
	assert_true(clr_image_find(image, GUARDED_OFF + TEXT_RVA_MINUS_OFF, &index));
	(void)clr_image_name(image, index, &partial);
	sink_u8(&partial, 0);
	writable(file)[damaged_off] ^= 0xff;
	check_name(file, damaged_off, map, (const char *)partial.data);
	sink_clear(&partial);
	clr_image_free(image);
	free_fixture(file);
}

/* --- one file --- */

static void test_single_file(void **state)
{
	(void)state;
	const struct bytes file = make_single(true);
	struct memory_files disk = { .count = 1, .entries = { { "/app/a", file } } };
	const struct symbol_files files = memory_files(&disk);
	struct symbol_table *table = NULL;
	uint64_t svma;
	assert_true(symbol_may_have_methods(&files, "/app/a"));
	assert_int_equal(symbol_table_file(&table, &files, "/app/a", NO_ID), STATUS_OK);
	assert_false(symbol_is_assembly(table));
	const struct symbol symbol = at(table, NEXT_ENTRY + GUARDED_OFF + 0x40, &svma);
	assert_string_equal(symbol.name, GUARDED);
	assert_string_equal(symbol.assembly, "Shapes.dll");
	assert_true(symbol.is_method);
	assert_int_equal(svma - symbol.start_svma, 0x40);
	assert_int_equal(symbol.size, GUARDED_SIZE);
	const struct bytes code = symbol_code(table, symbol.start_svma, symbol.size);
	assert_ptr_equal(code.data, file.data + NEXT_ENTRY + GUARDED_OFF);
	assert_int_equal(code.size, GUARDED_SIZE);
	/* No code, between both, what is no assembly, the program itself. */
	assert_null(at(table, DATA_OFF + DATA_SIZE + 0x300, &svma).name);
	assert_false(symbol_file_to_svma(table, NEXT_ENTRY - 1, &svma));
	assert_false(symbol_file_to_svma(table, file.size - 1, &svma));
	assert_true(symbol_file_to_svma(table, 0x100, &svma));
	assert_int_equal(svma, 0x100);
	assert_null(at(table, 0x100, &svma).name);
	/* The bundle that was recorded, and another one behind the same host. */
	uint8_t id[CLR_BUILD_ID_SIZE];
	assert_true(clr_bundle_id_of(file, id));
	const struct bytes bundle_id = { id, sizeof(id) };
	assert_true(symbol_check_bundle(table, bundle_id));
	assert_non_null(at(table, NEXT_ENTRY + GUARDED_OFF, &svma).name);
	id[0] ^= 1;
	assert_false(symbol_check_bundle(table, bundle_id));
	assert_false(symbol_file_to_svma(table, NEXT_ENTRY + GUARDED_OFF, &svma));
	assert_true(symbol_file_to_svma(table, 0x100, &svma));
	assert_true(symbol_check_bundle(table, bundle_id)); /* there is none any more */
	symbol_table_free(table);
	assert_int_equal(disk.open_count, 0);
	free_fixture(file);
}

/* The host as it is shipped, before anything was put behind it; and without anything. */
static void test_no_bundle(void **state)
{
	(void)state;
	const struct bytes unset = make_single(false);
	const struct bytes whole = make_single(true);
	const struct bytes host = { whole.data, DATA_OFF + DATA_SIZE };
	struct memory_files disk = { .count = 2,
				     .entries = { { "/app/a", unset }, { "/app/b", host } } };
	const struct symbol_files files = memory_files(&disk);
	assert_false(symbol_may_have_methods(&files, "/app/a"));
	assert_false(symbol_may_have_methods(&files, "/app/b"));
	for (size_t i = 0; i < disk.count; i++) {
		struct symbol_table *table = NULL;
		uint64_t svma;
		assert_int_equal(symbol_table_file(&table, &files, disk.entries[i].path, NO_ID),
				 STATUS_OK);
		assert_false(symbol_file_to_svma(table, NEXT_ENTRY + GUARDED_OFF, &svma));
		symbol_table_free(table);
	}
	assert_int_equal(disk.open_count, 0);
	free_fixture(unset);
	free_fixture(whole);
}

static void use(struct bytes file)
{
	struct memory_files disk = { .count = 1, .entries = { { "/app/a", file } } };
	const struct symbol_files files = memory_files(&disk);
	struct symbol_table *table;
	if (symbol_table_file(&table, &files, "/app/a", NO_ID) == STATUS_OK) {
		for (uint64_t off = 0; off < file.size; off += 64) {
			uint64_t svma;
			const struct symbol symbol = at(table, off, &svma);
			if (symbol.name)
				assert_true(svma - symbol.start_svma < symbol.size);
		}
		symbol_table_free(table);
	}
	assert_int_equal(disk.open_count, 0);
}

/* Of the list, and of the place that leads to it: the rest is the readers' of ELF and assemblies.
 */
static void test_every_change(void **state)
{
	(void)state;
	struct bytes file = make_single(true);
	uint8_t *bytes = (uint8_t *)(uintptr_t)file.data;
	const size_t list_off = file.size - 150;
	for (size_t i = DATA_OFF + PLACEHOLDER; i < file.size;
	     i = i == DATA_OFF + PLACEHOLDER + 48 ? list_off : i + 1) {
		const uint8_t before = bytes[i];
		for (unsigned change = 0; change < 3; change++) {
			bytes[i] = (uint8_t)(change == 0   ? before ^ 0x80
					     : change == 1 ? before + 1
							   : 0xff);
			use(file);
		}
		bytes[i] = before;
	}
	free_fixture(file);
}

static void test_every_truncation(void **state)
{
	(void)state;
	struct bytes file = make_single(true);
	const size_t list_off = file.size - 160;
	for (size_t size = list_off; size < file.size; size++) {
		uint8_t *exact = malloc(size);
		assert_non_null(exact);
		memcpy(exact, file.data, size);
		use((struct bytes){ exact, size });
		free(exact);
	}
	free_fixture(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_methods),      cmocka_unit_test(test_build_id),
		cmocka_unit_test(test_without_code), cmocka_unit_test(test_map),
		cmocka_unit_test(test_single_file),  cmocka_unit_test(test_no_bundle),
		cmocka_unit_test(test_every_change), cmocka_unit_test(test_every_truncation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
