/* The pieces of code that were announced, kept one by one (code.h). */
#include "load/code.h"

#include "base/hash.h"
#include "base/status.h"
#include "load/bpf_code.h"
#include "load/clr.h"
#include "load/load_internal.h"

#include <stdlib.h>

enum { EXTENT_STEPS = 16 };

int load_keep_piece(struct load *load, const struct piece *piece)
{
	const struct load_options *options = &load->options;
	/* Of code that frames are of, the instructions tell how they are found. */
	const bool is_unwound = load->has_stacks && piece->record_off;
	if (!options->keep_code && !is_unwound && !(options->lines && piece->debug_before) &&
	    !(options->inlines && piece->inlines_before) &&
	    !((options->lines || options->inlines) && clr_knows(load, piece->pid, piece->code)))
		return 0;
	while (load->first_pieces.count <= piece->code)
		if (!vector_push(&load->first_pieces))
			return STATUS_NO_MEMORY;
	struct piece *slot = vector_push(&load->pieces);
	if (!slot)
		return STATUS_NO_MEMORY;
	*slot = *piece;
	struct process *process = load_process_find(load, piece->pid);
	if (process && piece->time_ns &&
	    (!process->first_code_ns || piece->time_ns < process->first_code_ns))
		process->first_code_ns = piece->time_ns;
	uint32_t *first = &load->first_pieces.items[piece->code];
	if (!*first)
		*first = (uint32_t)load->pieces.count;
	return 0;
}

const struct piece *load_first_piece(const struct load *load, uint32_t code)
{
	const uint32_t first = code < load->first_pieces.count ? load->first_pieces.items[code] : 0;
	return first ? &load->pieces.items[first - 1] : NULL;
}

int load_keep_reader(struct load *load, uint32_t source, struct bytes dump)
{
	struct jitdump_reader *reader = arena_new(&load->scratch, struct jitdump_reader, 1);
	if (!reader)
		return STATUS_NO_MEMORY;
	if (jitdump_reader_init(reader, dump) == 0)
		load->sources.items[source].reader = reader;
	return 0;
}

uint32_t load_code_count(const struct load *load)
{
	return (uint32_t)load->pieces.count;
}

static struct source *source_of(const struct load *load, const struct piece *piece)
{
	return &load->sources.items[load->codes.items[piece->code].source];
}

/* How far the timeline lets code of no size reach. Larger code of the same start may hide where it
 * begins, so what answers there is stepped over.
 */
static uint64_t extent_of(const struct load *load, const struct piece *piece, uint64_t time_ns)
{
	uint64_t size = 0;
	uint64_t avma = piece->start_avma;
	for (int i = 0; i < EXTENT_STEPS; i++) {
		struct timeline_hit hit;
		timeline_find(load->timeline, piece->pid, avma, time_ns, &hit);
		const bool is_code = hit.layer == LAYER_CODE || hit.layer == LAYER_MAP;
		if (!is_code || hit.start_avma > piece->start_avma)
			break;
		if (hit.object == piece->code && hit.start_avma == piece->start_avma &&
		    hit.size > size)
			size = hit.size;
		if (hit.start_avma + hit.size <= avma)
			break;
		avma = hit.start_avma + hit.size;
	}
	return size;
}

/* Asked at its time; what has none is in the space that the timeline chose for it. */
static uint64_t size_of(const struct load *load, const struct piece *piece)
{
	if (piece->size)
		return piece->size;
	const struct process *process = load_process_find(load, piece->pid);
	const uint64_t first_ns = process ? process->first_code_ns : 0;
	if (piece->time_ns)
		return extent_of(load, piece, piece->time_ns);
	return extent_of(load, piece, first_ns ? first_ns : UINT64_MAX - 1);
}

/* A record that lies `before` the piece's LOAD. */
static bool record_before(const struct load *load, const struct piece *piece, uint32_t before,
			  uint32_t id, struct jitdump_record *record)
{
	const struct source *source = source_of(load, piece);
	return before && source->reader &&
	       jitdump_reader_at(source->reader, piece->record_off - before, record) == 1 &&
	       record->id == id;
}

bool load_code_lines(struct load *load, uint32_t index, struct jitdump_debug_walk *walk)
{
	const struct piece *piece = &load->pieces.items[index];
	struct source *source = source_of(load, piece);
	struct jitdump_record record;
	if (!record_before(load, piece, piece->debug_before, JITDUMP_DEBUG_INFO, &record))
		return clr_lines(load, index, walk);
	if (!source->has_style) {
		source->style = jitdump_debug_style(source->reader->file);
		source->has_style = true;
	}
	jitdump_debug_walk_init(walk, &record, source->style);
	return true;
}

const char *load_code_line_text(const struct load *load, uint32_t index, uint32_t entry)
{
	return bpf_code_line_text(load, &load->pieces.items[index], entry);
}

bool load_code_unwinding(struct load *load, uint32_t index, struct jitdump_unwinding_info *info)
{
	const struct piece *piece = &load->pieces.items[index];
	struct jitdump_record record;
	if (!record_before(load, piece, piece->unwinding_before, JITDUMP_UNWINDING_INFO, &record))
		return false;
	*info = record.unwinding_info;
	return true;
}

static bool about_piece(struct load *load, const struct piece *piece, uint32_t before, uint32_t id,
			struct jitdump_about *about)
{
	struct jitdump_record record;
	if (!record_before(load, piece, before, id, &record))
		return false;
	*about = record.about;
	return true;
}

bool load_code_inlines(struct load *load, uint32_t index, struct jitdump_about *about)
{
	const struct piece *piece = &load->pieces.items[index];
	return about_piece(load, piece, piece->inlines_before, JITDUMP_INLINES, about) ||
	       clr_inlines(load, index, about);
}

bool load_code_bytecodes(struct load *load, uint32_t index, struct jitdump_about *about)
{
	const struct piece *piece = &load->pieces.items[index];
	return about_piece(load, piece, piece->bytecodes_before, JITDUMP_BYTECODES, about);
}

bool load_code_annotations(struct load *load, uint32_t index, struct jitdump_about *about)
{
	const struct piece *piece = &load->pieces.items[index];
	return about_piece(load, piece, piece->annotations_before, JITDUMP_ANNOTATIONS, about);
}

static size_t slot_of(const struct load *load, uint32_t code, uint64_t start_avma)
{
	size_t at = hash_mix(start_avma, code) & (load->piece_slot_count - 1);
	for (; load->piece_slots[at]; at = (at + 1) & (load->piece_slot_count - 1)) {
		const struct piece *piece = &load->pieces.items[load->piece_slots[at] - 1];
		if (piece->code == code && piece->start_avma == start_avma)
			break;
	}
	return at;
}

/* Code that was moved away and back, or a line that was told twice: the largest stands for all,
 * the first of those.
 */
static bool index_pieces(struct load *load)
{
	size_t count = 64;
	while (count < load->pieces.count * 2)
		count *= 2;
	load->piece_slots = calloc(count, sizeof(*load->piece_slots));
	load->piece_slot_count = load->piece_slots ? count : 0;
	if (!load->piece_slots)
		return false;
	for (uint32_t i = 0; i < load->pieces.count; i++) {
		const struct piece *piece = &load->pieces.items[i];
		const size_t at = slot_of(load, piece->code, piece->start_avma);
		const uint32_t other = load->piece_slots[at];
		if (!other || size_of(load, &load->pieces.items[other - 1]) < size_of(load, piece))
			load->piece_slots[at] = i + 1;
	}
	return true;
}

/* index + 1 of the piece that stands for all of its name at its place; 0: none. */
static uint32_t first_of(const struct load *load, uint32_t code, uint64_t start_avma)
{
	return load->piece_slots[slot_of(load, code, start_avma)];
}

int load_add_piece(struct load *load, const struct piece *piece)
{
	const int got = load_keep_piece(load, piece);
	if (got < 0 || !load->piece_slot_count)
		return got;
	if (load->pieces.count * 2 <= load->piece_slot_count) {
		load->piece_slots[slot_of(load, piece->code, piece->start_avma)] =
		    (uint32_t)load->pieces.count;
		return 0;
	}
	free(load->piece_slots);
	return index_pieces(load) ? 0 : STATUS_NO_MEMORY;
}

/* Its instructions are in the file. */
static struct bytes mapped_code(struct load *load, const struct source *source,
				const struct piece *piece)
{
	const struct symbol_table *table =
	    load_object_symbols(load, &load->objects.items[source->mapped - 1]);
	return table ? symbol_code(table, piece->record_off, piece->size) : (struct bytes){ 0 };
}

int load_code(struct load *load, uint32_t index, struct load_code *code)
{
	const struct piece *piece = &load->pieces.items[index];
	const struct source *source = source_of(load, piece);
	struct jitdump_record record;
	if (!load->piece_slot_count && !index_pieces(load))
		return STATUS_NO_MEMORY;
	*code = (struct load_code){ .name = load->codes.items[piece->code].name,
				    .pid = piece->pid,
				    .start_avma = piece->start_avma,
				    .size = size_of(load, piece),
				    .time_ns = piece->time_ns,
				    .runtime = source->runtime };
	code->is_repeat = first_of(load, piece->code, piece->start_avma) != index + 1;
	if (source->mapped)
		code->code = mapped_code(load, source, piece);
	if (!piece->record_off || !source->reader ||
	    jitdump_reader_at(source->reader, piece->record_off, &record) != 1 ||
	    record.id != JITDUMP_CODE_LOAD)
		return 0;
	code->code = record.code_load.code;
	if (code->code.size > code->size)
		code->code.size = (size_t)code->size;
	return 0;
}

uint32_t load_find_piece(struct load *load, uint32_t code, uint64_t start_avma)
{
	if (!load->pieces.count || (!load->piece_slot_count && !index_pieces(load)))
		return 0;
	return first_of(load, code, start_avma);
}

static void own_mapping(const struct load *load, const struct timeline_hit *hit,
			struct load_owner *owner)
{
	const struct object *object = &load->objects.items[hit->object];
	owner->kind = object->kind == OBJECT_ANONYMOUS ? LOAD_OWNER_MEMORY : LOAD_OWNER_FILE;
	owner->start_avma = hit->start_avma;
	owner->size = hit->size;
	owner->file_off = hit->file_off;
	owner->path = intern_get(&load->strings, object->path);
	owner->build_id = load_object_build_id(load, object);
}

int load_owner_at(struct load *load, const struct load_place *place, struct load_owner *owner)
{
	const struct address address = { .pid = place->pid,
					 .avma = place->avma,
					 .time_ns = place->time_ns,
					 .is_return = place->is_return };
	struct decision decision;
	if (!load->piece_slot_count && !index_pieces(load))
		return STATUS_NO_MEMORY;
	load_decide(load, &address, &decision);
	*owner = (struct load_owner){ .valid_from_ns = decision.valid_from_ns,
				      .valid_to_ns = decision.valid_to_ns };
	const struct timeline_hit *hit = &decision.hit;
	if (decision.speaker == SPEAKER_NONE || hit->was_unloaded)
		return 0;
	uint32_t piece = 0;
	int got = 0;
	if (decision.speaker == SPEAKER_CODE)
		piece = first_of(load, hit->object, hit->start_avma);
	else
		got = load_mapped_piece(load, &address, hit, &piece);
	if (decision.speaker == SPEAKER_MAPPING && !piece)
		own_mapping(load, hit, owner);
	if (piece) {
		owner->kind = LOAD_OWNER_CODE;
		owner->code = piece - 1;
	}
	return got;
}

const char *load_program_of(const struct load *load, uint32_t pid)
{
	const struct process *process = load_process_find(load, pid);
	return intern_get(&load->strings, process ? process->exe : 0);
}

struct perfdata *load_recording(struct load *load)
{
	return load->perf;
}

int load_next(struct load *load, struct perfdata_record *record, const char *what)
{
	const int got = perfdata_next(load->perf, record);
	if (got > 0)
		progress_at(load->options.progress, what, record->offset,
			    perfdata_end_offset(load->perf));
	else
		progress_done(load->options.progress, what, perfdata_end_offset(load->perf));
	return got;
}
