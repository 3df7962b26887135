/* What is known of the code at an address, for those who look for its frames. */
#include "base/hash.h"
#include "load/code.h"
#include "load/interpreted.h"
#include "load/unwind.h"
#include "unwind/frame_code.h"
#include "unwind/rules.h"

#include <stdlib.h>

enum { CACHE_SIZE = 1 << 14 };

/* Most walks only read the row: it shares two lines of the processor's cache with the key. */
struct cached_place {
	_Alignas(64) uint64_t avma;
	uint64_t valid_from_ns;
	uint64_t valid_to_ns; /* 0: a free entry */
	uint32_t pid;
	struct place place;
};

/* What comes again drives out what came before: programs return to few thousand addresses. */
struct place_cache {
	struct cached_place entries[CACHE_SIZE];
};

void load_places_free(struct load *load)
{
	free(load->places);
	load->places = NULL;
	for (size_t i = 0; i < load->piece_tables.count; i++)
		cfi_table_free(load->piece_tables.items[i].table);
	vector_clear(&load->piece_tables);
	idmap_clear(&load->table_of_piece);
}

static bool take_row(struct cfi_table *table, uint64_t svma, struct place *place)
{
	const struct cfi_row *row = table ? cfi_find(table, svma) : NULL;
	if (!row)
		return false;
	place->kind = PLACE_ROW;
	place->row = *row;
	return true;
}

/* HotSpot's stubs between a call and the method that it comes to. */
static void take_stub(struct bytes name, struct place *place)
{
	static const char *const starts[] = { "I2C/C2I adapters", "vtable stub", "itable stub" };
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		const size_t size = strlen(starts[i]);
		if (name.size < size || memcmp(name.data, starts[i], size) != 0)
			continue;
		place->is_frameless = true;
		place->has_room = i == 0;
	}
}

static void place_in_code(struct load *load, uint64_t avma, const struct timeline_hit *hit,
			  struct place *place)
{
	const struct source *source = &load->sources.items[load->codes.items[hit->object].source];
	place->kind = PLACE_CODE;
	place->end = PROFILE_END_NO_UNWINDING;
	place->runtime = source->runtime;
	place->is_interpreter = interpreted_is_by(load, hit->object);
	if (source->runtime == RUNTIME_JVM)
		take_stub(load->codes.items[hit->object].name, place);
	place->start_avma = hit->start_avma;
	const uint32_t piece = load_find_piece(load, hit->object, hit->start_avma);
	struct load_code code;
	if (!piece)
		return;
	(void)take_row(table_of_piece(load, piece - 1), avma, place);
	if (load_code(load, piece - 1, &code) == 0)
		place->code = code.code;
}

/* Where the kernel lets programs begin: nothing called it. C libraries describe theirs, but not
 * the dynamic linker its own.
 */
static bool is_outermost(const char *name)
{
	return strcmp(name, "_start") == 0 || strcmp(name, "_dl_start_user") == 0;
}

/* makecontext() has a function return to the first byte of another, which nobody called: what is
 * looked up lies before it.
 */
static bool is_before_context(const struct symbol_table *symbols, uint64_t svma)
{
	struct symbol symbol;
	return symbol_find(symbols, svma + 1, &symbol) && symbol.start_svma == svma + 1 &&
	       strcmp(symbol.name, "__start_context") == 0;
}

static void take_outermost(const struct load *load, struct place *place)
{
	place->kind = PLACE_ROW;
	place->row = unwind_rule_outermost(load->is_arm64 ? UNWIND_AARCH64 : UNWIND_X86_64);
}

/* The bytes of the function around the address, where it is known. */
static void take_function(struct load *load, uint32_t object_id, uint64_t avma, uint64_t file_off,
			  struct place *place)
{
	uint64_t svma;
	struct symbol symbol;
	const struct symbol_table *symbols = load->objects.items[object_id].symbols;
	if (!symbols || !symbol_file_to_svma(symbols, file_off, &svma))
		return;
	if (is_before_context(symbols, svma)) {
		take_outermost(load, place);
		return;
	}
	if (!symbol_find(symbols, svma, &symbol) || svma - symbol.start_svma > file_off)
		return;
	if (is_outermost(symbol.name)) {
		take_outermost(load, place);
		return;
	}
	place->start_avma = avma - (svma - symbol.start_svma);
	place->code = table_object_bytes(load, object_id, file_off - (svma - symbol.start_svma));
}

/* A thread is behind the instruction for as long as the kernel works for it, even if that was the
 * function's last one.
 */
static bool is_behind_system_call(struct load *load, uint32_t object_id, uint64_t file_off)
{
	enum { SYSTEM_CALL_BYTES = 4 };
	const enum unwind_machine machine = load->is_arm64 ? UNWIND_AARCH64 : UNWIND_X86_64;
	if (file_off < SYSTEM_CALL_BYTES)
		return false;
	struct bytes before = table_object_bytes(load, object_id, file_off - SYSTEM_CALL_BYTES);
	if (before.size < SYSTEM_CALL_BYTES)
		return false;
	before.size = SYSTEM_CALL_BYTES;
	return unwind_ends_with_system_call(machine, before);
}

static void place_in_mapping(struct load *load, uint64_t avma, const struct timeline_hit *hit,
			     struct place *place)
{
	const uint64_t file_off = avma - hit->start_avma + hit->file_off;
	const uint32_t object_id = hit->object;
	place->kind = PLACE_MAPPED;
	if (load->objects.items[object_id].kind == OBJECT_ANONYMOUS)
		return;
	place->end = PROFILE_END_NO_UNWINDING;
	struct cfi_table *table = table_of_object(load, object_id);
	uint64_t svma;
	if (table && symbol_file_to_svma(load->objects.items[object_id].symbols, file_off, &svma) &&
	    (take_row(table, svma, place) || (is_behind_system_call(load, object_id, file_off) &&
					      take_row(table, svma - 1, place))))
		return;
	take_function(load, object_id, avma, file_off, place);
}

static void look_up(struct load *load, const struct address *address, struct cached_place *entry)
{
	struct decision decision;
	load_decide(load, address, &decision);
	entry->valid_from_ns = decision.valid_from_ns;
	entry->valid_to_ns = decision.valid_to_ns;
	entry->place = (struct place){ .kind = PLACE_UNKNOWN, .end = PROFILE_END_UNKNOWN_CODE };
	if (decision.speaker == SPEAKER_CODE)
		place_in_code(load, address->avma, &decision.hit, &entry->place);
	else if (decision.speaker == SPEAKER_MAPPING)
		place_in_mapping(load, address->avma, &decision.hit, &entry->place);
}

const struct place *place_find(struct load *load, const struct address *address)
{
	static const struct place nothing = { .kind = PLACE_UNKNOWN,
					      .end = PROFILE_END_UNKNOWN_CODE };
	if (!load->places) {
		load->places = aligned_alloc(_Alignof(struct place_cache), sizeof(*load->places));
		if (!load->places)
			return &nothing;
		memset(load->places, 0, sizeof(*load->places));
	}
	struct cached_place *entry =
	    &load->places->entries[hash_mix(address->avma, address->pid) % CACHE_SIZE];
	if (entry->avma != address->avma || entry->pid != address->pid ||
	    address->time_ns < entry->valid_from_ns || address->time_ns >= entry->valid_to_ns) {
		*entry = (struct cached_place){ .pid = address->pid, .avma = address->avma };
		look_up(load, address, entry);
	}
	return &entry->place;
}
