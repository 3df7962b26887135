/* walk.h - from registers and a piece of stack to the addresses that called.
 *
 *   struct unwind_callbacks callbacks = { .context = c, .find = find };
 *   struct unwind_state state = { .machine = UNWIND_X86_64, .registers = registers,
 *                                 .stack_avma = sp, .stack = bytes };
 *   enum unwind_end end;
 *   size_t count = unwind_walk(&callbacks, &state, avmas, limit, &end);
 *
 * Each frame is found the way its code asks for: by the object's call frame
 * information, by a rule that the caller gives, by the frame pointer, or by the shape
 * of a stub. The first address is where the thread was, the others are return
 * addresses, or where a signal interrupted. Frames of an interpreter hold what it
 * runs: who wants to read that is called at each of them. Allocates nothing; any
 * thread, but see cfi.h on tables.
 */
#ifndef UNWIND_WALK_H
#define UNWIND_WALK_H

#include "base/bytes.h"
#include "unwind/cfi.h"
#include "unwind/registers.h"

enum unwind_code {
	UNWIND_UNKNOWN,       /* nothing is known: the walk ends */
	UNWIND_CFI,           /* ask the table */
	UNWIND_RULE,          /* as the row in the place says (rules.h has the usual ones) */
	UNWIND_FRAME_POINTER, /* it points at the saved one, the return address above it */
	UNWIND_STUB, /* calls with eight bytes of its own on the stack (CPython's trampolines);
		      * on aarch64 with the frame pointer and the link register there
		      */
	UNWIND_INTERPRETER, /* by frame pointer, too; `interpreter` is called */
};

struct unwind_place {
	enum unwind_code code;
	enum unwind_code otherwise; /* UNWIND_CFI: in place of it where the table has no row */
	struct cfi_table *table;    /* UNWIND_CFI */
	uint64_t svma;              /* of the address that was asked for */
	struct cfi_row rule;        /* UNWIND_RULE */
	/* UNWIND_RULE: instead of `rule`, one that the caller keeps, from a table: it is no guess.
	 */
	const struct cfi_row *row;
	bool is_interpreter; /* `interpreter` is called, however the frame is found */
};

/* A frame whose registers and words can be read; lives for the call. */
struct unwind_frame {
	size_t index; /* of its address among those that are written; 0 is the innermost */
	/* pc is where the thread was: the innermost, or one that a signal interrupted. Else it is a
	 * return address, which may belong to what follows the caller.
	 */
	bool is_exact;
	uint64_t avma; /* to look up: pc, or the byte before a return address */
	enum unwind_machine machine;
	const struct unwind_registers *registers;
	uint64_t stack_avma; /* of the first of the bytes */
	struct bytes stack;
};

struct unwind_callbacks {
	void *context;
	/* *place is zero, that is UNWIND_UNKNOWN. */
	void (*find)(void *context, const struct unwind_frame *frame, struct unwind_place *place);
	/* May be NULL. */
	void (*interpreter)(void *context, const struct unwind_frame *frame);
};

/* The word at an address of the stack, or so many bytes from where the frame pointer points to;
 * false where the piece of stack lacks it.
 */
bool unwind_stack_word(const struct unwind_frame *frame, uint64_t avma, uint64_t *word);
bool unwind_frame_word(const struct unwind_frame *frame, int32_t from_bp, uint64_t *word);

struct unwind_state {
	enum unwind_machine machine;
	struct unwind_registers registers;
	uint64_t stack_avma; /* of the first of the bytes: mostly sp, or below it */
	struct bytes stack;
};

enum unwind_end {
	UNWIND_WHOLE,        /* reached the thread's first function */
	UNWIND_TRUNCATED,    /* the piece of stack is too short */
	UNWIND_NO_CFI,       /* known code, but nothing says how to go on */
	UNWIND_BAD_CFA,      /* the frame would not lie above the one before */
	UNWIND_TOO_DEEP,     /* more frames than `limit` */
	UNWIND_UNKNOWN_CODE, /* an address that nobody knows */
	UNWIND_NO_REGISTER,  /* the frame is found by a register whose value is not known */
};

/* Returns how many addresses were written. */
size_t unwind_walk(const struct unwind_callbacks *callbacks, const struct unwind_state *state,
		   uint64_t *avmas, size_t limit, enum unwind_end *end);

/* A short sentence for people. */
const char *unwind_end_text(enum unwind_end end);

#endif
