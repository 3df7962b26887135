#include "export/tree.h"

#include "base/sort.h"
#include "base/status.h"
#include "profile/weight.h"

#include <inttypes.h>
#include <stdlib.h>

struct building {
	struct export_tree *tree;
	const struct export_view *view;
	export_put_label *put_label;
	struct sink scratch;
	VECTOR(uint32_t) of_frame; /* label by frame; 0: not made yet */
	VECTOR(uint32_t) of_thread;
};

/* 0 without memory. */
static uint32_t make_label(struct building *b, struct bytes name, const struct profile_frame *frame)
{
	sink_reset(&b->scratch);
	b->put_label(&b->scratch, b->view, name, frame);
	if (sink_failed(&b->scratch))
		return 0;
	const uint32_t id = intern_bytes(&b->tree->labels, sink_bytes(&b->scratch));
	return id == INTERN_NONE ? 0 : id;
}

static uint32_t label_of_frame(struct building *b, uint32_t id)
{
	const struct profile *profile = b->view->profile;
	while (b->of_frame.count <= id)
		if (!vector_push(&b->of_frame))
			return 0;
	uint32_t *label = &b->of_frame.items[id];
	const struct profile_frame *frame = &profile->frames.items[id];
	if (!*label)
		*label = make_label(b, export_name(profile, frame), frame);
	return *label;
}

static uint32_t label_of_thread(struct building *b, uint32_t id)
{
	const struct profile *profile = b->view->profile;
	while (b->of_thread.count <= id)
		if (!vector_push(&b->of_thread))
			return 0;
	uint32_t *label = &b->of_thread.items[id];
	if (*label)
		return *label;
	const struct profile_thread *thread = &profile->threads.items[id];
	const struct bytes comm = intern_get_bytes(&profile->strings, thread->comm);
	if (!b->view->options->threads)
		return *label = make_label(b, comm, NULL);
	struct sink name = { 0 };
	sink_put(&name, comm.data, comm.size);
	sink_printf(&name, "-%" PRIu32 "/%" PRIu32, thread->pid, thread->tid);
	*label = sink_failed(&name) ? 0 : make_label(b, sink_bytes(&name), NULL);
	sink_clear(&name);
	return *label;
}

/* EXPORT_TREE_END without memory. */
static uint32_t child_of(struct export_tree *tree, uint32_t parent, uint32_t label)
{
	uint32_t *slot = idmap_put(&tree->children, (uint64_t)parent << 32 | label);
	if (!slot)
		return EXPORT_TREE_END;
	if (*slot)
		return *slot;
	struct export_node *node = vector_push(&tree->nodes);
	if (!node)
		return EXPORT_TREE_END;
	node->label = label;
	node->parent = parent;
	node->depth = tree->nodes.items[parent].depth + 1;
	return *slot = (uint32_t)tree->nodes.count - 1;
}

static bool is_same_code(const struct profile *profile, uint32_t a, uint32_t b)
{
	const struct profile_frame *one = &profile->frames.items[a];
	const struct profile_frame *other = &profile->frames.items[b];
	return one->function == other->function && !one->inlined_into == !other->inlined_into;
}

/* A vote among codes by weight (Boyer and Moore's): a majority is found with one candidate kept. */
static void vote(const struct profile *profile, struct export_node *node, uint32_t frame,
		 uint64_t weight)
{
	if (node->frame && is_same_code(profile, node->frame - 1, frame)) {
		node->votes = weight_sum(node->votes, weight);
	} else if (!node->frame || node->votes < weight) {
		node->votes = weight - node->votes;
		node->frame = frame + 1;
	} else {
		node->votes -= weight;
	}
}

/* Goes from *node to its child of the label, and counts there. */
static bool step(struct building *b, uint32_t *node, uint32_t label, uint64_t weight)
{
	*node = label ? child_of(b->tree, *node, label) : EXPORT_TREE_END;
	if (*node == EXPORT_TREE_END)
		return false;
	struct export_node *at = &b->tree->nodes.items[*node];
	at->total = weight_sum(at->total, weight);
	return true;
}

static bool add_row(struct building *b, const struct profile_row *row)
{
	const struct profile *profile = b->view->profile;
	const struct profile_stack *stack = &profile->stacks.items[row->stack];
	const uint32_t *frames = profile->frame_ids.items + stack->first;
	const bool is_reversed = b->view->options->reverse;
	const uint64_t weight = b->view->options->weigh ? row->weight : row->count;
	uint32_t node = 0;
	if (!is_reversed && !step(b, &node, label_of_thread(b, row->thread), weight))
		return false;
	for (uint32_t i = 0; i < stack->depth; i++) {
		const uint32_t frame = frames[is_reversed ? i : stack->depth - 1 - i];
		if (!step(b, &node, label_of_frame(b, frame), weight))
			return false;
		vote(profile, &b->tree->nodes.items[node], frame, weight);
	}
	if (is_reversed && !step(b, &node, label_of_thread(b, row->thread), weight))
		return false;
	struct export_node *end = &b->tree->nodes.items[node];
	end->self = weight_sum(end->self, weight);
	struct export_node *all = &b->tree->nodes.items[0];
	all->total = weight_sum(all->total, weight);
	return true;
}

static int by_text(const void *left, const void *right, void *context)
{
	const struct intern *labels = context;
	const struct bytes a = intern_get_bytes(labels, *(const uint32_t *)left);
	const struct bytes b = intern_get_bytes(labels, *(const uint32_t *)right);
	const size_t common = a.size < b.size ? a.size : b.size;
	const int got = common ? memcmp(a.data, b.data, common) : 0;
	return got ? got : (a.size > b.size) - (a.size < b.size);
}

/* ranks[label] is its place in the order of all. */
static bool rank_labels(struct export_tree *tree, uint32_t *ranks, size_t count)
{
	uint32_t *order = calloc(count, sizeof(*order));
	if (!order)
		return false;
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), by_text, &tree->labels);
	for (uint32_t i = 0; i < count; i++)
		ranks[order[i]] = i;
	free(order);
	return true;
}

/* Links children, the last in the order first. */
static void link_children(struct export_tree *tree, const struct pair *order)
{
	for (size_t i = tree->nodes.count; i-- > 1;) {
		struct export_node *node = &tree->nodes.items[order[i].value];
		struct export_node *parent = &tree->nodes.items[node->parent];
		node->next = parent->first_child;
		parent->first_child = order[i].value;
	}
}

static int put_in_order(struct export_tree *tree)
{
	const size_t count = tree->nodes.count;
	const size_t labels = tree->labels.texts.count + 1;
	uint32_t *ranks = calloc(labels, sizeof(*ranks));
	struct pair *order = calloc(count * 2, sizeof(*order));
	int got = ranks && order && rank_labels(tree, ranks, labels) ? 0 : STATUS_NO_MEMORY;
	if (got == 0) {
		/* Node 0 is before all: it is nobody's child. */
		for (uint32_t i = 1; i < count; i++)
			order[i] = (struct pair){ (uint64_t)tree->nodes.items[i].parent << 32 |
						      ranks[tree->nodes.items[i].label],
						  i };
		sort_pairs(order + 1, order + count, count - 1);
		link_children(tree, order);
	}
	free(ranks);
	free(order);
	return got;
}

int export_tree_build(struct export_tree *tree, const struct export_view *view,
		      export_put_label *put_label)
{
	struct building b = { .tree = tree, .view = view, .put_label = put_label };
	int got = vector_push(&tree->nodes) ? 0 : STATUS_NO_MEMORY;
	for (size_t i = 0; got == 0 && i < view->profile->rows.count; i++) {
		const struct profile_row *row = &view->profile->rows.items[i];
		if (export_has_event(view, row->event) && !add_row(&b, row))
			got = STATUS_NO_MEMORY;
	}
	sink_clear(&b.scratch);
	vector_clear(&b.of_frame);
	vector_clear(&b.of_thread);
	return got == 0 ? put_in_order(tree) : got;
}

uint32_t export_tree_skip(const struct export_tree *tree, uint32_t id)
{
	for (; id; id = tree->nodes.items[id].parent)
		if (tree->nodes.items[id].next)
			return tree->nodes.items[id].next;
	return EXPORT_TREE_END;
}

uint32_t export_tree_next(const struct export_tree *tree, uint32_t id)
{
	const uint32_t child = tree->nodes.items[id].first_child;
	return child ? child : export_tree_skip(tree, id);
}

void export_tree_clear(struct export_tree *tree)
{
	vector_clear(&tree->nodes);
	intern_clear(&tree->labels);
	idmap_clear(&tree->children);
}
