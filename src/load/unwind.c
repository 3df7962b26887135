/* Stacks that were dumped rather than walked: what each frame is found by. */
#include "load/unwind.h"

/* x86-64's registers in perf's own numbering (asm/perf_regs.h). */
enum { REG_BP = 6, REG_SP = 7, REG_IP = 8, WORD = 8 };

bool walk_register(const struct walk *walk, unsigned number, uint64_t *value)
{
	const struct perfdata_sample *sample = walk->sample;
	const uint64_t mask = sample->user_regs_mask;
	if (!sample->user_regs_abi || !(mask >> number & 1))
		return false;
	struct cursor c = cursor_over(sample->user_regs);
	c.swap = perfdata_is_swapped(walk->load->perf);
	const uint64_t before = mask & (((uint64_t)1 << number) - 1);
	(void)cursor_take(&c, (size_t)__builtin_popcountll(before) * WORD);
	*value = cursor_u64(&c);
	return !cursor_failed(&c);
}

static void find_place(void *context, uint64_t avma, struct unwind_place *how)
{
	struct walk *walk = context;
	struct place place;
	place_find(walk->load, walk->sample->pid, avma, walk->sample->time_ns, &place);
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
	struct unwind_state state;
	struct walk walk = { load, sample, unwound->words, PROFILE_END_NOT_UNWOUND };
	const struct unwind_callbacks callbacks = { .context = &walk,
						    .find = find_place,
						    .interpreter = walk_read_interpreter };
	unwound->end = PROFILE_END_NOT_DUMPED;
	/* The kernel's own threads have no registers of user space. */
	if (!sample->user_regs_abi)
		return 0;
	unwound->end = PROFILE_END_NOT_UNWOUND;
	if (unwound->words)
		memset(unwound->words, 0, unwound->limit * sizeof(*unwound->words));
	if (load->is_arm64) {
		/* Only where it was: that machine's frames are not followed yet. */
		enum { REG_ARM64_PC = 32 };
		return unwound->limit && walk_register(&walk, REG_ARM64_PC, &unwound->avmas[0]);
	}
	if (!walk_register(&walk, REG_IP, &state.pc_avma) ||
	    !walk_register(&walk, REG_SP, &state.sp_avma) ||
	    !walk_register(&walk, REG_BP, &state.bp_avma))
		return 0;
	enum unwind_end end;
	const size_t count = unwind_walk(&callbacks, &state, sample->user_stack, unwound->avmas,
					 unwound->limit, &end);
	unwound->end = end_of(&walk, end);
	return count;
}

size_t load_unwound(struct load *load, const struct perfdata_sample *sample, uint64_t *avmas,
		    size_t limit)
{
	struct unwound unwound = { .avmas = avmas, .limit = limit };
	return load_unwound_words(load, sample, &unwound);
}
