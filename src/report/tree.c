#include "report/tree.h"

#include "base/hash.h"
#include "base/status.h"
#include "profile/weight.h"

#include <stdlib.h>

static uint64_t node_hash(uint32_t parent, uint32_t row, uint32_t group)
{
	return hash_mix(((uint64_t)parent << 32) | group, row);
}

static bool grow(struct report_tree_nodes *tree)
{
	if (tree->nodes.count * 2 < tree->slot_count)
		return true;
	const size_t count = tree->slot_count ? tree->slot_count * 2 : 4096;
	uint32_t *slots = calloc(count, sizeof(*slots));
	if (!slots)
		return false;
	for (uint32_t i = 0; i < tree->nodes.count; i++) {
		const struct report_node *n = &tree->nodes.items[i];
		size_t at = node_hash(n->parent, n->row, n->group) & (count - 1);
		while (slots[at])
			at = (at + 1) & (count - 1);
		slots[at] = i + 1;
	}
	free(tree->slots);
	tree->slots = slots;
	tree->slot_count = count;
	return true;
}

/* The child of `parent` for `group`, made where it is missing; 0 without memory. */
static uint32_t child_of(struct report_tree_nodes *tree, uint32_t parent, uint32_t row,
			 uint32_t group)
{
	if (!grow(tree))
		return 0;
	size_t at = node_hash(parent, row, group) & (tree->slot_count - 1);
	for (; tree->slots[at]; at = (at + 1) & (tree->slot_count - 1)) {
		const struct report_node *n = &tree->nodes.items[tree->slots[at] - 1];
		if (n->parent == parent && n->row == row && n->group == group)
			return tree->slots[at];
	}
	struct report_node *node = vector_push(&tree->nodes);
	if (!node)
		return 0;
	*node = (struct report_node){ .parent = parent, .row = row, .group = group };
	tree->slots[at] = (uint32_t)tree->nodes.count;
	return tree->slots[at];
}

/* A stack as groups, and the row's weight. */
struct path {
	const uint32_t *groups; /* leaf first */
	uint32_t depth;
	const struct profile_row *row;
};

/* Adds the path that starts beside `at`, going up to callers or down to callees. */
static bool add_path(struct report_tree_nodes *tree, const struct path *path, uint32_t at,
		     enum report_tree direction)
{
	const uint32_t row_group = path->groups[at];
	uint32_t parent = 0;
	const bool up = direction == REPORT_TREE_CALLERS;
	const uint32_t steps = up ? path->depth - 1 - at : at;
	for (uint32_t i = 1; i <= steps; i++) {
		parent = child_of(tree, parent, row_group, path->groups[up ? at + i : at - i]);
		if (!parent)
			return false;
		struct report_node *node = &tree->nodes.items[parent - 1];
		node->count += path->row->count;
		node->weight = weight_sum(node->weight, path->row->weight);
	}
	return true;
}

/* Of a recursive function the outermost call counts downwards, the innermost upwards. */
static bool is_counted(const struct path *path, uint32_t at, enum report_tree direction)
{
	if (direction == REPORT_TREE_CALLERS) {
		for (uint32_t i = 0; i < at; i++)
			if (path->groups[i] == path->groups[at])
				return false;
	} else {
		for (uint32_t i = at + 1; i < path->depth; i++)
			if (path->groups[i] == path->groups[at])
				return false;
	}
	return true;
}

static bool add_stack(struct report_tree_nodes *tree, const struct report_groups *groups,
		      const struct path *path, const struct report_options *options)
{
	const uint32_t starts = options->children ? path->depth : 1;
	for (uint32_t at = 0; at < starts && at < path->depth; at++) {
		const struct report_group *group = &groups->items.items[path->groups[at]];
		if (report_percent(groups, group->total_weight) < options->percent_limit ||
		    !group->is_shown || !is_counted(path, at, options->tree))
			continue;
		if (!add_path(tree, path, at, options->tree))
			return false;
	}
	return true;
}

static int by_weight(const void *left, const void *right, void *context)
{
	const struct report_tree_nodes *tree = context;
	const struct report_node *a = &tree->nodes.items[*(const uint32_t *)left - 1];
	const struct report_node *b = &tree->nodes.items[*(const uint32_t *)right - 1];
	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return a->group < b->group ? -1 : a->group > b->group;
}

/* Links siblings smallest first, each in front of the others, so the largest leads. */
static int link_nodes(struct report_tree_nodes *tree, size_t group_count)
{
	const size_t count = tree->nodes.count;
	tree->first = calloc(group_count ? group_count : 1, sizeof(*tree->first));
	uint32_t *order = calloc(count ? count : 1, sizeof(*order));
	if (!tree->first || !order) {
		free(order);
		return STATUS_NO_MEMORY;
	}
	tree->first_count = group_count;
	for (uint32_t i = 0; i < count; i++)
		order[i] = i + 1;
	if (count)
		qsort_r(order, count, sizeof(*order), by_weight, tree);
	for (size_t i = count; i-- > 0;) {
		struct report_node *node = &tree->nodes.items[order[i] - 1];
		uint32_t *head = node->parent ? &tree->nodes.items[node->parent - 1].first_child
					      : &tree->first[node->row];
		node->next = *head;
		*head = order[i];
	}
	free(order);
	return 0;
}

int report_tree_build(struct report_tree_nodes *tree, struct report_groups *groups,
		      const struct profile *profile, uint32_t event,
		      const struct report_options *options)
{
	VECTOR(uint32_t) ids = { 0 };
	int result = 0;
	for (size_t r = 0; result == 0 && r < profile->rows.count; r++) {
		const struct profile_row *row = &profile->rows.items[r];
		const struct profile_stack *stack = &profile->stacks.items[row->stack];
		if (row->event != event)
			continue;
		ids.count = 0;
		for (uint32_t i = 0; result == 0 && i < stack->depth; i++) {
			uint32_t *id = vector_push(&ids);
			const uint32_t group =
			    report_groups_of(groups, profile, options, row,
					     profile->frame_ids.items[stack->first + i]);
			if (!id || group == INTERN_NONE)
				result = STATUS_NO_MEMORY;
			else
				*id = group;
		}
		const struct path path = { ids.items, stack->depth, row };
		if (result == 0 && !add_stack(tree, groups, &path, options))
			result = STATUS_NO_MEMORY;
	}
	vector_clear(&ids);
	return result ? result : link_nodes(tree, groups->items.count);
}

uint32_t report_tree_first(const struct report_tree_nodes *tree, uint32_t group)
{
	return group < tree->first_count ? tree->first[group] : 0;
}

void report_tree_clear(struct report_tree_nodes *tree)
{
	vector_clear(&tree->nodes);
	free(tree->slots);
	free(tree->first);
	*tree = (struct report_tree_nodes){ 0 };
}
