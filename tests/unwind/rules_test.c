/* Walks over stacks made by hand: the usual rules, and each way in which a walk ends. */
#include "unwind/rules.h"

#include "test.h"
#include "unwind/build.h"
#include "unwind/walk.h"

#include <string.h>

enum { SP = 0x7000, LIMIT = 16, WORDS = 160 };

/* Code at 0xN00 to 0xNff is found by places[N]; elsewhere there is none. */
struct scene {
	struct unwind_state state;
	uint64_t words[WORDS]; /* from SP on */
	struct unwind_place places[8];
	uint64_t avmas[LIMIT];
	uint64_t looked_up[LIMIT];
	bool is_exact[LIMIT];
	struct unwind_registers seen[LIMIT];
	enum unwind_end end;
	size_t told;
};

static void find(void *context, const struct unwind_frame *frame, struct unwind_place *place)
{
	struct scene *s = context;
	assert_true(frame->index < LIMIT);
	s->looked_up[frame->index] = frame->avma;
	s->is_exact[frame->index] = frame->is_exact;
	s->seen[frame->index] = *frame->registers;
	if (frame->avma >> 8 < 8)
		*place = s->places[frame->avma >> 8];
	place->svma = frame->avma;
}

static void tell(void *context, const struct unwind_frame *frame)
{
	struct scene *s = context;
	(void)frame;
	s->told++;
}

static void start(struct scene *s, enum unwind_machine machine, uint64_t pc)
{
	memset(s, 0, sizeof(*s));
	s->state =
	    (struct unwind_state){ .machine = machine,
				   .stack_avma = SP,
				   .stack = { (const uint8_t *)s->words, sizeof(s->words) } };
	unwind_set(&s->state.registers, unwind_pc(machine), pc);
	unwind_set(&s->state.registers, unwind_sp(machine), SP);
}

static size_t walk(struct scene *s)
{
	const struct unwind_callbacks callbacks = { .context = s,
						    .find = find,
						    .interpreter = tell };
	return unwind_walk(&callbacks, &s->state, s->avmas, LIMIT, &s->end);
}

static struct unwind_place rule(struct cfi_row row)
{
	return (struct unwind_place){ .code = UNWIND_RULE, .rule = row };
}

static void usual_rules_of_x86_64(void **state)
{
	(void)state;
	struct scene s;
	start(&s, UNWIND_X86_64, 0x100);
	unwind_set(&s.state.registers, UNWIND_X86_64_BP, SP + 80);
	s.places[1] = rule(unwind_rule_entry(UNWIND_X86_64));
	s.places[2] = rule(unwind_rule_pushed(UNWIND_X86_64));
	s.places[3] = rule(unwind_rule_fixed(UNWIND_X86_64, 32, false));
	s.places[4] = rule(unwind_rule_frame_pointer(UNWIND_X86_64));
	s.places[5] = rule(unwind_rule_fixed(UNWIND_X86_64, 24, true));
	s.words[0] = 0x210;                        /* into what has pushed rbp */
	s.words[2] = 0x310;                        /* into what has taken 24 bytes */
	s.words[6] = 0x410;                        /* into a frame, whose rbp is ours */
	s.words[10] = 0xabc8, s.words[11] = 0x510; /* saved rbp */
	s.words[13] = 0xdef0, s.words[14] = 0;     /* the first function */
	assert_int_equal(walk(&s), 5);
	assert_int_equal(s.end, UNWIND_WHOLE);
	static const uint64_t wanted[] = { 0x100, 0x210, 0x310, 0x410, 0x510 };
	assert_memory_equal(s.avmas, wanted, sizeof(wanted));
	/* Return addresses are looked up in the call before them. */
	assert_int_equal(s.looked_up[0], 0x100);
	assert_true(s.is_exact[0]);
	assert_int_equal(s.looked_up[1], 0x20f);
	assert_false(s.is_exact[1]);
	assert_int_equal(s.seen[3].values[UNWIND_X86_64_BP], SP + 80);
	assert_int_equal(s.seen[4].values[UNWIND_X86_64_BP], 0xabc8);
	assert_int_equal(s.seen[4].values[UNWIND_X86_64_SP], SP + 96);
	assert_int_equal(s.told, 0);
}

static void usual_rules_of_aarch64(void **state)
{
	(void)state;
	const uint64_t signature = (uint64_t)0x3b << 48;
	struct scene s;
	start(&s, UNWIND_AARCH64, 0x100);
	unwind_set(&s.state.registers, UNWIND_AARCH64_LR, 0x210 | signature);
	unwind_set(&s.state.registers, UNWIND_AARCH64_FP, SP + 80);
	s.places[1] = rule(unwind_rule_entry(UNWIND_AARCH64));
	s.places[2] = rule(unwind_rule_pushed(UNWIND_AARCH64));
	s.places[3] = rule(unwind_rule_fixed(UNWIND_AARCH64, 32, true));
	s.places[4] = (struct unwind_place){ .code = UNWIND_FRAME_POINTER };
	s.places[5] = (struct unwind_place){ .code = UNWIND_STUB };
	s.words[1] = 0x310 | signature;
	s.words[4] = SP + 80, s.words[5] = 0x410;
	s.words[10] = 0xabc8, s.words[11] = 0x510 | signature;
	s.words[12] = 0xdef0, s.words[13] = 0;
	assert_int_equal(walk(&s), 5);
	assert_int_equal(s.end, UNWIND_WHOLE);
	static const uint64_t wanted[] = { 0x100, 0x210, 0x310, 0x410, 0x510 };
	assert_memory_equal(s.avmas, wanted, sizeof(wanted));
	/* Only where it was interrupted is the link register what it has to return to. */
	s.places[2] = rule(unwind_rule_entry(UNWIND_AARCH64));
	assert_int_equal(walk(&s), 2);
	assert_int_equal(s.end, UNWIND_BAD_CFA);
}

/* The whole of the registers comes back, and what was interrupted called nothing. */
static void check_signal(enum unwind_machine machine, unsigned first, unsigned pc_word,
			 unsigned sp_word)
{
	struct scene s;
	start(&s, machine, 0x100);
	s.places[1] = rule(unwind_rule_signal(machine));
	s.places[2] = rule(unwind_rule_entry(machine));
	s.places[3] = (struct unwind_place){ .code = UNWIND_FRAME_POINTER };
	for (unsigned i = 0; i < UNWIND_REGISTERS && first + i < WORDS; i++)
		s.words[first + i] = 0x1000 + 8 * i;
	s.words[pc_word] = 0x200;
	s.words[sp_word] = SP + 8 * (WORDS - 20);
	s.words[WORDS - 20] = 0x310;
	if (machine == UNWIND_AARCH64)
		s.words[first + UNWIND_AARCH64_LR] = 0x310;
	assert_int_equal(walk(&s), 3);
	assert_int_equal(s.end, UNWIND_BAD_CFA); /* its frame pointer is below */
	assert_int_equal(s.looked_up[1], 0x200);
	assert_true(s.is_exact[1]);
	assert_false(s.is_exact[2]);
	assert_int_equal(s.avmas[2], 0x310);
	assert_int_equal(s.seen[1].known,
			 machine == UNWIND_AARCH64 ? UINT64_MAX >> 31 : UINT64_MAX >> 47);
	assert_int_equal(s.seen[1].values[unwind_sp(machine)], SP + 8 * (WORDS - 20));
	/* A handler with a stack of its own: the dump has nothing of the other one. */
	s.words[sp_word] = 0x3000;
	assert_int_equal(walk(&s), machine == UNWIND_AARCH64 ? 3 : 2);
	if (machine == UNWIND_X86_64)
		assert_int_equal(s.end, UNWIND_TRUNCATED);
}

static void signals_are_walked_through(void **state)
{
	(void)state;
	check_signal(UNWIND_X86_64, 5, 21, 20);
	check_signal(UNWIND_AARCH64, 39, 71, 70);
	static const uint8_t x86[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t small[] = { 0xb8, 15, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t arm[] = { 0x68, 0x11, 0x80, 0xd2, 1, 0, 0, 0xd4 };
	assert_true(unwind_is_signal_return(UNWIND_X86_64, (struct bytes){ x86, sizeof(x86) }));
	assert_true(unwind_is_signal_return(UNWIND_X86_64, (struct bytes){ small, sizeof(small) }));
	assert_true(unwind_is_signal_return(UNWIND_AARCH64, (struct bytes){ arm, sizeof(arm) }));
	assert_false(unwind_is_signal_return(UNWIND_AARCH64, (struct bytes){ x86, sizeof(x86) }));
	for (size_t size = 0; size < sizeof(x86); size++)
		assert_false(unwind_is_signal_return(UNWIND_X86_64, (struct bytes){ x86, size }));
}

static void chains_of_frame_pointers_end_with_zero(void **state)
{
	(void)state;
	struct scene s;
	start(&s, UNWIND_X86_64, 0x100);
	s.places[1] = (struct unwind_place){ .code = UNWIND_FRAME_POINTER };
	s.places[2] = (struct unwind_place){ .code = UNWIND_INTERPRETER };
	unwind_set(&s.state.registers, UNWIND_X86_64_BP, SP + 8);
	s.words[1] = 0, s.words[2] = 0x210;
	assert_int_equal(walk(&s), 2);
	assert_int_equal(s.end, UNWIND_WHOLE);
	assert_int_equal(s.told, 1);
	/* Of the innermost frame it is no chain. */
	unwind_set(&s.state.registers, UNWIND_X86_64_BP, 0);
	assert_int_equal(walk(&s), 1);
	assert_int_equal(s.end, UNWIND_BAD_CFA);
	s.state.registers.known &= ~((uint64_t)1 << UNWIND_X86_64_BP);
	assert_int_equal(walk(&s), 1);
	assert_int_equal(s.end, UNWIND_NO_REGISTER);
	/* An interpreter's frame that is found by a rule is told, too. */
	s.places[1] = rule(unwind_rule_entry(UNWIND_X86_64));
	s.places[1].is_interpreter = true;
	s.told = 0;
	(void)walk(&s);
	assert_int_equal(s.told, 1);
}

static void every_end_has_its_reason(void **state)
{
	(void)state;
	struct scene s;
	start(&s, UNWIND_X86_64, 0x900);
	assert_int_equal(walk(&s), 1); /* where it was is always told */
	assert_int_equal(s.end, UNWIND_UNKNOWN_CODE);
	unwind_set(&s.state.registers, UNWIND_X86_64_PC, 0);
	assert_int_equal(walk(&s), 0);
	assert_int_equal(s.end, UNWIND_WHOLE);
	s.state.registers.known = 0;
	assert_int_equal(walk(&s), 0);
	assert_int_equal(s.end, UNWIND_NO_REGISTER);

	start(&s, UNWIND_X86_64, 0x100);
	s.places[1] = rule(unwind_rule_entry(UNWIND_X86_64));
	s.words[0] = 0x900; /* a guess that leads nowhere is not told */
	assert_int_equal(walk(&s), 1);
	assert_int_equal(s.end, UNWIND_UNKNOWN_CODE);
	for (size_t i = 0; i < WORDS; i++)
		s.words[i] = 0x110;
	assert_int_equal(walk(&s), LIMIT);
	assert_int_equal(s.end, UNWIND_TOO_DEEP);
	s.state.stack.size = 3 * sizeof(uint64_t);
	assert_int_equal(walk(&s), 4);
	assert_int_equal(s.end, UNWIND_TRUNCATED);

	static const uint64_t bad[] = { SP + 4, SP - 8, SP - 16, SP + ((uint64_t)1 << 40), 8 };
	s.places[1] = rule(unwind_rule_frame_pointer(UNWIND_X86_64));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		unwind_set(&s.state.registers, UNWIND_X86_64_BP, bad[i]);
		assert_int_equal(walk(&s), bad[i] == SP - 8 ? 2 : 1);
		assert_int_equal(s.end, UNWIND_BAD_CFA);
	}
	for (int end = UNWIND_WHOLE; end <= UNWIND_NO_REGISTER; end++)
		assert_true(strlen(unwind_end_text((enum unwind_end)end)) > 3);
}

static void tables_are_asked_and_may_have_an_alternative(void **state)
{
	(void)state;
	struct section section = { 0 };
	struct scene s;
	put_cie(&section, BYTES(0x0c, 7, 8, 0x90, 1));
	/* rsp + 32 with rbx saved; then by r10, which is known where it was interrupted only. */
	put_fde(&section, 0x100, 0x40, BYTES(0x0e, 32, 0x83, 3));
	put_fde(&section, 0x140, 0x40, BYTES(0x0c, 10, 0));
	put_fde(&section, 0x200, 0x40, BYTES(0x07, 16)); /* the first function */
	struct cfi_table *table = table_of(&section);
	start(&s, UNWIND_X86_64, 0x100);
	s.places[1] = s.places[2] = (struct unwind_place){ .code = UNWIND_CFI, .table = table };
	s.words[1] = 0xbb, s.words[3] = 0x210;
	unwind_set(&s.state.registers, 10, SP + 8);
	unwind_set(&s.state.registers, UNWIND_X86_64_BX, 1);
	assert_int_equal(walk(&s), 2);
	assert_int_equal(s.end, UNWIND_WHOLE);
	assert_int_equal(s.seen[1].values[UNWIND_X86_64_BX], 0xbb);
	s.words[3] = 0x148;
	assert_int_equal(walk(&s), 2);
	assert_int_equal(s.end, UNWIND_NO_REGISTER);
	unwind_set(&s.state.registers, UNWIND_X86_64_PC, 0x148);
	s.words[0] = 0x210;
	assert_int_equal(walk(&s), 2);
	assert_int_equal(s.end, UNWIND_WHOLE);
	/* Nothing is told of 0x180; a frame pointer may help. What CFI leads to is told. */
	unwind_set(&s.state.registers, UNWIND_X86_64_PC, 0x180);
	assert_int_equal(walk(&s), 1);
	assert_int_equal(s.end, UNWIND_NO_CFI);
	s.places[1].otherwise = UNWIND_FRAME_POINTER;
	unwind_set(&s.state.registers, UNWIND_X86_64_BP, SP + 16);
	s.words[3] = 0x210;
	assert_int_equal(walk(&s), 2);
	assert_int_equal(s.end, UNWIND_WHOLE);
	s.words[3] = 0x900;
	assert_int_equal(walk(&s), 1);
	assert_int_equal(s.end, UNWIND_UNKNOWN_CODE);
	unwind_set(&s.state.registers, UNWIND_X86_64_PC, 0x100);
	assert_int_equal(walk(&s), 2);
	assert_int_equal(s.end, UNWIND_UNKNOWN_CODE);
	cfi_table_free(table);
	sink_clear(&section.out);
}

/* Behind the last pop rows still say that the register is below sp. */
static void registers_below_the_stack_are_those_that_were(void **state)
{
	(void)state;
	struct scene s;
	start(&s, UNWIND_X86_64, 0x100);
	s.places[1] = rule(unwind_rule_fixed(UNWIND_X86_64, 8, true));
	s.places[2] = rule(unwind_rule_frame_pointer(UNWIND_X86_64));
	unwind_set(&s.state.registers, UNWIND_X86_64_BP, SP + 16);
	s.words[0] = 0x210, s.words[2] = 0, s.words[3] = 0;
	assert_int_equal(walk(&s), 2);
	assert_int_equal(s.end, UNWIND_WHOLE);
	/* The bytes are there: they count. */
	uint64_t more[WORDS + 1];
	memcpy(more + 1, s.words, sizeof(s.words));
	more[0] = SP + 32;
	s.state.stack = (struct bytes){ (const uint8_t *)more, sizeof(more) };
	s.state.stack_avma = SP - 8;
	assert_int_equal(walk(&s), 2);
	assert_int_equal(s.seen[1].values[UNWIND_X86_64_BP], SP + 32);
}

static void rows_of_any_kind_are_followed(void **state)
{
	(void)state;
	static const uint8_t expressions[] = { 0x23, 8, 0x77, 16, 0x06 };
	static const struct cfi_rule rules[] = {
		{ .kind = CFI_VALUE_CFA, .operand = 40 },                  /* rbx */
		{ .kind = CFI_REGISTER, .number = 10 },                    /* rbp */
		{ .kind = CFI_EXPRESSION, .size = 2, .operand = 0 },       /* r12: [CFA + 8] */
		{ .kind = CFI_VALUE_EXPRESSION, .size = 3, .operand = 2 }, /* r13: [rsp + 16] */
		{ .kind = CFI_UNDEFINED },                                 /* r14 */
		{ .kind = CFI_AT_CFA, .operand = -8 },                     /* the return address */
	};
	struct scene s;
	start(&s, UNWIND_X86_64, 0x100);
	unwind_set(&s.state.registers, 10, 0x1010);
	unwind_set(&s.state.registers, 11, 0x1111);
	unwind_set(&s.state.registers, 14, 0x1414);
	unwind_set(&s.state.registers, 15, 0x1515);
	s.words[1] = 0x210, s.words[2] = 0x1313, s.words[3] = 0x1212;
	struct cfi_row row = { .cfa = { .kind = CFI_REGISTER, .number = 7, .operand = 16 },
			       .ruled = 1 << 3 | 1 << 6 | 7 << 12 | 1 << 16,
			       .rules = rules,
			       .expressions = expressions,
			       .return_register = UNWIND_X86_64_PC };
	s.places[1] = rule(row);
	s.places[2].code = UNWIND_CFI;
	assert_int_equal(walk(&s), 2);
	const struct unwind_registers *r = &s.seen[1];
	assert_int_equal(r->known, 1 << 3 | 1 << 6 | 1 << 7 | 3 << 12 | 1 << 15 | 1 << 16);
	assert_int_equal(r->values[3], SP + 16 + 40);
	assert_int_equal(r->values[6], 0x1010);
	assert_int_equal(r->values[7], SP + 16);
	assert_int_equal(r->values[12], 0x1212);
	assert_int_equal(r->values[13], 0x1313);
	assert_int_equal(r->values[15], 0x1515);
	row.return_register = UNWIND_REGISTERS;
	s.places[1] = rule(row);
	assert_int_equal(walk(&s), 1);
	assert_int_equal(s.end, UNWIND_NO_CFI);
	/* A row that forgets the return address goes nowhere, rather than on and on. */
	row.return_register = UNWIND_X86_64_PC;
	row.ruled = 1 << 3;
	s.places[1] = rule(row);
	assert_int_equal(walk(&s), 1);
	assert_int_equal(s.end, UNWIND_NO_CFI);
}

static void perf_numbers_registers_in_its_own_way(void **state)
{
	(void)state;
	static const int x86_64[] = { 0, 3, 2, 1, 4, 5, 6, 7, 16, -1 };
	for (unsigned i = 0; i < sizeof(x86_64) / sizeof(x86_64[0]); i++)
		assert_int_equal(unwind_register_of_perf(UNWIND_X86_64, i), x86_64[i]);
	assert_int_equal(unwind_register_of_perf(UNWIND_X86_64, 16), 8);
	assert_int_equal(unwind_register_of_perf(UNWIND_X86_64, 23), 15);
	assert_int_equal(unwind_register_of_perf(UNWIND_X86_64, 24), -1);
	assert_int_equal(unwind_register_of_perf(UNWIND_AARCH64, 32), UNWIND_AARCH64_PC);
	assert_int_equal(unwind_register_of_perf(UNWIND_AARCH64, 33), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usual_rules_of_x86_64),
		cmocka_unit_test(usual_rules_of_aarch64),
		cmocka_unit_test(signals_are_walked_through),
		cmocka_unit_test(chains_of_frame_pointers_end_with_zero),
		cmocka_unit_test(every_end_has_its_reason),
		cmocka_unit_test(tables_are_asked_and_may_have_an_alternative),
		cmocka_unit_test(registers_below_the_stack_are_those_that_were),
		cmocka_unit_test(rows_of_any_kind_are_followed),
		cmocka_unit_test(perf_numbers_registers_in_its_own_way),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
