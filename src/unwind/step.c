#include "unwind/step.h"

enum {
	ALIGN = 8,
	/* Calls keep rbx, rbp, rsp and r12 to r15; x19 to x29 and sp. */
	X86_64_KEPT = 1 << 3 | 1 << 6 | 1 << 7 | 0xf << 12,
};

static const uint64_t AARCH64_KEPT = (uint64_t)0x7ff << 19 | (uint64_t)1 << 31;

/* No stack is larger: what lies farther away was never a frame's address. */
static const uint64_t STACK_LIMIT = (uint64_t)1 << 30;

/* Pointer authentication puts a code into the bits above those of user addresses. */
static const uint64_t AARCH64_ADDRESS = ((uint64_t)1 << 48) - 1;

static uint64_t kept_by(enum unwind_machine machine)
{
	return machine == UNWIND_AARCH64 ? AARCH64_KEPT : X86_64_KEPT;
}

static struct bytes expression_of(const struct cfi_row *row, const struct cfi_rule *rule)
{
	return (struct bytes){ row->expressions + (uint32_t)rule->operand, rule->size };
}

static enum unwind_end frame_address(const struct unwind_step *s, const struct cfi_row *row,
				     uint64_t *cfa)
{
	const struct cfi_rule *rule = &row->cfa;
	if (rule->kind == CFI_VALUE_EXPRESSION)
		return unwind_evaluate(s, expression_of(row, rule), NULL, cfa);
	if (rule->kind != CFI_REGISTER)
		return UNWIND_NO_CFI;
	if (!unwind_get(&s->registers, rule->number, cfa))
		return UNWIND_NO_REGISTER;
	*cfa += (uint64_t)(int64_t)rule->operand;
	return UNWIND_WHOLE;
}

/* A handler may have had a stack of its own: behind a signal's frame anything goes. */
static bool is_sound(const struct unwind_step *s, const struct cfi_row *row, uint64_t cfa)
{
	uint64_t sp;
	if (cfa % ALIGN)
		return false;
	if (row->is_signal || !unwind_get(&s->registers, unwind_sp(s->machine), &sp))
		return true;
	/* A leaf may have nothing on the stack: all of aarch64's, vfork() of x86-64. */
	const bool may_be_empty = s->is_exact && !row->plain_return;
	return (cfa > sp || (cfa == sp && may_be_empty)) && cfa - sp < STACK_LIMIT;
}

static enum unwind_end value_of(const struct unwind_step *s, const struct cfi_row *row,
				const struct cfi_rule *rule, uint64_t cfa, uint64_t *value)
{
	enum unwind_end end;
	const uint64_t operand = (uint64_t)(int64_t)rule->operand;
	switch (rule->kind) {
	case CFI_AT_CFA:
		return unwind_load(&s->memory, cfa + operand, value) ? UNWIND_WHOLE
								     : UNWIND_TRUNCATED;
	case CFI_VALUE_CFA:
		*value = cfa + operand;
		return UNWIND_WHOLE;
	case CFI_REGISTER:
		if (!unwind_get(&s->registers, rule->number, value))
			return UNWIND_NO_REGISTER;
		*value += operand;
		return UNWIND_WHOLE;
	case CFI_EXPRESSION:
		end = unwind_evaluate(s, expression_of(row, rule), &cfa, value);
		if (end != UNWIND_WHOLE)
			return end;
		return unwind_load(&s->memory, *value, value) ? UNWIND_WHOLE : UNWIND_TRUNCATED;
	case CFI_VALUE_EXPRESSION:
		return unwind_evaluate(s, expression_of(row, rule), &cfa, value);
	default:
		return UNWIND_NO_CFI;
	}
}

/* A function that is about to return has taken the register from below sp, where rows still say
 * that it is, and dumps of stacks have nothing.
 */
static bool is_restored(const struct unwind_step *s, uint64_t avma)
{
	return s->is_exact && avma < s->memory.start_avma;
}

/* The registers that have a rule, from those of the frame; one that cannot be had is not known
 * any more, which ends the walk only where it is the return address.
 */
static enum unwind_end apply(const struct unwind_step *s, const struct cfi_row *row, uint64_t cfa,
			     struct unwind_registers *caller)
{
	const struct cfi_rule *rule = row->rules;
	enum unwind_end failed = UNWIND_WHOLE;
	for (uint64_t left = row->ruled; left; left &= left - 1, rule++) {
		const unsigned number = (unsigned)__builtin_ctzll(left);
		const uint64_t bit = (uint64_t)1 << number;
		if (rule->kind == CFI_SAME) {
			caller->known |= s->registers.known & bit;
			continue;
		}
		uint64_t value;
		const enum unwind_end end = rule->kind == CFI_UNDEFINED
						? UNWIND_WHOLE
						: value_of(s, row, rule, cfa, &value);
		if (rule->kind != CFI_UNDEFINED && end == UNWIND_WHOLE)
			unwind_set(caller, number, value);
		else if (rule->kind != CFI_AT_CFA ||
			 !is_restored(s, cfa + (uint64_t)(int64_t)rule->operand))
			caller->known &= ~bit;
		if (number == row->return_register)
			failed = end;
	}
	return failed;
}

static bool is_outermost(const struct cfi_row *row)
{
	const uint64_t bit = (uint64_t)1 << row->return_register;
	const int before = __builtin_popcountll(row->ruled & (bit - 1));
	return (row->ruled & bit) && row->rules[before].kind == CFI_UNDEFINED;
}

/* All registers, by rules of any kind. */
static enum unwind_end step_any(struct unwind_step *s, const struct cfi_row *row, uint64_t cfa,
				uint64_t *return_avma)
{
	const uint64_t return_bit = (uint64_t)1 << row->return_register;
	struct unwind_registers caller = s->registers;
	caller.known &= kept_by(s->machine);
	caller.known |= s->registers.known & return_bit;
	unwind_set(&caller, unwind_sp(s->machine), cfa);
	const enum unwind_end end = apply(s, row, cfa, &caller);
	if (end != UNWIND_WHOLE)
		return end;
	if (!unwind_get(&caller, row->return_register, return_avma))
		return UNWIND_NO_REGISTER;
	s->registers = caller;
	return UNWIND_WHOLE;
}

/* The same where no register's rule needs another one: they can be set in place. */
static enum unwind_end step_plain(struct unwind_step *s, const struct cfi_row *row, uint64_t cfa,
				  uint64_t *return_avma)
{
	const struct cfi_rule *rule = row->rules;
	const uint64_t return_at = cfa + (uint64_t)(int64_t)rule[row->plain_return - 1].operand;
	struct unwind_registers *r = &s->registers;
	if (!unwind_load(&s->memory, return_at, return_avma))
		return UNWIND_TRUNCATED;
	r->known &= kept_by(s->machine);
	unwind_set(r, unwind_sp(s->machine), cfa);
	for (uint64_t left = row->ruled; left; left &= left - 1, rule++) {
		const unsigned number = (unsigned)__builtin_ctzll(left);
		const uint64_t avma = cfa + (uint64_t)(int64_t)rule->operand;
		if (unwind_load(&s->memory, avma, &r->values[number]))
			r->known |= (uint64_t)1 << number;
		else if (!is_restored(s, avma))
			r->known &= ~((uint64_t)1 << number);
	}
	return UNWIND_WHOLE;
}

enum unwind_end unwind_step(struct unwind_step *s, const struct cfi_row *row)
{
	const unsigned pc = unwind_pc(s->machine);
	if (row->return_register >= UNWIND_REGISTERS)
		return UNWIND_NO_CFI;
	if (!row->plain_return && is_outermost(row)) {
		unwind_set(&s->registers, pc, 0);
		return UNWIND_WHOLE;
	}
	/* A return address that is the program counter itself is none. */
	if (row->return_register == pc && !(row->ruled >> pc & 1))
		return UNWIND_NO_CFI;
	uint64_t cfa;
	uint64_t return_avma;
	enum unwind_end end = frame_address(s, row, &cfa);
	if (end != UNWIND_WHOLE)
		return end;
	if (!is_sound(s, row, cfa))
		return UNWIND_BAD_CFA;
	end = row->plain_return ? step_plain(s, row, cfa, &return_avma)
				: step_any(s, row, cfa, &return_avma);
	if (end != UNWIND_WHOLE)
		return end;
	if (s->machine == UNWIND_AARCH64) {
		return_avma &= AARCH64_ADDRESS;
		/* The caller's link register holds what it returned to last. */
		if (!row->is_signal)
			s->registers.known &= ~((uint64_t)1 << UNWIND_AARCH64_LR);
	}
	unwind_set(&s->registers, pc, return_avma);
	s->is_exact = row->is_signal;
	return UNWIND_WHOLE;
}
