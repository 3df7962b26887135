/* Objects that real linkers made; they are seeds of the fuzz target too. */
#include "base/status.h"
#include "symbol_files.h"
#include "test.h"

#include <stdio.h>

#define SEEDS TEST_DATA "/../../fuzz/corpus/symbol/"

struct wanted {
	const char *object;
	uint64_t svma;
	const char *name;
};

static void check(const struct wanted *w)
{
	const struct symbol_files files = { .open = disk_open, .close = disk_close };
	struct symbol_table *table;
	struct symbol symbol;
	char path[512];
	snprintf(path, sizeof(path), SEEDS "%s", w->object);
	assert_int_equal(symbol_table_file(&table, &files, path, (struct bytes){ 0 }), STATUS_OK);
	const bool found = symbol_find(table, w->svma, &symbol);
	if (!found || strcmp(symbol.name, w->name) != 0)
		print_error("%s at %llx: %s, not %s\n", w->object, (unsigned long long)w->svma,
			    found ? symbol.name : "nothing", w->name);
	assert_true(found);
	assert_string_equal(symbol.name, w->name);
	symbol_table_free(table);
}

static void check_all(const struct wanted *wanted, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check(&wanted[i]);
}

#define CHECK(wanted) check_all((wanted), sizeof(wanted) / sizeof((wanted)[0]))

static void test_symtab_and_assembly(void **state)
{
	(void)state;
	static const struct wanted WANTED[] = {
		{ "elf-shared", 0x310, "asm_label" }, { "elf-shared", 0x313, "global_label" },
		{ "elf-shared", 0x326, "exported" },  { "elf-shared", 0x327, "local" },
		{ "elf-shared", 0x332, "alias_one" }, /* not weak_one */
		{ "elf-ifunc", 0x276, "ind" },        /* not its resolver, res */
	};
	CHECK(WANTED);
}

static void test_stubs(void **state)
{
	(void)state;
	static const struct wanted WANTED[] = {
		{ "elf-shared", 0x2f0, "puts@plt" },
		{ "elf-shared", 0x30f, "exported@plt" },
		/* With -z ibtplt: the lazy half in .plt, the jumps in .plt.sec. */
		{ "elf-ibt", 0x380, "puts@plt" },
		{ "elf-ibt", 0x390, "exported@plt" },
		{ "elf-ibt", 0x3a0, "puts@plt" },
		{ "elf-ibt", 0x3bf, "exported@plt" },
		{ "elf-now", 0x300, "exported@plt" },
		{ "elf-stripped", 0x2f0, "puts@plt" },
		{ "elf-ifunc", 0x260, "ind@plt" },
		{ "elf-aarch64-plt", 0x103a0, "other@plt" },
		{ "elf-aarch64-plt", 0x103bf, "more@plt" },
		{ "elf-aarch64-bti", 0x10430, "other@plt" },
		{ "elf-aarch64-bti", 0x1044c, "more@plt" },
		{ "elf-i386-plt", 0x1260, "other@plt" },
		{ "elf-i386-plt", 0x1270, "more@plt" },
		{ "elf-arm-plt", 0x10290, "other@plt" },
		{ "elf-riscv64-plt", 0x13a0, "other@plt" },
	};
	CHECK(WANTED);
}

static void test_mini_debug(void **state)
{
	(void)state;
	static const struct wanted WANTED[] = {
		{ "elf-minidebug", 0x327, "local" },
		{ "elf-minidebug", 0x314, "exported" },
	};
	CHECK(WANTED);
}

static void test_other_machines(void **state)
{
	(void)state;
	static const struct wanted WANTED[] = {
		{ "elf-mips", 0x102b0, "f" },
		{ "elf-arm", 0x10260, "f" },
		{ "elf-powerpc64", 0x30510, "f" },
		{ "elf-riscv64", 0x1310, "f" },
		{ "elf-i386-plt", 0x121c, "f" },
		{ "elf-vdso", 0xaf0, "__vdso_clock_gettime" },
		{ "elf-vdso", 0xf40, "__vdso_getrandom" },
	};
	CHECK(WANTED);
}

/* As NativeAOT's compiler puts its methods. */
__attribute__((noinline, used, section("__managedcode"))) static int work_Work__alpha(int x)
{
	return x * 3;
}

__attribute__((noinline, used, section("__unbox"))) static int unbox_work_Pair__Sum(int x)
{
	return x * 5;
}

__attribute__((noinline, used)) static int work_Work__beta(int x)
{
	return x * 7;
}

/* Of this very program, of which these sections are. */
static void test_managed(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		bool is_managed;
	} FUNCTIONS[] = {
		{ "work_Work__alpha", true },
		{ "unbox_work_Pair__Sum", true },
		{ "work_Work__beta", false },
		{ "main", false },
	};
	const struct symbol_files files = { .open = disk_open, .close = disk_close };
	struct symbol_table *table;
	assert_int_equal(work_Work__alpha(1) + unbox_work_Pair__Sum(1) + work_Work__beta(1), 15);
	assert_int_equal(symbol_table_file(&table, &files, "/proc/self/exe", (struct bytes){ 0 }),
			 STATUS_OK);
	for (size_t i = 0; i < sizeof(FUNCTIONS) / sizeof(FUNCTIONS[0]); i++) {
		struct symbol symbol;
		assert_true(symbol_find_name(table, FUNCTIONS[i].name, &symbol));
		assert_int_equal(symbol_is_managed(table, symbol.start_svma),
				 FUNCTIONS[i].is_managed);
	}
	assert_false(symbol_is_managed(table, 0));
	assert_false(symbol_is_managed(table, UINT64_MAX));
	symbol_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symtab_and_assembly),
		cmocka_unit_test(test_stubs),
		cmocka_unit_test(test_mini_debug),
		cmocka_unit_test(test_other_machines),
		cmocka_unit_test(test_managed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
