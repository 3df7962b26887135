/* walk_luajit.h - the walk of LuaJIT 2.1, x86-64 with 64-bit references (GC64).
 *
 * Nothing leads from a thread to what it runs but the C stack: the interpreter has a frame of 80
 * bytes there, a C frame, that holds the Lua state, which leads back to it. So the C stack is
 * searched from the innermost frame on. What may be the address that a C frame returns to lies in
 * the library's code, and a C frame is believed only if its state has it for its own.
 *
 * Frames of Lua are in the slots of the state, linked through the word below each frame's base:
 * the place in the bytecode that called it, or how far it is to the base before. Where the
 * innermost base is depends on what runs: the interpreter has it in rdx and the place in rbx, what
 * it calls mostly finds it written down, compiled code has that of its beginning in the global
 * state. docs/interpreters.md.
 */
#ifndef BPF_WALK_LUAJIT_H
#define BPF_WALK_LUAJIT_H

#include "bpf/walk_define.h"

/* Offsets in lj_obj.h's and lj_frame.h's structures, of version 2.1 since 2020. */
enum {
	LUAJIT_KIND = 9, /* a byte of each object */
	LUAJIT_IS_STRING = 4,
	LUAJIT_IS_STATE = 6,
	LUAJIT_IS_PROTOTYPE = 7,
	LUAJIT_IS_FUNCTION = 8,

	LUAJIT_STATE_BYTES = 96,
	LUAJIT_STATE_GLOBAL = 16,
	LUAJIT_STATE_BASE = 32,
	LUAJIT_STATE_STACK_END = 48,
	LUAJIT_STATE_STACK = 56,
	LUAJIT_STATE_CFRAME = 80, /* its lowest two bits are flags */
	LUAJIT_GLOBAL_RUNS = 184, /* 32 bits: what runs; the main state follows */
	LUAJIT_GLOBAL_JIT_BASE = 376,
	LUAJIT_RUNS_INTERPRETER = -1, /* above: the number of a piece of compiled code */
	LUAJIT_RUNS_EXIT = -4,

	LUAJIT_CFRAME_RESULTS = 8, /* 32 bits; < 0: it calls C without a frame of Lua */
	LUAJIT_CFRAME_STATE = 16,
	LUAJIT_CFRAME_PLACE = 24,
	LUAJIT_CFRAME_PREVIOUS = 32,
	LUAJIT_CFRAME_RETURN = 72,
	LUAJIT_CFRAME_BYTES = 80,

	LUAJIT_FUNCTION_BYTES = 40, /* of one of Lua; of one in C its address follows */
	LUAJIT_FUNCTION_ID = 10,    /* a byte; 0: of Lua */
	LUAJIT_FUNCTION_CODE = 32,

	LUAJIT_PROTOTYPE_BYTES = 104, /* its bytecode follows */
	LUAJIT_PROTOTYPE_COUNT = 12,
	LUAJIT_PROTOTYPE_CHUNK = 64,
	LUAJIT_PROTOTYPE_FIRST_LINE = 72,
	LUAJIT_PROTOTYPE_LINES = 76,
	LUAJIT_PROTOTYPE_TABLE = 80,

	LUAJIT_STRING_HASH = 16, /* and its length */
	LUAJIT_STRING_TEXT = 24,

	LUAJIT_OP_CALLM = 65,
	LUAJIT_OP_CALL = 66,
	LUAJIT_OP_ITERC = 69,
	LUAJIT_OP_ITERN = 70,
};

/* The lowest bits of a link: a place in bytecode, or what kind of distance it is. */
enum {
	LUAJIT_LINK_KIND = 3,
	LUAJIT_LINK_C = 1,
	LUAJIT_LINK_ALL = 7,
	LUAJIT_LINK_CONTINUATION = 2,
	LUAJIT_LINK_VARARG = 3,
};

enum luajit_place {
	LUAJIT_PLACE_NONE,
	LUAJIT_PLACE_MAYBE, /* if it is in the function's code */
	LUAJIT_PLACE_SURE,
	LUAJIT_PLACE_TORN, /* what is not in the function's code is between two functions */
};

enum {
	LUAJIT_PIECES = 64, /* of 256 bytes: how far the C stack is searched */
	LUAJIT_PIECE_BYTES = 8 * WALK_CODE_WORDS,
	LUAJIT_TRIES = 2, /* the interpreter's stack pointer, or one word further */
};

/* References have 47 bits; above is the type. */
WALK_INLINE bool walk_luajit_is(uint64_t value, int kind)
{
	return (int64_t)value >> 47 == ~(int64_t)kind;
}

WALK_INLINE uint64_t walk_luajit_reference(uint64_t value)
{
	return value & (((uint64_t)1 << 47) - 1);
}

WALK_INLINE void walk_luajit_define(struct walk *walk, const struct walk_key *key)
{
	const uint64_t chunk = walk_code_word(walk, LUAJIT_PROTOTYPE_CHUNK);
	const uint32_t first = walk_code_half(walk, LUAJIT_PROTOTYPE_FIRST_LINE);
	struct {
		uint32_t hash;
		uint32_t length;
	} string;
	uint8_t mark;
	uint32_t at = 0;
	walk_define(walk, key, first ? WALK_CODE_FUNCTION : WALK_CODE_TOPLEVEL, first);
	if (walk_read(&string, sizeof(string), chunk + LUAJIT_STRING_HASH) ||
	    walk_read(&mark, sizeof(mark), chunk + LUAJIT_STRING_TEXT))
		walk_text_unread(walk, WALK_TEXT_FILE);
	else if ((mark == '@' || mark == '=') && string.length) /* else it is the text itself */
		walk_text(walk, &at, WALK_TEXT_FILE, WALK_MAX_FILE, chunk + LUAJIT_STRING_TEXT + 1,
			  string.length - 1);
	walk_defined(walk, at, 0, 0);
}

/* Prototypes die with their functions: what tells the next one at the same address. */
WALK_INLINE bool walk_luajit_check(const struct walk *walk, uint64_t *check)
{
	const uint64_t chunk = walk_code_word(walk, LUAJIT_PROTOTYPE_CHUNK);
	struct {
		uint64_t kind; /* of 64 bits the second byte */
		uint64_t hash;
	} string;
	if (walk_read(&string, sizeof(string), chunk + 8) ||
	    (string.kind >> 8 & 255) != LUAJIT_IS_STRING)
		return false;
	*check = walk_mix(string.hash, chunk);
	*check = walk_mix(*check, walk_code_word(walk, LUAJIT_PROTOTYPE_FIRST_LINE));
	*check = walk_mix(*check, walk_code_word(walk, LUAJIT_PROTOTYPE_TABLE));
	*check = walk_mix(*check, walk_code_half(walk, LUAJIT_PROTOTYPE_COUNT));
	return true;
}

/* Is the place, behind an instruction, in the function's code? */
WALK_INLINE bool walk_luajit_holds(const struct walk *walk, uint64_t code, uint64_t place)
{
	const uint64_t behind = place - code;
	return behind && !(behind & 3) &&
	       behind / 4 <= walk_code_half(walk, LUAJIT_PROTOTYPE_COUNT);
}

/* The line of the instruction before the place. */
WALK_INLINE bool walk_luajit_line(const struct walk *walk, uint64_t code, uint64_t place,
				  uint32_t *line)
{
	const uint64_t table = walk_code_word(walk, LUAJIT_PROTOTYPE_TABLE);
	const uint32_t lines = walk_code_half(walk, LUAJIT_PROTOTYPE_LINES);
	const uint64_t index = (place - code) / 4 - 1;
	uint32_t more = 0;
	long failed = 0;
	*line = walk_code_half(walk, LUAJIT_PROTOTYPE_FIRST_LINE);
	if (!table) /* stripped */
		return false;
	if (!index) /* the function's head */
		return true;
	if (lines < 256)
		failed = walk_read(&more, 1, table + index - 1);
	else if (lines < 65536)
		failed = walk_read(&more, 2, table + 2 * (index - 1));
	else
		failed = walk_read(&more, 4, table + 4 * (index - 1));
	*line += more;
	return !failed && more <= lines;
}

/* What should be a function is none. The innermost may be under way from one to another. */
WALK_INLINE long walk_luajit_no_code(struct walk *walk)
{
	return walk_end(walk, walk->space->stack.frame_count ? WALK_END_NOT_CODE : WALK_END_TORN);
}

WALK_INLINE long walk_luajit_lua(struct walk *walk, uint64_t code, enum luajit_place how)
{
	const uint64_t prototype = code - LUAJIT_PROTOTYPE_BYTES;
	const uint64_t place = walk->space->luajit.place_avma;
	const bool is_same = prototype == walk->space->luajit.prototype_avma;
	uint32_t flags = WALK_FRAME_IS_LINE;
	uint32_t line = 0;
	if (!is_same && !walk_read_code(walk, LUAJIT_PROTOTYPE_BYTES, prototype))
		return walk_end(walk, WALK_END_READ_CODE);
	walk->space->luajit.prototype_avma = 0;
	if ((walk_code_word(walk, 8) >> 8 & 255) != LUAJIT_IS_PROTOTYPE)
		return walk_luajit_no_code(walk);
	if (!is_same && !walk_luajit_check(walk, &walk->space->luajit.check))
		return walk_end(walk, WALK_END_READ_CODE);
	walk->space->luajit.prototype_avma = prototype;
	const bool holds = walk_luajit_holds(walk, code, place);
	if (!holds && how >= LUAJIT_PLACE_SURE)
		return walk_luajit_no_code(walk);
	if (!holds || how == LUAJIT_PLACE_NONE || !walk_luajit_line(walk, code, place, &line)) {
		line = 0;
		flags |= WALK_FRAME_NO_POSITION;
	}
	const struct walk_key key = walk_key(walk, prototype, walk->space->luajit.check);
	const long ended = walk_add(walk, &key, (int32_t)line, flags);
	if (!ended && !is_same && walk_must_define(walk, &key))
		walk_luajit_define(walk, &key);
	return ended;
}

/* Functions in C, and those of the library that are assembly. */
WALK_INLINE long walk_luajit_native(struct walk *walk, uint64_t function, uint64_t code, uint8_t id,
				    enum luajit_place how)
{
	uint64_t address;
	/* A pseudo instruction of its own leads to each. */
	if (how == LUAJIT_PLACE_TORN && walk->space->luajit.place_avma != code + 4)
		return walk_end(walk, WALK_END_TORN);
	if (!walk_read_word(&address, function + LUAJIT_FUNCTION_BYTES))
		return walk_end(walk, WALK_END_READ_CODE);
	/* By its number a function of the libraries can be named. */
	const struct walk_key key =
	    walk_key(walk, address, walk->runtime->luajit.has_numbers ? id : 1);
	const long ended = walk_add(walk, &key, 0, WALK_FRAME_NATIVE | WALK_FRAME_NO_POSITION);
	if (!ended && walk_must_define(walk, &key)) {
		walk_define(walk, &key, WALK_CODE_NATIVE, 0);
		walk_defined(walk, 0, 0, 0);
	}
	return ended;
}

WALK_INLINE long walk_luajit_function(struct walk *walk, uint64_t value, enum luajit_place how)
{
	const uint64_t function = walk_luajit_reference(value);
	if (!walk_luajit_is(value, LUAJIT_IS_FUNCTION))
		return walk_luajit_no_code(walk);
	if (!walk_read_frame(walk, LUAJIT_FUNCTION_BYTES, function))
		return walk_end(walk, WALK_END_READ_CODE);
	const uint64_t code = walk_frame_word(walk, LUAJIT_FUNCTION_CODE);
	const uint8_t id = walk_frame_byte(walk, LUAJIT_FUNCTION_ID);
	if (walk_frame_byte(walk, LUAJIT_KIND) != LUAJIT_IS_FUNCTION)
		return walk_luajit_no_code(walk);
	return id ? walk_luajit_native(walk, function, code, id, how)
		  : walk_luajit_lua(walk, code, how);
}

/* The C stack is searched from here on. */
WALK_INLINE void walk_luajit_search(struct walk *walk, uint64_t floor_avma)
{
	struct walk_luajit_notes *notes = &walk->space->luajit;
	notes->floor_avma = floor_avma;
	notes->piece_avma = floor_avma & ~(uint64_t)(LUAJIT_PIECE_BYTES - 1);
	notes->words = 0;
	notes->pieces_left = LUAJIT_PIECES;
	notes->is_walking = false;
	notes->is_settling = false;
	notes->prototype_avma = 0; /* the buffer of code has the pieces */
}

/* The last frame of a state was seen: another state may have resumed it, or called C that has a
 * state of its own.
 */
WALK_INLINE long walk_luajit_leave_state(struct walk *walk)
{
	const struct walk_luajit *luajit = &walk->runtime->luajit;
	uint64_t back;
	if (!walk_read_word(&back, walk->space->luajit.cframe_avma + LUAJIT_CFRAME_RETURN))
		return walk_end(walk, WALK_END_READ_FRAME);
	walk->space->luajit.is_resumed = back - luajit->vm_avma < luajit->vm_bytes;
	walk_luajit_search(walk, walk->space->luajit.cframe_avma + LUAJIT_CFRAME_BYTES);
	return 0;
}

/* Which C frame the next frame of Lua belongs to, and with it the place where it was left: C frames
 * of calls of C without a frame of Lua are passed over, one a step.
 */
WALK_INLINE long walk_luajit_settle(struct walk *walk)
{
	struct walk_luajit_notes *notes = &walk->space->luajit;
	if (!walk_read_frame(walk, LUAJIT_CFRAME_PREVIOUS + 8, notes->cframe_avma) ||
	    walk_frame_word(walk, LUAJIT_CFRAME_STATE) != notes->state_avma)
		return walk_end(walk, WALK_END_TORN);
	const int64_t results = (int32_t)walk_frame_half(walk, LUAJIT_CFRAME_RESULTS);
	const uint64_t previous = walk_frame_word(walk, LUAJIT_CFRAME_PREVIOUS) & ~3ull;
	notes->place_avma = walk_frame_word(walk, LUAJIT_CFRAME_PLACE);
	notes->is_settling = false;
	if (results >= 0 || notes->base_avma - 8 >= notes->stack_avma + (uint64_t)-results)
		return 0;
	walk_end_activation(walk);
	notes->place_avma = 0;
	if (!previous)
		return 0;
	if (previous <= notes->cframe_avma)
		return walk_end(walk, WALK_END_TORN);
	notes->cframe_avma = previous;
	notes->how = LUAJIT_PLACE_MAYBE;
	notes->is_settling = true;
	return 0;
}

/* The frame was entered from C: so ends an activation of the interpreter. */
WALK_INLINE long walk_luajit_leave(struct walk *walk, uint64_t base)
{
	struct walk_luajit_notes *notes = &walk->space->luajit;
	uint64_t previous;
	walk_end_activation(walk);
	if (!walk_read_word(&previous, notes->cframe_avma + LUAJIT_CFRAME_PREVIOUS))
		return walk_end(walk, WALK_END_READ_FRAME);
	previous &= ~3ull;
	if (!previous)
		return walk_luajit_leave_state(walk);
	if (previous <= notes->cframe_avma)
		return walk_end(walk, WALK_END_TORN);
	notes->base_avma = base;
	notes->cframe_avma = previous;
	notes->how = LUAJIT_PLACE_MAYBE;
	notes->is_settling = true;
	return 0;
}

/* To the frame that `link` leads to. */
WALK_INLINE long walk_luajit_follow(struct walk *walk, uint64_t link)
{
	struct walk_luajit_notes *notes = &walk->space->luajit;
	const uint64_t base = notes->base_avma;
	const uint32_t kind = (uint32_t)link & LUAJIT_LINK_ALL;
	uint64_t before = base - (link & ~(uint64_t)LUAJIT_LINK_ALL);
	uint64_t continuation[2] = { 0, 0 };
	notes->how = LUAJIT_PLACE_NONE;
	if (!(kind & LUAJIT_LINK_KIND)) {
		uint32_t call;
		if (walk_read(&call, sizeof(call), link - 4))
			return walk_end(walk, WALK_END_READ_FRAME);
		const uint32_t op = call & 255;
		if (op != LUAJIT_OP_CALL && op != LUAJIT_OP_CALLM && op != LUAJIT_OP_ITERC &&
		    op != LUAJIT_OP_ITERN)
			return walk_end(walk, WALK_END_TORN);
		before = base - 16 - 8 * (uint64_t)(call >> 8 & 255);
		notes->place_avma = link;
		notes->how = LUAJIT_PLACE_SURE;
	} else if (kind == LUAJIT_LINK_VARARG) {
		notes->is_shown = true;
	} else if (kind == LUAJIT_LINK_CONTINUATION) {
		if (walk_read(continuation, sizeof(continuation), base - 32))
			return walk_end(walk, WALK_END_READ_FRAME);
		notes->place_avma = continuation[1];
		notes->how = LUAJIT_PLACE_MAYBE;
	}
	if (before >= base)
		return walk_end(walk, WALK_END_TORN);
	/* A continuation that is 1 is that of a callback of the FFI. */
	if ((kind & LUAJIT_LINK_KIND) == LUAJIT_LINK_C || continuation[0] == 1)
		return walk_luajit_leave(walk, before);
	notes->base_avma = before;
	return 0;
}

WALK_INLINE long walk_luajit_frame(struct walk *walk)
{
	struct walk_luajit_notes *notes = &walk->space->luajit;
	const uint64_t base = notes->base_avma;
	const enum luajit_place how = notes->how;
	struct {
		uint64_t function;
		uint64_t link;
	} slots;
	long ended = 0;
	/* The lowest frame stands for C itself. */
	if (base == notes->stack_avma + 16)
		return walk_luajit_leave_state(walk);
	if (base < notes->stack_avma + 16 || base > notes->stack_end_avma || base & 7)
		return walk_end(walk, WALK_END_TORN);
	if (walk_read(&slots, sizeof(slots), base - 16))
		return walk_end(walk, WALK_END_READ_FRAME);
	/* Has the interpreter the caller's place, then the call is being entered or left. */
	const bool is_shown =
	    notes->is_shown || (how == LUAJIT_PLACE_TORN && slots.link == walk->registers.bx);
	notes->is_shown = false;
	/* Errors put a frame there that is nobody's: the state itself is in the function's slot. */
	if (!is_shown && (!walk_luajit_is(slots.function, LUAJIT_IS_STATE) ||
			  walk_luajit_reference(slots.function) != notes->state_avma))
		ended = walk_luajit_function(walk, slots.function, how);
	return ended ? ended : walk_luajit_follow(walk, slots.link);
}

/* Between two instructions the place is that of the next one, until it is counted up: at the end
 * of each instruction's code is `mov (%rbx), %eax; movzx %ah, %ecx; movzx %al, %ebp;
 * add $4, %rbx; ...`, and in a call the like with other registers.
 */
WALK_INLINE uint64_t walk_luajit_place(const uint64_t code[2], uint64_t place)
{
	enum { ADD = 0x04c38348, MOVZX = 0xb60f, MOV = 0x8b };
	const uint32_t at_3 = (uint32_t)(code[0] >> 24);
	const uint32_t at_6 = (uint32_t)(code[0] >> 48 | code[1] << 16);
	const bool is_movzx = (code[0] & 0xffff) == MOVZX;
	const bool is_before = (uint32_t)code[0] == ADD || (is_movzx && at_3 == ADD) ||
			       (is_movzx && at_6 == ADD) ||
			       ((code[0] & 255) == MOV && (uint32_t)code[1] == ADD);
	return is_before ? place + 4 : place;
}

/* While the interpreter runs, what it has is in registers. */
WALK_INLINE bool walk_luajit_registers(struct walk *walk, int32_t runs)
{
	enum { LINK = 0xf85a8948 }; /* mov %rbx, -8(%rdx) */
	struct walk_luajit_notes *notes = &walk->space->luajit;
	const struct walk_registers *registers = &walk->registers;
	uint64_t code[2];
	notes->base_avma = registers->dx;
	notes->how = LUAJIT_PLACE_TORN;
	if (walk_read(code, sizeof(code), registers->ip))
		return false;
	notes->place_avma = walk_luajit_place(code, registers->bx);
	if ((uint32_t)code[0] == LINK) {
		/* The next instruction links the frame that is entered: it is the caller's turn. */
		uint32_t call;
		if (registers->bx & 3 || walk_read(&call, sizeof(call), registers->bx - 4) ||
		    ((call & 255) != LUAJIT_OP_CALL && (call & 255) != LUAJIT_OP_CALLM))
			return false;
		notes->base_avma -= 16 + 8 * (uint64_t)(call >> 8 & 255);
	}
	/* When compiled code was left, the place is not yet that of what runs. */
	if (runs >= 0 || runs == LUAJIT_RUNS_EXIT)
		notes->how = LUAJIT_PLACE_NONE;
	return runs >= LUAJIT_RUNS_INTERPRETER || runs == LUAJIT_RUNS_EXIT;
}

/* 1 or 0, without a branch: each would double what the verifier looks at. */
WALK_INLINE uint32_t walk_luajit_below(uint64_t number, uint32_t limit)
{
	return (uint32_t)(((number - limit) & ~number) >> 63);
}

/* Which of the interpreter's calls that need care it is, from 1; 0: none. */
WALK_INLINE uint32_t walk_luajit_call(const struct walk *walk, uint64_t back_avma)
{
	const struct walk_luajit *luajit = &walk->runtime->luajit;
	const uint64_t at = back_avma - luajit->vm_avma;
	uint32_t found = 0;
	for (uint32_t i = 0; i < WALK_LUAJIT_CALLS; i++)
		found |= (i + 1) * walk_luajit_below(luajit->calls[i] ^ at, 1);
	return found;
}

/* What a function in C, or compiled code, was called with. */
WALK_INLINE bool walk_luajit_called(struct walk *walk, uint64_t jit_base)
{
	const struct walk_luajit *luajit = &walk->runtime->luajit;
	struct walk_luajit_notes *notes = &walk->space->luajit;
	uint64_t back;
	if (!walk_read_word(&back, notes->cframe_avma - 8))
		return false;
	notes->how = LUAJIT_PLACE_NONE;
	notes->is_settling = true;
	if (jit_base) {
		notes->base_avma = jit_base;
		return true;
	}
	/* When compiled code was left, nothing is yet where it belongs. */
	if (back - luajit->vm_avma >= luajit->vm_bytes)
		return true;
	const uint32_t call = walk_luajit_call(walk, back);
	if (call && call <= luajit->keeping) {
		notes->base_avma = walk->registers.bp;
		notes->place_avma = walk->registers.bx;
		notes->is_settling = false;
	}
	if (!call || call <= luajit->keeping)
		notes->how = LUAJIT_PLACE_MAYBE;
	return true;
}

/* Can what was read be a C frame? Its state may be anywhere, so the rest must be right before a
 * failure to read it means anything.
 */
WALK_INLINE bool walk_luajit_is_likely(const struct walk *walk, uint64_t cframe)
{
	enum { MOST_RESULTS = 1 << 20, MOST_BYTES = 1 << 28, STACK_BYTES = 1 << 24 };
	const uint64_t state = walk_frame_word(walk, LUAJIT_CFRAME_STATE);
	const uint64_t previous = walk_frame_word(walk, LUAJIT_CFRAME_PREVIOUS);
	const int32_t results = (int32_t)walk_frame_half(walk, LUAJIT_CFRAME_RESULTS);
	return state >= 65536 && !(state & 7) && !(state >> 47) &&
	       !(walk_frame_word(walk, LUAJIT_CFRAME_PLACE) >> 47) && results < MOST_RESULTS &&
	       results > -MOST_BYTES &&
	       (!previous || previous - cframe - LUAJIT_CFRAME_BYTES < STACK_BYTES);
}

/* A C frame, if it is one. Returns other than 0 where the walk ends: one that is passed over
 * because it cannot be read would leave the wrong one for the innermost.
 */
WALK_INLINE long walk_luajit_try(struct walk *walk, uint64_t cframe, bool is_top)
{
	struct walk_luajit_notes *notes = &walk->space->luajit;
	struct {
		int32_t runs;
		uint32_t zero;
		uint64_t main;
	} global;
	uint64_t word = 0;
	if (cframe < notes->floor_avma || cframe & 7)
		return 0;
	if (!walk_read_frame(walk, LUAJIT_CFRAME_PREVIOUS + 8, cframe))
		return walk_end(walk, WALK_END_READ_FRAME);
	if (!walk_luajit_is_likely(walk, cframe))
		return 0;
	const uint64_t state = walk_frame_word(walk, LUAJIT_CFRAME_STATE);
	const uint64_t previous = walk_frame_word(walk, LUAJIT_CFRAME_PREVIOUS) & ~3ull;
	if (previous && !walk_read_word(&word, previous + LUAJIT_CFRAME_STATE))
		return walk_end(walk, WALK_END_READ_FRAME);
	if (previous && word != state)
		return 0;
	if (!walk_read_frame(walk, LUAJIT_STATE_BYTES, state))
		return walk_end(walk, WALK_END_READ_THREAD);
	if (walk_frame_byte(walk, LUAJIT_KIND) != LUAJIT_IS_STATE)
		return 0;
	/* One below it, which the state has, was made by a callback: its caller is not ours. */
	const uint64_t own = walk_frame_word(walk, LUAJIT_STATE_CFRAME) & ~3ull;
	if (own != cframe) {
		if (is_top || own < notes->floor_avma || own > cframe)
			return 0;
		if (!walk_read_word(&word, own + LUAJIT_CFRAME_STATE))
			return walk_end(walk, WALK_END_READ_FRAME);
		if (word != state)
			return 0;
	}
	const uint64_t base = walk_frame_word(walk, LUAJIT_STATE_BASE);
	const uint64_t above = walk_frame_word(walk, LUAJIT_STATE_GLOBAL);
	uint64_t jit_base = 0;
	notes->stack_avma = walk_frame_word(walk, LUAJIT_STATE_STACK);
	notes->stack_end_avma = walk_frame_word(walk, LUAJIT_STATE_STACK_END);
	if (walk_read(&global, sizeof(global), above + LUAJIT_GLOBAL_RUNS) ||
	    !walk_read_word(&jit_base, above + LUAJIT_GLOBAL_JIT_BASE) ||
	    !walk_read_word(&word, global.main + LUAJIT_STATE_GLOBAL))
		return walk_end(walk, WALK_END_READ_THREAD);
	if (word != above)
		return 0;
	const bool is_outer = notes->is_outer;
	notes->state_avma = state;
	notes->base_avma = base;
	notes->cframe_avma = own;
	notes->is_walking = true;
	notes->is_outer = true;
	notes->is_shown = false;
	notes->is_settling = false;
	bool is_right = true;
	if (is_top) {
		is_right = walk_luajit_registers(walk, global.runs);
	} else if (is_outer) {
		notes->how = LUAJIT_PLACE_MAYBE;
		notes->is_settling = true;
	} else {
		is_right = walk_luajit_called(walk, jit_base);
	}
	return is_right ? 0 : walk_end(walk, WALK_END_TORN);
}

/* All of the C stack that is there was searched. What the interpreter resumed has a resumer. */
WALK_INLINE long walk_luajit_end(struct walk *walk, enum walk_end reason)
{
	const struct walk_luajit_notes *notes = &walk->space->luajit;
	if (!notes->is_outer)
		return walk_end(walk, WALK_END_IDLE);
	return walk_end(walk, notes->is_resumed ? reason : WALK_END_ROOT);
}

/* Which bit the lowest is. */
WALK_INLINE uint32_t walk_luajit_lowest(uint32_t bits)
{
	static const uint32_t halves[] = { 0xaaaaaaaa, 0xcccccccc, 0xf0f0f0f0, 0xff00ff00,
					   0xffff0000 };
	const uint32_t lowest = bits & -bits;
	uint32_t at = 0;
	for (uint32_t i = 0; i < 5; i++)
		at |= (1 - walk_luajit_below(lowest & halves[i], 1)) << i;
	return at;
}

WALK_INLINE long walk_luajit_look(struct walk *walk)
{
	const struct walk_luajit *luajit = &walk->runtime->luajit;
	struct walk_luajit_notes *notes = &walk->space->luajit;
	uint64_t cframe;
	const bool is_top = notes->tries < LUAJIT_TRIES;
	if (is_top) {
		cframe = walk->registers.sp + 8 * (uint64_t)notes->tries++;
	} else if (notes->words) {
		cframe = notes->piece_avma - LUAJIT_PIECE_BYTES +
			 8 * (uint64_t)walk_luajit_lowest(notes->words) - LUAJIT_CFRAME_RETURN;
		notes->words &= notes->words - 1;
	} else {
		if (!notes->pieces_left)
			return walk_luajit_end(walk, WALK_END_DEPTH);
		uint32_t words = 0;
		notes->pieces_left--;
		if (!walk_read_code(walk, LUAJIT_PIECE_BYTES, notes->piece_avma))
			return walk_luajit_end(walk, WALK_END_READ_FRAME);
		notes->piece_avma += LUAJIT_PIECE_BYTES;
		for (uint32_t i = 0; i < WALK_CODE_WORDS; i++)
			words |= walk_luajit_below(walk->space->code[i] - luajit->text_avma,
						   luajit->text_bytes)
				 << i;
		notes->words = words;
		return 0;
	}
	return walk_luajit_try(walk, cframe, is_top);
}

/* Its code has no symbol that would say where an activation is on a native stack. */
WALK_INLINE void walk_luajit_evaluator(struct walk *walk)
{
	const struct walk_luajit *luajit = &walk->runtime->luajit;
	const struct walk_key key = walk_key(walk, luajit->vm_avma, 0);
	if (!walk_must_define(walk, &key))
		return;
	walk_define(walk, &key, WALK_CODE_EVALUATOR, luajit->vm_bytes);
	walk_defined(walk, 0, 0, 0);
}

static long walk_luajit_step(uint32_t index, void *context)
{
	struct walk *walk = context;
	(void)index;
	if (walk->space->luajit.is_settling)
		return walk_luajit_settle(walk);
	return walk->space->luajit.is_walking ? walk_luajit_frame(walk) : walk_luajit_look(walk);
}

WALK_INLINE void walk_luajit(struct walk *walk)
{
	const struct walk_luajit *luajit = &walk->runtime->luajit;
	struct walk_luajit_notes *notes = &walk->space->luajit;
	walk_luajit_evaluator(walk);
	walk_luajit_search(walk, walk->registers.sp);
	notes->is_outer = false;
	notes->is_resumed = false;
	notes->is_shown = false;
	notes->tries = walk->registers.ip - luajit->vm_avma < luajit->vm_bytes ? 0 : LUAJIT_TRIES;
	walk_end(walk, WALK_END_DEPTH);
	/* Each frame takes up to three steps, the C stack two for each piece. */
	WALK_LOOP(4 * WALK_MAX_FRAMES, walk_luajit_step, walk);
}

#endif
