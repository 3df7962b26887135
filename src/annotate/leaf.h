/* leaf.h - where a sample was: the innermost frame of its stack, and whose code that is.
 *
 *   struct annotate_leaf leaf;
 *   if (annotate_leaf(profile, row, &leaf))
 *           ...                                  false: the stack is empty
 */
#ifndef ANNOTATE_LEAF_H
#define ANNOTATE_LEAF_H

#include "profile/profile.h"

struct annotate_leaf {
	uint32_t function;  /* whose code it is */
	uint32_t innermost; /* the function that was inlined there, else the same */
	uint64_t offset;    /* in that code */
	bool has_offset;
	uint32_t file; /* of the innermost: strings of the profile */
	uint32_t line;
};

bool annotate_leaf(const struct profile *profile, const struct profile_row *row,
		   struct annotate_leaf *leaf);

#endif
