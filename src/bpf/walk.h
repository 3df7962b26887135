/* walk.h - what the walks of all interpreters share; compiled for BPF and for the host.
 *
 * A walk reads a foreign process through four functions that its surroundings give:
 *
 *   walk_read()     copies memory of the process; fails rather than waits for it
 *   walk_write()    puts a record into the ring
 *   walk_is_known() whether a code object was defined before
 *   walk_know()     remembers that it was
 *
 * In the kernel these are BPF helpers, in tests a recorded memory image. Every loop has a
 * bound that is known when it begins (WALK_LOOP), every offset from a descriptor is masked
 * to the buffer it is used in: a wrong descriptor gives a wrong answer, never a wrong access.
 */
#ifndef BPF_WALK_H
#define BPF_WALK_H

#include "bpf/abi.h"

#include <stdbool.h>
#include <stddef.h>

#define WALK_INLINE static inline __attribute__((always_inline))

/* The registers that walks look at, as user space had them. */
struct walk_registers {
	uint64_t ip;
	uint64_t sp;
	uint64_t bp;
	uint64_t bx;
	uint64_t si;
	uint64_t r14;
	uint64_t r15;
	uint64_t fs; /* base of the thread's static TLS */
	uint64_t dx;
	uint64_t r12;
	uint64_t r13;
};

/* What a stack says besides its frames. */
struct walk_sample {
	uint64_t time_ns;
	uint64_t ip_avma;
	uint32_t pid;
	uint32_t tid;
};

/* So much of a text or a table is looked at to tell what it is. A power of two. */
enum { WALK_CHECK_WORDS = 128 };

/* What the walk of LuaJIT takes from step to step. */
struct walk_luajit_notes {
	uint64_t floor_avma; /* the C stack is searched from here on ... */
	uint64_t piece_avma; /* ... piece by piece: the next one */
	uint64_t stack_avma; /* the slots of the state */
	uint64_t stack_end_avma;
	uint64_t state_avma;
	uint64_t cframe_avma;    /* of the state: that of the next frame */
	uint64_t base_avma;      /* of the next frame */
	uint64_t place_avma;     /* ... in its bytecode */
	uint64_t prototype_avma; /* of the last frame, which is in `code`; 0: it is not */
	uint64_t check;
	uint32_t words;       /* of the last piece: those that may be return addresses */
	uint16_t pieces_left; /* of a search */
	uint8_t tries;        /* C frames that registers lead to */
	uint8_t how;          /* enum luajit_place: of place_avma */
	uint8_t is_walking;   /* through a state's frames, not the C stack */
	uint8_t is_outer;     /* a state was found before */
	uint8_t is_shown;     /* the next frame is of the same call as the last one, or of none */
	uint8_t is_resumed;   /* the last state was, by the interpreter */
	uint8_t is_settling;  /* the C frame of the next frame is looked for */
	uint8_t zero[3];
};

enum { WALK_LUA_STATES = 8 }; /* that resume one another; a power of two */

/* What the walk of Lua takes from step to step. */
struct walk_lua_notes {
	uint64_t states[WALK_LUA_STATES]; /* each resumed the next; 0: no more */
	uint32_t count;                   /* of those that are not walked yet; 0: too many */
	/* The search for a line: where it is written out. */
	uint32_t instruction;
	uint32_t low;
	uint32_t high;
	int32_t start;
	int32_t line;
};

/* Too big for the stack that BPF has: in the kernel there is one a CPU. */
struct walk_space {
	struct walk_stack stack;
	struct walk_frame frames[WALK_MAX_FRAMES];
	uint64_t frame[WALK_FRAME_WORDS];
	uint64_t code[WALK_CODE_WORDS];
	struct walk_definition definition;
	/* The last piece may begin anywhere in what the texts can take. */
	uint8_t data[4096 + WALK_MAX_PIECE];
	struct walk_table table;
	uint8_t piece[WALK_MAX_PIECE];
	uint64_t content[WALK_CHECK_WORDS + 8]; /* and what is filled up */
	struct walk_luajit_notes luajit;
	struct walk_lua_notes lua;
};

struct walk {
	void *context; /* of the functions below */
	struct walk_space *space;
	const struct walk_runtime *runtime;
	struct walk_registers registers;
	uint64_t at_avma;      /* the next frame, or what it is reached by */
	uint64_t state_avma;   /* of the thread */
	uint64_t end_avma;     /* of an array of frames */
	uint64_t carried_avma; /* what a language takes from frame to frame */
	uint64_t check;        /* of the code at carried_avma */
	uint64_t file_avma;    /* the text that file_check was made of */
	uint64_t file_check;
	int32_t index;
	uint32_t definitions_left;
	uint32_t table_at;
	uint64_t table_avma;
};

#ifdef __bpf__
#include "bpf/walk_kernel.h"
#else
long walk_read(void *to, uint32_t size, uint64_t avma);
/* Like walk_read() up to and with a zero byte; returns the length with it, or < 0. */
long walk_read_text(void *to, uint32_t size, uint64_t avma);
long walk_write(void *context, const void *record, uint32_t size);
bool walk_is_known(const struct walk_key *key);
void walk_know(const struct walk_key *key);
/* Calls step(index, walk) up to `count` times, until it returns other than 0. */
#define WALK_LOOP(count, step, walk)                                  \
	do {                                                          \
		for (uint32_t walk_i = 0; walk_i < (count); walk_i++) \
			if ((step)(walk_i, (walk)))                   \
				break;                                \
	} while (0)
#define WALK_OPAQUE(variable) ((void)0)
#endif

WALK_INLINE bool walk_read_word(uint64_t *word, uint64_t avma)
{
	return walk_read(word, sizeof(*word), avma) == 0;
}

/* Of what was read of a frame or a code object; the buffers have powers of two. */
WALK_INLINE uint64_t walk_frame_word(const struct walk *walk, uint32_t offset)
{
	return walk->space->frame[offset / 8 & (WALK_FRAME_WORDS - 1)];
}

WALK_INLINE uint32_t walk_frame_half(const struct walk *walk, uint32_t offset)
{
	return (uint32_t)(walk_frame_word(walk, offset) >> (offset & 4) * 8);
}

WALK_INLINE uint8_t walk_frame_byte(const struct walk *walk, uint32_t offset)
{
	return (uint8_t)(walk_frame_word(walk, offset) >> (offset & 7) * 8);
}

WALK_INLINE uint64_t walk_code_word(const struct walk *walk, uint32_t offset)
{
	return walk->space->code[offset / 8 & (WALK_CODE_WORDS - 1)];
}

WALK_INLINE uint32_t walk_code_half(const struct walk *walk, uint32_t offset)
{
	return (uint32_t)(walk_code_word(walk, offset) >> (offset & 4) * 8);
}

WALK_INLINE bool walk_read_frame(struct walk *walk, uint32_t bytes, uint64_t avma)
{
	WALK_OPAQUE(bytes);
	return bytes <= sizeof(walk->space->frame) &&
	       walk_read(walk->space->frame, bytes, avma) == 0;
}

WALK_INLINE bool walk_read_code(struct walk *walk, uint32_t bytes, uint64_t avma)
{
	WALK_OPAQUE(bytes);
	return bytes <= sizeof(walk->space->code) && walk_read(walk->space->code, bytes, avma) == 0;
}

WALK_INLINE uint64_t walk_mix(uint64_t so_far, uint64_t more)
{
	/* An odd constant with well-spread bits: that of the golden ratio. */
	so_far = (so_far ^ more) * 0x9e3779b97f4a7c15u;
	return so_far ^ so_far >> 29;
}

/* Some words, as a step costs more than to mix one. */
enum { WALK_MIX_WORDS = 8 };

static long walk_mix_step(uint32_t index, void *context)
{
	struct walk *walk = context;
	const uint64_t *content =
	    &walk->space->content[WALK_MIX_WORDS * index & (WALK_CHECK_WORDS - 1)];
	for (int i = 0; i < WALK_MIX_WORDS; i++)
		walk->check = walk_mix(walk->check, content[i]);
	return 0;
}

/* Mixes so many bytes of the content that was read into the check. */
WALK_INLINE void walk_check_read(struct walk *walk, uint32_t bytes)
{
	uint64_t *content = walk->space->content;
	WALK_OPAQUE(bytes);
	if (bytes > 8 * WALK_CHECK_WORDS)
		return;
	content[bytes / 8] &= ~(UINT64_MAX << bytes % 8 * 8);
	for (uint32_t i = 1; i < WALK_MIX_WORDS; i++)
		content[bytes / 8 + i] = 0;
	WALK_LOOP((bytes + 8 * WALK_MIX_WORDS - 1) / (8 * WALK_MIX_WORDS), walk_mix_step, walk);
}

/* Mixes into the check what is at an address, not only where it is: of long content its end, and
 * how long it is. What cannot be read now cannot be told of either, so that the address will do.
 */
WALK_INLINE void walk_check_content(struct walk *walk, uint64_t avma, uint64_t bytes)
{
	walk->check = walk_mix(walk->check, bytes);
	uint32_t here = 8 * WALK_CHECK_WORDS;
	if (bytes < here)
		here = (uint32_t)bytes;
	else
		avma += bytes - here;
	WALK_OPAQUE(here);
	if (here > 8 * WALK_CHECK_WORDS)
		return;
	if (walk_read(walk->space->content, here, avma))
		walk->check = walk_mix(walk->check, avma);
	else
		walk_check_read(walk, here);
}

/* Ends the walk; to be returned from a step. */
WALK_INLINE long walk_end(struct walk *walk, enum walk_end end)
{
	walk->space->stack.end = (uint8_t)end;
	return 1;
}

/* The value of the thread's pthread key; 0 as its value where it was never set. */
WALK_INLINE bool walk_root_key(const struct walk *walk, uint64_t *state)
{
	const struct walk_root *root = &walk->runtime->root;
	struct {
		uint32_t first;
		uint32_t second;
	} key = { 0, 0 };
	uint64_t values = 0;
	*state = 0;
	if (walk_read(&key, root->kind == WALK_ROOT_TSS ? 8 : 4, root->place))
		return false;
	if (root->kind == WALK_ROOT_TSS) {
		if (key.first != 1)
			return true;
		key.first = key.second;
	}
	/* glibc: 32 tables of 32 values, each {sequence number, value}. */
	if (key.first >= 1024)
		return false;
	if (!walk_read_word(&values, walk->registers.fs + root->detail + 8 * (key.first / 32)))
		return false;
	return !values || walk_read_word(state, values + 16 * (key.first % 32) + 8);
}

/* False where it could not be read. */
WALK_INLINE bool walk_root(const struct walk *walk, uint64_t *state)
{
	const struct walk_root *root = &walk->runtime->root;
	uint64_t table;
	switch (root->kind) {
	case WALK_ROOT_ADDRESS:
		return walk_read_word(state, root->place);
	case WALK_ROOT_TLS:
		return walk_read_word(state, walk->registers.fs + root->place);
	case WALK_ROOT_TLS_AT:
		*state = 0;
		return walk_read_word(&table, root->place) &&
		       (!table || walk_read_word(state, walk->registers.fs + table));
	case WALK_ROOT_DTV:
		/* The second word of a thread's control block; {address, to free} a module. */
		if (!walk_read_word(&table, walk->registers.fs + 8) ||
		    !walk_read_word(&table, table + 16 * (uint64_t)root->detail))
			return false;
		/* Not touched by this thread: all ones. */
		*state = 0;
		return table == UINT64_MAX || walk_read_word(state, table + root->place);
	case WALK_ROOT_TSS:
	case WALK_ROOT_KEY:
		return walk_root_key(walk, state);
	default:
		*state = root->place;
		return true;
	}
}

/* The state that a walk begins with. False ends the stack: for `none` where there is no state. */
WALK_INLINE bool walk_state(struct walk *walk, enum walk_end none, uint64_t *state)
{
	if (!walk_root(walk, state)) {
		walk_end(walk, WALK_END_READ_THREAD);
		return false;
	}
	if (!*state) {
		walk_end(walk, none);
		return false;
	}
	return true;
}

/* Appends a frame. Returns 0, or what ends the walk. */
WALK_INLINE long walk_add(struct walk *walk, const struct walk_key *key, int32_t position,
			  uint32_t flags)
{
	uint32_t count = walk->space->stack.frame_count;
	WALK_OPAQUE(count);
	if (count >= WALK_MAX_FRAMES)
		return walk_end(walk, WALK_END_DEPTH);
	struct walk_frame *frame = &walk->space->frames[count];
	frame->code_avma = key->code_avma;
	frame->check = key->check;
	frame->position = position;
	frame->flags = flags;
	walk->space->stack.frame_count = (uint16_t)(count + 1);
	return 0;
}

/* More flags for the last frame; or a leaf without a frame. */
WALK_INLINE void walk_end_activation(struct walk *walk)
{
	uint32_t last = (uint32_t)walk->space->stack.frame_count - 1;
	WALK_OPAQUE(last);
	if (last < WALK_MAX_FRAMES)
		walk->space->frames[last].flags |= WALK_FRAME_ENTRY;
	else
		walk->space->stack.flags |= WALK_STACK_BARE_LEAF;
}

WALK_INLINE struct walk_key walk_key(const struct walk *walk, uint64_t code_avma, uint64_t check)
{
	return (struct walk_key){ .code_avma = code_avma,
				  .check = check,
				  .pid = walk->space->stack.head.pid,
				  .runtime = walk->runtime->id };
}

#endif
