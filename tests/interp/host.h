/* host.h - the walk outside of the kernel, over memory that a test gives.
 *
 *   struct host host = { .context = &image, .read = image_read, .told = &told };
 *   host_walk(&host, &runtime, &registers, &sample);
 *
 * What the walk writes goes to told_record(). One walk at a time.
 */
#ifndef TESTS_INTERP_HOST_H
#define TESTS_INTERP_HOST_H

#include "base/vector.h"
#include "bpf/walk.h"
#include "interp/told.h"

struct host {
	void *context;
	/* Copies exactly `size` bytes; false where they are not there. */
	bool (*read)(void *context, uint64_t avma, void *to, size_t size);
	struct told *told;
	/* The walk's read with this number fails, counted from 0; < 0: none does. */
	long failing_read;
	long reads;
	bool is_full; /* nothing can be written */
	VECTOR(struct walk_key) known;
};

void host_walk(struct host *host, const struct walk_runtime *runtime,
	       const struct walk_registers *registers, const struct walk_sample *sample);
void host_clear(struct host *host);

#endif
