#include "timeline/rects.h"

/* Children of a node: 1 << FAN_SHIFT. */
enum { FAN_SHIFT = 3, FAN_MASK = (1 << FAN_SHIFT) - 1 };

bool rect_ranges_init(struct rect_ranges *ranges, struct arena *scratch, uint32_t count)
{
	*ranges = (struct rect_ranges){ .starts = arena_new(scratch, struct pair, count),
					.ends = arena_new(scratch, struct pair, count),
					.spare = arena_new(scratch, struct pair, count),
					.spans = arena_new(scratch, struct rect_span, count),
					.count = count };
	return ranges->starts && ranges->ends && ranges->spare && ranges->spans;
}

/* Walks the starts and ends together; the spans become ranks. Returns how many distinct
 * edges there are, and stores them where there is a place.
 */
static uint32_t merge_edges(const struct rect_ranges *ranges, uint64_t *edges)
{
	uint32_t edge_count = 0;
	uint32_t s = 0;
	uint32_t e = 0;
	while (e < ranges->count) {
		uint64_t edge = ranges->ends[e].key;
		if (s < ranges->count && ranges->starts[s].key < edge)
			edge = ranges->starts[s].key;
		for (; s < ranges->count && ranges->starts[s].key == edge; s++) {
			if (edges)
				ranges->spans[ranges->starts[s].value].low = edge_count;
		}
		for (; e < ranges->count && ranges->ends[e].key == edge; e++) {
			if (edges)
				ranges->spans[ranges->ends[e].value].high = edge_count;
		}
		if (edges)
			edges[edge_count] = edge;
		edge_count++;
	}
	return edge_count;
}

bool rects_rank(struct rects *rects, struct arena *arena, const struct rect_ranges *ranges)
{
	sort_pairs(ranges->starts, ranges->spare, ranges->count);
	sort_pairs(ranges->ends, ranges->spare, ranges->count);
	/* Counted first: most ends are some other range's start. */
	const uint32_t edge_count = merge_edges(ranges, NULL);
	uint64_t *edges = ladder_init(&rects->edges, arena, edge_count);
	if (!edges)
		return false;
	merge_edges(ranges, edges);
	ladder_seal(&rects->edges, edge_count);
	rects->segment_count = edge_count ? edge_count - 1 : 0;
	return true;
}

uint32_t rects_segment_from(const struct rects *rects, uint64_t avma)
{
	const int64_t at = ladder_at_most(&rects->edges, avma);
	if (at < 0 || at >= rects->segment_count || ladder_key(&rects->edges, (uint32_t)at) != avma)
		return RECT_NONE;
	return (uint32_t)at;
}

/* A walk visits the nodes whose segments together are a span. */
struct node_walk {
	uint32_t low;
	uint32_t high;
	uint32_t level;
};

static inline uint32_t next_node(const struct rects *rects, struct node_walk *walk)
{
	while (walk->low < walk->high) {
		if (walk->low & FAN_MASK)
			return rects->levels[walk->level] + walk->low++;
		if (walk->high & FAN_MASK)
			return rects->levels[walk->level] + --walk->high;
		walk->low >>= FAN_SHIFT;
		walk->high >>= FAN_SHIFT;
		walk->level++;
	}
	return RECT_NONE;
}

static inline struct node_walk walk_over(struct rect_span span)
{
	return (struct node_walk){ .low = span.low, .high = span.high };
}

static uint32_t lay_levels(struct rects *rects)
{
	uint32_t node_count = 0;
	uint32_t here = rects->segment_count;
	rects->level_count = 0;
	for (;;) {
		rects->levels[rects->level_count++] = node_count;
		node_count += here;
		if (here <= 1)
			return node_count;
		here = (here + FAN_MASK) >> FAN_SHIFT;
	}
}

static bool has_list(const struct rects *rects, uint32_t node)
{
	return rects->nodes[node].list < rects->nodes[node + 1].list;
}

/* RECT_NONE for the root. */
static uint32_t parent_of(const struct rects *rects, uint32_t level, uint32_t node)
{
	if (level + 1 >= rects->level_count)
		return RECT_NONE;
	return rects->levels[level + 1] + ((node - rects->levels[level]) >> FAN_SHIFT);
}

static void link_nodes(struct rects *rects, uint32_t node_count)
{
	uint32_t end = node_count;
	for (uint32_t level = rects->level_count; level-- > 0;) {
		for (uint32_t node = rects->levels[level]; node < end; node++) {
			const uint32_t parent = parent_of(rects, level, node);
			uint32_t above = parent;
			if (parent != RECT_NONE && !has_list(rects, parent))
				above = rects->nodes[parent].above;
			rects->nodes[node].above = above;
		}
		end = rects->levels[level];
	}
}

static bool index_first(struct rects *rects, struct arena *arena, uint32_t node_count)
{
	rects->first = arena_new(arena, uint32_t, node_count);
	if (!rects->first)
		return false;
	for (uint32_t node = 0; node < node_count; node++)
		rects->first[node] =
		    has_list(rects, node) ? rects->lists[rects->nodes[node].list] : RECT_NONE;
	/* Children come before their parents, so they are complete when they pass on. */
	for (uint32_t level = 0; level + 1 < rects->level_count; level++) {
		for (uint32_t node = rects->levels[level]; node < rects->levels[level + 1];
		     node++) {
			uint32_t *above = &rects->first[parent_of(rects, level, node)];
			if (rects->first[node] < *above)
				*above = rects->first[node];
		}
	}
	return true;
}

/* Makes `list` of each node where its list begins; false where they are too many. */
static bool lay_lists(struct rects *rects, const struct rect_span *spans, uint32_t node_count,
		      uint64_t *total)
{
	*total = 0;
	for (uint32_t r = 0; r < rects->rect_count; r++) {
		struct node_walk walk = walk_over(spans[r]);
		for (uint32_t node; (node = next_node(rects, &walk)) != RECT_NONE; ++*total)
			rects->nodes[node].list++;
	}
	uint32_t at = 0;
	for (uint32_t node = 0; node <= node_count; node++) {
		const uint32_t here = rects->nodes[node].list;
		rects->nodes[node].list = at;
		at += here;
	}
	return *total < UINT32_MAX;
}

bool rects_index(struct rects *rects, struct arena *arena, const struct rect_span *spans,
		 bool with_first)
{
	if (!rects->segment_count)
		return true;
	const uint32_t node_count = lay_levels(rects);
	uint64_t total;
	rects->nodes = arena_new(arena, struct rect_node, (size_t)node_count + 1);
	if (!rects->nodes || !lay_lists(rects, spans, node_count, &total))
		return false;
	rects->lists = arena_new(arena, uint32_t, total);
	if (!rects->lists)
		return false;
	for (uint32_t r = 0; r < rects->rect_count; r++) {
		struct node_walk walk = walk_over(spans[r]);
		for (uint32_t node; (node = next_node(rects, &walk)) != RECT_NONE;)
			rects->lists[rects->nodes[node].list++] = r;
	}
	/* Each has moved to its end, where the next began. */
	for (uint32_t node = node_count; node > 0; node--)
		rects->nodes[node].list = rects->nodes[node - 1].list;
	rects->nodes[0].list = 0;
	link_nodes(rects, node_count);
	return !with_first || index_first(rects, arena, node_count);
}

uint32_t rects_begun(const struct rects *rects, uint64_t time_ns)
{
	return (uint32_t)(ladder_at_most(&rects->begins, time_ns) + 1);
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
	const int64_t segment = ladder_at_most(&rects->edges, avma);
	if (segment < 0 || segment >= rects->segment_count)
		return found;

	for (uint32_t node = (uint32_t)segment; node != RECT_NONE;
	     node = rects->nodes[node].above) {
		const uint32_t *list = rects->lists + rects->nodes[node].list;
		const uint32_t count = rects->nodes[node + 1].list - rects->nodes[node].list;
		const uint32_t at = lower_bound(list, count, rect);
		/* One more than RECT_NONE is 0, less than one more than any number. */
		if (at > 0 && list[at - 1] + 1 > found.at_or_before + 1)
			found.at_or_before = list[at - 1];
		if (at < count && list[at] < found.after)
			found.after = list[at];
	}
	return found;
}

uint32_t rects_first_over(const struct rects *rects, uint64_t start, uint64_t end)
{
	const uint32_t segments = rects->segment_count;
	if (!segments || start >= end)
		return RECT_NONE;
	const int64_t low = ladder_at_most(&rects->edges, start);
	const int64_t high = ladder_at_most(&rects->edges, end - 1);
	if (low >= segments || high < 0)
		return RECT_NONE;
	const struct rect_span span = { .low = low < 0 ? 0 : (uint32_t)low,
					.high =
					    (high < segments ? (uint32_t)high : segments - 1) + 1 };

	uint32_t first = RECT_NONE;
	struct node_walk walk = walk_over(span);
	for (uint32_t node; (node = next_node(rects, &walk)) != RECT_NONE;)
		first = rects->first[node] < first ? rects->first[node] : first;
	/* What covers more than the whole span lies above its first or its last segment. */
	const uint32_t ends[] = { span.low, span.high - 1 };
	for (int i = 0; i < 2; i++) {
		for (uint32_t node = ends[i]; node != RECT_NONE; node = rects->nodes[node].above) {
			if (!has_list(rects, node))
				continue;
			const uint32_t lowest = rects->lists[rects->nodes[node].list];
			first = lowest < first ? lowest : first;
		}
	}
	return first;
}
