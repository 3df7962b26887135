#include "timeline/code_layer.h"
#include "timeline/rankset.h"

enum { PAGE_BYTES = 4096 };

/* What building one layer works with; `ops` are this space's, in order. */
struct code_builder {
	const struct timeline *tl;
	const uint32_t *ops;
	uint32_t op_count;
	struct code_layer *layer;
	struct rect_span *spans; /* by load */
	uint32_t load_count;
	uint32_t unload_count;
	struct rankset live; /* the low segments of live objects */
	struct live_load {
		uint32_t load;
		uint32_t high; /* of its span */
	} * live_loads;        /* by low segment */
};

static const struct op *op_at(const struct code_builder *b, uint32_t i)
{
	return &b->tl->ops.items[b->ops[i]];
}

static bool read_loads(struct code_builder *b, struct arena *keep, struct pair *starts)
{
	struct code_layer *layer = b->layer;
	uint64_t *begins = ladder_init(&layer->rects.begins, keep, b->load_count);
	layer->objects = arena_new(keep, struct code_object, b->load_count);
	if (!begins || !layer->objects)
		return false;
	uint32_t at = 0;
	for (uint32_t i = 0; i < b->op_count; i++) {
		const struct op *op = op_at(b, i);
		if (op->kind != OP_LOAD)
			continue;
		layer->objects[at] =
		    (struct code_object){ .start_avma = op->start_avma,
					  .end_avma = range_end(op->start_avma, op->size),
					  .begin_ns = op->time_ns,
					  .earliest_ns = op->earliest_ns,
					  .latest_ns = op->latest_ns,
					  .ended_ns = UINT64_MAX,
					  .killer = RECT_NONE,
					  .object = op->object };
		begins[at] = op->time_ns;
		starts[at] = (struct pair){ .key = op->start_avma, .value = at };
		at++;
	}
	ladder_seal(&layer->rects.begins, b->load_count);
	layer->rects.rect_count = b->load_count;
	return true;
}

/* Objects without a size reach to the next start of any time, at most a page. */
static void give_sizes(struct code_builder *b, const struct pair *starts)
{
	uint64_t next_start = UINT64_MAX;
	for (uint32_t i = b->load_count; i-- > 0;) {
		struct code_object *object = &b->layer->objects[starts[i].value];
		if (i + 1 < b->load_count && starts[i + 1].key != starts[i].key)
			next_start = starts[i + 1].key;
		if (object->end_avma == object->start_avma) {
			const uint64_t page = range_end(object->start_avma, PAGE_BYTES);
			object->end_avma = next_start < page ? next_start : page;
		}
	}
}

static bool rank_loads(struct code_builder *b, struct arena *keep, struct arena *scratch)
{
	const uint32_t count = b->load_count;
	struct rect_ranges ranges;
	if (!rect_ranges_init(&ranges, scratch, count) || !read_loads(b, keep, ranges.starts))
		return false;
	sort_pairs(ranges.starts, ranges.spare, count);
	give_sizes(b, ranges.starts);
	for (uint32_t i = 0; i < count; i++)
		ranges.ends[i] = (struct pair){ .key = b->layer->objects[i].end_avma, .value = i };
	b->spans = ranges.spans;
	return rects_rank(&b->layer->rects, keep, &ranges);
}

static void end_object(struct code_builder *b, uint32_t load, uint64_t time_ns, uint32_t killer)
{
	b->layer->objects[load].ended_ns = time_ns;
	b->layer->objects[load].killer = killer;
}

static void apply_load(struct code_builder *b, uint32_t load)
{
	const struct rect_span span = b->spans[load];
	const uint64_t time_ns = b->layer->objects[load].begin_ns;
	if (span.low == span.high)
		return;
	/* Live objects share no address, so those in the way are neighbours. */
	for (;;) {
		const uint32_t low = rankset_below(&b->live, span.high);
		if (low == RANKSET_NONE || b->live_loads[low].high <= span.low)
			break;
		rankset_remove(&b->live, low);
		end_object(b, b->live_loads[low].load, time_ns, load);
	}
	rankset_add(&b->live, span.low);
	b->live_loads[span.low] = (struct live_load){ .load = load, .high = span.high };
}

static void apply_unload(struct code_builder *b, const struct op *op, uint32_t loads_before)
{
	struct code_layer *layer = b->layer;
	if (layer->unloads)
		layer->unloads[layer->unload_count++] =
		    (struct code_unload){ .start_avma = op->start_avma,
					  .time_ns = op->time_ns,
					  .loads_before = loads_before };
	const uint32_t low = rects_segment_from(&layer->rects, op->start_avma);
	if (low == RECT_NONE || !rankset_has(&b->live, low))
		return;
	rankset_remove(&b->live, low);
	end_object(b, b->live_loads[low].load, op->time_ns, RECT_NONE);
}

/* By address; equal ones stay in the order of time. */
static bool sort_unloads(struct code_layer *layer, struct arena *scratch)
{
	const uint32_t count = layer->unload_count;
	struct pair *pairs = arena_new(scratch, struct pair, count);
	struct pair *spare = arena_new(scratch, struct pair, count);
	struct code_unload *copy = arena_new(scratch, struct code_unload, count);
	if (!pairs || !spare || !copy)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		copy[i] = layer->unloads[i];
		pairs[i] = (struct pair){ .key = copy[i].start_avma, .value = i };
	}
	sort_pairs(pairs, spare, count);
	for (uint32_t i = 0; i < count; i++)
		layer->unloads[i] = copy[pairs[i].value];
	return true;
}

static bool build_layer(struct code_builder *b, struct arena *keep, bool inherits)
{
	struct arena scratch = { 0 };
	struct code_layer *layer = b->layer;
	bool done = rank_loads(b, keep, &scratch);
	if (done) {
		b->live_loads = arena_new(&scratch, struct live_load, layer->rects.segment_count);
		done =
		    b->live_loads && rankset_init(&b->live, &scratch, layer->rects.segment_count);
	}
	if (done && inherits && b->unload_count) {
		layer->unloads = arena_new(keep, struct code_unload, b->unload_count);
		done = layer->unloads;
	}
	for (uint32_t i = 0, load = 0; done && i < b->op_count; i++) {
		const struct op *op = op_at(b, i);
		if (op->kind == OP_LOAD)
			apply_load(b, load++);
		else if (op->kind == OP_UNLOAD)
			apply_unload(b, op, load);
	}
	done = done && rects_index(&layer->rects, keep, b->spans, inherits) &&
	       (!layer->unloads || sort_unloads(layer, &scratch));
	arena_clear(&scratch);
	return done;
}

bool code_build(struct timeline *tl, struct space *space, const uint32_t *ops, uint32_t count)
{
	struct code_builder b = { .tl = tl, .ops = ops, .op_count = count };
	for (uint32_t i = 0; i < count; i++) {
		b.load_count += op_at(&b, i)->kind == OP_LOAD;
		b.unload_count += op_at(&b, i)->kind == OP_UNLOAD;
	}
	const bool inherits = space->code_above.space != SPACE_NONE;
	if (!b.load_count && !(inherits && b.unload_count))
		return true;
	b.layer = arena_new(&tl->arena, struct code_layer, 1);
	if (!b.layer || !build_layer(&b, &tl->arena, inherits))
		return false;
	space->code = b.layer;
	return true;
}
