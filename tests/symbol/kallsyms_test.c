#include "base/status.h"
#include "symbol/symbol.h"
#include "test.h"

#include <stdlib.h>

static int read_text(struct symbol_table **table, const char *text)
{
	return symbol_table_kallsyms(table, (struct bytes){ (const uint8_t *)text, strlen(text) });
}

static void check(const struct symbol_table *table, uint64_t avma, const char *name, uint64_t start,
		  const char *module)
{
	struct symbol symbol;
	if (!name) {
		assert_false(symbol_find(table, avma, &symbol));
		return;
	}
	assert_true(symbol_find(table, avma, &symbol));
	assert_string_equal(symbol.name, name);
	assert_int_equal(symbol.start_svma, start);
	assert_string_equal(symbol_module(table, avma), module);
}

static void test_kernel_and_modules(void **state)
{
	(void)state;
	struct symbol_table *table;
	assert_int_equal(read_text(&table,
				   "0000000000000000 A fixed_percpu_data\n"
				   "0000000000010000 A cpu_tss_rw\n"
				   "ffffffff81000000 T _text\n"
				   "ffffffff81000000 T startup_64\n"
				   "ffffffff81000040 t helper\n"
				   "ffffffff81000080 W weak_one\n"
				   "ffffffff81000100 T _etext\n"
				   "ffffffff81000200 R __start_rodata\n"
				   "ffffffff81000300 d some_data\n"
				   "ffffffffc0001000 t nft_get\t[nf_tables]\n"
				   "ffffffffc0001100 t nft_put\t[nf_tables]\n"
				   "ffffffffc0009000 t other_init\t[other]\n"
				   "ffffffffc0100000 t bpf_prog_7a30c2b3c4d5e6f7_drop\t[bpf]\n"
				   "ffffffffc0100080 t bpf_prog_0123456789abcdef_pass\t[bpf]\n"),
			 STATUS_OK);
	check(table, 0x10000, NULL, 0, NULL);
	check(table, 0xffffffff80ffffff, NULL, 0, NULL);
	check(table, 0xffffffff8100003f, "startup_64", 0xffffffff81000000, "");
	check(table, 0xffffffff81000040, "helper", 0xffffffff81000040, "");
	check(table, 0xffffffff810000ff, "weak_one", 0xffffffff81000080, "");
	check(table, 0xffffffff810001ff, "_etext", 0xffffffff81000100, "");
	check(table, 0xffffffff81000200, NULL, 0, NULL);
	check(table, 0xffffffff81000300, NULL, 0, NULL);
	check(table, 0xffffffffc00010ff, "nft_get", 0xffffffffc0001000, "[nf_tables]");
	check(table, 0xffffffffc0001fff, "nft_put", 0xffffffffc0001100, "[nf_tables]");
	/* Not across the hole behind a module. */
	check(table, 0xffffffffc0003000, NULL, 0, NULL);
	check(table, 0xffffffffc0009010, "other_init", 0xffffffffc0009000, "[other]");
	check(table, 0xffffffffc010007f, "bpf_prog_7a30c2b3c4d5e6f7_drop", 0xffffffffc0100000,
	      "[bpf]");
	check(table, 0xffffffffc0100081, "bpf_prog_0123456789abcdef_pass", 0xffffffffc0100080,
	      "[bpf]");
	check(table, 0xffffffffc0200000, NULL, 0, NULL);
	check(table, UINT64_MAX, NULL, 0, NULL);
	assert_int_equal(symbol_count(table), 9);
	uint64_t svma;
	assert_false(symbol_file_to_svma(table, 0, &svma));
	symbol_table_free(table);
}

static void test_aliases(void **state)
{
	(void)state;
	struct symbol_table *table;
	assert_int_equal(read_text(&table, "ffffffff81000000 T __ia32_sys_read\n"
					   "ffffffff81000000 T __x64_sys_read\n"
					   "ffffffff81000100 T memset\n"
					   "ffffffff81000100 T __memset\n"
					   "ffffffff81000200 D data\n"
					   "ffffffff81000200 t text\n"
					   "ffffffff81000200 d data_too\n"),
			 STATUS_OK);
	check(table, 0xffffffff81000010, "__x64_sys_read", 0xffffffff81000000, "");
	check(table, 0xffffffff81000110, "memset", 0xffffffff81000100, "");
	check(table, 0xffffffff81000210, "text", 0xffffffff81000200, "");
	symbol_table_free(table);
}

static void test_hidden(void **state)
{
	(void)state;
	struct symbol_table *table = NULL;
	assert_int_equal(read_text(&table, "0000000000000000 T _text\n0000000000000000 t f\n"),
			 STATUS_NOT_FOUND);
	assert_int_equal(read_text(&table, ""), STATUS_NOT_FOUND);
	assert_int_equal(read_text(&table, "not\nkallsyms\n"), STATUS_NOT_FORMAT);
	assert_null(table);
}

static void test_odd_lines(void **state)
{
	(void)state;
	struct symbol_table *table;
	assert_int_equal(read_text(&table, "ffffffff81000000 T first\r\n"
					   "zz T bad_number\n"
					   "ffffffff81000010\n"
					   "ffffffff81000020 T\n"
					   "ffffffff81000030 TT two_letters\n"
					   "ffffffff8100004000000000 T too_long\n"
					   "\n"
					   "ffffffff81000050 T with_junk junk\n"
					   "FFFFFFFF81000060 t unfinished"),
			 STATUS_OK);
	check(table, 0xffffffff8100004f, "first", 0xffffffff81000000, "");
	check(table, 0xffffffff81000050, "with_junk", 0xffffffff81000050, "");
	check(table, 0xffffffff81000061, "unfinished", 0xffffffff81000060, "");
	assert_int_equal(symbol_count(table), 3);
	symbol_table_free(table);
}

static const char SAMPLE[] = "ffffffff81000000 T first\n"
			     "ffffffff81000010 W second\n"
			     "ffffffffc0001000 t third\t[module]\n";

static void use_copy(const char *text, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	assert_non_null(copy);
	memcpy(copy, text, size);
	struct symbol_table *table;
	if (symbol_table_kallsyms(&table, (struct bytes){ copy, size }) == STATUS_OK) {
		struct symbol symbol;
		/* The table must not need the text any more. */
		memset(copy, 0xff, size);
		if (symbol_find(table, 0xffffffff81000008, &symbol))
			assert_true(strlen(symbol.name) < sizeof(SAMPLE));
		symbol_table_free(table);
	}
	free(copy);
}

static void test_every_truncation_and_byte(void **state)
{
	(void)state;
	char text[sizeof(SAMPLE)];
	memcpy(text, SAMPLE, sizeof(SAMPLE));
	for (size_t i = 0; i < sizeof(SAMPLE) - 1; i++) {
		use_copy(text, i);
		for (unsigned bit = 0; bit < 8; bit++) {
			text[i] = (char)(text[i] ^ 1 << bit);
			use_copy(text, sizeof(SAMPLE) - 1);
			text[i] = (char)(text[i] ^ 1 << bit);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_and_modules),
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_odd_lines),
		cmocka_unit_test(test_every_truncation_and_byte),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
