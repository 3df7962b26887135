/* The trees of the model: children of a node, from the stacks that lead through it. */
#include "tui/model_internal.h"

#include "base/status.h"
#include "profile/weight.h"

#include <stdlib.h>
#include <string.h>

static uint32_t group_at(struct model *model, const struct model_place *place)
{
	const struct profile_row *row = &model->kept.rows.items[place->row];
	const struct profile_stack *stack = &model->kept.stacks.items[row->stack];
	return report_groups_of(&model->groups, &model->kept, &model->options, row,
				model->kept.frame_ids.items[stack->first + place->at]);
}

/* Where a row's group is in a stack: of a recursive function the innermost call counts upwards,
 * the outermost downwards. Without --children only the leaf has callers.
 */
static bool find_in_stack(struct model *model, uint32_t group, struct model_place *place)
{
	const struct profile_row *row = &model->kept.rows.items[place->row];
	const uint32_t depth = model->kept.stacks.items[row->stack].depth;
	const bool up = model_counts_callers(model);
	const uint32_t tried = up && !model->options.children && depth ? 1 : depth;
	for (uint32_t i = 0; i < tried; i++) {
		place->at = up ? i : depth - 1 - i;
		if (group_at(model, place) == group)
			return true;
	}
	return false;
}

static int find_places(struct model *model, uint32_t id)
{
	const uint32_t group = model->nodes.items[id].group;
	const size_t first = model->places.count;
	for (uint32_t r = 0; r < model->kept.rows.count; r++) {
		struct model_place place = { .row = r };
		if (model->kept.rows.items[r].event != model->event ||
		    !find_in_stack(model, group, &place))
			continue;
		struct model_place *slot = vector_push(&model->places);
		if (!slot)
			return STATUS_NO_MEMORY;
		*slot = place;
	}
	model->nodes.items[id].first_place = (uint32_t)first;
	model->nodes.items[id].place_count = (uint32_t)(model->places.count - first);
	return 0;
}

/* One step up or down; false at the end of the stack. */
static bool step(const struct model *model, struct model_place *place)
{
	const struct profile_row *row = &model->kept.rows.items[place->row];
	if (model_counts_callers(model))
		return ++place->at < model->kept.stacks.items[row->stack].depth;
	return place->at-- > 0;
}

static bool can_step(const struct model *model, struct model_place place)
{
	return step(model, &place);
}

/* The child of `id` for a group, made where it is new. UINT32_MAX without memory. */
static uint32_t child_of(struct model *model, uint32_t id, uint32_t group)
{
	while (model->child_of_group.count <= group)
		if (!vector_push(&model->child_of_group))
			return UINT32_MAX;
	uint32_t *known = &model->child_of_group.items[group];
	if (*known)
		return *known - 1;
	struct model_node *node = vector_push(&model->nodes);
	if (!node)
		return UINT32_MAX;
	*node = (struct model_node){ .group = group,
				     .parent = id + 1,
				     .depth = model->nodes.items[id].depth + 1 };
	*known = (uint32_t)model->nodes.count;
	return *known - 1;
}

static void count_place(const struct model *model, struct model_node *child,
			const struct model_place *place)
{
	const struct profile_row *row = &model->kept.rows.items[place->row];
	child->count += row->count;
	child->weight = weight_sum(child->weight, row->weight);
	child->place_count++;
	child->has_more |= can_step(model, *place);
}

/* The children of a node, with what leads through each counted; not in order yet. */
static int make_children(struct model *model, uint32_t id)
{
	const struct model_node node = model->nodes.items[id];
	model->nodes.items[id].first_child = (uint32_t)model->nodes.count;
	for (uint32_t i = 0; i < node.place_count; i++) {
		struct model_place place = model->places.items[node.first_place + i];
		if (!step(model, &place))
			continue;
		const uint32_t group = group_at(model, &place);
		const uint32_t child =
		    group == INTERN_NONE ? UINT32_MAX : child_of(model, id, group);
		if (child == UINT32_MAX)
			return STATUS_NO_MEMORY;
		count_place(model, &model->nodes.items[child], &place);
	}
	model->nodes.items[id].child_count =
	    (uint32_t)model->nodes.count - model->nodes.items[id].first_child;
	return 0;
}

static int by_weight(const void *left, const void *right, void *context)
{
	const struct model *model = context;
	const struct model_node *a = left;
	const struct model_node *b = right;
	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	const struct report_group_key *x = &model->groups.items.items[a->group].key;
	const struct report_group_key *y = &model->groups.items.items[b->group].key;
	const int name = strcmp(profile_text(model->profile, x->symbol),
				profile_text(model->profile, y->symbol));
	return name ? name : a->group < b->group ? -1 : a->group > b->group;
}

/* Gives each child its stretch of places. */
static int share_places(struct model *model, uint32_t id)
{
	const struct model_node node = model->nodes.items[id];
	struct model_node *children = model->nodes.items + node.first_child;
	/* One that is alone under one that was alone goes on below it; else it would look like its
	 * parent's sibling.
	 */
	const bool is_alone = node.parent && model->nodes.items[node.parent - 1].child_count == 1;
	const bool parts = node.child_count > 1 || !is_alone;
	size_t next = model->places.count;
	if (!vector_reserve(&model->places, node.place_count))
		return STATUS_NO_MEMORY;
	for (uint32_t c = 0; c < node.child_count; c++) {
		model->child_of_group.items[children[c].group] = c + 1;
		children[c].first_place = (uint32_t)next;
		children[c].indent = node.indent + parts;
		next += children[c].place_count;
		children[c].place_count = 0;
	}
	model->places.count = next;
	for (uint32_t i = 0; i < node.place_count; i++) {
		struct model_place place = model->places.items[node.first_place + i];
		if (!step(model, &place))
			continue;
		struct model_node *child =
		    &children[model->child_of_group.items[group_at(model, &place)] - 1];
		model->places.items[child->first_place + child->place_count++] = place;
	}
	return 0;
}

static int make_known(struct model *model, uint32_t id)
{
	if (model->nodes.items[id].is_known)
		return 0;
	const size_t nodes = model->nodes.count;
	int got = model->nodes.items[id].parent ? 0 : find_places(model, id);
	if (got == 0)
		got = make_children(model, id);
	const struct model_node *node = &model->nodes.items[id];
	if (got == 0 && node->child_count)
		qsort_r(model->nodes.items + node->first_child, node->child_count,
			sizeof(struct model_node), by_weight, model);
	if (got == 0)
		got = share_places(model, id);
	for (size_t i = nodes; i < model->nodes.count; i++)
		model->child_of_group.items[model->nodes.items[i].group] = 0;
	if (got < 0) {
		model->nodes.count = nodes;
		model->nodes.items[id].child_count = 0;
		return got;
	}
	model->nodes.items[id].is_known = true;
	return 0;
}

int model_open_node(struct model *model, uint32_t id)
{
	const int got = make_known(model, id);
	if (got == 0)
		model->nodes.items[id].is_open = model->nodes.items[id].child_count > 0;
	return got;
}
