/* Which functions keep their distance in the file.
 *
 *   memory   |aaaa|  |bbb||cc|                    |dd|
 *               |eeeeee|                                  (later, over a and b)
 *
 *   layer 0  |aaaa|  |bbb||cc|       two clusters: a b c, and d, too far away for a hole
 *   layer 1     |eeeeee|             one more
 *
 * A walk by address gives each function the lowest layer that is free there; in its layer it
 * joins the cluster before it if the gap is small. Two heaps (layers in use by their end, free
 * layers by number) make that O(n log n) for whatever nests and overlaps.
 */
#include "image/internal.h"

#include <stdlib.h>

enum {
	/* Holes are written as zeros up to a page, so a larger gap would cost disk. */
	MAX_GAP_BYTES = 512,
	/* With unwinding information each cluster needs a place for its tables in the process,
	 * and its own mapping: holes, which cost no disk, are cheaper.
	 */
	MAX_UNWINDING_GAP_BYTES = 16 << 20,
};

struct spot {
	uint64_t start_avma;
	uint32_t function;
};

struct busy {
	uint64_t end_avma;
	uint32_t layer;
};

struct sweep {
	struct image *image;
	struct layout *layout;
	struct spot *spots;
	uint64_t max_gap;
	struct busy *busy; /* a heap, the first end on top */
	uint32_t busy_count;
	uint32_t *free; /* a heap, the lowest number on top */
	uint32_t free_count;
	uint32_t *layer_cluster; /* by layer: its last cluster */
	uint32_t layer_count;
	uint32_t *cluster_of; /* by place in spots */
};

static int by_start(const void *left, const void *right)
{
	const struct spot *a = left;
	const struct spot *b = right;
	if (a->start_avma != b->start_avma)
		return a->start_avma < b->start_avma ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

static void busy_push(struct sweep *s, struct busy item)
{
	uint32_t at = s->busy_count++;
	while (at && s->busy[(at - 1) / 2].end_avma > item.end_avma) {
		s->busy[at] = s->busy[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	s->busy[at] = item;
}

static struct busy busy_pop(struct sweep *s)
{
	const struct busy top = s->busy[0];
	const struct busy item = s->busy[--s->busy_count];
	uint32_t at = 0;
	for (uint32_t child = 1; child < s->busy_count; child = 2 * at + 1) {
		if (child + 1 < s->busy_count &&
		    s->busy[child + 1].end_avma < s->busy[child].end_avma)
			child++;
		if (item.end_avma <= s->busy[child].end_avma)
			break;
		s->busy[at] = s->busy[child];
		at = child;
	}
	s->busy[at] = item;
	return top;
}

static void free_push(struct sweep *s, uint32_t layer)
{
	uint32_t at = s->free_count++;
	while (at && s->free[(at - 1) / 2] > layer) {
		s->free[at] = s->free[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	s->free[at] = layer;
}

static uint32_t free_pop(struct sweep *s)
{
	const uint32_t top = s->free[0];
	const uint32_t item = s->free[--s->free_count];
	uint32_t at = 0;
	for (uint32_t child = 1; child < s->free_count; child = 2 * at + 1) {
		if (child + 1 < s->free_count && s->free[child + 1] < s->free[child])
			child++;
		if (item <= s->free[child])
			break;
		s->free[at] = s->free[child];
		at = child;
	}
	s->free[at] = item;
	return top;
}

/* The cluster of the next function by address, in the lowest layer that is free there. */
static int put(struct sweep *s, const struct function *f, uint32_t *cluster)
{
	const uint64_t end_avma = f->start_avma + f->size;
	while (s->busy_count && s->busy[0].end_avma <= f->start_avma)
		free_push(s, busy_pop(s).layer);
	const bool is_new = !s->free_count;
	const uint32_t layer = is_new ? s->layer_count++ : free_pop(s);
	busy_push(s, (struct busy){ end_avma, layer });
	struct cluster *c = is_new ? NULL : &s->layout->clusters.items[s->layer_cluster[layer]];
	if (!c || f->start_avma - c->end_avma > s->max_gap) {
		c = vector_push(&s->layout->clusters);
		if (!c)
			return STATUS_NO_MEMORY;
		c->start_avma = f->start_avma;
		c->unwind_map = NONE;
		s->layer_cluster[layer] = (uint32_t)s->layout->clusters.count - 1;
	}
	c->end_avma = end_avma;
	c->count++;
	c->has_unwinding |= f->fde_count != 0;
	*cluster = s->layer_cluster[layer];
	return 0;
}

/* layout->order: cluster by cluster, by address inside one. */
static void fill_order(struct sweep *s)
{
	struct layout *layout = s->layout;
	uint32_t first = 0;
	for (size_t i = 0; i < layout->clusters.count; i++) {
		struct cluster *c = &layout->clusters.items[i];
		c->first = first;
		first += c->count;
		c->count = 0;
	}
	for (uint32_t i = 0; i < layout->count; i++) {
		struct cluster *c = &layout->clusters.items[s->cluster_of[i]];
		layout->order[c->first + c->count++] = s->spots[i].function;
	}
}

static bool allocate(struct sweep *s, size_t count)
{
	struct arena *arena = &s->image->arena;
	s->spots = arena_new(arena, struct spot, count);
	s->busy = arena_new(arena, struct busy, count);
	s->free = arena_new(arena, uint32_t, count);
	s->layer_cluster = arena_new(arena, uint32_t, count);
	s->cluster_of = arena_new(arena, uint32_t, count);
	s->layout->order = arena_new(arena, uint32_t, count);
	return s->spots && s->busy && s->free && s->layer_cluster && s->cluster_of &&
	       s->layout->order;
}

static int make(struct image *image, struct layout *layout, bool has_bytes, uint64_t max_gap)
{
	struct sweep s = { .image = image, .layout = layout, .max_gap = max_gap };
	const struct function *functions = image->functions.items;
	uint32_t count = 0;
	for (size_t i = 0; i < image->functions.count; i++)
		count += (functions[i].code.size != 0) == has_bytes;
	if (!count)
		return 0;
	if (!allocate(&s, count))
		return STATUS_NO_MEMORY;
	bool in_order = true;
	for (uint32_t i = 0; i < image->functions.count; i++) {
		if ((functions[i].code.size != 0) != has_bytes)
			continue;
		if (layout->count)
			in_order &=
			    s.spots[layout->count - 1].start_avma <= functions[i].start_avma;
		s.spots[layout->count++] = (struct spot){ functions[i].start_avma, i };
	}
	if (!in_order)
		qsort(s.spots, count, sizeof(*s.spots), by_start);
	for (uint32_t i = 0; i < count; i++) {
		const int got = put(&s, &functions[s.spots[i].function], &s.cluster_of[i]);
		if (got < 0)
			return got;
	}
	fill_order(&s);
	return 0;
}

int layout_make(struct image *image)
{
	const bool is_wide = image->fdes.count && image->has_unwind_maps;
	const uint64_t max_gap = is_wide ? MAX_UNWINDING_GAP_BYTES : MAX_GAP_BYTES;
	const int got = make(image, &image->present, true, max_gap);
	return got < 0 ? got : make(image, &image->absent, false, MAX_GAP_BYTES);
}
