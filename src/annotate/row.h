/* row.h - one line of a disassembly. */
#ifndef ANNOTATE_ROW_H
#define ANNOTATE_ROW_H

#include <stdbool.h>
#include <stdint.h>

struct annotate_count {
	uint64_t samples;
	uint64_t weight; /* sum of periods */
};

static inline void annotate_count_add(struct annotate_count *to, const struct annotate_count *more)
{
	to->samples += more->samples;
	to->weight += more->weight;
}

/* Samples of one offset of a function's code. */
struct annotate_hit {
	uint64_t offset;
	bool has_offset; /* false: its place in the code is not known */
	struct annotate_count count;
};

#define ANNOTATE_ROW_KINDS(X)                                                     \
	X(CODE, "code")       /* an instruction */                                \
	X(BYTES, "bytes")     /* what is no instruction */                        \
	X(DATA, "data")       /* what the runtime says is none */                 \
	X(INSIDE, "inside")   /* samples between the borders of the row before */ \
	X(BEYOND, "beyond")   /* samples behind the code that is known */         \
	X(NOWHERE, "nowhere") /* samples whose offset is not known */

enum annotate_row_kind {
#define X(name, text) ANNOTATE_ROW_##name,
	ANNOTATE_ROW_KINDS(X)
#undef X
};

#define ANNOTATE_FLOWS(X)                                 \
	X(ON, "") /* goes on with the next instruction */ \
	X(JUMP, "jump")                                   \
	X(BRANCH, "branch") /* jumps or goes on */        \
	X(CALL, "call")                                   \
	X(RETURN, "return")

enum annotate_flow {
#define X(name, text) ANNOTATE_FLOW_##name,
	ANNOTATE_FLOWS(X)
#undef X
};

/* What is drawn left of an instruction, from the outer lane to the inner one. */
enum { ANNOTATE_LANES = 8 };

enum annotate_cell {
	ANNOTATE_CELL_NONE,
	ANNOTATE_CELL_PASS,   /* a line from above to below */
	ANNOTATE_CELL_FIRST,  /* from the right, on to below */
	ANNOTATE_CELL_MIDDLE, /* from above to below, and to the right */
	ANNOTATE_CELL_LAST,   /* from above, to the right */
	ANNOTATE_CELL_ACROSS, /* from left to right */
	ANNOTATE_CELL_CROSS,  /* from left to right, over one that passes */
};

struct annotate_row {
	uint64_t offset;
	struct annotate_count count;
	uint64_t target;    /* where it goes to or what it speaks of, an address as start_avma */
	const char *callee; /* the name of that, outside the function; "" */
	uint32_t text;      /* into texts: "cmp rax, " with the target left out */
	uint32_t text_size;
	uint32_t target_row;           /* index + 1; 0: not in this function, or between its rows */
	uint32_t line;                 /* index into listing.lines + 1; 0: not known */
	uint8_t size;                  /* bytes of code; 0 of rows without code */
	uint8_t kind;                  /* enum annotate_row_kind */
	uint8_t flow;                  /* enum annotate_flow */
	bool has_target;               /* the instruction names an address */
	bool is_direct;                /* it jumps to that itself; the text ends before it */
	bool is_target;                /* of a jump in this function */
	bool is_arrow;                 /* an arrow ends here */
	uint8_t cells[ANNOTATE_LANES]; /* enum annotate_cell; the last is the inner lane */
};

const char *annotate_row_kind_name(enum annotate_row_kind kind);
const char *annotate_flow_name(enum annotate_flow flow);

/* True for a cell whose line goes on above its row. */
static inline bool annotate_cell_comes_from_above(uint8_t cell)
{
	return cell == ANNOTATE_CELL_PASS || cell == ANNOTATE_CELL_MIDDLE ||
	       cell == ANNOTATE_CELL_LAST || cell == ANNOTATE_CELL_CROSS;
}

#endif
