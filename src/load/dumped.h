/* dumped.h - frames of interpreters with a slot, found in the copies of stacks.
 *
 *   dumped_read(load);                                    when the bundle is there
 *   if (dumped_take(load, &sample, space, &stacks))
 *           ... stacks.items[0] are its frames
 *
 * Frames of such an interpreter (include/polyperf/interp.h) lie on the C stack, each with a mark
 * that depends on its address, and are linked. A recorder that may not walk keeps what they look
 * like and what their code is in the member "frames" of the recording (docs/formats/recording.md).
 * What is found is taken for a stack only as far as its links hold.
 */
#ifndef LOAD_DUMPED_H
#define LOAD_DUMPED_H

#include "load/stacks.h"

/* Returns 0 or STATUS_NO_MEMORY. */
int dumped_read(struct load *load);

/* False where the sample has none. What is found is good until the next call. */
bool dumped_take(struct load *load, const struct perfdata_sample *sample, uint32_t space,
		 struct stacks_found *found);

void dumped_free(struct load *load);

#endif
