/* tree.h - under each row of a report, who called it or what it called.
 *
 *   struct report_tree_nodes tree = { 0 };
 *   report_tree_build(&tree, &groups, profile, event, &options);
 *   uint32_t child = report_tree_first(&tree, group);
 *   for (; child; child = tree.nodes.items[child - 1].next)
 *           ...
 *   report_tree_clear(&tree);
 *
 * One trie for all rows: a node is a path of groups from a row's function on.
 * Node ids are index + 1; 0 is none. Siblings come largest first.
 */
#ifndef REPORT_TREE_H
#define REPORT_TREE_H

#include "report/groups.h"

struct report_node {
	uint32_t parent; /* node id; 0: under a row */
	uint32_t row;    /* the group of the row it is under */
	uint32_t group;
	uint32_t first_child;
	uint32_t next;
	uint64_t count;
	uint64_t weight;
};

struct report_tree_nodes {
	VECTOR(struct report_node) nodes;
	uint32_t *slots;
	size_t slot_count;
	uint32_t *first; /* by group: its first node */
	size_t first_count;
};

/* Adds the tree that options->tree asks for; groups may gain items, no rows. */
int report_tree_build(struct report_tree_nodes *tree, struct report_groups *groups,
		      const struct profile *profile, uint32_t event,
		      const struct report_options *options);
uint32_t report_tree_first(const struct report_tree_nodes *tree, uint32_t group);
void report_tree_clear(struct report_tree_nodes *tree);

#endif
