/* DWARF expressions, an operation a line. */
#include "test.h"
#include "unwind/build.h"
#include "unwind/step.h"

enum { SP = 0x1000 };

static const uint64_t words[] = { 0x1122334455667788, 0x1018, 0xfedcba9876543210, 77 };

static struct unwind_step step_of(void)
{
	struct unwind_step step = { .memory = { { (const uint8_t *)words, sizeof(words) }, SP } };
	unwind_set(&step.registers, 7, SP);
	unwind_set(&step.registers, 6, SP + 8);
	unwind_set(&step.registers, 16, 0x40100b);
	return step;
}

static void check(uint64_t wanted, struct bytes expression)
{
	const struct unwind_step step = step_of();
	uint64_t result = 0;
	assert_int_equal(unwind_evaluate(&step, expression, NULL, &result), UNWIND_WHOLE);
	assert_int_equal(result, wanted);
	/* Cut anywhere it is another expression, or none. */
	for (size_t size = 0; size < expression.size; size++)
		(void)unwind_evaluate(&step, (struct bytes){ expression.data, size }, NULL,
				      &result);
}

static void check_end(enum unwind_end wanted, struct bytes expression)
{
	const struct unwind_step step = step_of();
	uint64_t result = 12345;
	assert_int_equal(unwind_evaluate(&step, expression, NULL, &result), wanted);
	assert_int_equal(result, 12345);
}

enum { LIT2 = 0x32, LIT3 = 0x33, LIT5 = 0x35, M1 = 0x7f };

static void values_are_pushed(void **state)
{
	(void)state;
	check(0, BYTES(0x30));
	check(31, BYTES(0x4f));
	check(0xff, BYTES(0x08, 0xff));
	check(UINT64_MAX, BYTES(0x09, 0xff));
	check(0xfffe, BYTES(0x0a, 0xfe, 0xff));
	check(UINT64_MAX - 1, BYTES(0x0b, 0xfe, 0xff));
	check(0xfffffffe, BYTES(0x0c, 0xfe, 0xff, 0xff, 0xff));
	check(UINT64_MAX - 1, BYTES(0x0d, 0xfe, 0xff, 0xff, 0xff));
	check(0x0807060504030201, BYTES(0x0e, 1, 2, 3, 4, 5, 6, 7, 8));
	check(0x0807060504030201, BYTES(0x0f, 1, 2, 3, 4, 5, 6, 7, 8));
	check(300, BYTES(0x10, 0xac, 0x02));
	check(UINT64_MAX, BYTES(0x11, M1));
	check(SP + 8, BYTES(0x77, 8));
	check(SP, BYTES(0x76, 0x78));
	check(SP + 8, BYTES(0x92, 6, 0));
}

static void memory_is_the_stack(void **state)
{
	(void)state;
	check(words[0], BYTES(0x77, 0, 0x06));
	check(words[3], BYTES(0x76, 0, 0x06, 0x06));
	check(0x88, BYTES(0x77, 0, 0x94, 1));
	check(0x55667788, BYTES(0x77, 0, 0x94, 4));
	check_end(UNWIND_TRUNCATED, BYTES(0x77, 32, 0x06));
	check_end(UNWIND_TRUNCATED, BYTES(0x77, 25, 0x06));
	check_end(UNWIND_TRUNCATED, BYTES(0x77, M1, 0x06));
	check_end(UNWIND_NO_CFI, BYTES(0x77, 0, 0x94, 9));
	check_end(UNWIND_NO_CFI, BYTES(0x77, 0, 0x94, 0));
}

static void the_stack_of_values_is_arranged(void **state)
{
	(void)state;
	check(10, BYTES(LIT5, 0x12, 0x22));                   /* dup, plus */
	check(5, BYTES(LIT5, LIT3, 0x13));                    /* drop */
	check(5, BYTES(LIT5, LIT3, 0x14));                    /* over */
	check(3, BYTES(LIT3, LIT5, LIT2, 0x15, 2));           /* pick */
	check(UINT64_MAX - 1, BYTES(LIT5, LIT3, 0x16, 0x1c)); /* swap, minus */
	check(3, BYTES(LIT2, LIT3, LIT5, 0x17));              /* rot: 5 2 3 */
	check(2, BYTES(LIT2, LIT3, LIT5, 0x17, 0x13));
	check(5, BYTES(LIT2, LIT3, LIT5, 0x17, 0x13, 0x13));
	check(5, BYTES(0x96, LIT5, 0x96));
}

static void numbers_are_reckoned(void **state)
{
	(void)state;
	check(5, BYTES(0x11, 0x7b, 0x19));                    /* abs -5 */
	check(1, BYTES(LIT5, LIT3, 0x1a));                    /* and */
	check(UINT64_MAX - 1, BYTES(0x11, 0x7b, LIT2, 0x1b)); /* -5 / 2 */
	check(2, BYTES(LIT5, LIT3, 0x1c));                    /* minus */
	check(2, BYTES(LIT5, LIT3, 0x1d));                    /* mod */
	check(15, BYTES(LIT5, LIT3, 0x1e));                   /* mul */
	check(UINT64_MAX, BYTES(0x31, 0x1f));                 /* neg */
	check(UINT64_MAX - 5, BYTES(LIT5, 0x20));             /* not */
	check(7, BYTES(LIT5, LIT3, 0x21));                    /* or */
	check(8, BYTES(LIT5, LIT3, 0x22));                    /* plus */
	check(305, BYTES(LIT5, 0x23, 0xac, 0x02));            /* plus_uconst */
	check(40, BYTES(LIT5, LIT3, 0x24));                   /* shl */
	check(1, BYTES(LIT5, LIT2, 0x25));                    /* shr */
	check(UINT64_MAX - 1, BYTES(0x11, 0x7b, LIT2, 0x26)); /* shra */
	check(6, BYTES(LIT5, LIT3, 0x27));                    /* xor */
	check(0, BYTES(LIT5, 0x08, 64, 0x24));
	check(0, BYTES(LIT5, 0x08, 64, 0x25));
	check(UINT64_MAX, BYTES(0x11, 0x7b, 0x08, 200, 0x26));
	check_end(UNWIND_NO_CFI, BYTES(LIT5, 0x30, 0x1b));
	check_end(UNWIND_NO_CFI, BYTES(LIT5, 0x30, 0x1d));
	check_end(UNWIND_NO_CFI, BYTES(0x0e, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x11, M1, 0x1b));
}

static void numbers_are_compared_with_their_sign(void **state)
{
	(void)state;
	static const uint8_t operations[] = { 0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e };
	static const uint8_t less[] = { 0, 0, 0, 1, 1, 1 };
	static const uint8_t equal[] = { 1, 1, 0, 1, 0, 0 };
	for (size_t i = 0; i < sizeof(operations); i++) {
		check(less[i], BYTES(0x11, 0x7b, LIT3, operations[i]));
		check(equal[i], BYTES(LIT3, LIT3, operations[i]));
	}
}

static void jumps_stay_inside(void **state)
{
	(void)state;
	check(2, BYTES(LIT2, 0x2f, 1, 0, LIT5));                 /* skip */
	check(2, BYTES(LIT2, 0x31, 0x28, 1, 0, LIT5));           /* bra taken */
	check(5, BYTES(LIT2, 0x30, 0x28, 1, 0, LIT5));           /* not taken */
	check_end(UNWIND_NO_CFI, BYTES(LIT2, 0x2f, 2, 0, LIT5)); /* past the end */
	check_end(UNWIND_NO_CFI, BYTES(LIT2, 0x2f, 0xfb, 0xff));
	check_end(UNWIND_NO_CFI, BYTES(LIT2, 0x2f, 0xfd, 0xff)); /* for ever */
}

static void nonsense_comes_to_nothing(void **state)
{
	(void)state;
	check_end(UNWIND_NO_CFI, BYTES(0x22));
	check_end(UNWIND_NO_CFI, BYTES(LIT2, 0x22));
	check_end(UNWIND_NO_CFI, BYTES(0x13, LIT2));
	check_end(UNWIND_NO_CFI, BYTES(LIT2, 0x15, 1));
	check_end(UNWIND_NO_CFI, BYTES(0x03, 0, 0, 0, 0, 0, 0, 0, 0)); /* an address as linked */
	check_end(UNWIND_NO_CFI, BYTES(LIT2, 0xff));
	check_end(UNWIND_NO_CFI, BYTES(0x0c, 1, 2));
	check_end(UNWIND_NO_CFI, (struct bytes){ 0 });
	check_end(UNWIND_NO_REGISTER, BYTES(0x70, 0));
	check_end(UNWIND_NO_REGISTER, BYTES(0x92, 0x80, 1, 0));
	uint8_t many[40];
	memset(many, LIT2, sizeof(many));
	check_end(UNWIND_NO_CFI, (struct bytes){ many, sizeof(many) });
}

/* The rule of a register finds the frame's address there; gcc's and ld's own expressions. */
static void compilers_expressions_work(void **state)
{
	(void)state;
	const struct unwind_step step = step_of();
	const uint64_t cfa = SP + 24;
	uint64_t result;
	assert_int_equal(unwind_evaluate(&step, BYTES(0x23, 8), &cfa, &result), UNWIND_WHOLE);
	assert_int_equal(result, SP + 32);
	check(words[1], BYTES(0x76, 0, 0x06));
	/* rip is 0x..b: the stub has pushed. */
	check(SP + 16, BYTES(0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22));
	check(SP + 8, BYTES(0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3c, 0x2a, 0x33, 0x24, 0x22));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_pushed),
		cmocka_unit_test(memory_is_the_stack),
		cmocka_unit_test(the_stack_of_values_is_arranged),
		cmocka_unit_test(numbers_are_reckoned),
		cmocka_unit_test(numbers_are_compared_with_their_sign),
		cmocka_unit_test(jumps_stay_inside),
		cmocka_unit_test(nonsense_comes_to_nothing),
		cmocka_unit_test(compilers_expressions_work),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
