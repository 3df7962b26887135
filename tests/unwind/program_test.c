/* Each instruction of call frame information, in sections made by hand. */
#include "test.h"
#include "unwind/build.h"

enum { CODE_SVMA = 0x401000, CODE_SIZE = 0x4000 };

#define USUAL BYTES(0x0c, 7, 8, 0x90, 1) /* rsp + 8, the return address below */

/* The table of one function. */
static struct cfi_table *one(struct section *s, struct bytes program)
{
	put_cie(s, USUAL);
	put_fde(s, CODE_SVMA, CODE_SIZE, program);
	struct cfi_table *table = table_of(s);
	sink_reset(&s->out);
	assert_non_null(table);
	return table;
}

/* The row at its start, which lives until the next call. */
static const struct cfi_row *row_of(struct bytes program)
{
	static struct section s;
	static struct cfi_table *table;
	cfi_table_free(table);
	sink_clear(&s.out);
	s = (struct section){ 0 };
	put_cie(&s, USUAL);
	put_fde(&s, CODE_SVMA, CODE_SIZE, program);
	table = table_of(&s);
	assert_non_null(table);
	return cfi_find(table, CODE_SVMA);
}

static void check_rule(struct bytes program, unsigned number, enum cfi_rule_kind kind, int operand)
{
	const struct cfi_row *row = row_of(program);
	assert_non_null(row);
	const struct cfi_rule *rule = rule_of(row, number);
	assert_non_null(rule);
	assert_int_equal(rule->kind, kind);
	if (kind == CFI_REGISTER)
		assert_int_equal(rule->number, operand);
	else
		assert_int_equal(rule->operand, operand);
}

static void check_cfa(struct bytes program, unsigned number, int offset)
{
	const struct cfi_row *row = row_of(program);
	assert_non_null(row);
	assert_int_equal(row->cfa.kind, CFI_REGISTER);
	assert_int_equal(row->cfa.number, number);
	assert_int_equal(row->cfa.operand, offset);
}

static void registers_get_their_rules(void **state)
{
	(void)state;
	check_rule(BYTES(0x86, 2), 6, CFI_AT_CFA, -16);
	check_rule(BYTES(0x05, 12, 3), 12, CFI_AT_CFA, -24);
	check_rule(BYTES(0x11, 12, 0x7d), 12, CFI_AT_CFA, 24);
	check_rule(BYTES(0x2f, 12, 3), 12, CFI_AT_CFA, 24);
	check_rule(BYTES(0x14, 3, 2), 3, CFI_VALUE_CFA, -16);
	check_rule(BYTES(0x15, 3, 0x7e), 3, CFI_VALUE_CFA, 16);
	check_rule(BYTES(0x07, 3), 3, CFI_UNDEFINED, 0);
	check_rule(BYTES(0x08, 3), 3, CFI_SAME, 0);
	check_rule(BYTES(0x09, 3, 10), 3, CFI_REGISTER, 10);
	/* One that nobody follows stands for a value that is lost. */
	check_rule(BYTES(0x09, 3, 40), 3, CFI_REGISTER, UINT8_MAX);
	check_rule(BYTES(0x86, 2, 0x2e, 0x90, 0x01, 0x86, 3), 6, CFI_AT_CFA, -24);
	/* Of vectors and flags nothing is kept. */
	assert_int_equal(row_of(BYTES(0x05, 50, 3, 0x07, 33))->ruled, 1 << UNWIND_X86_64_PC);
}

static void expressions_are_found_again(void **state)
{
	(void)state;
	const struct cfi_row *row = row_of(BYTES(0x10, 6, 2, 0x76, 0, 0x16, 3, 3, 0x77, 8, 0x06));
	const struct cfi_rule *rule = rule_of(row, 6);
	assert_int_equal(rule->kind, CFI_EXPRESSION);
	assert_int_equal(rule->size, 2);
	assert_memory_equal(row->expressions + rule->operand, BYTES(0x76, 0).data, 2);
	rule = rule_of(row, 3);
	assert_int_equal(rule->kind, CFI_VALUE_EXPRESSION);
	assert_memory_equal(row->expressions + rule->operand, BYTES(0x77, 8, 0x06).data, 3);
	row = row_of(BYTES(0x0f, 3, 0x76, 0x78, 0x06));
	assert_int_equal(row->cfa.kind, CFI_VALUE_EXPRESSION);
	assert_memory_equal(row->expressions + row->cfa.operand, BYTES(0x76, 0x78, 0x06).data, 3);
}

static void the_frame_has_its_address(void **state)
{
	(void)state;
	check_cfa(BYTES(0x0c, 6, 16), 6, 16);
	check_cfa(BYTES(0x12, 6, 0x7e), 6, 16);
	check_cfa(BYTES(0x0d, 6), 6, 8);
	check_cfa(BYTES(0x0e, 0x80, 0x01), 7, 128);
	check_cfa(BYTES(0x13, 0x7d), 7, 24);
	/* An offset alone means nothing after an expression, a register alone none that is
	 * followed. */
	assert_null(row_of(BYTES(0x0f, 2, 0x76, 8, 0x0e, 16)));
	assert_null(row_of(BYTES(0x0c, 60, 8)));
	assert_null(row_of(BYTES(0x0c, 7, 0x80, 0x80, 0x80, 0x80, 0x10)));
}

static void states_are_kept_and_restored(void **state)
{
	(void)state;
	struct section s = { 0 };
	/* +0: rsp+16, rbp; +1: kept, then rsp+8, none; +2: as at +0; +3: as the CIE says. */
	struct cfi_table *table = one(&s, BYTES(0x0e, 16, 0x86, 2, 0x41, 0x0a, 0x0e, 8, 0x08, 6,
						0x41, 0x0b, 0x41, 0xc6, 0xc7, 0x06, 16));
	assert_int_equal(rule_of(cfi_find(table, CODE_SVMA), 6)->kind, CFI_AT_CFA);
	assert_int_equal(rule_of(cfi_find(table, CODE_SVMA + 1), 6)->kind, CFI_SAME);
	assert_int_equal(cfi_find(table, CODE_SVMA + 1)->cfa.operand, 8);
	assert_int_equal(rule_of(cfi_find(table, CODE_SVMA + 2), 6)->operand, -16);
	assert_int_equal(cfi_find(table, CODE_SVMA + 2)->cfa.operand, 16);
	assert_null(rule_of(cfi_find(table, CODE_SVMA + 3), 6));
	assert_int_equal(rule_of(cfi_find(table, CODE_SVMA + 3), 16)->operand, -8);
	cfi_table_free(table);
	/* More is restored than was kept, or kept than anyone would. */
	table = one(&s, BYTES(0x41, 0x0b));
	assert_non_null(cfi_find(table, CODE_SVMA));
	assert_null(cfi_find(table, CODE_SVMA + 1));
	cfi_table_free(table);
	uint8_t many[40] = { 0x41 };
	memset(many + 1, 0x0a, sizeof(many) - 1);
	table = one(&s, (struct bytes){ many, sizeof(many) });
	assert_non_null(cfi_find(table, CODE_SVMA));
	assert_null(cfi_find(table, CODE_SVMA + 1));
	cfi_table_free(table);
	sink_clear(&s.out);
}

static void addresses_advance(void **state)
{
	(void)state;
	struct section s = { 0 };
	/* 0x3f, then 0x81 of a byte, 0x1000 of two, 0x100 of four; two rows at one address. */
	struct cfi_table *table =
	    one(&s, BYTES(0x7f, 0x0e, 16, 0x02, 0x81, 0x0e, 24, 0x03, 0, 0x10, 0x0e, 32, 0x04, 0, 1,
			  0, 0, 0x0e, 40, 0x40, 0x0e, 48));
	static const struct {
		unsigned off;
		int cfa_offset;
	} rows[] = { { 0, 8 },       { 0x3e, 8 },          { 0x3f, 16 },   { 0xbf, 16 },
		     { 0xc0, 24 },   { 0x10bf, 24 },       { 0x10c0, 32 }, { 0x11bf, 32 },
		     { 0x11c0, 48 }, { CODE_SIZE - 1, 48 } };
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(cfi_find(table, CODE_SVMA + rows[i].off)->cfa.operand,
				 rows[i].cfa_offset);
	assert_null(cfi_find(table, CODE_SVMA - 1));
	assert_null(cfi_find(table, CODE_SVMA + CODE_SIZE));
	cfi_table_free(table);
	/* To an address, as the section's pointers are written: here from 0. */
	s.encoding = 0x04;
	table = one(&s, BYTES(0x01, 0x10, 0x10, 0x40, 0, 0, 0, 0, 0, 0x0e, 16));
	assert_int_equal(cfi_find(table, CODE_SVMA + 0xf)->cfa.operand, 8);
	assert_int_equal(cfi_find(table, CODE_SVMA + 0x10)->cfa.operand, 16);
	cfi_table_free(table);
	/* Backwards nothing goes. */
	table = one(&s, BYTES(0x44, 0x0e, 16, 0x01, 0, 0x10, 0x40, 0, 0, 0, 0, 0, 0x0e, 24));
	assert_int_equal(cfi_find(table, CODE_SVMA)->cfa.operand, 8);
	assert_null(cfi_find(table, CODE_SVMA + 4));
	cfi_table_free(table);
	sink_clear(&s.out);
}

static void the_rest_of_a_function_is_lost_with_an_unknown_instruction(void **state)
{
	(void)state;
	struct section s = { 0 };
	struct cfi_table *table = one(&s, BYTES(0x44, 0x3e, 0x44, 0x0e, 16));
	assert_non_null(cfi_find(table, CODE_SVMA + 3));
	assert_null(cfi_find(table, CODE_SVMA + 4));
	assert_null(cfi_find(table, CODE_SVMA + 8));
	cfi_table_free(table);
	/* Signed return addresses are of aarch64. */
	assert_null(row_of(BYTES(0x2d)));
	s.machine = UNWIND_AARCH64;
	table = one(&s, BYTES(0x2d, 0x2c, 0x9e, 1));
	assert_int_equal(cfi_find(table, CODE_SVMA)->return_register, UNWIND_AARCH64_LR);
	assert_int_equal(rule_of(cfi_find(table, CODE_SVMA), UNWIND_AARCH64_LR)->operand, -8);
	cfi_table_free(table);
	sink_clear(&s.out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_get_their_rules),
		cmocka_unit_test(expressions_are_found_again),
		cmocka_unit_test(the_frame_has_its_address),
		cmocka_unit_test(states_are_kept_and_restored),
		cmocka_unit_test(addresses_advance),
		cmocka_unit_test(the_rest_of_a_function_is_lost_with_an_unknown_instruction),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
