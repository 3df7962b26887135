/* The walk over the frames of a stack that was dumped. */
#include "load/unwind.h"

/* What the sample has of the registers. */
static void read_registers(const struct load *load, const struct perfdata_sample *sample,
			   struct unwind_state *state)
{
	struct cursor c = cursor_over(sample->user_regs);
	c.swap = perfdata_is_swapped(load->perf);
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
	const struct address address = { .pid = walk->sample->pid,
					 .avma = frame->avma,
					 .time_ns = walk->sample->time_ns };
	walk->place = place_find(walk->load, &address);
	walk->bp_avma = 0;
	(void)unwind_get(frame->registers, unwind_bp(frame->machine), &walk->bp_avma);
	(void)unwind_get(frame->registers, unwind_sp(frame->machine), &walk->sp_avma);
	if (walk->words)
		walk->words[frame->index] = 0;
	shape_find(walk, frame, how);
	how->is_interpreter = walk->place->is_interpreter;
}

static bool is_cut(const struct perfdata_sample *sample)
{
	return sample->user_stack.size >= sample->user_stack_wanted_bytes;
}

/* The kernel copies what is in memory, and stops at the first page that is not: the stack's end, or
 * that of a large variable to which nobody has written yet. Tables that lead there are right.
 */
static bool is_at_absent_page(const struct walk *walk, uint64_t stack_avma)
{
	enum { PAGE_BYTES = 4096 };
	const struct bytes stack = walk->sample->user_stack;
	return walk->place->kind == PLACE_ROW && !is_cut(walk->sample) &&
	       (stack_avma + stack.size) % PAGE_BYTES == 0;
}

/* Some runtimes keep a stack of their own: a frame pointer that is far from what was dumped leads
 * there from the C functions that they call. So does what a signal interrupted, from a handler that
 * has one.
 */
static bool is_on_other_stack(const struct walk *walk, uint64_t stack_avma)
{
	/* Frames that tell how far up their caller's sp is may tell of one beyond the dump. */
	const uint64_t near = 64 << 10;
	if (walk->sp_avma < stack_avma ||
	    walk->sp_avma - stack_avma > walk->sample->user_stack.size + near)
		return true;
	const uint64_t far = 8 << 20; /* as large as stacks of threads mostly are */
	const uint64_t above = walk->bp_avma - stack_avma;
	return walk->place->kind == PLACE_CODE && walk->bp_avma && above > far &&
	       above > walk->sample->user_stack.size;
}

static enum profile_end end_of(const struct walk *walk, enum unwind_end end, uint64_t stack_avma)
{
	switch (end) {
	case UNWIND_WHOLE:
		return PROFILE_END_WHOLE;
	case UNWIND_TOO_DEEP:
		return PROFILE_END_TOO_DEEP;
	case UNWIND_UNKNOWN_CODE:
	case UNWIND_NO_CFI:
		return (enum profile_end)walk->place->end;
	case UNWIND_TRUNCATED:
	case UNWIND_BAD_CFA:
		if (is_on_other_stack(walk, stack_avma))
			return PROFILE_END_OTHER_STACK;
		if (end == UNWIND_TRUNCATED && is_cut(walk->sample) &&
		    walk->place->kind != PLACE_MAPPED)
			return PROFILE_END_TRUNCATED;
		if (end == UNWIND_TRUNCATED && is_at_absent_page(walk, stack_avma))
			return PROFILE_END_ABSENT_PAGE;
		break;
	default:
		break;
	}
	/* Of what was only guessed, more cannot be said than that nothing tells. */
	return walk->place->kind == PLACE_ROW ? PROFILE_END_BAD_FRAME
					      : (enum profile_end)walk->place->end;
}

size_t load_unwound_words(struct load *load, const struct perfdata_sample *sample,
			  struct unwound *unwound)
{
	struct walk walk = { .load = load, .sample = sample, .words = unwound->words };
	const struct unwind_callbacks callbacks = { .context = &walk,
						    .find = find_place,
						    .interpreter = interpreter_read };
	struct unwind_state state = { .machine = load->is_arm64 ? UNWIND_AARCH64 : UNWIND_X86_64,
				      .stack = sample->user_stack };
	unwound->end = PROFILE_END_NOT_DUMPED;
	/* The kernel's own threads have no registers of user space. */
	if (!sample->user_regs_abi)
		return 0;
	unwound->end = PROFILE_END_NOT_UNWOUND;
	read_registers(load, sample, &state);
	if (!unwind_get(&state.registers, unwind_sp(state.machine), &state.stack_avma))
		return 0;
	enum unwind_end end;
	const size_t count = unwind_walk(&callbacks, &state, unwound->avmas, unwound->limit, &end);
	if (count)
		unwound->end = end_of(&walk, end, state.stack_avma);
	return count;
}

size_t load_unwound(struct load *load, const struct perfdata_sample *sample, uint64_t *avmas,
		    size_t limit)
{
	struct unwound unwound = { .avmas = avmas, .limit = limit };
	return load_unwound_words(load, sample, &unwound);
}
