/* A profile of pprof: https://github.com/google/pprof, proto/profile.proto.
 *
 * Samples come first and what they refer to behind them, as nobody knows before what that will be.
 */
#include "base/status.h"
#include "export/places.h"
#include "export/pprof.pb-c.h"
#include "export/proto.h"
#include "export/value.h"

/* Of a Profile. */
enum {
	FIELD_SAMPLE_TYPE = 1,
	FIELD_SAMPLE,
	FIELD_MAPPING,
	FIELD_LOCATION,
	FIELD_FUNCTION,
	FIELD_STRING,
	FIELD_TIME = 9,
	FIELD_DURATION,
	FIELD_PERIOD_TYPE,
	FIELD_PERIOD,
	FIELD_COMMENT,
	FIELD_DEFAULT_TYPE,
};

enum { LABEL_LIMIT = 6 };

struct writer {
	struct export_out *out;
	const struct export_view *view;
	struct places places;
	/* Each event has two values: samples, and their weight. */
	VECTOR(int64_t) values;
	VECTOR(uint32_t) value_of_event; /* index of the first + 1; 0: it is not shown */
	VECTOR(uint64_t) ids;
	VECTOR(Pprof__Line) lines;
	VECTOR(Pprof__Line *) line_pointers;
};

static uint32_t text_of(struct writer *w, const char *text)
{
	return places_text_cstr(&w->places, text);
}

static void put_type(struct writer *w, unsigned field, uint32_t type, const char *unit)
{
	Pprof__ValueType value = PPROF__VALUE_TYPE__INIT;
	value.type = type;
	value.unit = text_of(w, unit);
	proto_message(&w->out->sink, field, &value.base);
}

/* "samples" where there is one event, "samples_NAME" where there are several. */
static uint32_t samples_name(struct writer *w, uint32_t event, bool is_single)
{
	struct sink name = { 0 };
	const struct bytes of = export_value_name(w->view, event, is_single);
	sink_text(&name, "samples");
	if (!is_single) {
		sink_u8(&name, '_');
		sink_put(&name, of.data, of.size);
	}
	const uint32_t id = places_text_of(&w->places, sink_bytes(&name));
	w->places.failed |= sink_failed(&name);
	sink_clear(&name);
	return id;
}

/* Events without samples have no values. */
static int find_events(struct writer *w)
{
	const struct profile *profile = w->view->profile;
	for (size_t i = 0; i < profile->events.count; i++)
		if (!vector_push(&w->value_of_event))
			return STATUS_NO_MEMORY;
	for (size_t i = 0; i < profile->rows.count; i++) {
		const uint32_t event = profile->rows.items[i].event;
		if (export_has_event(w->view, event))
			w->value_of_event.items[event] = 1;
	}
	for (uint32_t i = 0; i < w->value_of_event.count; i++) {
		if (!w->value_of_event.items[i])
			continue;
		w->value_of_event.items[i] = (uint32_t)w->values.count + 1;
		if (!vector_push(&w->values) || !vector_push(&w->values))
			return STATUS_NO_MEMORY;
	}
	return 0;
}

/* What is known of the recording's events and times. That of the first event is the default. */
static void put_head(struct writer *w)
{
	const struct profile *profile = w->view->profile;
	struct sink *sink = &w->out->sink;
	const bool is_single = w->values.count == 2;
	bool is_first = true;
	for (uint32_t i = 0; i < w->value_of_event.count; i++) {
		if (!w->value_of_event.items[i])
			continue;
		const uint32_t name =
		    places_text_of(&w->places, export_value_name(w->view, i, is_single));
		const char *unit = export_value_unit(w->view, i);
		put_type(w, FIELD_SAMPLE_TYPE, samples_name(w, i, is_single), "count");
		put_type(w, FIELD_SAMPLE_TYPE, name, unit);
		if (!is_first)
			continue;
		is_first = false;
		put_type(w, FIELD_PERIOD_TYPE, name, unit);
		proto_varint(sink, FIELD_PERIOD, export_value_period(w->view, i));
		proto_varint(sink, FIELD_DEFAULT_TYPE, name);
	}
	proto_varint(sink, FIELD_TIME, export_wall_ns(w->view->about, profile->first_ns));
	proto_varint(sink, FIELD_DURATION, profile->last_ns - profile->first_ns);
}

struct labels {
	Pprof__Label items[LABEL_LIMIT];
	Pprof__Label *pointers[LABEL_LIMIT];
	size_t count;
};

static void add_label(struct writer *w, struct labels *labels, const char *key, uint32_t text,
		      int64_t number)
{
	Pprof__Label *label = &labels->items[labels->count];
	pprof__label__init(label);
	label->key = text_of(w, key);
	label->str = text;
	label->num = number;
	labels->pointers[labels->count++] = label;
}

/* Of the code that ran: the leaf of the stack. */
static void add_code_labels(struct writer *w, struct labels *labels, uint32_t stack_id)
{
	const struct profile *profile = w->view->profile;
	const struct profile_stack *stack = &profile->stacks.items[stack_id];
	const char *trust = profile_trust_name(export_stack_trust(profile, stack_id));
	add_label(w, labels, "trust", text_of(w, trust), 0);
	if (!stack->depth)
		return;
	const struct profile_function *function = export_function(
	    profile, &profile->frames.items[profile->frame_ids.items[stack->first]]);
	if (function->runtime)
		add_label(w, labels, "runtime", places_text(&w->places, function->runtime), 0);
	if (function->tier)
		add_label(w, labels, "tier", places_text(&w->places, function->tier), 0);
}

static void put_row(struct writer *w, const struct profile_row *row)
{
	const struct profile_thread *thread = &w->view->profile->threads.items[row->thread];
	Pprof__Sample sample = PPROF__SAMPLE__INIT;
	struct labels labels = { .count = 0 };
	places_stack(&w->places, row->stack);
	w->ids.count = 0;
	for (size_t i = 0; i < w->places.stack.count; i++) {
		uint64_t *id = vector_push(&w->ids);
		if (id)
			*id = w->places.stack.items[i];
		w->places.failed |= !id;
	}
	int64_t *values = &w->values.items[w->value_of_event.items[row->event] - 1];
	values[0] = (int64_t)row->count;
	values[1] = (int64_t)row->weight;
	add_label(w, &labels, "pid", 0, thread->pid);
	add_label(w, &labels, "tid", 0, thread->tid);
	add_label(w, &labels, "comm", places_text(&w->places, thread->comm), 0);
	add_code_labels(w, &labels, row->stack);
	sample.location_id = w->ids.items;
	sample.n_location_id = w->ids.count;
	sample.value = w->values.items;
	sample.n_value = w->values.count;
	sample.label = labels.pointers;
	sample.n_label = labels.count;
	proto_message(&w->out->sink, FIELD_SAMPLE, &sample.base);
	values[0] = values[1] = 0;
}

static int put_rows(struct writer *w)
{
	const struct profile *profile = w->view->profile;
	int got = 0;
	for (size_t i = 0; got == 0 && i < profile->rows.count; i++) {
		if (!export_has_event(w->view, profile->rows.items[i].event))
			continue;
		put_row(w, &profile->rows.items[i]);
		got = places_failed(&w->places) ? STATUS_NO_MEMORY : export_out_more(w->out);
	}
	return got;
}

static void put_location(struct writer *w, uint32_t id)
{
	const struct places_location *from = &w->places.locations.items[id - 1];
	Pprof__Location location = PPROF__LOCATION__INIT;
	const struct profile_frame *frame = &w->view->profile->frames.items[from->frame];
	w->lines.count = 0;
	w->line_pointers.count = 0;
	for (; frame; frame = places_around(&w->places, frame)) {
		Pprof__Line *line = vector_push(&w->lines);
		/* NOLINTNEXTLINE(bugprone-sizeof-expression): protobuf-c wants pointers */
		if (!line || !vector_push(&w->line_pointers)) {
			w->places.failed = true;
			return;
		}
		pprof__line__init(line);
		line->function_id = places_function(&w->places, frame);
		line->line = frame->line;
	}
	for (size_t i = 0; i < w->lines.count; i++)
		w->line_pointers.items[i] = &w->lines.items[i];
	location.id = id;
	location.mapping_id = from->mapping;
	location.address = from->address;
	location.line = w->line_pointers.items;
	location.n_line = w->lines.count;
	proto_message(&w->out->sink, FIELD_LOCATION, &location.base);
}

static void put_function(struct writer *w, uint32_t id)
{
	const struct places_function from = places_function_at(&w->places, id);
	Pprof__Function function = PPROF__FUNCTION__INIT;
	function.id = id;
	function.name = from.name;
	function.system_name = from.raw_name;
	function.filename = from.file;
	proto_message(&w->out->sink, FIELD_FUNCTION, &function.base);
}

static uint32_t build_id_text(struct writer *w, const struct export_object *object)
{
	struct sink hex = { 0 };
	for (size_t i = 0; object && i < object->build_id.size; i++)
		sink_printf(&hex, "%02x", object->build_id.data[i]);
	const uint32_t id = places_text_of(&w->places, sink_bytes(&hex));
	w->places.failed |= sink_failed(&hex);
	sink_clear(&hex);
	return id;
}

static void put_mapping(struct writer *w, uint32_t id)
{
	const struct places_mapping *from = &w->places.mappings.items[id - 1];
	Pprof__Mapping mapping = PPROF__MAPPING__INIT;
	mapping.id = id;
	mapping.memory_start = from->start;
	mapping.memory_limit = from->end;
	mapping.file_offset = from->object ? from->start : 0;
	mapping.filename = from->path;
	mapping.build_id = build_id_text(w, from->object);
	mapping.has_functions = from->is_named;
	mapping.has_filenames = from->has_files;
	mapping.has_line_numbers = from->has_lines;
	mapping.has_inline_frames = from->has_inlines;
	proto_message(&w->out->sink, FIELD_MAPPING, &mapping.base);
}

static void put_remark(void *context, struct bytes remark)
{
	struct writer *w = context;
	proto_varint(&w->out->sink, FIELD_COMMENT, places_text_of(&w->places, remark));
}

static int put_each(struct writer *w, size_t count, void (*put)(struct writer *w, uint32_t id))
{
	int got = 0;
	for (uint32_t id = 1; got == 0 && id <= count; id++) {
		put(w, id);
		got = places_failed(&w->places) ? STATUS_NO_MEMORY : export_out_more(w->out);
	}
	return got;
}

static void put_text(struct writer *w, uint32_t id)
{
	proto_bytes(&w->out->sink, FIELD_STRING, intern_get_bytes(&w->places.texts, id));
}

static int put_all(struct writer *w)
{
	int got = find_events(w);
	if (got < 0)
		return got;
	put_head(w);
	got = export_remarks(w->view, put_remark, w);
	if (got == 0)
		got = put_rows(w);
	if (got == 0)
		got = put_each(w, w->places.locations.count, put_location);
	if (got == 0)
		got = put_each(w, w->places.functions.texts.count, put_function);
	if (got == 0)
		got = put_each(w, w->places.mappings.count, put_mapping);
	if (got < 0)
		return got;
	put_text(w, 0);
	return put_each(w, w->places.texts.texts.count, put_text);
}

static int write_pprof(struct export_out *out, const struct export_view *view)
{
	struct writer w = { .out = out, .view = view };
	places_open(&w.places, view);
	const int got = put_all(&w);
	places_close(&w.places);
	vector_clear(&w.values);
	vector_clear(&w.value_of_event);
	vector_clear(&w.ids);
	vector_clear(&w.lines);
	vector_clear(&w.line_pointers);
	return got;
}

const struct export_format export_pprof = {
	.name = "pprof",
	.extensions = ".pb.gz .pprof",
	.what = "protobuf, for pprof and what reads its profiles",
	.is_gzipped = true,
	.is_binary = true,
	.has_events = true,
	.write = write_pprof,
};
