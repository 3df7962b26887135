/* Inlined functions as they come from files, made a proper tree: readers of DWARF take for
 * granted that a scope lies inside its parent and meets no sibling.
 */
#include "image/internal.h"

#include <stdlib.h>

struct open_scope {
	uint32_t end;
	uint32_t next; /* where the last child ended */
};

/* Parents lie before what is inside them, whatever order the calls had. */
static int by_tree(const void *left, const void *right)
{
	const struct pending_scope *a = left;
	const struct pending_scope *b = right;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

int scopes_close_function(struct image *image, struct described *described)
{
	if (!image->pending_scopes.count)
		return 0;
	const uint32_t size = (uint32_t)image->functions.items[described->function].size;
	struct open_scope stack[SCOPE_DEPTH + 1];
	stack[0] = (struct open_scope){ .end = size };
	uint32_t depth = 0; /* of what is open: stack[depth] is the parent of the next one */
	if (!image->scopes_in_order)
		qsort(image->pending_scopes.items, image->pending_scopes.count,
		      sizeof(image->pending_scopes.items[0]), by_tree);
	for (size_t i = 0; i < image->pending_scopes.count; i++) {
		const struct pending_scope *p = &image->pending_scopes.items[i];
		if (p->depth > depth)
			continue; /* its parent is missing */
		struct open_scope *parent = &stack[p->depth];
		const uint32_t start = p->offset > parent->next ? p->offset : parent->next;
		const uint32_t wanted = p->offset + p->size;
		const uint32_t end = wanted < parent->end ? wanted : parent->end;
		if (start >= end)
			continue;
		uint32_t file;
		struct scope *scope =
		    unit_file(image, p->file, &file) ? vector_push(&image->scopes) : NULL;
		if (!scope)
			return STATUS_NO_MEMORY;
		*scope = (struct scope){ start, end - start, p->depth, p->name, file, p->line };
		parent->next = end;
		depth = p->depth + 1;
		stack[depth] = (struct open_scope){ .end = end, .next = start };
		described->scope_count++;
	}
	return 0;
}
