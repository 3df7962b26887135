#include "timeline/rects.h"

int64_t last_at_most(const uint64_t *values, uint32_t count, uint64_t value)
{
	const uint64_t *base = values;
	if (!count || value < values[0])
		return -1;
	/* No branch depends on the data, so the steps do not wait for guesses. */
	while (count > 1) {
		const uint32_t half = count / 2;
		base = base[half] <= value ? base + half : base;
		count -= half;
	}
	return base - values;
}

bool rect_ranges_init(struct rect_ranges *ranges, struct arena *scratch, uint32_t count)
{
	*ranges = (struct rect_ranges){ .starts = arena_new(scratch, struct pair, count),
					.ends = arena_new(scratch, struct pair, count),
					.spare = arena_new(scratch, struct pair, count),
					.spans = arena_new(scratch, struct rect_span, count),
					.count = count };
	return ranges->starts && ranges->ends && ranges->spare && ranges->spans;
}

bool rects_rank(struct rects *rects, struct arena *arena, const struct rect_ranges *ranges)
{
	const uint32_t count = ranges->count;
	sort_pairs(ranges->starts, ranges->spare, count);
	sort_pairs(ranges->ends, ranges->spare, count);

	/* Counted first: most ends are some other range's start. */
	uint64_t *edges = NULL;
	uint32_t edge_count = 0;
	for (int pass = 0; pass < 2; pass++) {
		uint32_t s = 0;
		uint32_t e = 0;
		edge_count = 0;
		while (e < count) {
			const uint64_t edge =
			    s < count && ranges->starts[s].key < ranges->ends[e].key
				? ranges->starts[s].key
				: ranges->ends[e].key;
			for (; s < count && ranges->starts[s].key == edge; s++)
				ranges->spans[ranges->starts[s].value].low = edge_count;
			for (; e < count && ranges->ends[e].key == edge; e++)
				ranges->spans[ranges->ends[e].value].high = edge_count;
			if (edges)
				edges[edge_count] = edge;
			edge_count++;
		}
		if (!edges)
			edges = arena_new(arena, uint64_t, edge_count);
		if (!edges)
			return false;
	}
	rects->edges = edges;
	rects->segment_count = edge_count ? edge_count - 1 : 0;
	return true;
}

/* The tree is an array: leaf i is node segment_count + i, the parent of n is n / 2.
 * A walk visits the nodes whose segments together are a span; 0 ends it.
 */
struct node_walk {
	uint32_t low;
	uint32_t high;
};

static inline struct node_walk walk_over(struct rect_span span, uint32_t leaves)
{
	return (struct node_walk){ .low = span.low + leaves, .high = span.high + leaves };
}

static inline uint32_t next_node(struct node_walk *walk)
{
	while (walk->low < walk->high) {
		if (walk->low & 1)
			return walk->low++;
		if (walk->high & 1)
			return --walk->high;
		walk->low >>= 1;
		walk->high >>= 1;
	}
	return 0;
}

static void fill_lists(struct rects *rects, const struct rect_span *spans)
{
	const uint32_t leaves = rects->segment_count;
	for (uint32_t r = 0; r < rects->rect_count; r++) {
		struct node_walk walk = walk_over(spans[r], leaves);
		for (uint32_t node; (node = next_node(&walk)) != 0;)
			rects->lists[rects->offsets[node]++] = r;
	}
	/* Each offset has moved to the end of its list, the start of the next. */
	for (uint32_t node = 2 * leaves; node > 0; node--)
		rects->offsets[node] = rects->offsets[node - 1];
	rects->offsets[0] = 0;
}

static bool index_first(struct rects *rects, struct arena *arena)
{
	const uint32_t leaves = rects->segment_count;
	rects->first = arena_new(arena, uint32_t, 2 * (size_t)leaves);
	if (!rects->first)
		return false;
	for (uint32_t node = 2 * leaves - 1; node > 0; node--) {
		uint32_t lowest = RECT_NONE;
		if (rects->offsets[node] < rects->offsets[node + 1])
			lowest = rects->lists[rects->offsets[node]];
		if (node < leaves) {
			const uint32_t left = rects->first[2 * node];
			const uint32_t right = rects->first[2 * node + 1];
			lowest = left < lowest ? left : lowest;
			lowest = right < lowest ? right : lowest;
		}
		rects->first[node] = lowest;
	}
	return true;
}

bool rects_index(struct rects *rects, struct arena *arena, const struct rect_span *spans,
		 bool with_first)
{
	const uint32_t leaves = rects->segment_count;
	if (!leaves)
		return true;
	if (leaves > UINT32_MAX / 4)
		return false;
	rects->offsets = arena_new(arena, uint32_t, 2 * (size_t)leaves + 1);
	rects->filled = arena_new(arena, uint32_t, 2 * (size_t)leaves);
	if (!rects->offsets || !rects->filled)
		return false;

	uint64_t total = 0;
	for (uint32_t r = 0; r < rects->rect_count; r++) {
		struct node_walk walk = walk_over(spans[r], leaves);
		for (uint32_t node; (node = next_node(&walk)) != 0; total++)
			rects->offsets[node]++;
	}
	if (total > UINT32_MAX)
		return false;
	rects->lists = arena_new(arena, uint32_t, total);
	if (!rects->lists)
		return false;
	uint32_t at = 0;
	for (uint32_t node = 0; node <= 2 * leaves; node++) {
		const uint32_t here = rects->offsets[node];
		if (node > 0 && node < 2 * leaves)
			rects->filled[node] = here ? node : rects->filled[node / 2];
		rects->offsets[node] = at;
		at += here;
	}
	fill_lists(rects, spans);
	return !with_first || index_first(rects, arena);
}

uint32_t rects_begun(const struct rects *rects, uint64_t time_ns)
{
	return (uint32_t)(last_at_most(rects->begins, rects->rect_count, time_ns) + 1);
}

/* The first position in the ascending list whose number is `rect` or more. */
static uint32_t lower_bound(const uint32_t *list, uint32_t count, uint32_t rect)
{
	uint32_t low = 0;
	while (count > 0) {
		const uint32_t half = count / 2;
		if (list[low + half] < rect) {
			low += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	return low;
}

struct rect_neighbours rects_around(const struct rects *rects, uint64_t avma, uint32_t rect)
{
	struct rect_neighbours found = { .at_or_before = RECT_NONE, .after = RECT_NONE };
	const uint32_t leaves = rects->segment_count;
	if (!leaves)
		return found;
	const int64_t segment = last_at_most(rects->edges, leaves + 1, avma);
	if (segment < 0 || segment >= leaves)
		return found;

	uint32_t node = rects->filled[leaves + (uint32_t)segment];
	for (; node; node = rects->filled[node / 2]) {
		const uint32_t *list = rects->lists + rects->offsets[node];
		const uint32_t count = rects->offsets[node + 1] - rects->offsets[node];
		const uint32_t at = lower_bound(list, count, rect);
		/* RECT_NONE is the highest number, and one less than no number + 1. */
		if (at > 0 && list[at - 1] + 1 > found.at_or_before + 1)
			found.at_or_before = list[at - 1];
		if (at < count && list[at] < found.after)
			found.after = list[at];
	}
	return found;
}

uint32_t rects_first_over(const struct rects *rects, uint64_t start, uint64_t end)
{
	const uint32_t leaves = rects->segment_count;
	if (!leaves || start >= end || end <= rects->edges[0] || start >= rects->edges[leaves])
		return RECT_NONE;
	const int64_t low = last_at_most(rects->edges, leaves, start);
	const int64_t high = last_at_most(rects->edges, leaves, end - 1);
	const struct rect_span span = { .low = low < 0 ? 0 : (uint32_t)low,
					.high = (uint32_t)high + 1 };

	uint32_t first = RECT_NONE;
	struct node_walk walk = walk_over(span, leaves);
	for (uint32_t node; (node = next_node(&walk)) != 0;)
		first = rects->first[node] < first ? rects->first[node] : first;
	/* What covers more than the whole span lies above its first or its last segment. */
	const uint32_t ends[] = { span.low, span.high - 1 };
	for (int i = 0; i < 2; i++) {
		uint32_t node = rects->filled[leaves + ends[i]];
		for (; node; node = rects->filled[node / 2]) {
			const uint32_t lowest = rects->lists[rects->offsets[node]];
			first = lowest < first ? lowest : first;
		}
	}
	return first;
}
