/* inlined.h - source lines of code, and what was inlined into it. */
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

/* An address in a mapped file, as linked. */
struct inlined_native_place {
	uint32_t object;
	uint64_t svma;
};

/* Gives *frame its line, and fills `inlined` with a frame for each function that was inlined
 * around the place, outermost first; as far as the options ask and it is known: from the runtime,
 * or from the debug information of the file. *frame is else filled before. Returns how many; at
 * most `limit`. A frame without memory has function INTERN_NONE.
 */
uint32_t inlined_of_code(struct load *load, const struct inlined_place *place,
			 struct profile_frame *frame, struct profile_frame *inlined,
			 uint32_t limit);
uint32_t inlined_of_object(struct load *load, const struct inlined_native_place *place,
			   struct profile_frame *frame, struct profile_frame *inlined,
			   uint32_t limit);

#endif
