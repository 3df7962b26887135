/* Where the clusters lie in the file. A cluster's delta (address minus file offset) also says
 * where an unwinder in the process sees the file's head with its tables:
 *
 *   file     |head|      hole       |cluster|
 *   process  |head|    (other)      |functions|       the same distance
 *            ^ delta
 *
 * so a larger hole moves the head down to where nothing else is.
 */
#include "image/internal.h"

#include "base/search.h"

#include <stdlib.h>

enum {
	CODE_ALIGN = 16, /* an address and its offset are congruent */
	/* As many groups as a process may have; each one is searched for. */
	MAX_UNWIND_MAPS = 256,
	MAX_SEARCH_STEPS = 16384,
	MAX_SHARED_HOLE_BYTES = 64 << 20,
};

/* What 32-bit distances in .eh_frame reach. */
static const uint64_t REACH = ((uint64_t)1 << 31) - ((uint64_t)1 << 20);

/* Below lies what no process can map (vm.mmap_min_addr). */
static const uint64_t LOWEST_AVMA = 0x10000;

struct search {
	struct image *image;
	struct range *taken; /* by address, without overlaps */
	size_t taken_count;
};

struct ranked {
	struct image_unwind_map map;
	uint32_t index;
	uint32_t functions;
};

static uint64_t congruent(uint64_t off, uint64_t avma, uint64_t align)
{
	return off + ((avma - off) & (align - 1));
}

uint64_t place_in_row(struct layout *layout, uint64_t off)
{
	for (size_t i = 0; i < layout->clusters.count; i++) {
		struct cluster *c = &layout->clusters.items[i];
		if (c->file_off)
			continue;
		c->file_off = congruent(off, c->start_avma, CODE_ALIGN);
		off = c->file_off + (c->end_avma - c->start_avma);
	}
	return off;
}

void place_functions(struct image *image, const struct layout *layout)
{
	for (size_t i = 0; i < layout->clusters.count; i++) {
		const struct cluster *c = &layout->clusters.items[i];
		for (uint32_t k = 0; k < c->count; k++) {
			struct function *f = &image->functions.items[layout->order[c->first + k]];
			f->file_off = c->file_off + (f->start_avma - c->start_avma);
			f->unwind_map = f->fde_count ? c->unwind_map : NONE;
		}
	}
}

static int by_start(const void *left, const void *right)
{
	const struct range *a = left;
	const struct range *b = right;
	return a->start < b->start ? -1 : a->start > b->start;
}

/* The process's memory that is spoken for. */
static int find_taken(struct search *s)
{
	const struct image *image = s->image;
	const size_t count = image->avoid.count + image->functions.count;
	s->taken = arena_new(&s->image->arena, struct range, count + MAX_UNWIND_MAPS);
	if (!s->taken)
		return STATUS_NO_MEMORY;
	size_t n = 0;
	for (size_t i = 0; i < image->avoid.count; i++)
		s->taken[n++] = image->avoid.items[i];
	for (size_t i = 0; i < image->functions.count; i++) {
		const struct function *f = &image->functions.items[i];
		s->taken[n++] = (struct range){ f->start_avma, f->start_avma + f->size };
	}
	qsort(s->taken, n, sizeof(*s->taken), by_start);
	for (size_t i = 0; i < n; i++) {
		struct range *last = s->taken_count ? &s->taken[s->taken_count - 1] : NULL;
		if (last && s->taken[i].start <= last->end)
			last->end = s->taken[i].end > last->end ? s->taken[i].end : last->end;
		else
			s->taken[s->taken_count++] = s->taken[i];
	}
	return 0;
}

/* How many of the ranges begin below the address. */
static size_t taken_below(const struct search *s, uint64_t avma)
{
	size_t count;
	SEARCH(count, s->taken_count, i, s->taken[i].start < avma);
	return count;
}

static void take(struct search *s, struct range range)
{
	const size_t at = taken_below(s, range.start);
	for (size_t i = s->taken_count++; i > at; i--)
		s->taken[i] = s->taken[i - 1];
	s->taken[at] = range;
}

/* The highest whole page from which `size` bytes are free, not above `highest`; 0: none. */
static uint64_t find_free(const struct search *s, uint64_t highest, uint64_t lowest, uint64_t size)
{
	uint64_t delta = highest & ~(uint64_t)(PAGE_SIZE - 1);
	size_t i = taken_below(s, delta + size);
	for (unsigned step = 0; step < MAX_SEARCH_STEPS; step++) {
		if (delta < lowest || delta > highest)
			return 0;
		/* The last range that begins below the end of this place. */
		while (i && s->taken[i - 1].start >= delta + size)
			i--;
		if (!i || s->taken[i - 1].end <= delta)
			return delta;
		if (s->taken[i - 1].start < size)
			return 0;
		delta = (s->taken[i - 1].start - size) & ~(uint64_t)(PAGE_SIZE - 1);
	}
	return 0;
}

/* A map that is there already serves this cluster too, if the hole to its place is no
 * great one.
 */
static bool share(struct image *image, struct cluster *c, uint64_t off)
{
	uint64_t best = UINT64_MAX;
	for (size_t i = 0; i < image->unwind_maps.count; i++) {
		const uint64_t delta = image->unwind_maps.items[i].start_avma;
		const uint64_t wanted = c->start_avma - delta;
		if (delta > c->start_avma || wanted < off || wanted >= best ||
		    wanted - off > MAX_SHARED_HOLE_BYTES)
			continue;
		best = wanted;
		c->unwind_map = (uint32_t)i;
	}
	if (best == UINT64_MAX || best + (c->end_avma - c->start_avma) > REACH) {
		c->unwind_map = NONE;
		return false;
	}
	c->file_off = best;
	return true;
}

/* Returns 1 if the cluster was placed, at `off` or behind. */
static int place_with_map(struct search *s, struct cluster *c, uint64_t off)
{
	struct image *image = s->image;
	if (share(image, c, off))
		return 1;
	const uint64_t size = c->end_avma - c->start_avma;
	if (image->unwind_maps.count == MAX_UNWIND_MAPS || off + size > REACH ||
	    c->start_avma < off)
		return 0;
	const uint64_t lowest_wanted = c->end_avma > REACH ? c->end_avma - REACH : 0;
	const uint64_t lowest = lowest_wanted > LOWEST_AVMA ? lowest_wanted : LOWEST_AVMA;
	const uint64_t delta = find_free(s, c->start_avma - off, lowest, image->head_size);
	if (!delta)
		return 0;
	struct image_unwind_map *map = vector_push(&image->unwind_maps);
	if (!map)
		return STATUS_NO_MEMORY;
	*map = (struct image_unwind_map){ .start_avma = delta, .size = image->head_size };
	take(s, (struct range){ delta, delta + image->head_size });
	c->unwind_map = (uint32_t)image->unwind_maps.count - 1;
	c->file_off = c->start_avma - delta;
	return 1;
}

static int by_file_off(const void *left, const void *right)
{
	const struct cluster *a = left;
	const struct cluster *b = right;
	return a->file_off < b->file_off ? -1 : a->file_off > b->file_off;
}

/* Clusters without a map lie behind the others: from here on all go by file offset. */
static int sort_clusters(struct image *image)
{
	struct layout *layout = &image->present;
	bool in_order = true;
	for (size_t i = 1; i < layout->clusters.count; i++)
		in_order &=
		    layout->clusters.items[i - 1].file_off < layout->clusters.items[i].file_off;
	if (in_order)
		return 0;
	uint32_t *order = arena_new(&image->arena, uint32_t, layout->count);
	if (!order)
		return STATUS_NO_MEMORY;
	qsort(layout->clusters.items, layout->clusters.count, sizeof(layout->clusters.items[0]),
	      by_file_off);
	uint32_t first = 0;
	for (size_t i = 0; i < layout->clusters.count; i++) {
		struct cluster *c = &layout->clusters.items[i];
		memcpy(order + first, layout->order + c->first, c->count * sizeof(*order));
		c->first = first;
		first += c->count;
	}
	layout->order = order;
	return 0;
}

static int by_functions(const void *left, const void *right)
{
	const struct ranked *a = left;
	const struct ranked *b = right;
	if (a->functions != b->functions)
		return a->functions > b->functions ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* The map of the most functions comes first. */
static int rank_maps(struct image *image)
{
	const size_t count = image->unwind_maps.count;
	struct ranked *ranked = arena_new(&image->arena, struct ranked, count);
	uint32_t *rank_of = arena_new(&image->arena, uint32_t, count);
	if (!ranked || !rank_of)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++)
		ranked[i] = (struct ranked){ .map = image->unwind_maps.items[i], .index = i };
	for (size_t i = 0; i < image->present.clusters.count; i++) {
		const struct cluster *c = &image->present.clusters.items[i];
		if (c->unwind_map != NONE)
			ranked[c->unwind_map].functions += c->count;
	}
	qsort(ranked, count, sizeof(*ranked), by_functions);
	for (uint32_t i = 0; i < count; i++) {
		image->unwind_maps.items[i] = ranked[i].map;
		rank_of[ranked[i].index] = i;
	}
	for (size_t i = 0; i < image->present.clusters.count; i++) {
		struct cluster *c = &image->present.clusters.items[i];
		if (c->unwind_map != NONE)
			c->unwind_map = rank_of[c->unwind_map];
	}
	return 0;
}

/* Clusters with unwinding information come first, within reach of their tables. */
static int place_unwound(struct image *image, uint64_t *off)
{
	struct search s = { .image = image };
	int got = find_taken(&s);
	for (size_t i = 0; got >= 0 && i < image->present.clusters.count; i++) {
		struct cluster *c = &image->present.clusters.items[i];
		if (!c->has_unwinding)
			continue;
		got = place_with_map(&s, c, *off);
		if (got > 0)
			*off = c->file_off + (c->end_avma - c->start_avma);
	}
	return got;
}

int place_clusters(struct image *image)
{
	uint64_t off = image->head_size;
	if (image->fdes.count && image->has_unwind_maps) {
		const int got = place_unwound(image, &off);
		if (got < 0)
			return got;
	}
	image->code_end = place_in_row(&image->present, off);
	/* Files of this size cannot be made everywhere; to get there takes a million functions
	 * that lack their bytes.
	 */
	if (image->code_end > (uint64_t)1 << 40)
		return STATUS_TOO_BIG;
	if (image->unwind_maps.count > 1) {
		const int got = rank_maps(image);
		if (got < 0)
			return got;
	}
	place_functions(image, &image->present);
	return sort_clusters(image);
}
