#include "page/tables.h"

#include "base/escape.h"
#include "base/status.h"
#include "profile/level.h"

#include <inttypes.h>

enum table { FUNCTIONS, FRAMES, STACKS, THREADS, ROWS };

struct tables {
	struct page_block *block;
	const struct page *page;
	struct intern strings;
	VECTOR(uint32_t) events; /* strings of ours */
	bool failed;
	/* Of the side whose columns are written: what was before it. */
	const struct page_side *side;
	size_t index;
	uint32_t functions;
	uint32_t frames;
	uint32_t stacks;
	uint32_t threads;
};

static uint64_t string(struct tables *t, uint32_t id)
{
	const uint32_t ours =
	    intern_bytes(&t->strings, intern_get_bytes(&t->side->profile->strings, id));
	t->failed |= ours == INTERN_NONE;
	return ours;
}

static const struct profile_function *function(const struct tables *t, size_t i)
{
	return &t->side->profile->functions.items[i];
}

static uint64_t function_name(struct tables *t, size_t i)
{
	return string(t, function(t, i)->name);
}

static uint64_t function_raw(struct tables *t, size_t i)
{
	return string(t, function(t, i)->raw_name);
}

static uint64_t function_group(struct tables *t, size_t i)
{
	return t->page->group(t->page->group_context, t->index, (uint32_t)i);
}

static uint64_t function_object(struct tables *t, size_t i)
{
	return string(t, function(t, i)->object);
}

static uint64_t function_runtime(struct tables *t, size_t i)
{
	return string(t, function(t, i)->runtime);
}

static uint64_t function_tier(struct tables *t, size_t i)
{
	return string(t, function(t, i)->tier);
}

static uint64_t function_version(struct tables *t, size_t i)
{
	return function(t, i)->version;
}

static uint64_t function_flags(struct tables *t, size_t i)
{
	return (function(t, i)->is_unknown ? 1 : 0) | (function(t, i)->is_builtin ? 2 : 0);
}

static uint64_t function_level(struct tables *t, size_t i)
{
	return profile_function_level(t->side->profile, (uint32_t)i);
}

static uint64_t frame_function(struct tables *t, size_t i)
{
	return t->functions + t->side->tree.frames.items[i].function;
}

static uint64_t frame_reason(struct tables *t, size_t i)
{
	return string(t, t->side->tree.frames.items[i].reason);
}

static uint64_t frame_trust(struct tables *t, size_t i)
{
	return t->side->tree.frames.items[i].trust;
}

static uint64_t frame_flags(struct tables *t, size_t i)
{
	return t->side->tree.frames.items[i].flags;
}

/* Stacks count from 1: 0 is the root. */
static uint64_t stack_of(const struct tables *t, uint32_t node)
{
	return node ? t->stacks + node : 0;
}

static uint64_t stack_parent(struct tables *t, size_t i)
{
	return stack_of(t, t->side->tree.nodes.items[i].parent);
}

static uint64_t stack_frame(struct tables *t, size_t i)
{
	return t->frames + t->side->tree.nodes.items[i].frame;
}

static uint64_t thread_side(struct tables *t, size_t i)
{
	(void)i;
	return t->side->is_after;
}

static uint64_t thread_pid(struct tables *t, size_t i)
{
	return t->side->profile->threads.items[i].pid;
}

static uint64_t thread_tid(struct tables *t, size_t i)
{
	return t->side->profile->threads.items[i].tid;
}

static uint64_t thread_comm(struct tables *t, size_t i)
{
	return string(t, t->side->profile->threads.items[i].comm);
}

/* Events of one name are one. */
static uint64_t event(struct tables *t, uint32_t id)
{
	const uint32_t name = (uint32_t)string(t, t->side->profile->events.items[id]);
	for (size_t i = 0; i < t->events.count; i++)
		if (t->events.items[i] == name)
			return i;
	uint32_t *added = vector_push(&t->events);
	if (!added) {
		t->failed = true;
		return 0;
	}
	*added = name;
	return t->events.count - 1;
}

static uint64_t row_event(struct tables *t, size_t i)
{
	return event(t, page_row_key(&t->side->rows, i)->event);
}

static uint64_t row_bucket(struct tables *t, size_t i)
{
	return t->side->rows.items.items[i].bucket;
}

static uint64_t row_thread(struct tables *t, size_t i)
{
	return t->threads + page_row_key(&t->side->rows, i)->thread;
}

static uint64_t row_stack(struct tables *t, size_t i)
{
	return stack_of(t, page_row_key(&t->side->rows, i)->node);
}

static uint64_t row_count(struct tables *t, size_t i)
{
	return t->side->rows.items.items[i].count;
}

static uint64_t row_weight(struct tables *t, size_t i)
{
	return t->side->rows.items.items[i].weight;
}

static const struct column {
	const char *name;
	enum page_kind kind;
	enum table table;
	uint64_t (*get)(struct tables *t, size_t i);
} columns[] = {
	{ "functions.name", PAGE_U32, FUNCTIONS, function_name },
	{ "functions.raw", PAGE_U32, FUNCTIONS, function_raw },
	{ "functions.object", PAGE_U32, FUNCTIONS, function_object },
	{ "functions.runtime", PAGE_U32, FUNCTIONS, function_runtime },
	{ "functions.tier", PAGE_U32, FUNCTIONS, function_tier },
	{ "functions.level", PAGE_U8, FUNCTIONS, function_level },
	{ "functions.version", PAGE_U32, FUNCTIONS, function_version },
	{ "functions.flags", PAGE_U8, FUNCTIONS, function_flags },
	{ "frames.function", PAGE_U32, FRAMES, frame_function },
	{ "frames.reason", PAGE_U32, FRAMES, frame_reason },
	{ "frames.trust", PAGE_U8, FRAMES, frame_trust },
	{ "frames.flags", PAGE_U8, FRAMES, frame_flags },
	{ "stacks.parent", PAGE_U32, STACKS, stack_parent },
	{ "stacks.frame", PAGE_U32, STACKS, stack_frame },
	{ "threads.side", PAGE_U8, THREADS, thread_side },
	{ "threads.pid", PAGE_U32, THREADS, thread_pid },
	{ "threads.tid", PAGE_U32, THREADS, thread_tid },
	{ "threads.comm", PAGE_U32, THREADS, thread_comm },
	{ "rows.event", PAGE_U8, ROWS, row_event },
	{ "rows.bucket", PAGE_U16, ROWS, row_bucket },
	{ "rows.thread", PAGE_U32, ROWS, row_thread },
	{ "rows.stack", PAGE_U32, ROWS, row_stack },
	{ "rows.count", PAGE_U32, ROWS, row_count },
	{ "rows.weight", PAGE_F64, ROWS, row_weight },
};
_Static_assert(PAGE_BUCKETS <= UINT16_MAX, "a bucket's column");

static const struct column group_column = { "functions.group", PAGE_U32, FUNCTIONS,
					    function_group };

static size_t table_size(const struct page_side *side, enum table table)
{
	switch (table) {
	case FUNCTIONS:
		return side->profile->functions.count;
	case FRAMES:
		return side->tree.frames.count;
	case STACKS:
		return side->tree.nodes.count;
	case THREADS:
		return side->profile->threads.count;
	case ROWS:
		return side->rows.items.count;
	}
	return 0;
}

static void put_value(struct sink *out, enum page_kind kind, uint64_t value)
{
	const double real = (double)value;
	if (kind == PAGE_U8)
		sink_u8(out, (uint8_t)value);
	else if (kind == PAGE_U16)
		sink_u16(out, (uint16_t)value);
	else if (kind == PAGE_U32)
		sink_u32(out, value < UINT32_MAX ? (uint32_t)value : UINT32_MAX);
	else
		sink_put(out, &real, sizeof(real));
}

static void next_side(struct tables *t)
{
	t->functions += (uint32_t)t->side->profile->functions.count;
	t->frames += (uint32_t)t->side->tree.frames.count;
	t->stacks += (uint32_t)t->side->tree.nodes.count;
	t->threads += (uint32_t)t->side->profile->threads.count;
}

static void put_column(struct tables *t, const struct column *column, struct sink *values)
{
	sink_reset(values);
	t->functions = t->frames = t->stacks = t->threads = 0;
	for (t->index = 0; t->index < t->page->side_count; t->index++) {
		t->side = &t->page->sides[t->index];
		for (size_t i = 0; i < table_size(t->side, column->table); i++)
			put_value(values, column->kind, column->get(t, i));
		next_side(t);
	}
	t->failed |= sink_failed(values);
	page_block_put(t->block, column->name, column->kind, sink_bytes(values));
}

static void put_strings(struct tables *t)
{
	struct sink bytes = { 0 };
	struct sink ends = { 0 };
	for (size_t i = 0; i < t->strings.texts.count; i++) {
		const struct bytes text = t->strings.texts.items[i];
		sink_put(&bytes, text.data, text.size);
		sink_u32(&ends, (uint32_t)bytes.size);
	}
	t->failed |= sink_failed(&bytes) || sink_failed(&ends) || bytes.size > UINT32_MAX;
	page_block_put(t->block, "strings.end", PAGE_U32, sink_bytes(&ends));
	page_block_put(t->block, "strings.bytes", PAGE_U8, sink_bytes(&bytes));
	sink_clear(&bytes);
	sink_clear(&ends);
}

static void put_json_string(struct sink *out, struct bytes text)
{
	sink_u8(out, '"');
	escape_json(out, text);
	sink_u8(out, '"');
}

/* Numbers that a double may not hold are written as text. */
static void put_meta(struct tables *t)
{
	struct sink out = { 0 };
	sink_text(&out, "{\"format\":1,\"program\":\"polyperf " POLYPERF_VERSION "\",\"sides\":[");
	for (size_t i = 0; i < t->page->side_count; i++) {
		const struct page_side *side = &t->page->sides[i];
		sink_text(&out, i ? ",{\"name\":" : "{\"name\":");
		put_json_string(&out,
				(struct bytes){ (const uint8_t *)side->name, strlen(side->name) });
		sink_printf(&out,
			    ",\"after\":%s,\"first_ns\":\"%" PRIu64 "\",\"last_ns\":\"%" PRIu64
			    "\",\"lost\":%" PRIu64 "}",
			    side->is_after ? "true" : "false", side->rows.first_ns,
			    side->profile->last_ns, side->profile->lost_count);
	}
	sink_printf(&out, "],\"bucket_ns\":%" PRIu64 ",\"trusts\":[",
		    (uint64_t)1 << (t->page->side_count ? t->page->sides[0].rows.shift : 0));
	for (int trust = 0; trust < PROFILE_TRUST_COUNT; trust++)
		sink_printf(&out, "%s\"%s\"", trust ? "," : "",
			    profile_trust_name((enum profile_trust)trust));
	sink_text(&out, "],\"levels\":[");
	for (int level = 0; level < PROFILE_LEVEL_COUNT; level++)
		sink_printf(&out, "%s{\"key\":\"%s\",\"text\":\"%s\"}", level ? "," : "",
			    profile_level_key((enum profile_level)level),
			    profile_level_text((enum profile_level)level));
	sink_text(&out, "],\"events\":[");
	for (size_t i = 0; i < t->events.count; i++) {
		sink_text(&out, i ? "," : "");
		put_json_string(&out, intern_get_bytes(&t->strings, t->events.items[i]));
	}
	sink_text(&out, "]}");
	t->failed |= sink_failed(&out);
	page_block_text(t->block, "meta", sink_bytes(&out));
	sink_clear(&out);
}

int page_tables_put(struct page_block *block, const struct page *page)
{
	struct tables t = { .block = block, .page = page };
	struct sink values = { 0 };
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		put_column(&t, &columns[i], &values);
	if (page->group)
		put_column(&t, &group_column, &values);
	put_strings(&t);
	put_meta(&t);
	sink_clear(&values);
	intern_clear(&t.strings);
	vector_clear(&t.events);
	return t.failed ? STATUS_NO_MEMORY : 0;
}
