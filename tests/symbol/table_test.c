#include "base/status.h"
#include "elf_build.h"
#include "memory_files.h"
#include "test.h"

#include <elf.h>
#include <stdlib.h>

static struct symbol_table *table_of(struct bytes image)
{
	struct symbol_table *table = NULL;
	assert_int_equal(symbol_table_image(&table, image), STATUS_OK);
	return table;
}

/* "name+offset/size", or "-" where nothing is found. */
static const char *at(const struct symbol_table *table, uint64_t svma)
{
	static char text[128];
	struct symbol symbol;
	if (!symbol_find(table, svma, &symbol))
		return "-";
	snprintf(text, sizeof(text), "%s+%llu/%llu", symbol.name,
		 (unsigned long long)(svma - symbol.start_svma), (unsigned long long)symbol.size);
	return text;
}

static void free_image(struct bytes image)
{
	free((void *)(uintptr_t)image.data);
}

static void test_functions_and_gaps(void **state)
{
	(void)state;
	struct elf_build b;
	elf_build_start(&b, ET_DYN);
	elf_build_symbol(&b, "gamma", 0x1100, 16, STB_GLOBAL, STT_FUNC);
	elf_build_symbol(&b, "alpha", 0x1000, 32, STB_GLOBAL, STT_FUNC);
	elf_build_symbol(&b, "beta", 0x1020, 32, STB_LOCAL, STT_FUNC);
	elf_build_symbol(&b, "of_everything", 0x1300, UINT64_C(1) << 40, STB_GLOBAL, STT_FUNC);
	elf_build_symbol(&b, "chosen_at_load", 0x1200, 8, STB_GLOBAL, STT_GNU_IFUNC);
	const struct bytes image = elf_build_end(&b);
	struct symbol_table *table = table_of(image);
	assert_string_equal(at(table, 0xfff), "-");
	assert_string_equal(at(table, 0x1000), "alpha+0/32");
	assert_string_equal(at(table, 0x101f), "alpha+31/32");
	assert_string_equal(at(table, 0x1020), "beta+0/32");
	assert_string_equal(at(table, 0x103f), "beta+31/32");
	assert_string_equal(at(table, 0x1040), "-");
	assert_string_equal(at(table, 0x10ff), "-");
	assert_string_equal(at(table, 0x110f), "gamma+15/16");
	assert_string_equal(at(table, 0x1110), "-");
	assert_string_equal(at(table, 0x1207), "chosen_at_load+7/8");
	assert_string_equal(at(table, 0x1208), "-");
	assert_string_equal(at(table, 0x1300), "-");
	assert_string_equal(at(table, 0), "-");
	assert_string_equal(at(table, UINT64_MAX), "-");
	assert_int_equal(symbol_count(table), 4);
	assert_string_equal(symbol_module(table, 0x1000), "");
	symbol_table_free(table);
	free_image(image);
}

static void test_sizeless_functions_end_with_their_section(void **state)
{
	(void)state;
	struct elf_build b;
	elf_build_start(&b, ET_EXEC);
	elf_build_symbol(&b, "first", 0x1000, 0, STB_GLOBAL, STT_FUNC);
	elf_build_symbol(&b, "label", 0x1010, 0, STB_LOCAL, STT_NOTYPE);
	elf_build_symbol(&b, "sized", 0x1800, 16, STB_GLOBAL, STT_FUNC);
	elf_build_symbol(&b, "last", 0x1f00, 0, STB_GLOBAL, STT_FUNC);
	elf_build_symbol(&b, "outside", 0x5000, 0, STB_GLOBAL, STT_FUNC);
	const struct bytes image = elf_build_end(&b);
	struct symbol_table *table = table_of(image);
	assert_string_equal(at(table, 0x100f), "first+15/16");
	assert_string_equal(at(table, 0x17ff), "label+2031/2032");
	assert_string_equal(at(table, 0x1810), "-");
	assert_string_equal(at(table, 0x1fff), "last+255/256");
	assert_string_equal(at(table, 0x2000), "-");
	assert_string_equal(at(table, 0x5000), "-");
	symbol_table_free(table);
	free_image(image);
}

static void test_what_is_no_function(void **state)
{
	(void)state;
	struct elf_build b;
	elf_build_start(&b, ET_DYN);
	b.machine = EM_AARCH64;
	elf_build_symbol(&b, "$x", 0x1000, 0, STB_LOCAL, STT_NOTYPE);
	elf_build_symbol(&b, ".Ltmp1", 0x1004, 0, STB_LOCAL, STT_NOTYPE);
	elf_build_symbol(&b, "table_in_text", 0x1010, 64, STB_LOCAL, STT_OBJECT);
	elf_build_symbol(&b, "thread_local", 0x1010, 64, STB_LOCAL, STT_TLS);
	elf_build_symbol(&b, ".text", 0x1000, 0, STB_LOCAL, STT_SECTION);
	const Elf64_Sym sym = { .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				.st_value = 0x1010 };
	Elf64_Sym other = sym;
	elf_build_symbol_in(&b, "undefined", &other);
	other.st_shndx = SHN_ABS;
	elf_build_symbol_in(&b, "absolute", &other);
	other.st_shndx = 4000;
	elf_build_symbol_in(&b, "of_no_section", &other);
	other.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
	other.st_shndx = BUILD_DATA_INDEX;
	other.st_value = BUILD_DATA_SVMA;
	elf_build_symbol_in(&b, "_edata", &other);
	other.st_shndx = BUILD_TEXT_INDEX;
	other.st_value = 0x1010;
	other.st_other = STV_HIDDEN;
	elf_build_symbol_in(&b, "hidden_label", &other);
	other.st_other = STV_DEFAULT;
	other.st_value = 0x1030;
	elf_build_symbol_in(&b, "label", &other);
	const struct bytes image = elf_build_end(&b);
	struct symbol_table *table = table_of(image);
	assert_int_equal(symbol_count(table), 1);
	assert_string_equal(at(table, 0x102f), "-");
	assert_string_equal(at(table, 0x1031), "label+1/4048");
	symbol_table_free(table);
	free_image(image);
}

static void test_thumb_bit(void **state)
{
	(void)state;
	struct elf_build b;
	elf_build_start(&b, ET_DYN);
	b.machine = EM_ARM;
	elf_build_symbol(&b, "thumb", 0x1001, 8, STB_GLOBAL, STT_FUNC);
	const struct bytes image = elf_build_end(&b);
	struct symbol_table *table = table_of(image);
	assert_string_equal(at(table, 0x1000), "thumb+0/8");
	symbol_table_free(table);
	free_image(image);
}

static void test_file_offsets(void **state)
{
	(void)state;
	struct elf_build b;
	elf_build_start(&b, ET_DYN);
	const struct bytes image = elf_build_end(&b);
	struct symbol_table *table = table_of(image);
	uint64_t svma = 0;
	assert_true(symbol_file_to_svma(table, 0x1000, &svma));
	assert_int_equal(svma, 0x1000);
	assert_true(symbol_file_to_svma(table, 0x1fff, &svma));
	assert_int_equal(svma, 0x1fff);
	assert_true(symbol_file_to_svma(table, 0x2008, &svma));
	assert_int_equal(svma, 0x12008);
	/* The rest of the last page is mapped with it. */
	assert_true(symbol_file_to_svma(table, 0x2fff, &svma));
	assert_int_equal(svma, 0x12fff);
	assert_false(symbol_file_to_svma(table, 0x3000, &svma));
	assert_false(symbol_file_to_svma(table, 0xfff, &svma));
	assert_int_equal(symbol_count(table), 0);
	symbol_table_free(table);
	free_image(image);
}

static void test_the_code_of_a_range(void **state)
{
	(void)state;
	struct elf_build b;
	elf_build_start(&b, ET_DYN);
	const struct bytes image = elf_build_end(&b);
	memcpy((uint8_t *)(uintptr_t)image.data + 0x1ff8, "last8byt", 8);
	struct symbol_table *table = table_of(image);
	assert_int_equal(symbol_machine(table), EM_X86_64);
	struct bytes code = symbol_code(table, 0x1ff8, 4);
	assert_int_equal(code.size, 4);
	assert_memory_equal(code.data, "last", 4);
	/* No further than its segment. */
	assert_int_equal(symbol_code(table, 0x1ff8, 100).size, 8);
	assert_int_equal(symbol_code(table, 0x1000, UINT64_MAX).size, 0x1000);
	assert_int_equal(symbol_code(table, 0xfff, 1).size, 0);
	assert_int_equal(symbol_code(table, 0x2000, 1).size, 0);
	assert_int_equal(symbol_code(table, UINT64_MAX, UINT64_MAX).size, 0);
	/* Data is no code. */
	assert_int_equal(symbol_code(table, 0x12000, 8).size, 0);
	symbol_table_free(table);
	free_image(image);
}

static const uint8_t ID[] = { 0xab, 0xcd, 1, 2, 3, 4, 5, 6, 7, 8 };
static const struct bytes BUILD_ID = { ID, sizeof(ID) };

static void test_build_id(void **state)
{
	(void)state;
	struct elf_build b;
	elf_build_start(&b, ET_DYN);
	b.build_id = BUILD_ID;
	elf_build_symbol(&b, "alpha", 0x1000, 32, STB_GLOBAL, STT_FUNC);
	const struct bytes image = elf_build_end(&b);
	const struct bytes found = symbol_build_id(image);
	assert_int_equal(found.size, sizeof(ID));
	assert_memory_equal(found.data, ID, sizeof(ID));
	assert_int_equal(symbol_build_id((struct bytes){ image.data, 40 }).size, 0);
	assert_int_equal(symbol_build_id((struct bytes){ 0 }).size, 0);

	struct memory_files disk = { .count = 1, .entries = { { "/bin/a", image } } };
	const struct symbol_files files = memory_files(&disk);
	struct symbol_table *table = NULL;
	assert_int_equal(symbol_table_file(&table, &files, "/bin/a", BUILD_ID), STATUS_OK);
	assert_int_equal(disk.open_count, 1);
	assert_string_equal(at(table, 0x1000), "alpha+0/32");
	symbol_table_free(table);
	assert_int_equal(disk.open_count, 0);

	static const uint8_t OTHER[sizeof(ID)] = { 1 };
	table = NULL;
	assert_int_equal(
	    symbol_table_file(&table, &files, "/bin/a", (struct bytes){ OTHER, sizeof(OTHER) }),
	    STATUS_NOT_FOUND);
	assert_int_equal(symbol_table_file(&table, &files, "/bin/a", (struct bytes){ ID, 4 }),
			 STATUS_NOT_FOUND);
	assert_int_equal(symbol_table_file(&table, &files, "/bin/b", BUILD_ID), STATUS_NOT_FOUND);
	assert_null(table);
	assert_int_equal(disk.open_count, 0);
	free_image(image);
}

static void test_not_elf(void **state)
{
	(void)state;
	struct symbol_table *table = NULL;
	const struct bytes script = { (const uint8_t *)"#!/bin/sh\nexec true\n", 20 };
	assert_int_equal(symbol_table_image(&table, script), STATUS_NOT_FORMAT);
	assert_int_equal(symbol_table_image(&table, (struct bytes){ 0 }), STATUS_NOT_FORMAT);
	const struct bytes start = { (const uint8_t *)"\177ELF\2\1\1\0\0\0\0\0\0\0\0\0", 16 };
	assert_int_equal(symbol_table_image(&table, start), STATUS_CORRUPT);
	assert_null(table);
	symbol_table_free(NULL);
}

static struct bytes sample_image(void)
{
	struct elf_build b;
	elf_build_start(&b, ET_DYN);
	b.build_id = BUILD_ID;
	b.debug_link = "a.debug";
	elf_build_symbol(&b, "alpha", 0x1000, 32, STB_GLOBAL, STT_FUNC);
	elf_build_symbol(&b, "beta", 0x1020, 0, STB_LOCAL, STT_FUNC);
	elf_build_symbol(&b, "gamma", 0x1040, 8, STB_WEAK, STT_FUNC);
	return elf_build_end(&b);
}

static void use_image(struct bytes image)
{
	struct memory_files disk = {
		.count = 2, .entries = { { "/bin/a", image }, { "/bin/a.debug", image } }
	};
	const struct symbol_files files = memory_files(&disk);
	struct symbol_table *table;
	if (symbol_table_file(&table, &files, "/bin/a", (struct bytes){ 0 }) == STATUS_OK) {
		struct symbol symbol;
		for (uint64_t svma = 0x1000; svma < 0x1050; svma++)
			if (symbol_find(table, svma, &symbol))
				assert_true(strlen(symbol.name) < 64);
		const struct bytes code = symbol_code(table, 0x1f00, UINT64_MAX);
		uint8_t *copy = malloc(code.size + 1);
		assert_non_null(copy);
		if (code.size)
			memcpy(copy, code.data, code.size);
		free(copy);
		symbol_table_free(table);
	}
	assert_int_equal(disk.open_count, 0);
	assert_true(symbol_build_id(image).size <= image.size);
}

static void test_every_truncation(void **state)
{
	(void)state;
	const struct bytes image = sample_image();
	/* The code between the headers and the tables is all the same. */
	for (size_t size = 0; size<image.size; size += size> 200 && size < 0x2000 ? 97 : 1) {
		uint8_t *copy = malloc(size + 1);
		assert_non_null(copy);
		memcpy(copy, image.data, size);
		uint8_t *exact = realloc(copy, size ? size : 1);
		assert_non_null(exact);
		use_image((struct bytes){ exact, size });
		free(exact);
	}
	free_image(image);
}

static void test_every_changed_byte(void **state)
{
	(void)state;
	const struct bytes image = sample_image();
	uint8_t *bytes = (uint8_t *)(uintptr_t)image.data;
	static const uint8_t CHANGES[] = { 0x01, 0x80, 0xff };
	for (size_t i = 0; i<image.size; i += i> 200 && i < 0x2000 ? 97 : 1) {
		for (size_t c = 0; c < sizeof(CHANGES); c++) {
			bytes[i] ^= CHANGES[c];
			use_image(image);
			bytes[i] ^= CHANGES[c];
		}
	}
	free_image(image);
}

/* A name must end inside its string table, whatever st_name says. */
static void test_names_out_of_the_table(void **state)
{
	(void)state;
	struct elf_build b;
	elf_build_start(&b, ET_DYN);
	elf_build_symbol(&b, "alpha", 0x1000, 32, STB_GLOBAL, STT_FUNC);
	elf_build_symbol(&b, "unterminated", 0x1020, 32, STB_GLOBAL, STT_FUNC);
	b.names.size--;
	const struct bytes image = elf_build_end(&b);
	struct symbol_table *table = table_of(image);
	assert_string_equal(at(table, 0x1000), "alpha+0/32");
	assert_string_equal(at(table, 0x1020), "-");
	symbol_table_free(table);
	free_image(image);
}

/* A million comparisons of names of a million bytes would take minutes. */
static void test_aliases_with_endless_names(void **state)
{
	(void)state;
	enum { ALIASES = 100000, NAME_BYTES = 2000000 };
	struct elf_build b;
	elf_build_start(&b, ET_DYN);
	uint8_t *underscores = sink_reserve(&b.names, NAME_BYTES);
	assert_non_null(underscores);
	memset(underscores, '_', NAME_BYTES);
	sink_u8(&b.names, 0);
	for (uint32_t i = 0; i < ALIASES; i++) {
		const Elf64_Sym sym = { .st_name = 1 + i,
					.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
					.st_shndx = BUILD_TEXT_INDEX,
					.st_value = BUILD_TEXT_SVMA,
					.st_size = 16 };
		sink_put(&b.symbols, &sym, sizeof(sym));
	}
	const struct bytes image = elf_build_end(&b);
	struct symbol_table *table = table_of(image);
	assert_int_equal(symbol_count(table), 1);
	symbol_table_free(table);
	free_image(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_and_gaps),
		cmocka_unit_test(test_sizeless_functions_end_with_their_section),
		cmocka_unit_test(test_what_is_no_function),
		cmocka_unit_test(test_thumb_bit),
		cmocka_unit_test(test_file_offsets),
		cmocka_unit_test(test_the_code_of_a_range),
		cmocka_unit_test(test_build_id),
		cmocka_unit_test(test_not_elf),
		cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_every_changed_byte),
		cmocka_unit_test(test_names_out_of_the_table),
		cmocka_unit_test(test_aliases_with_endless_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
