/* slice.h - a profile of one interval as cells.
 *
 *   struct live_slice_options options = { .event = 0, .process_name = name, .context = names };
 *   live_slice(&cells, &strings, &profile, &options);
 */
#ifndef TOP_SLICE_H
#define TOP_SLICE_H

#include "top/cells.h"

struct live_slice_options {
	uint32_t event;
	bool with_callers; /* count functions also while those that they called ran */
	/* The name of a process, as an id of the strings; INTERN_NONE: `thread_name` is the best
	 * that is known.
	 */
	uint32_t (*process_name)(void *context, uint32_t pid);
	void *context;
};

/* What functions without a name are called. */
#define LIVE_UNKNOWN "[unknown]"

/* Fills empty cells: all but seconds, cpu_seconds and lost_count. Returns 0 or STATUS_NO_MEMORY. */
int live_slice(struct live_cells *cells, struct intern *strings, const struct profile *profile,
	       const struct live_slice_options *options);

#endif
