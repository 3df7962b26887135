/* Listings of code made at run time: a jitdump's, a perf map's, an eBPF program's. */
#include "load/listing_parts.h"

#include "base/sort.h"
#include "base/status.h"
#include "format/jitdump/extensions.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	TIME_STEPS = 64,
	/* Of each kind, in one piece of code. */
	ENTRY_LIMIT = 1 << 28,
};

static const struct source *source_of(const struct load *load, uint32_t code)
{
	return &load->sources.items[load->codes.items[code].source];
}

/* Runtimes say for which machine they made it, though not all of them truly. */
static enum listing_machine machine_of(const struct load *load, const struct source *source)
{
	if (source->reader && source->is_dump) {
		const uint32_t told = source->reader->elf_machine;
		if (told == EM_X86_64 || told == EM_AARCH64 || told == EM_386 || told == EM_ARM)
			return listing_elf_machine(told);
	}
	return listing_recorded_machine(load);
}

/* index + 1 of the piece where a frame of the code was, 0 where none is kept. */
static uint32_t piece_at(struct load *load, const struct origin *origin,
			 const struct origin_place *place)
{
	if (origin->was_seen)
		return load_find_piece(load, origin->id, place->start_avma);
	const struct piece *first = load_first_piece(load, origin->id);
	return first ? (uint32_t)(first - load->pieces.items) + 1 : 0;
}

/* The first time from which on other code is there, or none; 0: never, as long as its process
 * lived.
 */
static uint64_t end_of(const struct load *load, uint32_t pid, const struct piece *piece,
		       uint64_t seen_ns)
{
	uint64_t time_ns = seen_ns > piece->time_ns ? seen_ns : piece->time_ns;
	uint64_t space_end_ns = UINT64_MAX;
	(void)timeline_space(load->timeline, pid, time_ns, NULL, &space_end_ns);
	for (int i = 0; i < TIME_STEPS && time_ns < space_end_ns; i++) {
		struct timeline_hit hit;
		timeline_find(load->timeline, pid, piece->start_avma, time_ns, &hit);
		if (hit.layer != LAYER_CODE || hit.object != piece->code ||
		    hit.start_avma != piece->start_avma || hit.trust == TRUST_STALE)
			return time_ns;
		time_ns = hit.valid_to_ns;
	}
	return 0;
}

static void set_times(struct load *load, const struct origin *origin, uint32_t first, uint32_t last,
		      struct listing *listing)
{
	const struct source *source = source_of(load, origin->id);
	const struct piece *pieces = load->pieces.items;
	const bool is_kernel = source->pid == TIMELINE_KERNEL_PID;
	const uint32_t pid = is_kernel          ? TIMELINE_KERNEL_PID
			     : origin->was_seen ? origin->pid
						: pieces[last].pid;
	if (!source->is_timed && !is_kernel)
		return;
	listing->loaded_ns = pieces[first].time_ns;
	listing->unloaded_ns = end_of(load, pid, &pieces[last], origin->last.time_ns);
}

static const char *why_no_code(const struct load *load, const struct source *source)
{
	if (!load->options.keep_code)
		return "code was not asked for";
	if (source->pid == TIMELINE_KERNEL_PID)
		return "the recording does not hold this program's code";
	return source->is_dump ? "the jitdump does not hold its code"
			       : "only a perf map tells of it, and nobody copied its code while it "
				 "ran";
}

static const char *kind_of_note(struct load *load, uint32_t kind)
{
	static const char *const kinds[] = {
		[JITDUMP_NOTE_TEXT] = "note",
		[JITDUMP_NOTE_TIER] = "tier",
		[JITDUMP_NOTE_PROLOGUE] = "prologue",
		[JITDUMP_NOTE_EPILOGUE] = "epilogue",
		[JITDUMP_NOTE_SAFEPOINT] = "safepoint",
		[JITDUMP_NOTE_OOP_MAP] = "oop map",
		[JITDUMP_NOTE_DEOPT] = "deopt",
		[JITDUMP_NOTE_DATA] = "data",
		[JITDUMP_NOTE_UNREADABLE] = "unreadable",
	};
	char other[32];
	if (kind < sizeof(kinds) / sizeof(kinds[0]))
		return kinds[kind];
	(void)snprintf(other, sizeof(other), "note 0x%x", kind);
	return intern_get(&load->strings, intern_text(&load->strings, other));
}

static int by_note(const void *left, const void *right)
{
	const struct listing_note *a = left;
	const struct listing_note *b = right;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int put_notes(struct load *load, uint32_t piece, uint64_t size, struct listing *listing)
{
	struct jitdump_about about;
	struct jitdump_annotation told;
	uint32_t last = 0;
	bool is_sorted = true;
	if (!load_code_annotations(load, piece, &about))
		return 0;
	while (listing->notes.count < ENTRY_LIMIT && jitdump_annotation_next(&about, &told) > 0) {
		if (told.offset >= size || told.kind == JITDUMP_NOTE_TIER)
			continue;
		const uint32_t text = intern_bytes(&load->strings, told.text);
		struct listing_note *note = vector_push(&listing->notes);
		if (!note || text == INTERN_NONE)
			return STATUS_NO_MEMORY;
		const uint64_t left = size - told.offset;
		*note =
		    (struct listing_note){ .offset = told.offset,
					   .size = told.size < left ? told.size : (uint32_t)left,
					   .kind = kind_of_note(load, told.kind),
					   .text = intern_get(&load->strings, text) };
		is_sorted = is_sorted && told.offset >= last;
		last = told.offset;
	}
	if (!is_sorted)
		qsort(listing->notes.items, listing->notes.count, sizeof(*listing->notes.items),
		      by_note);
	return 0;
}

static int by_bytecode(const void *left, const void *right)
{
	const struct listing_bytecode *a = left;
	const struct listing_bytecode *b = right;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int put_bytecodes(struct load *load, uint32_t piece, uint64_t size, struct listing *listing)
{
	struct jitdump_about about;
	struct jitdump_bytecode told;
	uint32_t last = 0;
	bool is_sorted = true;
	if (!load_code_bytecodes(load, piece, &about))
		return 0;
	while (listing->bytecodes.count < ENTRY_LIMIT && jitdump_bytecode_next(&about, &told) > 0) {
		if (told.offset >= size)
			continue;
		struct listing_bytecode *bytecode = vector_push(&listing->bytecodes);
		if (!bytecode)
			return STATUS_NO_MEMORY;
		*bytecode = (struct listing_bytecode){ told.offset, told.bytecode };
		is_sorted = is_sorted && told.offset >= last;
		last = told.offset;
	}
	if (!is_sorted)
		qsort(listing->bytecodes.items, listing->bytecodes.count,
		      sizeof(*listing->bytecodes.items), by_bytecode);
	return 0;
}

int listing_of_code(struct load *load, const struct origin *origin, struct listing *listing)
{
	const struct source *source = source_of(load, origin->id);
	const uint32_t first = piece_at(load, origin, &origin->first);
	const uint32_t last = piece_at(load, origin, &origin->last);
	listing->machine = machine_of(load, source);
	listing->start_avma = origin->last.start_avma;
	/* They were looked for in an index that is made at the first need. */
	if (load->pieces.count && !load->piece_slot_count)
		return STATUS_NO_MEMORY;
	if (!first || !last) {
		listing->reason = why_no_code(load, source);
		return 0;
	}
	struct load_code code;
	if (load_code(load, last - 1, &code) < 0)
		return STATUS_NO_MEMORY;
	const uint64_t size = code.size < UINT32_MAX ? code.size : UINT32_MAX;
	listing->start_avma = code.start_avma;
	listing->code = code.code;
	if (listing->code.size > size)
		listing->code.size = (size_t)size;
	if (!listing->code.size)
		listing->reason = why_no_code(load, source);
	set_times(load, origin, first - 1, last - 1, listing);
	int got = listing_put_lines(load, last - 1, size, listing);
	if (got == 0)
		got = put_notes(load, last - 1, size, listing);
	if (got == 0)
		got = put_bytecodes(load, last - 1, size, listing);
	return got;
}
