#include "export/places.h"

#include "base/escape.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_BYTES = 4096 };

static const struct profile_frame *frame_at(const struct places *places, uint32_t id)
{
	return &places->view->profile->frames.items[id];
}

bool places_failed(const struct places *places)
{
	return places->failed;
}

static uint32_t checked(struct places *places, uint32_t id)
{
	if (id != INTERN_NONE)
		return id;
	places->failed = true;
	return 0;
}

uint32_t places_text_of(struct places *places, struct bytes text)
{
	sink_reset(&places->scratch);
	escape_terminal(&places->scratch, text);
	places->failed |= sink_failed(&places->scratch);
	return checked(places, intern_bytes(&places->texts, sink_bytes(&places->scratch)));
}

uint32_t places_text_cstr(struct places *places, const char *text)
{
	return text ? places_text_of(places, (struct bytes){ (const uint8_t *)text, strlen(text) })
		    : 0;
}

/* Makes room for `index`; NULL without memory. */
static uint32_t *slot_at(struct places *places, uint32_t index, bool is_text)
{
	if (is_text) {
		while (places->text_of_string.count <= index)
			if (!vector_push(&places->text_of_string))
				return NULL;
		return &places->text_of_string.items[index];
	}
	while (places->location_of_frame.count <= index)
		if (!vector_push(&places->location_of_frame))
			return NULL;
	return &places->location_of_frame.items[index];
}

uint32_t places_text(struct places *places, uint32_t string)
{
	uint32_t *slot = slot_at(places, string, true);
	if (!slot) {
		places->failed = true;
		return 0;
	}
	if (!*slot)
		*slot = places_text_of(places,
				       intern_get_bytes(&places->view->profile->strings, string)) +
			1;
	return *slot - 1;
}

uint32_t places_function(struct places *places, const struct profile_frame *frame)
{
	const struct profile_function *function = export_function(places->view->profile, frame);
	const struct places_function key = { .name = places_text(places, function->name),
					     .raw_name = places_text(places, function->raw_name),
					     .file = places_text(places, frame->file) };
	return checked(places, intern_bytes(&places->functions,
					    (struct bytes){ (const uint8_t *)&key, sizeof(key) }));
}

struct places_function places_function_at(const struct places *places, uint32_t id)
{
	struct places_function function;
	memcpy(&function, intern_get(&places->functions, id), sizeof(function));
	return function;
}

const struct profile_frame *places_around(const struct places *places,
					  const struct profile_frame *frame)
{
	return frame->inlined_into ? frame_at(places, frame->inlined_into - 1) : NULL;
}

/* Frames of code made at run time may have the path of a file that was mapped to mark it; their
 * addresses are not in that.
 */
static const struct export_object *object_of(const struct places *places, uint32_t path,
					     uint64_t address)
{
	const struct export_object *object = export_object_of(places->view->about, path);
	return object && address >= object->start_off && address < object->end_off ? object : NULL;
}

static uint32_t mapping_of(struct places *places, uint32_t path, const struct export_object *object)
{
	uint32_t *slot =
	    idmap_put(&places->mapping_of_path, (uint64_t)path << 1 | (object != NULL));
	if (slot && *slot)
		return *slot;
	struct places_mapping *mapping = slot ? vector_push(&places->mappings) : NULL;
	if (!mapping) {
		places->failed = true;
		return 0;
	}
	*slot = (uint32_t)places->mappings.count;
	*mapping = (struct places_mapping){ .path = places_text(places, path), .object = object };
	if (object) {
		mapping->start = object->start_off;
		mapping->end = object->end_off;
	}
	return *slot;
}

/* What is mapped where is not known of memory: it reaches as far as there were frames in it. */
static void widen(struct places_mapping *mapping, uint64_t address)
{
	const uint64_t page = address & ~(uint64_t)(PAGE_BYTES - 1);
	const uint64_t end = page + PAGE_BYTES ? page + PAGE_BYTES : UINT64_MAX;
	if (!mapping->end || page < mapping->start)
		mapping->start = page;
	if (end > mapping->end)
		mapping->end = end;
}

/* What the mapping's code tells of itself; makes the functions of the location. */
static void take_functions(struct places *places, const struct profile_frame *frame,
			   struct places_mapping *mapping)
{
	for (; frame; frame = places_around(places, frame)) {
		(void)places_function(places, frame);
		if (!mapping)
			continue;
		mapping->is_named |= !export_function(places->view->profile, frame)->is_unknown;
		mapping->has_files |= frame->file != 0;
		mapping->has_lines |= frame->line != 0;
		mapping->has_inlines |= frame->inlined_into != 0;
	}
}

/* The frame whose code it is: what was inlined has the address of that. */
static const struct profile_frame *outermost(const struct places *places,
					     const struct profile_frame *frame)
{
	const struct profile_frame *around;
	while ((around = places_around(places, frame)))
		frame = around;
	return frame;
}

/* What was interpreted, and what nobody knows anything of, is in no mapping. */
static bool has_mapping(const struct places *places, const struct profile_frame *code)
{
	return !code->is_interpreted &&
	       strcmp(profile_text(places->view->profile, code->object_path), "[unknown]") != 0;
}

static uint32_t location_of(struct places *places, uint32_t frame_id)
{
	uint32_t *slot = slot_at(places, frame_id, false);
	if (slot && *slot)
		return *slot;
	struct places_location *location = slot ? vector_push(&places->locations) : NULL;
	if (!location) {
		places->failed = true;
		return 0;
	}
	*slot = (uint32_t)places->locations.count;
	const uint32_t id = *slot;
	location->frame = frame_id;
	const struct profile_frame *frame = frame_at(places, frame_id);
	const struct profile_frame *code = outermost(places, frame);
	struct places_mapping *mapping = NULL;
	location->address = code->is_interpreted ? 0 : code->avma;
	if (has_mapping(places, code)) {
		const struct export_object *object =
		    object_of(places, code->object_path, code->object_avma);
		if (object)
			location->address = code->object_avma;
		location->mapping = mapping_of(places, code->object_path, object);
		mapping = location->mapping ? &places->mappings.items[location->mapping - 1] : NULL;
	}
	if (mapping && !mapping->object)
		widen(mapping, location->address);
	take_functions(places, frame, mapping);
	return id;
}

void places_stack(struct places *places, uint32_t stack_id)
{
	const struct profile *profile = places->view->profile;
	const struct profile_stack *stack = &profile->stacks.items[stack_id];
	places->stack.count = 0;
	for (uint32_t i = 0; i < stack->depth; i++) {
		const uint32_t frame = profile->frame_ids.items[stack->first + i];
		uint32_t *slot = vector_push(&places->stack);
		if (!slot) {
			places->failed = true;
			return;
		}
		*slot = location_of(places, frame);
		/* Those around it are of the same location. */
		while (i + 1 < stack->depth &&
		       frame_at(places, profile->frame_ids.items[stack->first + i])->inlined_into)
			i++;
	}
}

/* The process with most samples. */
static uint32_t main_pid(struct places *places)
{
	const struct export_view *view = places->view;
	const struct profile *profile = view->profile;
	struct idmap counts = { 0 }; /* as far as they fit */
	uint32_t pid = 0;
	uint32_t most = 0;
	for (size_t i = 0; i < profile->rows.count; i++) {
		const struct profile_row *row = &profile->rows.items[i];
		const uint32_t row_pid = profile->threads.items[row->thread].pid;
		if (!export_has_event(view, row->event))
			continue;
		uint32_t *count = idmap_put(&counts, row_pid);
		if (!count) {
			places->failed = true;
			break;
		}
		const uint64_t sum = *count + row->count;
		*count = sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
		if (*count > most) {
			most = *count;
			pid = row_pid;
		}
	}
	idmap_clear(&counts);
	return pid;
}

/* Readers take the first mapping for the program. */
static void put_program(struct places *places)
{
	const struct export_about *about = places->view->about;
	const char *program = export_program_of(about, main_pid(places));
	const struct intern *strings = &places->view->profile->strings;
	for (size_t i = 0; *program && i < about->objects.count; i++) {
		const struct export_object *object = &about->objects.items[i];
		if (strcmp(intern_get(strings, object->path), program) == 0) {
			(void)mapping_of(places, object->path, object);
			return;
		}
	}
}

void places_open(struct places *places, const struct export_view *view)
{
	*places = (struct places){ .view = view };
	put_program(places);
}

void places_close(struct places *places)
{
	intern_clear(&places->texts);
	intern_clear(&places->functions);
	vector_clear(&places->locations);
	vector_clear(&places->mappings);
	vector_clear(&places->stack);
	vector_clear(&places->text_of_string);
	vector_clear(&places->location_of_frame);
	idmap_clear(&places->mapping_of_path);
	sink_clear(&places->scratch);
}
