/* Lines and inlined calls of one piece of code, in the form of a jitdump's records.
 *
 *   native offset --(the JIT's map)--> IL offset --(the compiler's PDB)--> file:line
 *
 * Code that the JIT has no IL for (-1) counts for what is before it; a prologue for the line in
 * which the method begins, an epilogue for the one in which it ends, as debuggers show them.
 */
#include "load/clr_internal.h"

#include "base/status.h"
#include "format/jitdump/extensions.h"
#include "load/naming.h"

#include <stdlib.h>

void clr_put_line(struct clr_work *work, uint32_t native_off, const struct clr_source_line *line)
{
	if (work->line_count && work->last_file == line->file && work->last_line == line->line &&
	    work->last_column == line->column)
		return;
	const struct bytes file = intern_get_bytes(&work->load->strings, line->file);
	sink_u64(&work->lines, work->code_avma + native_off);
	sink_u32(&work->lines, line->line);
	sink_u32(&work->lines, line->column);
	if (work->line_count && work->last_file == line->file && line->file) {
		sink_cstr(&work->lines, "\xff");
	} else {
		sink_put(&work->lines, file.data, file.size);
		sink_u8(&work->lines, 0);
	}
	work->line_count++;
	work->last_file = line->file;
	work->last_line = line->line;
	work->last_column = line->column;
}

/* Code of the compiler's own, without a line, ends the line before it. */
void clr_put_spot(struct clr_work *work, const struct clr_spot *spot, struct clr_method_place place)
{
	struct clr_source_line line = { 0 };
	if (spot->il_off == CLR_IL_NONE || spot->il_off < CLR_IL_EPILOG)
		return;
	struct clr_assembly *assembly =
	    work->process
		? clr_assembly_of(work->load, work->process, place.module_id, place.time_ns)
		: work->assembly;
	if (clr_source_line(work->load, assembly, place.token, clr_il_of(spot->il_off), &line) ||
	    spot->il_off >= 0)
		clr_put_line(work, spot->native_off, &line);
}

static int by_spot(const void *left, const void *right)
{
	const struct clr_spot *a = left;
	const struct clr_spot *b = right;
	if (a->native_off != b->native_off)
		return a->native_off < b->native_off ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

void clr_sort_spots(struct clr_spot *spots, size_t count)
{
	if (count)
		qsort(spots, count, sizeof(*spots), by_spot);
}

/* One spot an entry of the map; NULL without memory. */
static struct clr_spot *spots_of_event(const struct clr_event_il_map *map, uint32_t *count)
{
	struct clr_spot *spots = calloc((size_t)map->count + 1, sizeof(*spots));
	*count = 0;
	for (; spots && *count < map->count; (*count)++) {
		struct clr_spot *spot = &spots[*count];
		spot->order = *count;
		if (!clr_il_map_entry(map, *count, &spot->il_off, &spot->native_off))
			break;
	}
	return spots;
}

static struct clr_spot *spots_of_image(const struct clr_image *image, uint32_t method,
				       uint32_t *count)
{
	struct clr_il_map map = { 0 };
	struct clr_spot *spots = NULL;
	const uint32_t start_off =
	    clr_image_native_off(image, method, clr_image_method(image, method).rva);
	*count = 0;
	if (clr_image_il_map(image, method, &map) == 0)
		spots = calloc(map.items.count + 1, sizeof(*spots));
	for (; spots && *count < map.items.count; (*count)++) {
		const struct clr_il_entry *entry = &map.items.items[*count];
		/* A cold part begins in what the hot one ended with. */
		spots[*count] = (struct clr_spot){ .native_off = entry->native_off > start_off
								     ? entry->native_off - start_off
								     : 0,
						   .il_off = entry->il_off,
						   .order = *count };
	}
	vector_clear(&map.items);
	return spots;
}

static void put_spots(struct clr_work *work, struct clr_spot *spots, uint32_t count,
		      struct clr_method_place place)
{
	clr_sort_spots(spots, count);
	for (uint32_t i = 0; i < count; i++)
		if (spots[i].native_off < work->size || !work->size)
			clr_put_spot(work, &spots[i], place);
	free(spots);
}

/* Code that was compiled ahead has its map in its file. */
static void make_from_image(struct clr_work *work, uint32_t method)
{
	const struct clr_method what = clr_image_method(work->assembly->image, method);
	const struct clr_method_place place = { .token = what.token };
	uint32_t count;
	work->process = NULL;
	struct clr_spot *spots = spots_of_image(work->assembly->image, method, &count);
	work->assembly = clr_assembly_of_method(work->load, work->assembly, &what);
	if (spots)
		put_spots(work, spots, count, place);
}

/* The file that is there now may be of a later build: its maps and lines are others. */
static bool is_of_build(struct clr_assembly *assembly, struct bytes build_id)
{
	if (build_id.size != sizeof(assembly->build_id))
		return true;
	if (!assembly->has_build_id)
		assembly->has_build_id = clr_build_id_of(assembly->file, assembly->build_id);
	return assembly->has_build_id &&
	       memcmp(assembly->build_id, build_id.data, build_id.size) == 0;
}

/* The assembly that lies where the piece is, and the method there. */
static bool find_in_image(struct clr_work *work, const struct piece *piece, uint32_t *method)
{
	struct load *load = work->load;
	struct timeline_hit mapping;
	uint32_t rva;
	if (!timeline_find_mapping(load->timeline, piece->pid, piece->start_avma,
				   piece->time_ns ? piece->time_ns : UINT64_MAX - 1, &mapping))
		return false;
	const struct object *object = &load->objects.items[mapping.object];
	if (object->kind != OBJECT_FILE)
		return false;
	work->assembly = clr_assembly_at(load, intern_get(&load->strings, object->path));
	const uint64_t file_off = piece->start_avma - mapping.start_avma + mapping.file_off;
	if (!work->assembly || !work->assembly->image || file_off > UINT32_MAX ||
	    !is_of_build(work->assembly, load_object_build_id(load, object)) ||
	    !clr_image_rva_of_offset(work->assembly->image, (uint32_t)file_off, &rva) ||
	    !clr_image_find(work->assembly->image, rva, method))
		return false;
	const struct clr_method found = clr_image_method(work->assembly->image, *method);
	return found.rva == rva;
}

static int make(struct clr_work *work, const struct piece *piece)
{
	uint32_t method;
	const struct clr_map *map = work->code ? clr_map_of(work->process, work->code) : NULL;
	if (map && map->is_rich)
		return clr_make_rich(work, &map->rich);
	if (map) {
		uint32_t count;
		struct clr_spot *spots = spots_of_event(&map->il, &count);
		if (!spots)
			return STATUS_NO_MEMORY;
		put_spots(work, spots, count,
			  (struct clr_method_place){ work->code->module_id, work->code->token,
						     work->code->time_ns });
		return 0;
	}
	if (find_in_image(work, piece, &method))
		make_from_image(work, method);
	return 0;
}

static bool keep_bytes(struct load *load, struct sink *from, struct bytes *kept)
{
	const char *copy =
	    sink_failed(from) ? NULL : arena_copy(&load->scratch, from->data, from->size);
	*kept = (struct bytes){ (const uint8_t *)copy, copy ? from->size : 0 };
	sink_clear(from);
	return copy != NULL;
}

/* What is kept of a piece; NULL where there is nothing, or no memory for it. */
static const struct clr_made *made_of(struct load *load, uint32_t index)
{
	struct clr *clr = clr_of(load);
	uint32_t *known = clr ? idmap_put(&clr->made_of_piece, index) : NULL;
	if (!known)
		return NULL;
	if (*known)
		return &clr->made.items[*known - 1];
	struct clr_made *made = vector_push(&clr->made);
	if (!made)
		return NULL;
	const uint32_t at = (uint32_t)clr->made.count;
	*known = at;
	const struct piece *piece = &load->pieces.items[index];
	struct clr_work work = { .load = load,
				 .process = clr_process_find(load, piece->pid),
				 .code_avma = piece->start_avma,
				 .size = piece->size };
	if (work.process)
		work.code = clr_code_at(work.process, piece->start_avma, piece->time_ns);
	const int got = make(&work, piece);
	made = &clr->made.items[at - 1];
	made->code_avma = piece->start_avma;
	if (keep_bytes(load, &work.lines, &made->lines) && got == 0)
		made->line_count = work.line_count;
	const bool has_scopes = keep_bytes(load, &work.scopes, &made->scopes);
	if (keep_bytes(load, &work.strings, &made->strings) && has_scopes && got == 0)
		made->scope_count = work.scope_count;
	idmap_clear(&work.string_at);
	return made;
}

/* Those of a file that was mapped are named so by the runtime. */
static bool is_precompiled(struct bytes name)
{
	static const char hot[] = "[PreJIT]";
	static const char cold[] = "[PreJit-cold]";
	return (name.size > sizeof(hot) &&
		memcmp(name.data + name.size - sizeof(hot) + 1, hot, sizeof(hot) - 1) == 0) ||
	       (name.size > sizeof(cold) &&
		memcmp(name.data + name.size - sizeof(cold) + 1, cold, sizeof(cold) - 1) == 0);
}

bool clr_knows(const struct load *load, uint32_t pid, uint32_t code)
{
	return clr_process_find(load, pid) || is_precompiled(load->codes.items[code].name);
}

bool clr_lines(struct load *load, uint32_t piece, struct jitdump_debug_walk *walk)
{
	const struct piece *what = &load->pieces.items[piece];
	const struct clr_made *made =
	    clr_knows(load, what->pid, what->code) ? made_of(load, piece) : NULL;
	if (!made || !made->line_count)
		return false;
	const struct jitdump_record record = {
		.id = JITDUMP_DEBUG_INFO,
		.debug_info = { .code_avma = made->code_avma,
				.entry_count = made->line_count,
				.entries = cursor_over(made->lines) },
	};
	jitdump_debug_walk_init(walk, &record, (struct jitdump_debug_style){ 0 });
	return true;
}

bool clr_inlines(struct load *load, uint32_t piece, struct jitdump_about *about)
{
	const struct piece *what = &load->pieces.items[piece];
	const struct clr_made *made =
	    clr_process_find(load, what->pid) ? made_of(load, piece) : NULL;
	if (!made || !made->scope_count)
		return false;
	*about = (struct jitdump_about){ .code_avma = made->code_avma,
					 .entry_count = made->scope_count,
					 .entries = cursor_over(made->scopes),
					 .strings = made->strings };
	return true;
}
