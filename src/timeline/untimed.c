#include "timeline/internal.h"

/* Untimed code of one space: overlapping ranges, of which the one added last wins.
 *
 *   added 1st  |--------- a ---------|
 *   added 2nd       |--- b ---|           |-- c --|
 *   segments   | a  | b of 2  | a    |    | c     |
 *
 * Entries are kept by start. Those that hang together through overlaps are a
 * cluster; most have one member, whose segment is itself. The others are swept
 * once. A segment ends with its top entry, so gaps take no room.
 */

enum { PAGE_BYTES = 4096 };

/* In `order`: the first entry, by start, of a cluster. */
static const uint32_t cluster_bit = UINT32_C(1) << 31;

struct segment {
	uint32_t top;         /* entry */
	uint32_t owner_count; /* distinct objects */
};

struct untimed_layer {
	struct untimed_entry *entries; /* by start */
	uint32_t entry_count;
	struct ladder starts; /* of the segments */
	struct segment *segments;
	uint32_t segment_count;
};

static inline uint32_t order_of(const struct untimed_entry *entry)
{
	return entry->order & ~cluster_bit;
}

/* How often each object is active; open addressing, cleared for each cluster. */
struct object_counts {
	uint32_t *objects;
	uint32_t *counts; /* 0: free, else one more than the active entries */
	uint32_t mask;
	uint32_t distinct;
};

static uint32_t object_slot(const struct object_counts *counts, uint32_t object)
{
	uint32_t at = (object * UINT32_C(0x9e3779b1)) >> 7 & counts->mask;
	while (counts->counts[at] && counts->objects[at] != object)
		at = (at + 1) & counts->mask;
	return at;
}

static void object_enters(struct object_counts *counts, uint32_t object)
{
	const uint32_t at = object_slot(counts, object);
	if (!counts->counts[at]) {
		counts->objects[at] = object;
		counts->counts[at] = 1;
	}
	counts->distinct += counts->counts[at]++ == 1;
}

static void object_leaves(struct object_counts *counts, uint32_t object)
{
	counts->distinct -= --counts->counts[object_slot(counts, object)] == 1;
}

/* Room for sweeping a cluster. */
struct sweep {
	struct untimed_layer *layer;
	struct pair *ends; /* of the cluster's entries */
	struct pair *spare;
	uint32_t *heap; /* active entries, the last added on top; ended ones leave late */
	uint32_t heap_count;
	struct object_counts objects;
};

static bool added_later(const struct sweep *sweep, uint32_t a, uint32_t b)
{
	return order_of(&sweep->layer->entries[a]) > order_of(&sweep->layer->entries[b]);
}

static void heap_push(struct sweep *sweep, uint32_t entry)
{
	uint32_t at = sweep->heap_count++;
	while (at > 0 && added_later(sweep, entry, sweep->heap[(at - 1) / 2])) {
		sweep->heap[at] = sweep->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	sweep->heap[at] = entry;
}

static void heap_pop(struct sweep *sweep)
{
	const uint32_t entry = sweep->heap[--sweep->heap_count];
	uint32_t at = 0;
	for (;;) {
		uint32_t child = 2 * at + 1;
		if (child >= sweep->heap_count)
			break;
		if (child + 1 < sweep->heap_count &&
		    added_later(sweep, sweep->heap[child + 1], sweep->heap[child]))
			child++;
		if (!added_later(sweep, sweep->heap[child], entry))
			break;
		sweep->heap[at] = sweep->heap[child];
		at = child;
	}
	sweep->heap[at] = entry;
}

static void put_segment(struct untimed_layer *layer, uint64_t start_avma, struct segment segment)
{
	const uint32_t at = layer->segment_count;
	if (at) {
		const struct segment *before = &layer->segments[at - 1];
		if (before->top == segment.top && before->owner_count == segment.owner_count)
			return;
	}
	layer->starts.rungs[0][at] = start_avma;
	layer->segments[at] = segment;
	layer->segment_count++;
}

static void sweep_cluster(struct sweep *sweep, uint32_t first, uint32_t count)
{
	const struct untimed_entry *entries = sweep->layer->entries;
	uint32_t slots = 4;
	while (slots < 2 * count)
		slots *= 2;
	sweep->objects.mask = slots - 1;
	sweep->objects.distinct = 0;
	for (uint32_t i = 0; i < slots; i++)
		sweep->objects.counts[i] = 0;
	for (uint32_t i = 0; i < count; i++)
		sweep->ends[i] =
		    (struct pair){ .key = entries[first + i].end_avma, .value = first + i };
	sort_pairs(sweep->ends, sweep->spare, count);

	sweep->heap_count = 0;
	uint32_t next = first;
	uint32_t ended = 0;
	while (ended < count) {
		uint64_t at = sweep->ends[ended].key;
		if (next < first + count && entries[next].start_avma < at)
			at = entries[next].start_avma;
		for (; ended < count && sweep->ends[ended].key == at; ended++)
			object_leaves(&sweep->objects, entries[sweep->ends[ended].value].object);
		for (; next < first + count && entries[next].start_avma == at; next++) {
			object_enters(&sweep->objects, entries[next].object);
			heap_push(sweep, next);
		}
		while (sweep->heap_count && entries[sweep->heap[0]].end_avma <= at)
			heap_pop(sweep);
		if (sweep->heap_count)
			put_segment(sweep->layer, at,
				    (struct segment){ .top = sweep->heap[0],
						      .owner_count = sweep->objects.distinct });
	}
}

/* Marks where clusters begin; returns how large the largest is, and how many
 * segments there can be at most.
 */
static uint32_t mark_clusters(struct untimed_layer *layer, uint32_t *segment_limit)
{
	uint32_t largest = 0;
	uint32_t begin = 0;
	uint64_t reach = 0;
	*segment_limit = 0;
	for (uint32_t i = 0; i <= layer->entry_count; i++) {
		if (i == layer->entry_count || i == 0 || layer->entries[i].start_avma >= reach) {
			const uint32_t size = i - begin;
			*segment_limit += size > 1 ? 2 * size : size;
			largest = size > largest ? size : largest;
			begin = i;
			if (i < layer->entry_count)
				layer->entries[i].order |= cluster_bit;
		}
		if (i < layer->entry_count && layer->entries[i].end_avma > reach)
			reach = layer->entries[i].end_avma;
	}
	return largest;
}

static bool build_segments(struct untimed_layer *layer, struct arena *keep)
{
	uint32_t segment_limit;
	const uint32_t largest = mark_clusters(layer, &segment_limit);
	struct arena scratch = { 0 };
	struct sweep sweep = { .layer = layer };
	layer->segments = arena_new(keep, struct segment, segment_limit);
	const bool has_starts = ladder_init(&layer->starts, keep, segment_limit);
	sweep.ends = arena_new(&scratch, struct pair, largest);
	sweep.spare = arena_new(&scratch, struct pair, largest);
	sweep.heap = arena_new(&scratch, uint32_t, largest);
	sweep.objects.objects = arena_new(&scratch, uint32_t, 4 * (size_t)largest);
	sweep.objects.counts = arena_new(&scratch, uint32_t, 4 * (size_t)largest);
	const bool done = has_starts && layer->segments && sweep.ends && sweep.spare &&
			  sweep.heap && sweep.objects.objects && sweep.objects.counts;
	for (uint32_t begin = 0, end; done && begin < layer->entry_count; begin = end) {
		end = begin + 1;
		while (end < layer->entry_count && !(layer->entries[end].order & cluster_bit))
			end++;
		if (end - begin > 1)
			sweep_cluster(&sweep, begin, end - begin);
		else
			put_segment(layer, layer->entries[begin].start_avma,
				    (struct segment){ .top = begin, .owner_count = 1 });
	}
	if (done)
		ladder_seal(&layer->starts, layer->segment_count);
	arena_clear(&scratch);
	return done;
}

/* Entries without a size reach to the next start, at most a page. Entries that
 * then hold nothing (at the very end of the address space) are dropped.
 */
static void give_ends(struct untimed_layer *layer)
{
	uint64_t next_start = UINT64_MAX;
	uint64_t start = UINT64_MAX;
	uint32_t count = layer->entry_count;
	for (uint32_t i = count; i-- > 0;) {
		struct untimed_entry *entry = &layer->entries[i];
		if (entry->start_avma != start)
			next_start = start;
		start = entry->start_avma;
		const uint64_t size = entry->end_avma;
		const uint64_t page = range_end(start, PAGE_BYTES);
		entry->end_avma =
		    size ? range_end(start, size) : (next_start < page ? next_start : page);
	}
	while (count > 0 && layer->entries[count - 1].start_avma == UINT64_MAX)
		count--;
	layer->entry_count = count;
}

/* Gathers the entries of one space, in the order in which they were added. */
static bool sort_entries(const struct timeline *tl, const struct untimed_run *const *runs,
			 size_t run_count, struct untimed_layer *layer)
{
	struct arena scratch = { 0 };
	struct pair *pairs = arena_new(&scratch, struct pair, layer->entry_count);
	struct pair *spare = arena_new(&scratch, struct pair, layer->entry_count);
	const bool done = pairs && spare;
	uint32_t at = 0;
	for (size_t r = 0; done && r < run_count; r++) {
		for (uint32_t i = 0; i < runs[r]->count; i++) {
			const uint32_t entry = runs[r]->first + i;
			pairs[at++] = (struct pair){ .key = tl->entries.items[entry].start_avma,
						     .value = entry };
		}
	}
	if (done) {
		sort_pairs(pairs, spare, layer->entry_count);
		for (uint32_t i = 0; i < layer->entry_count; i++) {
			layer->entries[i] = tl->entries.items[pairs[i].value];
			layer->entries[i].order = pairs[i].value;
		}
		give_ends(layer);
	}
	arena_clear(&scratch);
	return done;
}

static bool build_layer(struct timeline *tl, uint32_t space, const struct untimed_run *const *runs,
			size_t run_count)
{
	struct untimed_layer *layer = arena_new(&tl->arena, struct untimed_layer, 1);
	if (!layer)
		return false;
	for (size_t r = 0; r < run_count; r++)
		layer->entry_count += runs[r]->count;
	layer->entries = arena_new(&tl->arena, struct untimed_entry, layer->entry_count);
	if (!layer->entries || !sort_entries(tl, runs, run_count, layer) ||
	    !build_segments(layer, &tl->arena))
		return false;
	tl->spaces.items[space].untimed = layer;
	return true;
}

bool untimed_build(struct timeline *tl)
{
	const size_t count = tl->runs.count;
	struct arena scratch = { 0 };
	struct pair *pairs = arena_new(&scratch, struct pair, count);
	struct pair *spare = arena_new(&scratch, struct pair, count);
	const struct untimed_run **runs = arena_new(&scratch, const struct untimed_run *, count);
	bool done = pairs && spare && runs;
	if (done) {
		for (uint32_t i = 0; i < count; i++)
			pairs[i] = (struct pair){ .key = tl->runs.items[i].space, .value = i };
		sort_pairs(pairs, spare, count);
		for (size_t i = 0; i < count; i++)
			runs[i] = &tl->runs.items[pairs[i].value];
	}
	for (size_t begin = 0, end; done && begin < count; begin = end) {
		end = begin + 1;
		while (end < count && runs[end]->space == runs[begin]->space)
			end++;
		done = build_layer(tl, runs[begin]->space, runs + begin, end - begin);
	}
	arena_clear(&scratch);
	return done;
}

/* The segment that covers the address, here or in a space above; NULL: none. */
static const struct segment *segment_at(const struct query *q, uint32_t space,
					const struct untimed_layer **layer)
{
	for (int depth = 0; space != SPACE_NONE && depth <= MAX_ANCESTORS; depth++) {
		const struct untimed_layer *here = q->tl->spaces.items[space].untimed;
		space = q->tl->spaces.items[space].untimed_above;
		const int64_t at = here ? ladder_at_most(&here->starts, q->avma) : -1;
		if (at < 0)
			continue;
		const struct segment *found = &here->segments[at];
		if (q->avma < here->entries[found->top].end_avma) {
			*layer = here;
			return found;
		}
	}
	return NULL;
}

bool untimed_find(const struct query *q, uint32_t space, struct timeline_hit *hit)
{
	const struct untimed_layer *layer;
	const struct segment *segment = segment_at(q, space, &layer);
	if (!segment)
		return false;
	const struct untimed_entry *top = &layer->entries[segment->top];
	hit->trust = segment->owner_count > 1 ? TRUST_AMBIGUOUS : TRUST_UNTIMED;
	hit->layer = LAYER_MAP;
	hit->object = top->object;
	hit->start_avma = top->start_avma;
	hit->size = top->end_avma - top->start_avma;
	hit->other_count = segment->owner_count - 1;
	return true;
}

/* The owners listed so far, with the lowest order that was seen of each. */
struct listing {
	struct owners *owners;
	uint32_t orders[OWNERS_LISTED];
};

/* Keeps the list sorted by order, and the OWNERS_LISTED lowest in it. */
static void list_owner(struct listing *listing, const struct untimed_entry *entry)
{
	struct owners *owners = listing->owners;
	const uint32_t order = order_of(entry);
	uint32_t at = 0;
	while (at < owners->count && owners->objects[at] != entry->object)
		at++;
	if (at == owners->count) {
		if (at < OWNERS_LISTED)
			owners->count++;
		else if (listing->orders[--at] < order)
			return;
	} else if (listing->orders[at] < order) {
		return;
	}
	for (; at > 0 && listing->orders[at - 1] > order; at--) {
		owners->objects[at] = owners->objects[at - 1];
		listing->orders[at] = listing->orders[at - 1];
	}
	owners->objects[at] = entry->object;
	listing->orders[at] = order;
}

void untimed_owners(const struct query *q, uint32_t space, struct owners *owners)
{
	owners->count = 0;
	const struct untimed_layer *layer;
	const struct segment *segment = segment_at(q, space, &layer);
	if (!segment)
		return;
	struct listing listing = { .owners = owners };
	const uint32_t answer = layer->entries[segment->top].object;
	uint32_t low = 0;
	uint32_t high = layer->entry_count;
	while (high - low > 1) {
		const uint32_t middle = low + (high - low) / 2;
		if (layer->entries[middle].start_avma <= q->avma)
			low = middle;
		else
			high = middle;
	}
	/* Backwards to where the cluster begins: this is the slow way. */
	for (;; low--) {
		const struct untimed_entry *entry = &layer->entries[low];
		if (entry->end_avma > q->avma && entry->object != answer)
			list_owner(&listing, entry);
		if (entry->order & cluster_bit)
			return;
	}
}
