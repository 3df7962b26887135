/* unwind.h - dumped stacks: what the files unwind*.c share.
 *
 * unwind.c walks a sample's stack, unwind_place.c says how frames of the code at an address are
 * found, unwind_interpreter.c reads what an interpreter ran from its frames.
 */
#ifndef LOAD_UNWIND_H
#define LOAD_UNWIND_H

#include "load/load_internal.h"
#include "unwind/walk.h"

/* How a frame is found, and why a walk that ends there does so. */
struct place {
	struct unwind_place how;
	enum profile_end end;
};

/* The walk of one sample. */
struct walk {
	struct load *load;
	const struct perfdata_sample *sample;
	uint64_t *words;      /* of struct unwound */
	enum profile_end end; /* of the place that was asked for last */
};

/* Of the code at an address that a return address may be one byte behind. Answers are kept with
 * the interval of time in which they hold.
 */
void place_find(struct load *load, uint32_t pid, uint64_t avma, uint64_t time_ns,
		struct place *place);

/* For unwind_callbacks, with a struct walk. */
void walk_read_interpreter(void *context, const struct unwind_frame *frame);

#endif
