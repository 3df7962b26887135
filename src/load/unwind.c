/* Stacks that were dumped rather than walked: what each frame is found by. */
#include "load/unwind.h"

/* What the sample has of the registers, in DWARF's numbering. */
static void read_registers(const struct walk *walk, struct unwind_state *state)
{
	const struct perfdata_sample *sample = walk->sample;
	struct cursor c = cursor_over(sample->user_regs);
	c.swap = perfdata_is_swapped(walk->load->perf);
	for (uint64_t left = sample->user_regs_mask; left; left &= left - 1) {
		const uint64_t value = cursor_u64(&c);
		const int number =
		    unwind_register_of_perf(state->machine, (unsigned)__builtin_ctzll(left));
		if (number >= 0 && !cursor_failed(&c))
			unwind_set(&state->registers, (unsigned)number, value);
	}
}

static void find_place(void *context, const struct unwind_frame *frame, struct unwind_place *how)
{
	struct walk *walk = context;
	struct place place;
	place_find(walk->load, walk->sample->pid, frame->avma, walk->sample->time_ns, &place);
	*how = place.how;
	walk->end = place.end;
}

/* A dump that stopped short of what was wanted holds all that the stack has. */
static enum profile_end end_of(const struct walk *walk, enum unwind_end end)
{
	const struct perfdata_sample *sample = walk->sample;
	switch (end) {
	case UNWIND_WHOLE:
		return PROFILE_END_WHOLE;
	case UNWIND_TRUNCATED:
		return sample->user_stack.size < sample->user_stack_wanted_bytes
			   ? PROFILE_END_BAD_FRAME
			   : PROFILE_END_TRUNCATED;
	case UNWIND_NO_CFI:
	case UNWIND_UNKNOWN_CODE:
		return walk->end;
	case UNWIND_TOO_DEEP:
		return PROFILE_END_TOO_DEEP;
	default:
		return PROFILE_END_BAD_FRAME;
	}
}

size_t load_unwound_words(struct load *load, const struct perfdata_sample *sample,
			  struct unwound *unwound)
{
	struct walk walk = { load, sample, unwound->words, PROFILE_END_NOT_UNWOUND };
	const struct unwind_callbacks callbacks = { .context = &walk,
						    .find = find_place,
						    .interpreter = walk_read_interpreter };
	struct unwind_state state = { .machine = load->is_arm64 ? UNWIND_AARCH64 : UNWIND_X86_64,
				      .stack = sample->user_stack };
	unwound->end = PROFILE_END_NOT_DUMPED;
	/* The kernel's own threads have no registers of user space. */
	if (!sample->user_regs_abi)
		return 0;
	unwound->end = PROFILE_END_NOT_UNWOUND;
	if (unwound->words)
		memset(unwound->words, 0, unwound->limit * sizeof(*unwound->words));
	read_registers(&walk, &state);
	if (!unwind_get(&state.registers, unwind_sp(state.machine), &state.stack_avma))
		return 0;
	enum unwind_end end;
	const size_t count = unwind_walk(&callbacks, &state, unwound->avmas, unwound->limit, &end);
	unwound->end = end_of(&walk, end);
	return count;
}

size_t load_unwound(struct load *load, const struct perfdata_sample *sample, uint64_t *avmas,
		    size_t limit)
{
	struct unwound unwound = { .avmas = avmas, .limit = limit };
	return load_unwound_words(load, sample, &unwound);
}
