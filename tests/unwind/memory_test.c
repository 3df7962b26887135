/* Every allocation of a table fails once. */
#include "base/status.h"
#include "failing_memory.h"
#include "os/file.h"
#include "test.h"
#include "unwind/build.h"

enum { CODE_SVMA = 0x401000, SIZE = 16, COUNT = 100 };

/* Not in order, and enough of them that recent answers are kept. */
static void put_functions(struct section *s)
{
	put_cie(s, BYTES(0x0c, 7, 8, 0x90, 1));
	for (unsigned i = COUNT; i-- > 0;)
		put_fde(s, CODE_SVMA + i * SIZE, SIZE,

			BYTES(0x41, 0x0e, (uint8_t)(16 + 8 * (i % 10)), 0x41, 0x0e, 8));
}

static void a_table_is_made_or_is_not(void **state)
{
	(void)state;
	struct section s = { 0 };
	put_functions(&s);
	const struct cfi_sections sections = { .eh_frame = sink_bytes(&s.out),
					       .eh_frame_svma = SECTION_SVMA };
	size_t failures = 0;
	for (size_t n = 1;; n++) {
		struct cfi_table *table = NULL;
		memory_fail_at(n);
		const int got = cfi_table_sections(&table, &sections);
		const bool has_failed = memory_has_failed();
		memory_fail_at(0);
		if (!has_failed) {
			assert_int_equal(got, 0);
			cfi_table_free(table);
			break;
		}
		assert_int_equal(got, STATUS_NO_MEMORY);
		assert_null(table);
		failures++;
	}
	assert_true(failures >= 4);
	sink_clear(&s.out);
}

/* Rows that cannot be kept are not told; those that are told are right. */
static void rows_are_right_or_missing(void **state)
{
	(void)state;
	struct section s = { 0 };
	put_functions(&s);
	for (size_t n = 1;; n++) {
		struct cfi_table *table = table_of(&s);
		assert_non_null(table);
		memory_fail_at(n);
		for (unsigned i = 0; i < COUNT; i++) {
			const uint64_t svma = CODE_SVMA + i * SIZE;
			const struct cfi_row *row = cfi_find(table, svma);
			assert_true(!row || row->cfa.operand == 8);
			row = cfi_find(table, svma + 1);
			assert_true(!row || row->cfa.operand == 16 + 8 * ((int)i % 10));
			row = cfi_find(table, svma + 2);
			assert_true(!row || row->cfa.operand == 8);
		}
		const bool has_failed = memory_has_failed();
		memory_fail_at(0);
		cfi_table_free(table);
		if (!has_failed)
			break;
	}
	sink_clear(&s.out);
}

static void objects_are_read_or_are_not(void **state)
{
	(void)state;
	struct os_file file;
	assert_int_equal(os_file_open(&file, "/proc/self/exe", OS_FILE_PLAIN), 0);
	for (size_t n = 1;; n++) {
		struct cfi_table *table = NULL;
		memory_fail_at(n);
		const int got = cfi_table_elf(&table, file.bytes);
		const bool has_failed = memory_has_failed();
		memory_fail_at(0);
		assert_int_equal(got, has_failed ? STATUS_NO_MEMORY : 0);
		cfi_table_free(table);
		if (!has_failed)
			break;
	}
	os_file_close(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_is_made_or_is_not),
		cmocka_unit_test(rows_are_right_or_missing),
		cmocka_unit_test(objects_are_read_or_are_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
