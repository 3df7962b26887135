/* inlined.h - source lines of code made at run time, and what was inlined into it. */
#ifndef LOAD_INLINED_H
#define LOAD_INLINED_H

#include "load/load_internal.h"

/* An address in a code object. */
struct inlined_place {
	uint32_t code;
	uint64_t start_avma; /* of the code, as it was found */
	uint64_t offset;
};

/* The next entry of load_code_lines(), its name repaired; false behind the last. */
bool inlined_next_line(struct load *load, uint32_t code, struct jitdump_debug_walk *walk,
		       struct jitdump_debug_entry *entry);

/* Gives *frame its line, and fills `inlined` with a frame for each function that was inlined
 * around the place, outermost first; as far as the options ask and the runtime told. Returns
 * how many; at most `limit`. A frame without memory has function INTERN_NONE.
 */
uint32_t inlined_frames(struct load *load, const struct inlined_place *place,
			struct profile_frame *frame, struct profile_frame *inlined, uint32_t limit);

#endif
