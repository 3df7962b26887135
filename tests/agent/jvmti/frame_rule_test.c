/* What the agent says of frames, read by the tables that stacks are unwound by. */
#include "agent/jvmti/frame_rule.h"

#include "test.h"
#include "unwind/cfi.h"

enum { CODE = 0x7f0000001000, CODE_SIZE = 300, WORDS = 11, COMPLETE = 12 };

#if defined(__aarch64__)
static const enum unwind_machine machine = UNWIND_AARCH64;
enum { AT_CALL = 0, RETURN = UNWIND_AARCH64_LR };
#else
static const enum unwind_machine machine = UNWIND_X86_64;
enum { AT_CALL = 8, RETURN = UNWIND_X86_64_PC };
#endif

static struct cfi_table *table_of(const struct vm_frame *frame, struct frame_rule *rule)
{
	struct cfi_table *table;
	if (!frame_rule_make(rule, CODE_SIZE, frame))
		skip_because("this machine's frames have no rule");
	const struct cfi_jit jit = {
		.machine = machine,
		.unwinding = { rule->unwinding.data, (size_t)rule->unwinding.size },
		.eh_frame_hdr_size = rule->unwinding.eh_frame_hdr_size,
		.code_svma = CODE,
		.code_size = CODE_SIZE,
	};
	assert_int_equal(cfi_table_jit(&table, &jit), 0);
	assert_int_equal(cfi_table_count(table), 1);
	return table;
}

/* From sp to the CFA; -1: there is no row. */
static int64_t depth_at(struct cfi_table *table, uint64_t avma)
{
	const struct cfi_row *row = cfi_find(table, avma);
	if (!row)
		return -1;
	assert_int_equal(row->cfa.kind, CFI_REGISTER);
	assert_int_equal(row->cfa.number, unwind_sp(machine));
	assert_int_equal(row->return_register, RETURN);
	return row->cfa.operand;
}

static void a_frame_is_there_when_it_is_complete(void **state)
{
	(void)state;
	struct frame_rule rule;
	struct cfi_table *table =
	    table_of(&(struct vm_frame){ .words = WORDS, .complete_off = COMPLETE }, &rule);
	assert_int_equal(depth_at(table, CODE - 1), -1);
	assert_int_equal(depth_at(table, CODE), AT_CALL);
	assert_int_equal(depth_at(table, CODE + COMPLETE - 1), AT_CALL);
	assert_int_equal(depth_at(table, CODE + COMPLETE), WORDS * 8);
	assert_int_equal(depth_at(table, CODE + CODE_SIZE - 1), WORDS * 8);
	assert_int_equal(depth_at(table, CODE + CODE_SIZE), -1);
	const struct cfi_row *row = cfi_find(table, CODE + COMPLETE);
	assert_int_equal(row->ruled, (uint64_t)1 << RETURN | (uint64_t)1 << unwind_bp(machine));
	assert_int_equal(row->rules[0].kind, CFI_AT_CFA);
	assert_int_equal(row->rules[0].operand, -16);
	assert_int_equal(row->rules[1].operand, -8);
	cfi_table_free(table);
}

static void large_frames_fit(void **state)
{
	(void)state;
	struct frame_rule rule;
	struct cfi_table *table = table_of(&(struct vm_frame){ .words = 1 << 20 }, &rule);
	assert_int_equal(depth_at(table, CODE), (int64_t)8 << 20);
	cfi_table_free(table);
}

static void what_has_no_frame_gets_no_rule(void **state)
{
	(void)state;
	struct frame_rule rule;
	const struct vm_frame frames[] = {
		{ .words = 0 },
		{ .words = 1 },
		{ .words = (1 << 20) + 1 },
		{ .words = WORDS, .complete_off = CODE_SIZE },
	};
	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++)
		assert_false(frame_rule_make(&rule, CODE_SIZE, &frames[i]));
	assert_false(frame_rule_make(&rule, 0, &(struct vm_frame){ .words = WORDS }));
	assert_false(
	    frame_rule_make(&rule, (uint64_t)1 << 32, &(struct vm_frame){ .words = WORDS }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_is_there_when_it_is_complete),
		cmocka_unit_test(large_frames_fit),
		cmocka_unit_test(what_has_no_frame_gets_no_rule),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
