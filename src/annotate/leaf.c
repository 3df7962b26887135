#include "annotate/leaf.h"

bool annotate_leaf(const struct profile *profile, const struct profile_row *row,
		   struct annotate_leaf *leaf)
{
	const struct profile_stack *stack = &profile->stacks.items[row->stack];
	if (!stack->depth)
		return false;
	const struct profile_frame *frame =
	    &profile->frames.items[profile->frame_ids.items[stack->first]];
	*leaf = (struct annotate_leaf){ .innermost = frame->function,
					.file = frame->file,
					.line = frame->line };
	/* No chain is longer than there are frames, so that one in a circle ends. */
	for (size_t i = 0; i < profile->frames.count && frame->inlined_into &&
			   frame->inlined_into <= profile->frames.count;
	     i++)
		frame = &profile->frames.items[frame->inlined_into - 1];
	leaf->function = frame->function;
	leaf->offset = frame->offset;
	leaf->has_offset = frame->has_offset;
	return true;
}
