/* code_layer.h - timed code of one address space, as code_build.c leaves it.
 *
 * Each load is one rectangle: its range, from its time until the first later load
 * that shares an address with it, or until it is unloaded. Nothing is cut: an
 * object that was partly overwritten is dead, and the rest of its range answers
 * `stale` because no later object covers it.
 */
#ifndef TIMELINE_CODE_LAYER_H
#define TIMELINE_CODE_LAYER_H

#include "timeline/internal.h"

/* Numbered as the rectangles are: by time, equal times as they were added. */
struct code_object {
	uint64_t start_avma;
	uint64_t end_avma;
	uint64_t begin_ns; /* the best estimate */
	uint64_t earliest_ns;
	uint64_t latest_ns;
	uint64_t ended_ns; /* UINT64_MAX: never */
	uint32_t killer;   /* the load that ended it; RECT_NONE: unloaded, or lives */
	uint32_t object;
};

/* An unload; the first of an address may end what was inherited. */
struct code_unload {
	uint64_t start_avma;
	uint64_t time_ns;
	uint32_t loads_before; /* how many loads came first */
};

struct code_layer {
	struct rects rects;
	struct code_object *objects;
	struct code_unload
	    *unloads; /* by address, then time; empty in a space that inherits no code */
	uint32_t unload_count;
};

static inline bool was_unloaded(const struct code_object *object)
{
	return object->killer == RECT_NONE && object->ended_ns != UINT64_MAX;
}

#endif
