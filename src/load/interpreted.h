/* interpreted.h - the function that an interpreter ran, for frames of the interpreter's own code.
 *
 *   struct interpreted_place place = { .pid = pid, .time_ns = time_ns, .id = id };
 *   place.bytecode_avmas[place.bytecode_count++] = word;
 *   uint64_t word = interpreted_find(load, &place);         while stacks are walked
 *   interpreted_name(load, word, &frame);                   when frames are made
 *
 * Runtimes tell by METHOD records which functions there are, and an interpreter keeps in its
 * frames which of them it runs, and where in it. Those records are kept only where samples carry
 * a piece of stack: else nothing could lead to them.
 *
 * A word says all that a frame needs, and means the same at any time, so that it can be part of a
 * chain's key.
 */
#ifndef LOAD_INTERPRETED_H
#define LOAD_INTERPRETED_H

#include "load/load_internal.h"

struct jitdump_method;

/* What was found in a frame. Which of the words points into the bytecode depends on the version
 * and state of the interpreter: the first that lies in the function's own counts.
 */
enum { INTERPRETED_GUESSES = 3 };
struct interpreted_place {
	uint32_t pid;
	uint64_t time_ns;
	uint64_t id;
	uint64_t bytecode_avmas[INTERPRETED_GUESSES];
	size_t bytecode_count;
	bool is_entry; /* it is about to begin, with the first bytecode */
};

/* Keeps a METHOD record; `about` has pid, source, time and offset. Returns 0 or
 * STATUS_NO_MEMORY.
 */
int interpreted_keep(struct load *load, const struct interpreted_method *about,
		     const struct jitdump_method *method);

/* When all are kept. */
void interpreted_seal(struct load *load);

/* True where code at an address is an interpreter whose frames can be read. */
bool interpreted_is_by(const struct load *load, uint32_t code);

/* Does a record speak of the id? */
bool interpreted_is_known(const struct load *load, const struct interpreted_place *place);

/* Never 0: where no record speaks of the function, the word says so. */
uint64_t interpreted_find(const struct load *load, const struct interpreted_place *place);

/* What interpreted_name() has to say. */
struct interpreted_name {
	uint64_t told_ns;   /* when the function was told, if that was too late to be certain */
	const char *reason; /* false: why there is no name; a static phrase */
};

/* Fills function, trust, object_path and line of a frame. False where there is no such function, or
 * no name for it: the interpreter's own has to do.
 */
bool interpreted_name(struct load *load, uint64_t word, struct profile_frame *frame,
		      struct interpreted_name *name);

#endif
