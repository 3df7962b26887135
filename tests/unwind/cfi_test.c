#include "unwind/cfi.h"

#include "base/sink.h"
#include "base/status.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { SECTION_SVMA = 0x500000, CODE_SVMA = 0x401000, CODE_SIZE = 0x40 };

/* A CIE (zR, pc-relative sdata4) and the FDE of a function that pushes rbp, makes it
 * the frame pointer and takes 16 bytes:
 *
 *   +0 rsp+8   +1 rsp+16, rbp at -16   +4 rbp+16   +0x30 rsp+8
 */
static void put_section(struct sink *out)
{
	static const uint8_t cie[] = { 1,    'z',  'R', 0, 1,    0x78, 16, 1,
				       0x1b, 0x0c, 7,   8, 0x90, 1,    0,  0 };
	static const uint8_t program[] = { 0x41, 0x0e, 16,   0x86, 2, 0x43, 0x0d, 6,
					   0x02, 0x2c, 0x0c, 7,    8, 0,    0 };
	sink_u32(out, sizeof(cie) + 4);
	sink_u32(out, 0);
	sink_put(out, cie, sizeof(cie));
	sink_u32(out, 13 + sizeof(program));
	sink_u32(out, (uint32_t)out->size); /* back to the CIE at 0 */
	sink_u32(out, (uint32_t)(CODE_SVMA - (SECTION_SVMA + out->size)));
	sink_u32(out, CODE_SIZE);
	sink_u8(out, 0);
	sink_put(out, program, sizeof(program));
	sink_u32(out, 0);
}

static int make(struct cfi_table **table, struct bytes section)
{
	return cfi_table_sections(table, &(struct cfi_sections){ .machine = UNWIND_X86_64,
								 .eh_frame = section,
								 .eh_frame_svma = SECTION_SVMA });
}

static void check_row(struct cfi_table *table, uint64_t offset, unsigned cfa_register,
		      int cfa_offset, bool has_bp)
{
	const struct cfi_row *row = cfi_find(table, CODE_SVMA + offset);
	assert_non_null(row);
	assert_int_equal(row->cfa.kind, CFI_REGISTER);
	assert_int_equal(row->cfa.number, cfa_register);
	assert_int_equal(row->cfa.operand, cfa_offset);
	assert_int_equal(row->return_register, UNWIND_X86_64_PC);
	assert_int_equal(row->ruled, 1u << UNWIND_X86_64_PC | (unsigned)has_bp << UNWIND_X86_64_BP);
	if (has_bp) {
		assert_int_equal(row->rules[0].kind, CFI_AT_CFA);
		assert_int_equal(row->rules[0].operand, -16);
	}
	assert_int_equal(row->rules[has_bp].kind, CFI_AT_CFA);
	assert_int_equal(row->rules[has_bp].operand, -8);
}

static void rows_follow_the_program(void **state)
{
	(void)state;
	struct sink section = { 0 };
	struct cfi_table *table;
	put_section(&section);
	assert_int_equal(make(&table, sink_bytes(&section)), 0);
	assert_null(cfi_find(table, CODE_SVMA - 1));
	check_row(table, 0, UNWIND_X86_64_SP, 8, false);
	check_row(table, 1, UNWIND_X86_64_SP, 16, true);
	check_row(table, 3, UNWIND_X86_64_SP, 16, true);
	check_row(table, 4, UNWIND_X86_64_BP, 16, true);
	check_row(table, 0x2f, UNWIND_X86_64_BP, 16, true);
	check_row(table, 0x30, UNWIND_X86_64_SP, 8, true);
	check_row(table, CODE_SIZE - 1, UNWIND_X86_64_SP, 8, true);
	assert_null(cfi_find(table, CODE_SVMA + CODE_SIZE));
	cfi_table_free(table);
	sink_clear(&section);
}

/* On a heap copy of exact size, so that a sanitizer guards its end. */
static void read_copy(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct cfi_table *table;
	assert_non_null(copy);
	if (size)
		memcpy(copy, bytes, size);
	if (make(&table, (struct bytes){ copy, size }) == 0) {
		for (uint64_t at = 0; at <= CODE_SIZE; at++)
			(void)cfi_find(table, CODE_SVMA + at);
		cfi_table_free(table);
	}
	free(copy);
}

static void every_truncation_and_every_changed_byte_is_survived(void **state)
{
	(void)state;
	static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	struct sink section = { 0 };
	put_section(&section);
	for (size_t size = 0; size <= section.size; size++)
		read_copy(section.data, size);
	for (size_t at = 0; at < section.size; at++) {
		const uint8_t was = section.data[at];
		for (size_t v = 0; v < sizeof(values); v++) {
			section.data[at] = values[v];
			read_copy(section.data, section.size);
		}
		section.data[at] = was;
	}
	sink_clear(&section);
}

static void what_is_no_elf_is_refused(void **state)
{
	(void)state;
	struct cfi_table *table;
	static const uint8_t text[] = "hello, world";
	assert_int_equal(cfi_table_elf(&table, (struct bytes){ text, sizeof(text) }),
			 STATUS_NOT_FORMAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_follow_the_program),
		cmocka_unit_test(every_truncation_and_every_changed_byte_is_survived),
		cmocka_unit_test(what_is_no_elf_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
