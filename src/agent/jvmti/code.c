#include "agent/jvmti/code.h"

#include <jvmticmlr.h>
#include <string.h>
#include <time.h>

/* HotSpot has a place for every few instructions, and compiles nothing of more than some
 * hundred KB.
 */
enum { PLACES_MAX = 1 << 18, RECORDS_MAX = 16 };

static const jvmtiCompiledMethodLoadInlineRecord *inline_record(const void *compile_info)
{
	const jvmtiCompiledMethodLoadRecordHeader *header = compile_info;
	for (int i = 0; header && i < RECORDS_MAX; i++, header = header->next)
		if (header->kind == JVMTI_CMLR_INLINE_INFO &&
		    header->majorinfoversion == JVMTI_CMLR_MAJOR_VERSION_1)
			return (const jvmtiCompiledMethodLoadInlineRecord *)(const void *)header;
	return NULL;
}

/* One place after the other, in ascending order; others are passed over.
 *
 * A place of HotSpot tells of what leads up to it and, unless it is where a call returns to, of
 * the instruction that begins there: the last one of its kind, or one that may fault. So it holds
 * up to and with its own address, as in HotSpot's own search, which takes the first place that is
 * not before the address. A call's return address is looked up by the byte before it.
 */
static void add_place(struct code_builder *b, const struct code_event *event, const void *pc,
		      const struct code_range *frames)
{
	const uint64_t off = (uint64_t)(uintptr_t)pc - event->code_avma;
	struct code_range *last = b->ranges.count ? &b->ranges.items[b->ranges.count - 1] : NULL;
	if (off > event->size)
		return;
	const uint32_t at = (uint32_t)off;
	const uint32_t before = !last ? 0 : b->is_hotspot ? last->end_off : last->start_off;
	const uint32_t end = b->is_hotspot && at < event->size ? at + 1 : at;
	/* Of several in one place the last one is what HotSpot's own walks find. */
	if (last && end == before) {
		last->frame_count = frames->frame_count;
		last->methods = frames->methods;
		last->bytecodes = frames->bytecodes;
		return;
	}
	if (end < before)
		return;
	struct code_range *range = vector_push(&b->ranges);
	if (!range)
		return;
	*range = *frames;
	range->start_off = b->is_hotspot ? before : at;
	range->end_off = b->is_hotspot ? end : (uint32_t)event->size;
	if (!b->is_hotspot && b->ranges.count > 1)
		b->ranges.items[b->ranges.count - 2].end_off = at;
}

static void read_record(struct code_builder *b, const struct code_event *event,
			const jvmtiCompiledMethodLoadInlineRecord *record)
{
	if (!record->pcinfo || record->numpcs < 1 || record->numpcs > PLACES_MAX)
		return;
	for (jint i = 0; i < record->numpcs; i++) {
		const PCStackInfo *place = &record->pcinfo[i];
		if (place->numstackframes < 1 || place->numstackframes > CODE_DEPTH_MAX ||
		    !place->methods || !place->bcis)
			continue;
		add_place(b, event, place->pc,
			  &(struct code_range){ .frame_count = (uint32_t)place->numstackframes,
						.methods = place->methods,
						.bytecodes = place->bcis });
	}
}

static void read_map(struct code_builder *b, const struct code_event *event)
{
	if (!event->map || event->map_length < 1 || event->map_length > PLACES_MAX ||
	    !vector_reserve(&b->map_bytecodes, (size_t)event->map_length))
		return;
	for (jint i = 0; i < event->map_length; i++) {
		jint *bytecode = &b->map_bytecodes.items[i];
		*bytecode = (jint)event->map[i].location;
		add_place(b, event, event->map[i].start_address,
			  &(struct code_range){
			      .frame_count = 1, .methods = &event->method, .bytecodes = bytecode });
	}
}

static void add_line(struct code_builder *b, uint32_t start_off, uint32_t line, const char *file)
{
	const size_t count = b->lines.count;
	const struct polyperf_jit_line *last = count ? &b->lines.items[count - 1] : NULL;
	if (!file)
		file = "";
	/* Where there is no line, there is no other file either. */
	if (last && (!line || strcmp(last->file, file) == 0))
		file = last->file;
	if (last && last->line == line && last->file == file)
		return;
	struct polyperf_jit_line *slot = vector_push(&b->lines);
	if (slot)
		*slot = (struct polyperf_jit_line){ start_off, line, 0, file };
}

static void add_bytecode(struct code_builder *b, uint32_t start_off, jint bytecode)
{
	const size_t count = b->bytecodes.count;
	const int32_t index = bytecode < 0 ? -1 : bytecode;
	if (count && b->bytecodes.items[count - 1].bytecode == index)
		return;
	struct polyperf_jit_bytecode *slot = vector_push(&b->bytecodes);
	if (slot)
		*slot = (struct polyperf_jit_bytecode){ start_off, index };
}

/* Ends the scopes from `depth` inward at `end_off`. */
static void close_scopes(struct code_builder *b, size_t depth, uint32_t end_off)
{
	while (b->open_count > depth) {
		struct polyperf_jit_inline *scope =
		    &b->inlines.items[b->open[--b->open_count].index];
		scope->size = end_off - scope->offset;
	}
}

static void open_scope(struct code_builder *b, const struct jvm *jvm,
		       const struct code_range *range, size_t caller)
{
	const struct method *callee = methods_get(&b->methods, jvm, range->methods[caller - 1]);
	const struct method *from = methods_get(&b->methods, jvm, range->methods[caller]);
	const jint bytecode = range->bytecodes[caller];
	struct polyperf_jit_inline *scope = vector_push(&b->inlines);
	if (!scope)
		return;
	*scope = (struct polyperf_jit_inline){
		.offset = range->start_off,
		.depth = (uint32_t)b->open_count,
		.call_line = method_line(from, bytecode),
		.call_bytecode = bytecode < 0 ? -1 : bytecode,
		.name = callee->name,
		.call_file = from->file,
	};
	b->open[b->open_count++] =
	    (struct code_scope){ b->inlines.count - 1, range->methods[caller - 1], bytecode };
}

/* Goes on with the scopes that the range shares with the one before it, ends the others, and
 * begins its own. Frame f calls frame f - 1; scope d is that of frame count - 2 - d.
 */
static void add_scopes(struct code_builder *b, const struct jvm *jvm,
		       const struct code_range *range, uint32_t previous_end)
{
	size_t same = 0;
	const size_t depth = range->frame_count - 1;
	if (range->start_off != previous_end)
		close_scopes(b, 0, previous_end);
	while (same < b->open_count && same < depth) {
		const size_t caller = range->frame_count - 1 - same;
		if (b->open[same].callee != range->methods[caller - 1] ||
		    b->open[same].call_bytecode != range->bytecodes[caller])
			break;
		same++;
	}
	close_scopes(b, same, range->start_off);
	for (size_t at = same; at < depth; at++)
		open_scope(b, jvm, range, range->frame_count - 1 - at);
}

static void build_details(struct code_builder *b, const struct jvm *jvm,
			  const struct code_event *event)
{
	uint32_t end = 0;
	for (size_t i = 0; i < b->ranges.count; i++) {
		struct code_range *range = &b->ranges.items[i];
		/* A line belongs to the function that is shown for it. */
		const size_t shown = b->options->inlines ? 0 : range->frame_count - 1;
		const struct method *method = methods_get(&b->methods, jvm, range->methods[shown]);
		if (range->start_off > end && b->options->lines) {
			add_line(b, end, 0, NULL);
			add_bytecode(b, end, -1);
		}
		if (b->options->lines) {
			add_line(b, range->start_off, method_line(method, range->bytecodes[shown]),
				 method->file);
			add_bytecode(b, range->start_off, range->bytecodes[shown]);
		}
		if (b->options->inlines)
			add_scopes(b, jvm, range, end);
		end = range->end_off;
	}
	close_scopes(b, 0, end);
	if (b->options->lines && b->ranges.count && end < event->size) {
		add_line(b, end, 0, NULL);
		add_bytecode(b, end, -1);
	}
}

/* A generated class has none, and a table without is worth nothing. */
static bool has_lines(const struct code_builder *b)
{
	for (size_t i = 0; i < b->lines.count; i++)
		if (b->lines.items[i].line)
			return true;
	return false;
}

static uint64_t now_ns(void)
{
	struct timespec now = { 0 };
	(void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void code_build(struct code_builder *b, const struct jvm *jvm, const struct code_event *event,
		struct polyperf_jit_load_info *load)
{
	methods_age(&b->methods, now_ns());
	b->ranges.count = 0;
	b->lines.count = 0;
	b->inlines.count = 0;
	b->bytecodes.count = 0;
	b->open_count = 0;
	load->name = methods_get(&b->methods, jvm, event->method)->name;
	load->address = event->code_avma;
	load->size = event->size;
	if (event->size > UINT32_MAX || (!b->options->lines && !b->options->inlines))
		return;
	const jvmtiCompiledMethodLoadInlineRecord *record = inline_record(event->compile_info);
	if (record)
		read_record(b, event, record);
	if (!b->ranges.count)
		read_map(b, event);
	build_details(b, jvm, event);
	if (has_lines(b)) {
		load->lines = b->lines.items;
		load->line_count = b->lines.count;
	}
	load->inlines = b->inlines.items;
	load->inline_count = b->inlines.count;
	load->bytecodes = b->bytecodes.items;
	load->bytecode_count = b->bytecodes.count;
}

void code_builder_clear(struct code_builder *b)
{
	methods_clear(&b->methods);
	vector_clear(&b->ranges);
	vector_clear(&b->map_bytecodes);
	vector_clear(&b->lines);
	vector_clear(&b->inlines);
	vector_clear(&b->bytecodes);
}
