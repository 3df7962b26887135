#include "unwind/walk.h"

enum { WORD = 8, PLT_ENTRY = 16 };

/* The stack's bytes, which start at the first frame's sp. */
struct memory {
	struct bytes bytes;
	uint64_t start_avma;
};

static bool load(const struct memory *m, uint64_t avma, uint64_t *word)
{
	const uint64_t at = avma - m->start_avma;
	if (avma < m->start_avma || at > m->bytes.size || m->bytes.size - at < WORD)
		return false;
	memcpy(word, m->bytes.data + at, WORD);
	return true;
}

/* The caller's registers, by a frame whose address is known. */
static enum unwind_end step_to(struct unwind_state *s, const struct memory *m, uint64_t cfa,
			       const struct cfi_row *row)
{
	struct unwind_state caller = { .sp_avma = cfa, .bp_avma = s->bp_avma };
	if (cfa <= s->sp_avma)
		return UNWIND_BAD_CFA;
	if (!load(m, cfa - WORD, &caller.pc_avma))
		return UNWIND_TRUNCATED;
	if (row && row->has_bp &&
	    !load(m, cfa + (uint64_t)(int64_t)row->bp_offset, &caller.bp_avma))
		return UNWIND_TRUNCATED;
	*s = caller;
	return UNWIND_WHOLE;
}

static enum unwind_end step_cfi(struct unwind_state *s, const struct memory *m,
				const struct unwind_place *place)
{
	const struct cfi_row *row = cfi_find(place->table, place->svma);
	if (!row)
		return UNWIND_NO_CFI;
	const uint64_t offset = (uint64_t)(int64_t)row->cfa_offset;
	switch (row->frame) {
	case CFI_FROM_SP:
		return step_to(s, m, s->sp_avma + offset, row);
	case CFI_FROM_BP:
		return step_to(s, m, s->bp_avma + offset, row);
	case CFI_PLT:
		return step_to(
		    s, m, s->sp_avma + WORD + (place->svma % PLT_ENTRY >= offset ? WORD : 0), row);
	case CFI_OUTER:
		s->pc_avma = 0;
		return UNWIND_WHOLE;
	default:
		return UNWIND_NO_CFI;
	}
}

static enum unwind_end step_frame_pointer(struct unwind_state *s, const struct memory *m)
{
	const uint64_t frame = s->bp_avma;
	if (frame < s->sp_avma)
		return UNWIND_BAD_CFA;
	uint64_t bp;
	if (!load(m, frame, &bp))
		return UNWIND_TRUNCATED;
	const enum unwind_end end = step_to(s, m, frame + 2ull * WORD, NULL);
	if (end == UNWIND_WHOLE)
		s->bp_avma = bp;
	return end;
}

bool unwind_frame_word(const struct unwind_frame *frame, int32_t from_bp, uint64_t *word)
{
	const struct memory m = { .bytes = frame->stack, .start_avma = frame->stack_avma };
	return load(&m, frame->bp_avma + (uint64_t)(int64_t)from_bp, word);
}

static void tell_interpreter(const struct unwind_callbacks *callbacks, const struct memory *m,
			     uint64_t bp_avma, size_t index)
{
	const struct unwind_frame frame = {
		.index = index,
		.bp_avma = bp_avma,
		.stack_avma = m->start_avma,
		.stack = m->bytes,
	};
	if (callbacks->interpreter)
		callbacks->interpreter(callbacks->context, &frame);
}

static enum unwind_end step(struct unwind_state *s, const struct memory *m,
			    const struct unwind_place *place)
{
	switch (place->code) {
	case UNWIND_CFI:
		return step_cfi(s, m, place);
	case UNWIND_FRAME_POINTER:
	case UNWIND_INTERPRETER:
		return step_frame_pointer(s, m);
	case UNWIND_STUB:
		return step_to(s, m, s->sp_avma + 2ull * WORD, NULL);
	default:
		return UNWIND_NO_CFI;
	}
}

size_t unwind_walk(const struct unwind_callbacks *callbacks, const struct unwind_state *state,
		   struct bytes stack, uint64_t *avmas, size_t limit, enum unwind_end *end)
{
	const struct memory m = { .bytes = stack, .start_avma = state->sp_avma };
	struct unwind_state s = *state;
	size_t count = 0;
	bool is_guess = false;
	*end = UNWIND_WHOLE;
	while (s.pc_avma && *end == UNWIND_WHOLE) {
		if (count == limit) {
			*end = UNWIND_TOO_DEEP;
			break;
		}
		struct unwind_place place = { .code = UNWIND_UNKNOWN };
		callbacks->find(callbacks->context, s.pc_avma - (count > 0), &place);
		/* What no table vouches for must at least lie in code. */
		if (is_guess && place.code == UNWIND_UNKNOWN) {
			*end = UNWIND_NO_CFI;
			break;
		}
		avmas[count++] = s.pc_avma;
		is_guess = place.code != UNWIND_CFI;
		if (place.code == UNWIND_INTERPRETER)
			tell_interpreter(callbacks, &m, s.bp_avma, count - 1);
		*end = step(&s, &m, &place);
	}
	return count;
}
