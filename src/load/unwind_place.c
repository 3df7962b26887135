/* How frames of the code at an address are found. */
#include "base/hash.h"
#include "load/interpreted.h"
#include "load/unwind.h"

#include <stdlib.h>

enum { CACHE_SIZE = 1 << 14 };

struct cached_place {
	uint64_t avma;
	uint64_t valid_from_ns;
	uint64_t valid_to_ns; /* 0: a free entry */
	struct place place;
	uint32_t pid;
};

/* What comes again drives out what came before: programs return to few thousand addresses. */
struct place_cache {
	struct cached_place entries[CACHE_SIZE];
};

void load_places_free(struct load *load)
{
	free(load->places);
	load->places = NULL;
}

/* The symbol table is asked first: it has checked the file's build id. */
static struct cfi_table *cfi_of(struct load *load, uint32_t object_id)
{
	struct object *object = &load->objects.items[object_id];
	if (object->cfi_was_read)
		return object->cfi;
	object->cfi_was_read = true;
	struct bytes image;
	const char *path = intern_get(&load->strings, object->path);
	if (!load_object_symbols(load, object))
		return NULL;
	object = &load->objects.items[object_id];
	const bool is_there = object->kind == OBJECT_VDSO
				  ? load_vdso(load, &image)
				  : load_keep_file(load, path, false, &image) == 0;
	if (!is_there || cfi_table_elf(&object->cfi, image) < 0)
		object->cfi = NULL;
	return object->cfi;
}

/* Code made at run time keeps frame pointers, as far as it does not say otherwise. */
static void place_in_code(const struct load *load, const struct timeline_hit *hit,
			  struct place *place)
{
	const uint32_t source = load->codes.items[hit->object].source;
	const bool is_stub = load->sources.items[source].runtime == RUNTIME_PYTHON;
	place->end = PROFILE_END_NO_UNWINDING;
	place->how.code = is_stub                                ? UNWIND_STUB
			  : interpreted_is_by(load, hit->object) ? UNWIND_INTERPRETER
								 : UNWIND_FRAME_POINTER;
}

/* Code that no table speaks of may keep frame pointers, as the builtins in V8's program do: the
 * walk believes it only where it leads to code.
 */
static void place_in_mapping(struct load *load, uint64_t avma, const struct timeline_hit *hit,
			     struct place *place)
{
	place->end = PROFILE_END_NO_UNWINDING;
	place->how.code = UNWIND_FRAME_POINTER;
	if (load->objects.items[hit->object].kind == OBJECT_ANONYMOUS)
		return;
	struct cfi_table *table = cfi_of(load, hit->object);
	const struct object *object = &load->objects.items[hit->object];
	uint64_t svma;
	if (!table ||
	    !symbol_file_to_svma(object->symbols, avma - hit->start_avma + hit->file_off, &svma))
		return;
	if (!cfi_find(table, svma))
		return;
	place->how = (struct unwind_place){ .code = UNWIND_CFI, .table = table, .svma = svma };
}

static void look_up(struct load *load, struct cached_place *entry, uint64_t time_ns)
{
	const struct address address = { .pid = entry->pid,
					 .avma = entry->avma,
					 .time_ns = time_ns };
	struct decision decision;
	load_decide(load, &address, &decision);
	entry->valid_from_ns = decision.valid_from_ns;
	entry->valid_to_ns = decision.valid_to_ns;
	entry->place =
	    (struct place){ .how.code = UNWIND_UNKNOWN, .end = PROFILE_END_UNKNOWN_CODE };
	if (decision.speaker == SPEAKER_CODE)
		place_in_code(load, &decision.hit, &entry->place);
	else if (decision.speaker == SPEAKER_MAPPING)
		place_in_mapping(load, entry->avma, &decision.hit, &entry->place);
}

void place_find(struct load *load, uint32_t pid, uint64_t avma, uint64_t time_ns,
		struct place *place)
{
	struct cached_place here = { .pid = pid, .avma = avma };
	if (!load->places)
		load->places = calloc(1, sizeof(*load->places));
	struct cached_place *entry =
	    load->places ? &load->places->entries[hash_mix(avma, pid) % CACHE_SIZE] : &here;
	if (entry->avma != avma || entry->pid != pid || time_ns < entry->valid_from_ns ||
	    time_ns >= entry->valid_to_ns) {
		*entry = here;
		look_up(load, entry, time_ns);
	}
	*place = entry->place;
}
