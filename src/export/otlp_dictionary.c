/* The tables that samples of OTLP refer to. The first of each is empty: index 0 is none. */
#include "base/escape.h"
#include "base/status.h"
#include "export/otlp.h"

#include <string.h>

/* Of a ProfilesDictionary. */
enum {
	FIELD_MAPPING = 1,
	FIELD_LOCATION,
	FIELD_FUNCTION,
	FIELD_LINK,
	FIELD_STRING,
	FIELD_ATTRIBUTE,
	FIELD_STACK,
};

enum { TRACE_ID_BYTES = 16, SPAN_ID_BYTES = 8 };

int otlp_status(const struct otlp *otlp)
{
	if (otlp->status < 0)
		return otlp->status;
	return places_failed(&otlp->places) ? STATUS_NO_MEMORY : 0;
}

void otlp_put(struct otlp *otlp, unsigned field, const ProtobufCMessage *message)
{
	if (otlp->is_measuring) {
		otlp->size += proto_message_size(field, message);
		return;
	}
	proto_message(&otlp->out->sink, field, message);
	otlp->status = export_out_more(otlp->out);
}

static void put_bytes(struct otlp *otlp, unsigned field, struct bytes bytes)
{
	if (otlp->is_measuring) {
		otlp->size += proto_bytes_size(field, bytes.size);
		return;
	}
	proto_bytes(&otlp->out->sink, field, bytes);
	otlp->status = export_out_more(otlp->out);
}

static int32_t intern_attribute(struct otlp *otlp, const char *key, Otlp__AnyValue *value)
{
	Otlp__KeyValueAndUnit attribute = OTLP__KEY_VALUE_AND_UNIT__INIT;
	struct sink packed = { 0 };
	attribute.key_strindex = (int32_t)places_text_cstr(&otlp->places, key);
	attribute.value = value;
	uint8_t *to = sink_reserve(&packed, otlp__key_value_and_unit__get_packed_size(&attribute));
	if (to)
		otlp__key_value_and_unit__pack(&attribute, to);
	const uint32_t id = intern_bytes(&otlp->attributes, sink_bytes(&packed));
	otlp->places.failed |= id == INTERN_NONE || sink_failed(&packed);
	sink_clear(&packed);
	return (int32_t)id;
}

int32_t otlp_text_attribute(struct otlp *otlp, const char *key, struct bytes text)
{
	Otlp__AnyValue value = OTLP__ANY_VALUE__INIT;
	sink_reset(&otlp->scratch);
	escape_terminal(&otlp->scratch, text);
	sink_u8(&otlp->scratch, '\0');
	if (sink_failed(&otlp->scratch)) {
		otlp->places.failed = true;
		return 0;
	}
	value.value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
	value.string_value = (char *)otlp->scratch.data;
	return intern_attribute(otlp, key, &value);
}

int32_t otlp_number_attribute(struct otlp *otlp, const char *key, int64_t number)
{
	Otlp__AnyValue value = OTLP__ANY_VALUE__INIT;
	value.value_case = OTLP__ANY_VALUE__VALUE_INT_VALUE;
	value.int_value = number;
	return intern_attribute(otlp, key, &value);
}

void otlp_add_index(struct otlp *otlp, int32_t index)
{
	int32_t *slot = vector_push(&otlp->indices);
	if (slot)
		*slot = index;
	otlp->places.failed |= !slot;
}

/* Its locations are asked for with it, so that the first pass knows of all. */
int32_t otlp_stack(struct otlp *otlp, uint32_t stack)
{
	while (otlp->index_of_stack.count <= stack)
		if (!vector_push(&otlp->index_of_stack)) {
			otlp->places.failed = true;
			return 0;
		}
	uint32_t *known = &otlp->index_of_stack.items[stack];
	if (*known)
		return (int32_t)*known;
	uint32_t *slot = vector_push(&otlp->stacks);
	if (!slot) {
		otlp->places.failed = true;
		return 0;
	}
	*slot = stack;
	*known = (uint32_t)otlp->stacks.count;
	places_stack(&otlp->places, stack);
	return (int32_t)*known;
}

static void put_stacks(struct otlp *otlp)
{
	Otlp__Stack stack = OTLP__STACK__INIT;
	otlp_put(otlp, FIELD_STACK, &stack.base);
	for (size_t i = 0; otlp_status(otlp) == 0 && i < otlp->stacks.count; i++) {
		places_stack(&otlp->places, otlp->stacks.items[i]);
		stack.location_indices = (int32_t *)otlp->places.stack.items;
		stack.n_location_indices = otlp->places.stack.count;
		otlp_put(otlp, FIELD_STACK, &stack.base);
	}
}

/* As the conventions of OpenTelemetry call those that they know. */
static const char *frame_type(const struct profile *profile, const struct profile_frame *frame)
{
	static const struct {
		const char *runtime;
		const char *type;
	} known[] = {
		{ "jvm", "jvm" },        { "v8", "v8js" },     { "dotnet", "dotnet" },
		{ "php", "php" },        { "ruby", "ruby" },   { "perl", "perl" },
		{ "python", "cpython" }, { "erlang", "beam" },
	};
	const char *runtime = profile_text(profile, export_function(profile, frame)->runtime);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strcmp(runtime, known[i].runtime) == 0)
			return known[i].type;
	if (frame->is_kernel)
		return "kernel";
	return *runtime ? runtime : "native";
}

static struct bytes text(const char *of)
{
	return (struct bytes){ (const uint8_t *)of, strlen(of) };
}

/* Of the innermost function there. */
static void add_frame_attributes(struct otlp *otlp, const struct profile_frame *frame)
{
	const struct profile *profile = otlp->view->profile;
	const struct profile_function *function = export_function(profile, frame);
	const char *trust = profile_trust_name((enum profile_trust)frame->trust);
	otlp->indices.count = 0;
	otlp_add_index(otlp, otlp_text_attribute(otlp, "profile.frame.type",
						 text(frame_type(profile, frame))));
	if (function->tier)
		otlp_add_index(
		    otlp, otlp_text_attribute(otlp, "polyperf.tier",
					      intern_get_bytes(&profile->strings, function->tier)));
	otlp_add_index(otlp, otlp_text_attribute(otlp, "polyperf.trust", text(trust)));
}

static void put_location(struct otlp *otlp, const struct places_location *from)
{
	Otlp__Location location = OTLP__LOCATION__INIT;
	const struct profile_frame *frame = &otlp->view->profile->frames.items[from->frame];
	add_frame_attributes(otlp, frame);
	otlp->lines.count = 0;
	otlp->line_pointers.count = 0;
	for (; frame; frame = places_around(&otlp->places, frame)) {
		Otlp__Line *line = vector_push(&otlp->lines);
		/* NOLINTNEXTLINE(bugprone-sizeof-expression): protobuf-c wants pointers */
		if (!line || !vector_push(&otlp->line_pointers)) {
			otlp->places.failed = true;
			return;
		}
		otlp__line__init(line);
		line->function_index = (int32_t)places_function(&otlp->places, frame);
		line->line = frame->line;
	}
	for (size_t i = 0; i < otlp->lines.count; i++)
		otlp->line_pointers.items[i] = &otlp->lines.items[i];
	location.mapping_index = (int32_t)from->mapping;
	location.address = from->address;
	location.lines = otlp->line_pointers.items;
	location.n_lines = otlp->lines.count;
	location.attribute_indices = otlp->indices.items;
	location.n_attribute_indices = otlp->indices.count;
	otlp_put(otlp, FIELD_LOCATION, &location.base);
}

static void put_locations(struct otlp *otlp)
{
	const Otlp__Location nothing = OTLP__LOCATION__INIT;
	otlp_put(otlp, FIELD_LOCATION, &nothing.base);
	for (size_t i = 0; otlp_status(otlp) == 0 && i < otlp->places.locations.count; i++)
		put_location(otlp, &otlp->places.locations.items[i]);
}

static void put_functions(struct otlp *otlp)
{
	Otlp__Function function = OTLP__FUNCTION__INIT;
	otlp_put(otlp, FIELD_FUNCTION, &function.base);
	const size_t count = otlp->places.functions.texts.count;
	for (uint32_t id = 1; otlp_status(otlp) == 0 && id <= count; id++) {
		const struct places_function from = places_function_at(&otlp->places, id);
		function.name_strindex = (int32_t)from.name;
		function.system_name_strindex = (int32_t)from.raw_name;
		function.filename_strindex = (int32_t)from.file;
		otlp_put(otlp, FIELD_FUNCTION, &function.base);
	}
}

static void add_build_id(struct otlp *otlp, struct bytes build_id)
{
	struct sink hex = { 0 };
	otlp->indices.count = 0;
	if (!build_id.size)
		return;
	for (size_t i = 0; i < build_id.size; i++)
		sink_printf(&hex, "%02x", build_id.data[i]);
	otlp_add_index(
	    otlp, otlp_text_attribute(otlp, "process.executable.build_id.gnu", sink_bytes(&hex)));
	otlp->places.failed |= sink_failed(&hex);
	sink_clear(&hex);
}

static void put_mappings(struct otlp *otlp)
{
	const Otlp__Mapping nothing = OTLP__MAPPING__INIT;
	otlp_put(otlp, FIELD_MAPPING, &nothing.base);
	for (size_t i = 0; otlp_status(otlp) == 0 && i < otlp->places.mappings.count; i++) {
		const struct places_mapping *from = &otlp->places.mappings.items[i];
		Otlp__Mapping mapping = OTLP__MAPPING__INIT;
		add_build_id(otlp, from->object ? from->object->build_id : (struct bytes){ 0 });
		mapping.memory_start = from->start;
		mapping.memory_limit = from->end;
		mapping.file_offset = from->object ? from->start : 0;
		mapping.filename_strindex = (int32_t)from->path;
		mapping.attribute_indices = otlp->indices.items;
		mapping.n_attribute_indices = otlp->indices.count;
		otlp_put(otlp, FIELD_MAPPING, &mapping.base);
	}
}

/* Nothing links to traces; the one that must be there has ids of the right size. */
static void put_link(struct otlp *otlp)
{
	uint8_t zeros[TRACE_ID_BYTES] = { 0 };
	Otlp__Link link = OTLP__LINK__INIT;
	link.trace_id = (ProtobufCBinaryData){ TRACE_ID_BYTES, zeros };
	link.span_id = (ProtobufCBinaryData){ SPAN_ID_BYTES, zeros };
	otlp_put(otlp, FIELD_LINK, &link.base);
}

/* Attributes and texts come last: the others make some. */
void otlp_put_dictionary(struct otlp *otlp)
{
	put_stacks(otlp);
	put_locations(otlp);
	put_functions(otlp);
	put_mappings(otlp);
	put_link(otlp);
	for (uint32_t id = 0; otlp_status(otlp) == 0 && id <= otlp->attributes.texts.count; id++)
		put_bytes(otlp, FIELD_ATTRIBUTE, intern_get_bytes(&otlp->attributes, id));
	for (uint32_t id = 0; otlp_status(otlp) == 0 && id <= otlp->places.texts.texts.count; id++)
		put_bytes(otlp, FIELD_STRING, intern_get_bytes(&otlp->places.texts, id));
}
