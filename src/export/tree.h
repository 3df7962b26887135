/* tree.h - the stacks of an event as one tree: what starts alike and has the same names is one.
 *
 *   struct export_tree tree = { 0 };
 *   export_tree_build(&tree, view, put_label);
 *   for (uint32_t id = 0; id != EXPORT_TREE_END; id = export_tree_next(&tree, id))
 *           use(&tree.nodes.items[id]);
 *   export_tree_clear(&tree);
 *
 * Under node 0, which is all samples, are threads, by their names, and under those functions; with
 * options.reverse it is functions, their callers, and at last threads. Children are in the order of
 * their labels, byte by byte: the same profile gives the same tree. Memory grows with distinct
 * stacks. One thread.
 */
#ifndef EXPORT_TREE_H
#define EXPORT_TREE_H

#include "base/idmap.h"
#include "export/export.h"

enum { EXPORT_TREE_END = 0 };

struct export_node {
	uint32_t label;       /* string of `labels` */
	uint32_t parent;      /* nodes; 0 of node 0 itself */
	uint32_t first_child; /* 0: none */
	uint32_t next;        /* of the same parent; 0: the last */
	uint32_t depth;
	/* A frame of the code that most samples of this node have, where one has more than half of
	 * them, else of any: id + 1. 0: it is a thread, or all.
	 */
	uint32_t frame;
	uint64_t votes; /* internal */
	uint64_t self;  /* of stacks that end here: samples, or their weight by options.weigh */
	uint64_t total;
};

struct export_tree {
	VECTOR(struct export_node) nodes;
	struct intern labels;
	struct idmap children;
};

/* Appends what a node is called. `frame` is NULL for threads, whose name this is. Nodes with equal
 * labels are one. Never appends nothing.
 */
typedef void export_put_label(struct sink *out, const struct export_view *view, struct bytes name,
			      const struct profile_frame *frame);

/* 0 or STATUS_NO_MEMORY; the tree is to be cleared in any case. */
int export_tree_build(struct export_tree *tree, const struct export_view *view,
		      export_put_label *put_label);

/* Parents before their children; EXPORT_TREE_END after the last. */
uint32_t export_tree_next(const struct export_tree *tree, uint32_t id);

/* As above, but over what is under the node. */
uint32_t export_tree_skip(const struct export_tree *tree, uint32_t id);

void export_tree_clear(struct export_tree *tree);

#endif
