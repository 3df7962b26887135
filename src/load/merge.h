/* merge.h - frames of interpreters in the place of the C functions that interpret them.
 *
 *   merge_units units = { 0 };               the native stack, innermost first
 *   merge_stack(load, &item, &native, &units);
 *
 * An interpreter's frames fall into groups, each ending with a frame that ends an activation, and
 * the evaluator is on the native stack once an activation (evaluator.h). Groups are as many as
 * evaluators, or one fewer while the innermost has no frame:
 *
 *   native           memcpy  list_sort  EVAL    qsort  EVAL                Py_RunMain  main
 *   interpreted                         key |          compare  <module> |
 *   merged           memcpy  list_sort  key     qsort  compare  <module>   Py_RunMain  main
 *
 * A native stack that was cut has fewer evaluators: what is left of the groups follows its last
 * frame, before what starts programs and threads. An evaluator without a group stays, and its
 * frame says why. docs/interpreters.md.
 */
#ifndef LOAD_MERGE_H
#define LOAD_MERGE_H

#include "load/stacks.h"

/* One address, or one frame of an interpreter. */
struct merge_unit {
	uint32_t frame; /* innermost; the functions that it was inlined into follow from it */
	bool is_kernel;
};

typedef VECTOR(struct merge_unit) merge_units;

struct merge_native {
	uint32_t space;
	uint64_t time_ns;
	/* Frame pointers tell neither. */
	bool is_cut;   /* it is known that its root is missing */
	bool is_whole; /* it is known to have all */
};

/* Puts the frames of one interpreter into *units. Returns 0 or STATUS_NO_MEMORY. */
int merge_stack(struct load *load, const struct stacks_item *item,
		const struct merge_native *native, merge_units *units);

/* What belongs to the profile under way. */
void merge_free(struct load *load);

#endif
