#include "unwind/walk.h"

#include "unwind/rules.h"
#include "unwind/step.h"

enum { STUB_SIZE = 16 };

bool unwind_stack_word(const struct unwind_frame *frame, uint64_t avma, uint64_t *word)
{
	const struct unwind_memory m = { .bytes = frame->stack, .start_avma = frame->stack_avma };
	return unwind_load(&m, avma, word);
}

bool unwind_frame_word(const struct unwind_frame *frame, int32_t from_bp, uint64_t *word)
{
	uint64_t bp;
	return unwind_get(frame->registers, unwind_bp(frame->machine), &bp) &&
	       unwind_stack_word(frame, bp + (uint64_t)(int64_t)from_bp, word);
}

/* A chain of frame pointers ends with one that is 0. */
static enum unwind_end step_frame_pointer(struct unwind_step *s, bool is_innermost)
{
	uint64_t bp;
	const struct cfi_row row = unwind_rule_frame_pointer(s->machine);
	if (!unwind_get(&s->registers, unwind_bp(s->machine), &bp))
		return UNWIND_NO_REGISTER;
	if (bp || is_innermost)
		return unwind_step(s, &row);
	unwind_set(&s->registers, unwind_pc(s->machine), 0);
	return UNWIND_WHOLE;
}

/* *is_guess: no table vouches for what this comes to. */
static enum unwind_end step_by(struct unwind_step *s, const struct unwind_place *place,
			       bool is_innermost, bool *is_guess)
{
	enum unwind_code code = place->code;
	struct cfi_row row;
	const struct cfi_row *found;
	if (code == UNWIND_CFI) {
		found = place->table ? cfi_find(place->table, place->svma) : NULL;
		*is_guess = !found;
		if (found)
			return unwind_step(s, found);
		code = place->otherwise;
		if (code == UNWIND_UNKNOWN || code == UNWIND_CFI)
			return UNWIND_NO_CFI;
	}
	*is_guess = code != UNWIND_RULE || !place->row;
	switch (code) {
	case UNWIND_RULE:
		return unwind_step(s, place->row ? place->row : &place->rule);
	case UNWIND_FRAME_POINTER:
	case UNWIND_INTERPRETER:
		return step_frame_pointer(s, is_innermost);
	case UNWIND_STUB:
		row = unwind_rule_fixed(s->machine, STUB_SIZE, s->machine == UNWIND_AARCH64);
		return unwind_step(s, &row);
	default:
		return UNWIND_UNKNOWN_CODE;
	}
}

size_t unwind_walk(const struct unwind_callbacks *callbacks, const struct unwind_state *state,
		   uint64_t *avmas, size_t limit, enum unwind_end *end)
{
	const unsigned pc = unwind_pc(state->machine);
	struct unwind_step s = { .machine = state->machine,
				 .registers = state->registers,
				 .memory = { state->stack, state->stack_avma },
				 .is_exact = true };
	struct unwind_frame frame = { .machine = state->machine,
				      .registers = &s.registers,
				      .stack_avma = state->stack_avma,
				      .stack = state->stack };
	bool is_guess = false;
	*end = unwind_get(&s.registers, pc, &frame.avma) ? UNWIND_WHOLE : UNWIND_NO_REGISTER;
	while (*end == UNWIND_WHOLE && s.registers.values[pc]) {
		if (frame.index == limit) {
			*end = UNWIND_TOO_DEEP;
			break;
		}
		struct unwind_place place = { .code = UNWIND_UNKNOWN };
		frame.is_exact = s.is_exact;
		frame.avma = s.registers.values[pc] - !s.is_exact;
		callbacks->find(callbacks->context, &frame, &place);
		/* What no table vouches for must at least lie in code. */
		if (is_guess && place.code == UNWIND_UNKNOWN) {
			*end = UNWIND_UNKNOWN_CODE;
			break;
		}
		avmas[frame.index] = s.registers.values[pc];
		if ((place.code == UNWIND_INTERPRETER || place.is_interpreter) &&
		    callbacks->interpreter)
			callbacks->interpreter(callbacks->context, &frame);
		*end = step_by(&s, &place, frame.index == 0, &is_guess);
		frame.index++;
	}
	return frame.index;
}

const char *unwind_end_text(enum unwind_end end)
{
	switch (end) {
	case UNWIND_WHOLE:
		return "whole";
	case UNWIND_TRUNCATED:
		return "the copy of the stack is too short";
	case UNWIND_NO_CFI:
		return "no call frame information";
	case UNWIND_BAD_CFA:
		return "a frame's address makes no sense";
	case UNWIND_TOO_DEEP:
		return "too many frames";
	case UNWIND_UNKNOWN_CODE:
		return "an address in no known code";
	case UNWIND_NO_REGISTER:
		return "a register that was needed is not known";
	}
	return "";
}
