#include "page/tree.h"

static uint8_t flags_of(const struct profile_frame *frame)
{
	return (uint8_t)((frame->is_kernel ? PAGE_FRAME_KERNEL : 0) |
			 (frame->is_jit ? PAGE_FRAME_JIT : 0) |
			 (frame->is_interpreted ? PAGE_FRAME_INTERPRETED : 0) |
			 (frame->inlined_into ? PAGE_FRAME_INLINED : 0));
}

static bool is_same(const struct page_frame *a, const struct page_frame *b)
{
	return a->function == b->function && a->reason == b->reason && a->trust == b->trust &&
	       a->flags == b->flags;
}

/* Frames of one function hang on one key, its number and how often it was asked for another
 * frame: they are few.
 */
static uint32_t frame_id(struct page_tree *tree, const struct profile_frame *frame)
{
	const struct page_frame wanted = { .function = frame->function,
					   .reason = frame->reason,
					   .trust = frame->trust,
					   .flags = flags_of(frame) };
	for (uint64_t turn = 0;; turn++) {
		uint32_t *slot = idmap_put(&tree->frame_ids, turn << 32 | frame->function);
		if (!slot)
			return INTERN_NONE;
		if (!*slot) {
			struct page_frame *made = vector_push(&tree->frames);
			if (!made)
				return INTERN_NONE;
			*made = wanted;
			*slot = (uint32_t)tree->frames.count;
		}
		if (is_same(&tree->frames.items[*slot - 1], &wanted))
			return *slot - 1;
	}
}

static uint32_t *slot_of(page_ids *ids, uint32_t id)
{
	while (ids->count <= id)
		if (!vector_push(ids))
			return NULL;
	return &ids->items[id];
}

static uint32_t child(struct page_tree *tree, uint32_t parent, uint32_t profile_frame)
{
	uint32_t *known = slot_of(&tree->frame_of, profile_frame);
	if (!known)
		return INTERN_NONE;
	if (!*known)
		*known = frame_id(tree, &tree->profile->frames.items[profile_frame]) + 1;
	if (!*known)
		return INTERN_NONE;
	const uint32_t frame = *known - 1;
	uint32_t *slot = idmap_put(&tree->node_ids, (uint64_t)parent << 32 | frame);
	if (!slot)
		return INTERN_NONE;
	if (!*slot) {
		struct page_node *made = vector_push(&tree->nodes);
		if (!made)
			return INTERN_NONE;
		*made = (struct page_node){ parent, frame };
		*slot = (uint32_t)tree->nodes.count;
	}
	return *slot;
}

uint32_t page_tree_node(struct page_tree *tree, uint32_t stack)
{
	uint32_t *known = slot_of(&tree->node_of, stack);
	if (!known)
		return INTERN_NONE;
	if (*known)
		return *known - 1;
	const struct profile_stack *s = &tree->profile->stacks.items[stack];
	uint32_t node = 0;
	for (uint32_t i = s->depth; i > 0 && node != INTERN_NONE; i--)
		node = child(tree, node, tree->profile->frame_ids.items[s->first + i - 1]);
	if (node != INTERN_NONE)
		tree->node_of.items[stack] = node + 1;
	return node;
}

void page_tree_clear(struct page_tree *tree)
{
	vector_clear(&tree->frames);
	vector_clear(&tree->frame_of);
	vector_clear(&tree->nodes);
	vector_clear(&tree->node_of);
	idmap_clear(&tree->frame_ids);
	idmap_clear(&tree->node_ids);
}
