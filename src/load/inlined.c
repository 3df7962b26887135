#include "load/inlined.h"

#include "load/clr.h"
#include "load/naming.h"

#include <string.h>

enum { MOST = 64 };

bool inlined_next_line(struct load *load, uint32_t code, struct jitdump_debug_walk *walk,
		       struct jitdump_debug_entry *entry)
{
	if (jitdump_debug_entry_next(walk, entry) <= 0)
		return false;
	if (entry->is_name_damaged)
		entry->file = jitdump_debug_repair_name(entry->file, load->codes.items[code].name);
	return true;
}

/* The entry with the last offset that is not behind the place; of equal ones the last. */
static void set_own_line(struct load *load, uint32_t piece, const struct inlined_place *place,
			 struct profile_frame *frame)
{
	struct jitdump_debug_walk walk;
	struct jitdump_debug_entry entry;
	struct jitdump_debug_entry best = { .line = 0 };
	uint64_t best_offset = 0;
	if (!load_code_lines(load, piece, &walk))
		return;
	while (inlined_next_line(load, place->code, &walk, &entry)) {
		const uint64_t offset = jitdump_debug_offset(&walk, &entry);
		if (offset > place->offset || offset < best_offset)
			continue;
		best = entry;
		best_offset = offset;
	}
	naming_set_line(load, best.file, best.line, frame);
}

static bool is_around(const struct jitdump_inline *scope, uint64_t offset)
{
	return offset >= scope->offset && offset - scope->offset < scope->size;
}

/* The scopes around the place; told outer ones first, each a step deeper. */
static uint32_t scopes_around(struct load *load, uint32_t piece, const struct inlined_place *place,
			      struct jitdump_inline *scopes, uint32_t limit)
{
	struct jitdump_about about;
	struct jitdump_inline scope;
	uint32_t count = 0;
	if (!load->options.inlines || !load_code_inlines(load, piece, &about))
		return 0;
	while (count < limit && jitdump_inline_next(&about, &scope) > 0)
		if (is_around(&scope, place->offset) && scope.depth == count)
			scopes[count++] = scope;
	return count;
}

/* The frame of a function that was inlined into `outer`. Calls are told of in the function around
 * the call; the line of the innermost one comes last.
 */
static struct profile_frame *put_scope(const struct profile_frame *outer, uint32_t function,
				       struct profile_frame *inlined)
{
	*inlined = *outer;
	inlined->has_offset = false;
	inlined->function = function;
	inlined->file = inlined->line = 0;
	return inlined;
}

uint32_t inlined_of_code(struct load *load, const struct inlined_place *place,
			 struct profile_frame *frame, struct profile_frame *inlined, uint32_t limit)
{
	struct jitdump_inline scopes[MOST];
	uint32_t piece = load_find_piece(load, place->code, place->start_avma);
	if (!piece--)
		return 0;
	const uint32_t count =
	    scopes_around(load, piece, place, scopes, limit < MOST ? limit : MOST);
	const uint32_t around = frame->function;
	for (uint32_t i = 0; i < count; i++) {
		struct profile_frame *outer = frame;
		const uint32_t function =
		    naming_of_inlined(load, place->code, around, scopes[i].name);
		frame = put_scope(outer, function, &inlined[i]);
		if (load->options.lines)
			naming_set_line(load, scopes[i].call_file, scopes[i].call_line, outer);
	}
	if (load->options.lines)
		set_own_line(load, piece, place, frame);
	return count;
}

static struct bytes bytes_of(const char *text)
{
	return (struct bytes){ (const uint8_t *)text, strlen(text) };
}

/* A function that has no name at all there. */
static const char *name_of(const struct debuginfo_scope *scope)
{
	return *scope->name ? scope->name : "[inlined]";
}

uint32_t inlined_of_object(struct load *load, const struct inlined_native_place *place,
			   struct profile_frame *frame, struct profile_frame *inlined,
			   uint32_t limit)
{
	struct debuginfo_place told;
	const struct load_options *options = &load->options;
	if (!options->lines && !options->inlines)
		return 0;
	struct object *object = &load->objects.items[place->object];
	if (object->symbols && symbol_is_assembly(object->symbols)) {
		if (options->lines)
			clr_set_line_of_object(load, place->object, (uint32_t)place->svma, frame);
		return 0;
	}
	struct debuginfo *info = load_object_debuginfo(load, object);
	if (!info || !debuginfo_find(info, place->svma, &told))
		return 0;
	const uint32_t count = told.scope_count < limit ? told.scope_count : limit;
	const uint32_t around = frame->function;
	for (uint32_t i = 0; options->inlines && i < count; i++) {
		const struct debuginfo_scope *scope = &told.scopes[i];
		struct profile_frame *outer = frame;
		const uint32_t function =
		    naming_of_inlined_symbol(load, place->object, around, name_of(scope));
		frame = put_scope(outer, function, &inlined[i]);
		if (options->lines)
			naming_set_line(load, bytes_of(scope->call_file), scope->call_line, outer);
	}
	if (options->lines)
		naming_set_line(load, bytes_of(told.file), told.line, frame);
	return options->inlines ? count : 0;
}
