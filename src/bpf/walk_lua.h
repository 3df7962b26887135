/* walk_lua.h - the walk of PUC-Rio's Lua 5.4, whose program says which state a thread runs.
 *
 * A state has its calls in a list of CallInfo, and each of them its function in a slot of the
 * stack. A coroutine is a state of its own, and nothing leads from it to what resumed it; but the
 * innermost call of what resumed it is a function in C that has it for its first argument
 * (coroutine.resume) or upvalue (coroutine.wrap). It is taken for resumed if it runs something and
 * is not one of those that lead to it: no other state can run.
 * A slot of the stack that is not in use never leads to a state that was freed: the collector
 * clears those before it frees anything.
 *
 * Where the innermost function is, is written down only where it calls something; else it is in a
 * register of the evaluator, which is believed inside the function's code. docs/interpreters.md.
 */
#ifndef BPF_WALK_LUA_H
#define BPF_WALK_LUA_H

#include "bpf/walk_define.h"

/* Offsets in lstate.h's and lobject.h's structures, of 5.4.3 to 5.4.8. */
enum {
	LUA_KIND = 8, /* a byte of each object */
	LUA_IS_FUNCTION = 0x06,
	LUA_IS_C_CLOSURE = 0x26,
	LUA_IS_PROTOTYPE = 0x0a,
	LUA_IS_STATE = 0x08,
	LUA_IS_SHORT_STRING = 0x04,
	LUA_IS_LONG_STRING = 0x14,

	LUA_STATE_STATUS = 10, /* a byte; 0: it is not suspended */
	LUA_STATE_CALL = 32,
	LUA_STATE_BASE = 96, /* the call that all others are in */

	LUA_CALL_BYTES = 64,
	LUA_CALL_FUNCTION = 0,
	LUA_CALL_PREVIOUS = 16,
	LUA_CALL_PLACE = 32,
	LUA_CALL_STATUS = 62, /* 16 bits */
	LUA_STATUS_C = 1 << 1,
	LUA_STATUS_FRESH = 1 << 2, /* the evaluator was entered for it */

	LUA_SLOT_BYTES = 16,
	LUA_SLOT_KIND = 8,
	LUA_SLOT_IS_OBJECT = 0x40,
	LUA_SLOT_C = 0x16, /* a C function that is no object */

	LUA_CLOSURE_BYTES = 48,
	LUA_CLOSURE_CODE = 24, /* prototype, or C function */
	LUA_CLOSURE_UPVALUE = 32,

	LUA_PROTOTYPE_BYTES = 128,
	LUA_PROTOTYPE_COUNT = 24, /* of instructions */
	LUA_PROTOTYPE_LINES = 28,
	LUA_PROTOTYPE_STARTS = 40,
	LUA_PROTOTYPE_FIRST_LINE = 44,
	LUA_PROTOTYPE_LAST_LINE = 48,
	LUA_PROTOTYPE_CODE = 64,
	LUA_PROTOTYPE_LINE_TABLE = 88,
	LUA_PROTOTYPE_START_TABLE = 96,
	LUA_PROTOTYPE_SOURCE = 112,

	LUA_STRING_SHORT = 11, /* 8 bits */
	LUA_STRING_LONG = 16,
	LUA_STRING_TEXT = 24,

	LUA_LINE_STEPS = 128, /* at most, from an instruction whose line is known */
};

/* What is read of a slot, and of a closure. */
struct lua_slot {
	uint64_t value;
	uint64_t kind;
};

WALK_INLINE uint8_t walk_lua_kind(const struct lua_slot *slot)
{
	return (uint8_t)slot->kind;
}

WALK_INLINE bool walk_lua_is_state(const struct lua_slot *slot)
{
	return walk_lua_kind(slot) == (LUA_IS_STATE | LUA_SLOT_IS_OBJECT);
}

/* Which state runs is not known: the stack has no frames. To be returned from a step. */
WALK_INLINE long walk_lua_lost(struct walk *walk, enum walk_end end)
{
	walk->space->lua.count = 0;
	return walk_end(walk, end);
}

/* Runs something, and does not lead here already. */
WALK_INLINE bool walk_lua_is_resumed(const struct walk *walk, uint64_t state, const uint64_t *head)
{
	if ((uint8_t)head[LUA_KIND / 8] != LUA_IS_STATE ||
	    (uint8_t)(head[LUA_KIND / 8] >> (LUA_STATE_STATUS % 8 * 8)) != 0 ||
	    head[LUA_STATE_CALL / 8] == state + LUA_STATE_BASE)
		return false;
	for (int i = 0; i < WALK_LUA_STATES; i++)
		if (walk->space->lua.states[i] == state)
			return false;
	return true;
}

/* From a state to what it has resumed. */
static long walk_lua_resumed(uint32_t index, void *context)
{
	struct walk *walk = context;
	const uint64_t state = walk->space->lua.states[index & (WALK_LUA_STATES - 1)];
	struct lua_slot slots[2];
	uint64_t head[LUA_STATE_CALL / 8 + 1];
	uint64_t call;
	walk->space->lua.count = index + 1;
	if (!walk_read_word(&call, state + LUA_STATE_CALL))
		return walk_lua_lost(walk, WALK_END_READ_THREAD);
	if (call == state + LUA_STATE_BASE)
		return 1;
	if (!walk_read_frame(walk, LUA_CALL_BYTES, call))
		return walk_lua_lost(walk, WALK_END_READ_FRAME);
	if (!(walk_frame_half(walk, LUA_CALL_STATUS & ~3) >> 16 & LUA_STATUS_C))
		return 1;
	if (walk_read(slots, sizeof(slots), walk_frame_word(walk, LUA_CALL_FUNCTION)))
		return walk_lua_lost(walk, WALK_END_READ_FRAME);
	if (!walk_lua_is_state(&slots[1])) {
		if (walk_lua_kind(&slots[0]) != (LUA_IS_C_CLOSURE | LUA_SLOT_IS_OBJECT))
			return 1;
		if (walk_read(&slots[1], sizeof(slots[1]), slots[0].value + LUA_CLOSURE_UPVALUE))
			return walk_lua_lost(walk, WALK_END_READ_FRAME);
		if (!walk_lua_is_state(&slots[1]))
			return 1;
	}
	if (walk_read(head, sizeof(head), slots[1].value))
		return walk_lua_lost(walk, WALK_END_READ_THREAD);
	if (!walk_lua_is_resumed(walk, slots[1].value, head))
		return 1;
	if (index + 1 >= WALK_LUA_STATES)
		return walk_lua_lost(walk, WALK_END_DEPTH);
	walk->space->lua.states[(index + 1) & (WALK_LUA_STATES - 1)] = slots[1].value;
	return 0;
}

WALK_INLINE void walk_lua_define(struct walk *walk, const struct walk_key *key)
{
	const uint64_t source = walk_code_word(walk, LUA_PROTOTYPE_SOURCE);
	const uint32_t first = walk_code_half(walk, LUA_PROTOTYPE_FIRST_LINE);
	uint64_t string[LUA_STRING_TEXT / 8 + 1];
	uint32_t at = 0;
	walk_define(walk, key, first ? WALK_CODE_FUNCTION : WALK_CODE_TOPLEVEL, first);
	if (source && walk_read(string, sizeof(string), source)) {
		walk_text_unread(walk, WALK_TEXT_FILE);
	} else if (source) {
		const uint8_t kind = (uint8_t)string[LUA_KIND / 8];
		const uint8_t mark = (uint8_t)string[LUA_STRING_TEXT / 8];
		const uint64_t length =
		    kind == LUA_IS_SHORT_STRING
			? (uint8_t)(string[LUA_STRING_SHORT / 8] >> LUA_STRING_SHORT % 8 * 8)
			: string[LUA_STRING_LONG / 8];
		/* Else it is the text itself. */
		if ((mark == '@' || mark == '=') && length > 1)
			walk_text(walk, &at, WALK_TEXT_FILE, WALK_MAX_FILE,
				  source + LUA_STRING_TEXT + 1, length - 1);
	}
	walk_defined(walk, at, 0, 0);
}

/* Prototypes die with their functions: what tells the next one at the same address. */
WALK_INLINE uint64_t walk_lua_check(const struct walk *walk)
{
	uint64_t check = walk_mix(walk_code_word(walk, LUA_PROTOTYPE_SOURCE),
				  walk_code_word(walk, LUA_PROTOTYPE_LINE_TABLE));
	check = walk_mix(check, walk_code_word(walk, LUA_PROTOTYPE_CODE));
	check = walk_mix(check, (uint64_t)walk_code_half(walk, LUA_PROTOTYPE_FIRST_LINE) << 32 |
				    walk_code_half(walk, LUA_PROTOTYPE_LAST_LINE));
	return walk_mix(check, walk_code_half(walk, LUA_PROTOTYPE_COUNT));
}

/* The last instruction before the place whose line is written out. */
static long walk_lua_find_start(uint32_t index, void *context)
{
	struct walk *walk = context;
	struct walk_lua_notes *notes = &walk->space->lua;
	struct {
		int32_t instruction;
		int32_t line;
	} start;
	(void)index;
	if (notes->low >= notes->high)
		return 1;
	const uint32_t middle = notes->low + (notes->high - notes->low) / 2;
	if (walk_read(&start, sizeof(start),
		      walk_code_word(walk, LUA_PROTOTYPE_START_TABLE) + 8 * (uint64_t)middle)) {
		notes->line = -1;
		return 1;
	}
	if (start.instruction <= (int32_t)notes->instruction) {
		notes->low = middle + 1;
		notes->start = start.instruction;
		notes->line = start.line;
	} else {
		notes->high = middle;
	}
	return 0;
}

/* Eight steps, each a signed byte. */
static long walk_lua_steps(uint32_t index, void *context)
{
	struct walk *walk = context;
	struct walk_lua_notes *notes = &walk->space->lua;
	const uint8_t *steps = &walk->space->piece[8 * index & (LUA_LINE_STEPS - 1)];
	for (int i = 0; i < 8; i++)
		notes->line += (int8_t)steps[i];
	return 0;
}

/* The line of an instruction: steps of one byte each from one that is written out. 0: unknown. */
WALK_INLINE int32_t walk_lua_line(struct walk *walk, uint32_t instruction)
{
	struct walk_lua_notes *notes = &walk->space->lua;
	if (instruction >= walk_code_half(walk, LUA_PROTOTYPE_LINES))
		return 0;
	notes->instruction = instruction;
	notes->low = 0;
	notes->high = walk_code_half(walk, LUA_PROTOTYPE_STARTS);
	notes->start = -1;
	notes->line = (int32_t)walk_code_half(walk, LUA_PROTOTYPE_FIRST_LINE);
	WALK_LOOP(32, walk_lua_find_start, walk);
	uint32_t steps = instruction - (uint32_t)notes->start;
	WALK_OPAQUE(steps);
	if (notes->line < 0 || steps > LUA_LINE_STEPS)
		return 0;
	/* What is left of the last eight. */
	*(uint64_t *)&walk->space->piece[steps & ~7u] = 0;
	if (steps && walk_read(walk->space->piece, steps,
			       walk_code_word(walk, LUA_PROTOTYPE_LINE_TABLE) +
				   (uint64_t)(int64_t)(notes->start + 1)))
		return 0;
	WALK_LOOP((steps + 7) / 8, walk_lua_steps, walk);
	return notes->line > 0 ? notes->line : 0;
}

/* Behind an instruction of the code. */
WALK_INLINE bool walk_lua_holds(const struct walk *walk, uint64_t place)
{
	const uint64_t behind = place - walk_code_word(walk, LUA_PROTOTYPE_CODE);
	return behind && behind % 4 == 0 && behind / 4 <= walk_code_half(walk, LUA_PROTOTYPE_COUNT);
}

/* Where a function is: the next instruction. */
WALK_INLINE uint64_t walk_lua_place(const struct walk *walk, uint64_t place)
{
	const struct walk_registers *registers = &walk->registers;
	if (walk->space->stack.frame_count)
		return place;
	/* Where compilers put it; the first is that of usual builds. */
	if (walk_lua_holds(walk, registers->r13))
		return registers->r13;
	if (walk_lua_holds(walk, registers->r12))
		return registers->r12;
	if (walk_lua_holds(walk, registers->bx))
		return registers->bx;
	if (walk_lua_holds(walk, registers->bp))
		return registers->bp;
	if (walk_lua_holds(walk, registers->r14))
		return registers->r14;
	if (walk_lua_holds(walk, registers->r15))
		return registers->r15;
	return place;
}

WALK_INLINE long walk_lua_function(struct walk *walk, uint64_t prototype, uint64_t place,
				   uint32_t flags)
{
	if (!walk_read_code(walk, LUA_PROTOTYPE_BYTES, prototype))
		return walk_end(walk, WALK_END_READ_CODE);
	if ((uint8_t)walk_code_word(walk, LUA_KIND) != LUA_IS_PROTOTYPE)
		return walk_end(walk, WALK_END_NOT_CODE);
	const struct walk_key key = walk_key(walk, prototype, walk_lua_check(walk));
	place = walk_lua_place(walk, place);
	int32_t line = 0;
	if (walk_lua_holds(walk, place)) {
		const uint64_t behind = place - walk_code_word(walk, LUA_PROTOTYPE_CODE);
		line = walk_lua_line(walk, (uint32_t)(behind / 4 - 1));
	}
	if (!line)
		flags |= WALK_FRAME_NO_POSITION;
	const long ended = walk_add(walk, &key, line, flags);
	if (!ended && walk_must_define(walk, &key))
		walk_lua_define(walk, &key);
	return ended;
}

WALK_INLINE long walk_lua_native(struct walk *walk, uint64_t function)
{
	const struct walk_key key = walk_key(walk, function, 0);
	const long ended = walk_add(
	    walk, &key, 0, WALK_FRAME_NATIVE | WALK_FRAME_IS_LINE | WALK_FRAME_NO_POSITION);
	if (!ended && walk_must_define(walk, &key)) {
		walk_define(walk, &key, WALK_CODE_NATIVE, 0);
		walk_defined(walk, 0, 0, 0);
	}
	return ended;
}

/* To the calls of what resumed the state. */
WALK_INLINE long walk_lua_leave_state(struct walk *walk)
{
	struct walk_lua_notes *notes = &walk->space->lua;
	if (notes->count <= 1)
		return walk_end(walk, WALK_END_ROOT);
	notes->count--;
	walk->state_avma = notes->states[(notes->count - 1) & (WALK_LUA_STATES - 1)];
	if (!walk_read_word(&walk->at_avma, walk->state_avma + LUA_STATE_CALL))
		return walk_end(walk, WALK_END_READ_THREAD);
	return 0;
}

static long walk_lua_step(uint32_t index, void *context)
{
	struct walk *walk = context;
	struct lua_slot slot;
	uint64_t closure[LUA_CLOSURE_BYTES / 8];
	(void)index;
	if (walk->at_avma == walk->state_avma + LUA_STATE_BASE)
		return walk_lua_leave_state(walk);
	if (!walk_read_frame(walk, LUA_CALL_BYTES, walk->at_avma) ||
	    walk_read(&slot, sizeof(slot), walk_frame_word(walk, LUA_CALL_FUNCTION)))
		return walk_end(walk, WALK_END_READ_FRAME);
	const uint32_t status = walk_frame_half(walk, LUA_CALL_STATUS & ~3) >> 16;
	const uint64_t place = walk_frame_word(walk, LUA_CALL_PLACE);
	walk->at_avma = walk_frame_word(walk, LUA_CALL_PREVIOUS);
	if (walk_lua_kind(&slot) == LUA_SLOT_C)
		return status & LUA_STATUS_C ? walk_lua_native(walk, slot.value)
					     : walk_end(walk, WALK_END_TORN);
	if (walk_read(closure, LUA_CLOSURE_CODE + 8, slot.value))
		return walk_end(walk, WALK_END_READ_FRAME);
	if ((uint8_t)closure[LUA_KIND / 8] == LUA_IS_C_CLOSURE && status & LUA_STATUS_C)
		return walk_lua_native(walk, closure[LUA_CLOSURE_CODE / 8]);
	/* Functions lie in slots that are in use: what is none is just being set up. */
	if (walk_lua_kind(&slot) != (LUA_IS_FUNCTION | LUA_SLOT_IS_OBJECT) ||
	    (uint8_t)closure[LUA_KIND / 8] != LUA_IS_FUNCTION || status & LUA_STATUS_C)
		return walk_end(walk, WALK_END_TORN);
	return walk_lua_function(walk, closure[LUA_CLOSURE_CODE / 8], place,
				 WALK_FRAME_IS_LINE |
				     (status & LUA_STATUS_FRESH ? WALK_FRAME_ENTRY : 0));
}

WALK_INLINE void walk_lua(struct walk *walk)
{
	struct walk_lua_notes *notes = &walk->space->lua;
	if (!walk_state(walk, WALK_END_IDLE, &walk->state_avma))
		return;
	for (int i = 0; i < WALK_LUA_STATES; i++)
		notes->states[i] = 0;
	notes->states[0] = walk->state_avma;
	WALK_LOOP(WALK_LUA_STATES, walk_lua_resumed, walk);
	if (!notes->count)
		return;
	walk->state_avma = notes->states[(notes->count - 1) & (WALK_LUA_STATES - 1)];
	if (!walk_read_word(&walk->at_avma, walk->state_avma + LUA_STATE_CALL)) {
		walk_end(walk, WALK_END_READ_THREAD);
		return;
	}
	if (notes->count == 1 && walk->at_avma == walk->state_avma + LUA_STATE_BASE) {
		walk_end(walk, WALK_END_IDLE);
		return;
	}
	walk_end(walk, WALK_END_DEPTH);
	WALK_LOOP(WALK_MAX_FRAMES + WALK_LUA_STATES + 1, walk_lua_step, walk);
}

#endif
