#include "timeline/internal.h"

/* File mappings of one space. A later one takes the part it covers and no more:
 *
 *   address
 *     | +----------------
 *     | | first   +------
 *     | |         | second
 *     | |         +------
 *     | +----------------
 *     +------------------> time
 *
 * Nobody tells of munmap, so the last mapping that covers an address is the one.
 */
struct mapped {
	uint64_t start_avma;
	uint64_t end_avma;
	uint64_t file_off;
	uint32_t object;
};

struct mapping_layer {
	struct rects rects;
	struct mapped *mappings; /* by rectangle */
};

static bool build_layer(struct timeline *tl, const uint32_t *ops, uint32_t op_count,
			const struct rect_ranges *ranges, struct mapping_layer *layer)
{
	uint64_t *begins = ladder_init(&layer->rects.begins, &tl->arena, ranges->count);
	layer->mappings = arena_new(&tl->arena, struct mapped, ranges->count);
	if (!begins || !layer->mappings)
		return false;
	uint32_t at = 0;
	for (uint32_t i = 0; i < op_count; i++) {
		const struct op *op = &tl->ops.items[ops[i]];
		if (op->kind != OP_MAP)
			continue;
		const struct mapped mapped = { .start_avma = op->start_avma,
					       .end_avma = range_end(op->start_avma, op->size),
					       .file_off = op->earliest_ns,
					       .object = op->object };
		begins[at] = op->time_ns;
		layer->mappings[at] = mapped;
		ranges->starts[at] = (struct pair){ .key = mapped.start_avma, .value = at };
		ranges->ends[at] = (struct pair){ .key = mapped.end_avma, .value = at };
		at++;
	}
	ladder_seal(&layer->rects.begins, at);
	layer->rects.rect_count = ranges->count;
	return rects_rank(&layer->rects, &tl->arena, ranges) &&
	       rects_index(&layer->rects, &tl->arena, ranges->spans, false);
}

bool mapping_build(struct timeline *tl, struct space *space, const uint32_t *ops, uint32_t count)
{
	uint32_t mapping_count = 0;
	for (uint32_t i = 0; i < count; i++)
		mapping_count += tl->ops.items[ops[i]].kind == OP_MAP;
	if (!mapping_count)
		return true;
	struct mapping_layer *layer = arena_new(&tl->arena, struct mapping_layer, 1);
	struct arena scratch = { 0 };
	struct rect_ranges ranges;
	const bool done = layer && rect_ranges_init(&ranges, &scratch, mapping_count) &&
			  build_layer(tl, ops, count, &ranges, layer);
	arena_clear(&scratch);
	if (done)
		space->mapping = layer;
	return done;
}

static void fill_hit(const struct mapped *mapped, struct timeline_hit *hit)
{
	hit->trust = TRUST_EXACT;
	hit->layer = LAYER_MAPPING;
	hit->object = mapped->object;
	hit->start_avma = mapped->start_avma;
	hit->size = mapped->end_avma - mapped->start_avma;
	hit->file_off = mapped->file_off;
}

bool mapping_find(struct query *q, uint32_t space, struct timeline_hit *hit)
{
	uint64_t at_ns = q->time_ns;
	for (int depth = 0; space != SPACE_NONE && depth <= MAX_ANCESTORS; depth++) {
		const struct space *here = &q->tl->spaces.items[space];
		const struct mapping_layer *layer = here->mapping;
		struct rect_neighbours found = { .at_or_before = RECT_NONE, .after = RECT_NONE };
		if (layer)
			found =
			    rects_around(&layer->rects, q->avma, rects_begun(&layer->rects, at_ns));
		/* Only what the space itself maps depends on the time asked for. */
		if (depth == 0 && found.after != RECT_NONE)
			query_before(q, ladder_key(&layer->rects.begins, found.after));
		if (found.at_or_before != RECT_NONE) {
			if (depth == 0)
				query_before(q,
					     ladder_key(&layer->rects.begins, found.at_or_before));
			fill_hit(&layer->mappings[found.at_or_before], hit);
			return true;
		}
		space = here->mapping_above.space;
		at_ns = here->mapping_above.fork_ns;
	}
	return false;
}
