/* walked.h - frames of a profile for what the walk of an interpreter found.
 *
 *   walked_frame(load, &item, &item.frames[0], &frame);
 *
 * A function is one for all code objects of one name and file; it has no version, as nothing
 * compiles it. Frames have lines where load_options.lines asks for them.
 */
#ifndef LOAD_WALKED_H
#define LOAD_WALKED_H

#include "load/stacks.h"

/* Code that nobody told of gets a frame that says so. Returns 0 or STATUS_NO_MEMORY. */
int walked_frame(struct load *load, const struct stacks_item *item, const struct walk_frame *frame,
		 uint32_t *id);

/* What belongs to the profile under way. */
void walked_free(struct load *load);

#endif
