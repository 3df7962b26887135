/* tree.h - the stacks of a profile as a tree of callers: what the page has in place of stacks.
 *
 *   struct page_tree tree = { .profile = &profile };
 *   uint32_t node = page_tree_node(&tree, stack);     0: a stack without frames; or INTERN_NONE
 *   page_tree_clear(&tree);
 *
 * Frames that differ by nothing but their address are one. Nodes count from 1, a caller before what
 * it called. Borrows the profile, which may grow meanwhile. One thread.
 */
#ifndef PAGE_TREE_H
#define PAGE_TREE_H

#include "base/idmap.h"
#include "profile/profile.h"

enum page_frame_flag {
	PAGE_FRAME_KERNEL = 1,
	PAGE_FRAME_JIT = 2,
	PAGE_FRAME_INTERPRETED = 4,
	PAGE_FRAME_INLINED = 8,
};

struct page_frame {
	uint32_t function; /* of the profile */
	uint32_t reason;   /* string of the profile */
	uint8_t trust;
	uint8_t flags;
};

struct page_node {
	uint32_t parent; /* 0: none */
	uint32_t frame;  /* into frames */
};

/* By an id of the profile: an id of ours, + 1; 0: not yet known. */
typedef VECTOR(uint32_t) page_ids;

struct page_tree {
	const struct profile *profile;
	VECTOR(struct page_frame) frames;
	page_ids frame_of;              /* by frame */
	VECTOR(struct page_node) nodes; /* by id - 1 */
	page_ids node_of;               /* by stack */
	struct idmap frame_ids;         /* by function and turn: into frames, + 1 */
	struct idmap node_ids;          /* by parent and frame: id */
};

uint32_t page_tree_node(struct page_tree *tree, uint32_t stack);
void page_tree_clear(struct page_tree *tree);

#endif
