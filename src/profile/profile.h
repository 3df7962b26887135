/* profile.h - samples as interned stacks and weights: all that a report may see.
 *
 * Every thing is a 32-bit id into one table of the profile: strings, functions,
 * frames, stacks, threads. Rows count samples of one (thread, event, stack).
 * Memory grows with distinct things, not with samples. Filled by load/, read by
 * report/; one thread while it is filled, any number after.
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include "base/intern.h"
#include "base/vector.h"

#include <stdbool.h>
#include <stdint.h>

/* How far a name can be trusted. The same order as timeline's. */
#define PROFILE_TRUST_LIST(X)     \
	X(EXACT, "exact")         \
	X(EARLY, "early")         \
	X(UNTIMED, "untimed")     \
	X(AMBIGUOUS, "ambiguous") \
	X(STALE, "stale")         \
	X(UNKNOWN, "unknown")

enum profile_trust {
#define X(name, text) PROFILE_##name,
	PROFILE_TRUST_LIST(X)
#undef X
	    PROFILE_TRUST_COUNT
};

const char *profile_trust_name(enum profile_trust trust);

/* Why a stack goes no further than its outermost frame: a key for programs, words for people. */
#define PROFILE_END_LIST(X)                                               \
	X(NOT_DUMPED, "not_dumped", "followed by the kernel")             \
	X(WHOLE, "whole", "whole")                                        \
	X(TRUNCATED, "truncated", "cut off by the size of the dump")      \
	X(NO_UNWINDING, "no_unwinding", "no unwind information")          \
	X(UNKNOWN_CODE, "unknown_code", "in code that nobody knows")      \
	X(BAD_FRAME, "bad_frame", "a frame address that cannot be right") \
	X(OTHER_STACK, "other_stack", "on a stack that was not dumped")   \
	X(ABSENT_PAGE, "absent_page", "at a page that was not in memory") \
	X(TOO_DEEP, "too_deep", "too deep")                               \
	X(NOT_UNWOUND, "not_unwound", "registers that we cannot read")

enum profile_end {
#define X(name, key, text) PROFILE_END_##name,
	PROFILE_END_LIST(X)
#undef X
	    PROFILE_END_COUNT
};

const char *profile_end_key(enum profile_end end);
const char *profile_end_text(enum profile_end end);

/* Code as a reader thinks of it: one entry a version, rows join by name. */
struct profile_function {
	uint32_t name;     /* string: as people write it */
	uint32_t raw_name; /* string: as the producer wrote it */
	uint32_t object;   /* string: short name of the file, "[jit]", "[kernel]" */
	uint32_t runtime;  /* string */
	uint32_t tier;     /* string */
	uint32_t version;  /* counts compilations of one (name, object), from 1; 0: interpreted */
	bool is_unknown;   /* no symbol: the name is the address */
	bool is_builtin;   /* a runtime has a frame for it, but it is written in C */
	bool is_osr;       /* entered in the middle of a loop, by on-stack replacement */
};

struct profile_frame {
	uint64_t avma;
	uint64_t
	    object_avma; /* as perf shows it in chains: file offset in a mapped file, else avma */
	uint64_t offset; /* from the start of the function's symbol */
	uint32_t function;
	uint32_t reason;      /* string: why unknown, or more about the trust; "" */
	uint32_t object_path; /* string: full path, as perf prints */
	uint32_t file;        /* string: source file, where it was asked for and is known; "" */
	uint32_t line;        /* from 1; 0: not known */
	/* The frame of the function whose code this one's was inlined into: id + 1; 0 where it was
	 * not. The two follow each other in every stack.
	 */
	uint32_t inlined_into;
	uint8_t trust; /* enum profile_trust */
	bool is_kernel;
	bool is_jit;
	bool has_offset;     /* false where there is no symbol */
	bool is_interpreted; /* of a language, found by the walk: it has no address of its own */
};

/* Leaf first. */
struct profile_stack {
	uint32_t first; /* index into frame_ids */
	uint32_t depth;
	uint8_t end; /* enum profile_end: two stacks of the same frames may end differently */
};

struct profile_thread {
	uint32_t pid;
	uint32_t tid;
	uint32_t comm; /* string */
};

struct profile_row {
	uint32_t thread;
	uint32_t event;
	uint32_t stack;
	uint64_t count;
	uint64_t weight; /* sum of periods */
};

struct profile {
	struct intern strings;
	VECTOR(struct profile_function) functions;
	VECTOR(struct profile_frame) frames;
	VECTOR(uint32_t) frame_ids;
	VECTOR(struct profile_stack) stacks;
	VECTOR(struct profile_thread) threads;
	VECTOR(uint32_t) events; /* strings */
	VECTOR(struct profile_row) rows;
	uint64_t lost_count;
	uint32_t dump_bytes; /* of stack that were asked for with each sample; 0: none */
	uint64_t first_ns;   /* of the samples that were kept */
	uint64_t last_ns;
	/* Open-addressing tables: hash slots hold id + 1. */
	struct profile_slots {
		uint32_t *slots;
		size_t count;
	} stack_slots, row_slots, thread_slots;
};

void profile_clear(struct profile *p);

/* Each returns the id, or INTERN_NONE without memory. */
uint32_t profile_add_stack(struct profile *p, const uint32_t *frame_ids, uint32_t depth);
uint32_t profile_add_ended_stack(struct profile *p, const uint32_t *frame_ids, uint32_t depth,
				 enum profile_end end);
uint32_t profile_add_thread(struct profile *p, uint32_t pid, uint32_t tid, uint32_t comm);

/* Adds to the row of (thread, event, stack). Returns its index, so that a caller
 * who sees the same three again can add to rows.items[] directly.
 */
uint32_t profile_add(struct profile *p, const struct profile_row *sample);

/* Ids of events: the first that has rows; the one of a name. INTERN_NONE where there is none. */
uint32_t profile_first_event(const struct profile *p);
uint32_t profile_find_event(const struct profile *p, const char *name);

static inline const char *profile_text(const struct profile *p, uint32_t string)
{
	return intern_get(&p->strings, string);
}

#endif
