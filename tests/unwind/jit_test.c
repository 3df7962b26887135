/* UNWINDING_INFO as runtimes write it. */
#include "base/status.h"
#include "test.h"
#include "unwind/build.h"

#include <stdlib.h>
#include <string.h>

enum { CODE_SVMA = 0x7f1175896000, HDR_SIZE = 20 };

/* CPython 3.13: of a trampoline of 11 bytes that takes eight of the stack. */
static const uint8_t cpython[] = {
	0x14, 0,    0,    0,    0,    0,    0,    0,    1,    'z',  'R',  0,    1,
	0x78, 0x10, 1,    0x1b, 0x0c, 7,    8,    0x90, 1,    0,    0, /* the CIE */
	0x14, 0,    0,    0,    0x1c, 0,    0,    0,    0xd0, 0xff, 0xff, 0xff, 11,
	0,    0,    0,    0,    0x44, 0x0e, 0x10, 0x46, 0x0e, 8,    0,    0,    0, /* the FDE */
	1,    0x1b, 3,    0x3b, 0xcc, 0xff, 0xff, 0xff, 1,    0,    0,    0,    0xc0,
	0xff, 0xff, 0xff, 0xe8, 0xff, 0xff, 0xff, /* .eh_frame_hdr */
};

static struct cfi_jit jit_of(struct bytes unwinding)
{
	return (struct cfi_jit){ .unwinding = unwinding,
				 .eh_frame_hdr_size = HDR_SIZE,
				 .code_svma = CODE_SVMA,
				 .code_size = 11 };
}

static void check_trampoline(struct cfi_jit jit)
{
	struct cfi_table *table;
	assert_int_equal(cfi_table_jit(&table, &jit), 0);
	assert_int_equal(cfi_find(table, jit.code_svma)->cfa.operand, 8);
	assert_int_equal(cfi_find(table, jit.code_svma + 3)->cfa.operand, 8);
	assert_int_equal(cfi_find(table, jit.code_svma + 4)->cfa.operand, 16);
	assert_int_equal(cfi_find(table, jit.code_svma + 10)->cfa.operand, 8);
	assert_null(cfi_find(table, jit.code_svma + jit.code_size));
	assert_null(cfi_find(table, jit.code_svma - 1));
	assert_true(cfi_table_bytes(table) < 4096);
	cfi_table_free(table);
}

static void cpython_trampolines_are_described(void **state)
{
	(void)state;
	struct cfi_jit jit = jit_of((struct bytes){ cpython, sizeof(cpython) });
	check_trampoline(jit);
	/* Addresses may be told from the code's start on, too. */
	jit.code_svma = 0x1000;
	check_trampoline(jit);
}

/* A lone function that lies elsewhere means the code all the same. */
static void a_lone_function_is_the_code(void **state)
{
	(void)state;
	uint8_t moved[sizeof(cpython)];
	memcpy(moved, cpython, sizeof(moved));
	moved[33] = 0x80;
	check_trampoline(jit_of((struct bytes){ moved, sizeof(moved) }));
}

/* V8 has frame pointers, and says so by a header that is empty. */
static void a_header_alone_is_no_table(void **state)
{
	(void)state;
	static const uint8_t v8[HDR_SIZE] = { 1, 0xff, 0x03, 0x3b };
	struct cfi_jit jit = jit_of((struct bytes){ v8, sizeof(v8) });
	struct cfi_table *table;
	assert_int_equal(cfi_table_jit(&table, &jit), STATUS_NOT_FOUND);
	jit.eh_frame_hdr_size = HDR_SIZE + 1;
	assert_int_equal(cfi_table_jit(&table, &jit), STATUS_CORRUPT);
	jit = jit_of((struct bytes){ cpython, sizeof(cpython) });
	jit.code_size = 0;
	assert_int_equal(cfi_table_jit(&table, &jit), STATUS_CORRUPT);
	jit = (struct cfi_jit){ .code_size = 1 };
	assert_int_equal(cfi_table_jit(&table, &jit), STATUS_NOT_FOUND);
}

/* Absolute addresses, as of MCJIT: two functions in one piece of code. */
static void functions_are_found_by_their_addresses(void **state)
{
	(void)state;
	struct section s = { .encoding = 0x04 };
	put_cie(&s, BYTES(0x0c, 7, 8, 0x90, 1));
	put_fde(&s, CODE_SVMA + 4, 16, BYTES(0x0e, 16));
	put_fde(&s, CODE_SVMA + 20, 16, BYTES(0x0e, 24));
	const struct cfi_jit jit = { .unwinding = sink_bytes(&s.out),
				     .code_svma = CODE_SVMA,
				     .code_size = 64 };
	struct cfi_table *table;
	assert_int_equal(cfi_table_jit(&table, &jit), 0);
	assert_null(cfi_find(table, CODE_SVMA));
	assert_int_equal(cfi_find(table, CODE_SVMA + 4)->cfa.operand, 16);
	assert_int_equal(cfi_find(table, CODE_SVMA + 20)->cfa.operand, 24);
	assert_null(cfi_find(table, CODE_SVMA + 36));
	cfi_table_free(table);
	sink_clear(&s.out);
}

static void every_truncation_and_every_changed_byte_is_survived(void **state)
{
	(void)state;
	struct cfi_table *table;
	for (size_t size = 0; size <= sizeof(cpython); size++) {
		for (size_t at = size == sizeof(cpython) ? 0 : size; at <= size; at++) {
			uint8_t *copy = malloc(size ? size : 1);
			assert_non_null(copy);
			memcpy(copy, cpython, size);
			if (at < size)
				copy[at] ^= 0xff;
			const struct cfi_jit jit = jit_of((struct bytes){ copy, size });
			if (cfi_table_jit(&table, &jit) == 0) {
				for (uint64_t off = 0; off < 16; off++)
					(void)cfi_find(table, CODE_SVMA + off);
				cfi_table_free(table);
			}
			free(copy);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpython_trampolines_are_described),
		cmocka_unit_test(a_lone_function_is_the_code),
		cmocka_unit_test(a_header_alone_is_no_table),
		cmocka_unit_test(functions_are_found_by_their_addresses),
		cmocka_unit_test(every_truncation_and_every_changed_byte_is_survived),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
