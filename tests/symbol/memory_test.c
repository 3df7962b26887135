#include "base/status.h"
#include "elf_build.h"
#include "failing_memory.h"
#include "memory_files.h"
#include "symbol_files.h"
#include "test.h"

#include <stdlib.h>

static void find_some(const struct symbol_table *table, size_t size)
{
	for (uint64_t off = 0; off < size; off += 16) {
		struct symbol symbol;
		uint64_t svma;
		if (symbol_file_to_svma(table, off, &svma) && symbol_find(table, svma, &symbol))
			assert_true(strlen(symbol.name) > 0);
	}
}

/* Every allocation fails once: the answer is an error or a smaller table, nothing is
 * lost, and no file stays open.
 */
static void check_file(const char *path)
{
	struct bytes image;
	assert_true(disk_open(NULL, path, &image));
	size_t n = 1;
	for (;; n++) {
		struct memory_files disk = { .count = 1, .entries = { { "/bin/a", image } } };
		const struct symbol_files files = memory_files(&disk);
		struct symbol_table *table = NULL;
		memory_fail_at(n);
		const int got = symbol_table_file(&table, &files, "/bin/a", (struct bytes){ 0 });
		if (got == STATUS_OK)
			find_some(table, image.size);
		const bool has_failed = memory_has_failed();
		memory_fail_at(0);
		if (got == STATUS_OK)
			symbol_table_free(table);
		else
			assert_int_equal(got, STATUS_NO_MEMORY);
		assert_int_equal(disk.open_count, 0);
		if (!has_failed)
			break;
	}
	assert_true(n > 5);
	disk_close(NULL, image);
}

#define CORPUS TEST_DATA "/../../fuzz/corpus/symbol/"

static void test_elf(void **state)
{
	(void)state;
	check_file(CORPUS "elf-shared");
}

/* Their names are made when they are asked for. */
static void test_assemblies(void **state)
{
	(void)state;
	check_file(CORPUS "assembly");
	check_file(CORPUS "single-file");
}

static void test_kallsyms(void **state)
{
	(void)state;
	static const char TEXT[] = "ffffffff81000000 T first\nffffffffc0001000 t third\t[module]\n";
	const struct bytes text = { (const uint8_t *)TEXT, sizeof(TEXT) - 1 };
	for (size_t n = 1;; n++) {
		struct symbol_table *table = NULL;
		memory_fail_at(n);
		const int got = symbol_table_kallsyms(&table, text);
		const bool has_failed = memory_has_failed();
		memory_fail_at(0);
		if (!has_failed) {
			assert_int_equal(got, STATUS_OK);
			symbol_table_free(table);
			break;
		}
		assert_int_equal(got, STATUS_NO_MEMORY);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_elf),
		cmocka_unit_test(test_assemblies),
		cmocka_unit_test(test_kallsyms),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
