/* walk.h - from registers and a piece of stack to the addresses that called.
 *
 *   struct unwind_callbacks callbacks = { .context = c, .find = find };
 *   struct unwind_state state = { .pc_avma = pc, .sp_avma = sp, .bp_avma = bp };
 *   enum unwind_end end;
 *   size_t count = unwind_walk(&callbacks, &state, stack, avmas, limit, &end);
 *
 * Walks x86-64 stacks. Each frame is found the way its code asks for: by the
 * object's call frame information, by the frame pointer, or by the shape of a
 * stub. The first address is where the thread was, the others are return
 * addresses. Frames of an interpreter hold what it runs: who wants to read that is
 * called at each of them. Allocates nothing; any thread.
 */
#ifndef UNWIND_WALK_H
#define UNWIND_WALK_H

#include "base/bytes.h"
#include "unwind/cfi.h"

enum unwind_code {
	UNWIND_UNKNOWN,       /* nothing is known: the walk ends */
	UNWIND_CFI,           /* ask the table */
	UNWIND_FRAME_POINTER, /* rbp points at the saved rbp, the return address above it */
	UNWIND_STUB, /* calls with eight bytes of its own on the stack (CPython's trampolines) */
	UNWIND_INTERPRETER, /* by frame pointer, too; `interpreter` is called */
};

struct unwind_place {
	enum unwind_code code;
	const struct cfi_table *table; /* UNWIND_CFI */
	uint64_t svma;                 /* of the address that was asked for */
};

/* A frame whose words can be read. */
struct unwind_frame {
	size_t index; /* of its address among those that are written */
	uint64_t bp_avma;
	uint64_t stack_avma; /* of the first of the bytes */
	struct bytes stack;
};

struct unwind_callbacks {
	void *context;
	void (*find)(void *context, uint64_t avma, struct unwind_place *place);
	/* May be NULL. The frame lives for the call. */
	void (*interpreter)(void *context, const struct unwind_frame *frame);
};

/* The word so many bytes from where rbp points to; false where the piece of stack lacks it. */
bool unwind_frame_word(const struct unwind_frame *frame, int32_t from_bp, uint64_t *word);

struct unwind_state {
	uint64_t pc_avma;
	uint64_t sp_avma;
	uint64_t bp_avma;
};

enum unwind_end {
	UNWIND_WHOLE,     /* reached the thread's first function */
	UNWIND_TRUNCATED, /* the piece of stack is too short */
	UNWIND_NO_CFI,    /* nothing says how to go on */
	UNWIND_BAD_CFA,   /* the frame would not lie above the one before */
	UNWIND_TOO_DEEP,
};

/* `stack` starts at state->sp_avma. Returns how many addresses were written. */
size_t unwind_walk(const struct unwind_callbacks *callbacks, const struct unwind_state *state,
		   struct bytes stack, uint64_t *avmas, size_t limit, enum unwind_end *end);

#endif
