/* walk_slot.h - the walk of interpreters that publish their frames: include/polyperf/interp.h. */
#ifndef BPF_WALK_SLOT_H
#define BPF_WALK_SLOT_H

#include "bpf/walk_define.h"

enum {
	SLOT_FRAME_ENTRY = 1,
	SLOT_FRAME_NATIVE = 2,
};

/* Tells of a frame's code, if it is still there. */
WALK_INLINE void walk_slot_define(struct walk *walk, const struct walk_key *key, bool is_native)
{
	const struct walk_slot *slot = &walk->runtime->slot;
	if (!walk_read_code(walk, slot->code_bytes, key->code_avma) ||
	    walk_code_word(walk, slot->code_generation) != key->check) {
		walk->space->stack.flags |= WALK_STACK_UNDEFINED;
		return;
	}
	const uint64_t name = walk_code_word(walk, slot->code_name);
	const uint64_t owner = walk_code_word(walk, slot->code_owner);
	const uint64_t file = walk_code_word(walk, slot->code_file);
	uint32_t at = 0;
	walk_define(walk, key, is_native ? WALK_CODE_NATIVE : WALK_CODE_FUNCTION,
		    walk_code_half(walk, slot->code_first_line));
	if (name)
		walk_text_terminated(walk, &at, WALK_TEXT_NAME, WALK_MAX_NAME, name);
	if (owner)
		walk_text_terminated(walk, &at, WALK_TEXT_OWNER, WALK_MAX_OWNER, owner);
	if (file)
		walk_text_terminated(walk, &at, WALK_TEXT_FILE, WALK_MAX_FILE, file);
	walk_defined(walk, at, 0, 0);
}

/* Who reads the recording cannot know what the C functions are called. */
static long walk_slot_evaluator(uint32_t index, void *context)
{
	struct walk *walk = context;
	const uint64_t avma =
	    walk->runtime->slot.evaluator_avmas[index & (WALK_MAX_EVALUATORS - 1)];
	if (!avma)
		return 1;
	const struct walk_key key = walk_key(walk, avma, 0);
	if (walk_must_define(walk, &key)) {
		walk_define(walk, &key, WALK_CODE_EVALUATOR, 0);
		walk_defined(walk, 0, 0, 0);
	}
	return 0;
}

static long walk_slot_step(uint32_t index, void *context)
{
	struct walk *walk = context;
	const struct walk_slot *slot = &walk->runtime->slot;
	(void)index;
	if (!walk->at_avma)
		return walk_end(walk, WALK_END_ROOT);
	if (!walk_read_frame(walk, slot->frame_bytes, walk->at_avma))
		return walk_end(walk, WALK_END_READ_FRAME);
	if (walk_frame_word(walk, 0) != (slot->frame_magic ^ walk->at_avma))
		return walk_end(walk, WALK_END_TORN);
	walk->at_avma = walk_frame_word(walk, slot->frame_previous);
	const uint32_t line = walk_frame_half(walk, slot->frame_line);
	const uint32_t told = walk_frame_half(walk, slot->frame_flags);
	const bool is_native = told & SLOT_FRAME_NATIVE;
	uint32_t flags = WALK_FRAME_IS_LINE;
	if (!line)
		flags |= WALK_FRAME_NO_POSITION;
	if (is_native)
		flags |= WALK_FRAME_NATIVE;
	if (told & SLOT_FRAME_ENTRY)
		flags |= WALK_FRAME_ENTRY;
	const struct walk_key key = walk_key(walk, walk_frame_word(walk, slot->frame_code),
					     walk_frame_word(walk, slot->frame_generation));
	const long ended = walk_add(walk, &key, (int32_t)line, flags);
	if (!ended && walk_must_define(walk, &key))
		walk_slot_define(walk, &key, is_native);
	return ended;
}

WALK_INLINE void walk_slot(struct walk *walk)
{
	if (!walk_state(walk, WALK_END_IDLE, &walk->at_avma))
		return;
	WALK_LOOP(WALK_MAX_EVALUATORS, walk_slot_evaluator, walk);
	walk_end(walk, WALK_END_DEPTH);
	WALK_LOOP(WALK_MAX_FRAMES + 1, walk_slot_step, walk);
}

#endif
