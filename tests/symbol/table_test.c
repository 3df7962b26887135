#include "symbol/symbol.h"
#include "symbol_files.h"
#include "test.h"

int a_function_to_be_found(int x);
__attribute__((noinline)) int a_function_to_be_found(int x)
{
	return x * 3 + 1;
}

static void test_own_executable(void **state)
{
	(void)state;
	const struct symbol_files files = { .open = disk_open, .close = disk_close };
	struct symbol_table *table;
	assert_int_equal(symbol_table_elf(&table, &files, "/proc/self/exe", (struct bytes){ 0 }),
			 0);
	struct symbol symbol;
	bool found = false;
	for (uint64_t svma = 0; svma < 1 << 20 && !found; svma += 4)
		found = symbol_find(table, svma, &symbol) &&
			strcmp(symbol.name, "a_function_to_be_found") == 0;
	assert_true(found);
	symbol_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_executable),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
