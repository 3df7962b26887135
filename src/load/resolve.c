/* An address becomes a frame: the timeline says whose it was, symbols and dumps
 * say the name. Answers are kept with the interval of time in which they hold.
 */
#include "load/load_internal.h"

#include "base/hash.h"
#include "base/status.h"
#include "load/inlined.h"
#include "load/interpreted.h"
#include "load/naming.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct cached_frame {
	uint64_t avma;
	uint64_t interpreted;
	uint64_t valid_from_ns;
	uint64_t valid_to_ns;
	uint32_t space;
	uint32_t frame;
	uint32_t next; /* another interval of the same address: index + 1 */
	bool is_return;
};

struct frame_cache {
	VECTOR(struct cached_frame) items;
	uint32_t *slots; /* index + 1 of the newest item of an address */
	size_t slot_count;
	size_t used;
};

enum { INLINE_LIMIT = 64 };

/* An answer on its way to become a frame, or several. */
struct answer {
	struct profile_frame frame;
	struct profile_frame inlined[INLINE_LIMIT]; /* outermost first */
	uint32_t inlined_count;
	uint64_t valid_from_ns;
	uint64_t valid_to_ns;
	uint64_t load_ns; /* early only */
};

static uint64_t key_of(const struct cached_frame *item)
{
	const uint64_t place = item->avma ^ item->interpreted * 0x9e3779b97f4a7c15u;
	return hash_mix(place, ((uint64_t)item->space << 1) | item->is_return);
}

static bool is_same_place(const struct cached_frame *a, const struct cached_frame *b)
{
	return a->avma == b->avma && a->space == b->space && a->is_return == b->is_return &&
	       a->interpreted == b->interpreted;
}

static size_t slot_of(const struct frame_cache *cache, const struct address *a)
{
	const struct cached_frame key = { .avma = a->avma,
					  .interpreted = a->interpreted,
					  .space = a->space,
					  .is_return = a->is_return };
	size_t at = key_of(&key) & (cache->slot_count - 1);
	for (; cache->slots[at]; at = (at + 1) & (cache->slot_count - 1))
		if (is_same_place(&cache->items.items[cache->slots[at] - 1], &key))
			break;
	return at;
}

static bool grow(struct frame_cache *cache)
{
	if (cache->used * 2 < cache->slot_count)
		return true;
	const size_t count = cache->slot_count ? cache->slot_count * 2 : 1024;
	uint32_t *slots = calloc(count, sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; i < cache->slot_count; i++) {
		if (!cache->slots[i])
			continue;
		const struct cached_frame *item = &cache->items.items[cache->slots[i] - 1];
		size_t at = key_of(item) & (count - 1);
		while (slots[at])
			at = (at + 1) & (count - 1);
		slots[at] = cache->slots[i];
	}
	free(cache->slots);
	cache->slots = slots;
	cache->slot_count = count;
	return true;
}

void load_frames_free(struct load *load)
{
	if (!load->frames)
		return;
	vector_clear(&load->frames->items);
	free(load->frames->slots);
	free(load->frames);
	load->frames = NULL;
}

static uint64_t lookup_avma(const struct address *a)
{
	return a->is_return && a->avma ? a->avma - 1 : a->avma;
}

bool load_symbol_at(struct load *load, const struct address *a, const struct timeline_hit *hit,
		    struct symbol *symbol, uint64_t *svma)
{
	struct object *object = &load->objects.items[hit->object];
	struct symbol_table *table = load_object_symbols(load, object);
	const uint64_t file_off = a->avma - hit->start_avma + hit->file_off;
	const uint64_t before = a->avma - lookup_avma(a);
	if (!table || !symbol_file_to_svma(table, file_off - before, svma))
		return false;
	*svma += before;
	/* A word that only looks like a return address may be a function's start. */
	return symbol_find(table, *svma - before, symbol) || symbol_find(table, *svma, symbol);
}

static void name_by_code(struct load *load, const struct address *a, const struct timeline_hit *hit,
			 struct answer *answer)
{
	struct profile_frame *frame = &answer->frame;
	frame->function = naming_of_code(load, hit->object);
	frame->object_path =
	    naming_path(load, load->sources.items[load->codes.items[hit->object].source].path);
	frame->offset = a->avma - hit->start_avma;
	frame->has_offset = true;
	frame->is_jit = true;
	frame->trust = (uint8_t)hit->trust;
	origin_see(&load->origins, frame->function, a->pid,
		   &(struct origin_place){ hit->start_avma, a->time_ns });
	if (hit->trust == TRUST_EARLY)
		answer->load_ns = a->time_ns + hit->early_ns;
	frame->reason = naming_reason_of_code(load, a, hit);
	const struct inlined_place place = {
		.code = hit->object,
		.start_avma = hit->start_avma,
		.offset = lookup_avma(a) - hit->start_avma,
	};
	answer->inlined_count = inlined_of_code(load, &place, frame, answer->inlined, INLINE_LIMIT);
}

static void narrow(struct decision *decision, const struct timeline_hit *hit)
{
	if (hit->valid_from_ns > decision->valid_from_ns)
		decision->valid_from_ns = hit->valid_from_ns;
	if (hit->valid_to_ns < decision->valid_to_ns)
		decision->valid_to_ns = hit->valid_to_ns;
}

/* Dumps and maps may claim anything, even where a library lies. There they are heard only
 * where they stay inside the file's mapping, and only a dump, where it is exact, is believed
 * over the file's own symbols: V8 tells of the builtins in its own program.
 */
static bool stays_inside(const struct timeline_hit *code, const struct timeline_hit *mapping)
{
	return code->start_avma >= mapping->start_avma && code->size <= mapping->size &&
	       code->start_avma - mapping->start_avma <= mapping->size - code->size;
}

static bool is_believed_first(const struct load *load, const struct timeline_hit *code)
{
	const struct source *source = &load->sources.items[load->codes.items[code->object].source];
	return source->is_dump && code->trust == TRUST_EXACT;
}

/* A library that was mapped where code had been: the code is gone, though nobody said so.
 * Memory without a file tells nothing, since runtimes change its protection all the time; nor
 * does another look of the kernel at the same file.
 */
static bool is_file_newer(const struct load *load, const struct address *a,
			  const struct timeline_hit *code, const struct timeline_hit *mapping)
{
	struct timeline_hit before;
	if (code->layer != LAYER_CODE || code->trust == TRUST_EARLY ||
	    mapping->valid_from_ns <= code->valid_from_ns)
		return false;
	return !timeline_find_mapping(load->timeline, a->pid, lookup_avma(a), code->valid_from_ns,
				      &before) ||
	       before.object != mapping->object;
}

static void show_mapping(struct load *load, const struct address *a,
			 const struct timeline_hit *mapping, struct answer *answer)
{
	const uint32_t path_id = load->objects.items[mapping->object].path;
	const char *path = intern_get(&load->strings, path_id);
	const bool has_offsets = path[0] == '/' && path[1] != '/'; /* not //anon, [heap] */
	if (has_offsets)
		answer->frame.object_avma = a->avma - mapping->start_avma + mapping->file_off;
	answer->frame.object_path = naming_path(load, path_id);
}

static void answer_mapping(struct load *load, const struct address *a,
			   const struct timeline_hit *mapping, struct answer *answer)
{
	struct profile_frame *frame = &answer->frame;
	uint64_t svma;
	struct symbol symbol;
	if (!load_symbol_at(load, a, mapping, &symbol, &svma)) {
		naming_unknown_in(load, a, mapping->object, frame);
		show_mapping(load, a, mapping, answer);
		return;
	}
	frame->function = naming_of_symbol(load, mapping->object, &symbol);
	frame->offset = svma - symbol.start_svma;
	frame->has_offset = true;
	frame->trust = PROFILE_EXACT;
	show_mapping(load, a, mapping, answer);
	/* At the very start of a function the word is no return address. */
	const uint64_t before = frame->offset ? a->avma - lookup_avma(a) : 0;
	const struct inlined_native_place place = { mapping->object, svma - before };
	answer->inlined_count =
	    inlined_of_object(load, &place, frame, answer->inlined, INLINE_LIMIT);
}

void load_decide(struct load *load, const struct address *a, struct decision *decision)
{
	const uint64_t avma = lookup_avma(a);
	struct timeline_hit *hit = &decision->hit;
	struct timeline_hit mapping;
	timeline_find(load->timeline, a->pid, avma, a->time_ns, hit);
	decision->valid_from_ns = hit->valid_from_ns;
	decision->valid_to_ns = hit->valid_to_ns;
	decision->speaker = hit->layer == LAYER_NONE      ? SPEAKER_NONE
			    : hit->layer == LAYER_MAPPING ? SPEAKER_MAPPING
							  : SPEAKER_CODE;
	if (decision->speaker != SPEAKER_CODE)
		return;
	const bool is_mapped =
	    timeline_find_mapping(load->timeline, a->pid, avma, a->time_ns, &mapping);
	narrow(decision, &mapping);
	if (!is_mapped || load->objects.items[mapping.object].kind != OBJECT_FILE)
		return;
	struct symbol symbol;
	uint64_t svma;
	if (!stays_inside(hit, &mapping) || is_file_newer(load, a, hit, &mapping) ||
	    (!is_believed_first(load, hit) && load_symbol_at(load, a, &mapping, &symbol, &svma))) {
		decision->speaker = SPEAKER_MAPPING;
		*hit = mapping;
	}
}

static void answer_user(struct load *load, const struct address *a, struct answer *answer)
{
	struct decision decision;
	load_decide(load, a, &decision);
	answer->valid_from_ns = decision.valid_from_ns;
	answer->valid_to_ns = decision.valid_to_ns;
	if (decision.speaker == SPEAKER_NONE)
		naming_unknown(load, INTERN_NONE, "no mapping covers this address", &answer->frame);
	else if (decision.speaker == SPEAKER_MAPPING)
		answer_mapping(load, a, &decision.hit, answer);
	else
		name_by_code(load, a, &decision.hit, answer);
}

static void answer_interpreted(struct load *load, const struct address *a, struct answer *answer)
{
	struct interpreted_name name;
	if (interpreted_name(load, a->interpreted, &answer->frame, &name)) {
		answer->valid_from_ns = 0;
		answer->valid_to_ns = UINT64_MAX;
		answer->load_ns = name.told_ns;
		return;
	}
	answer_user(load, a, answer);
	if (!answer->frame.reason)
		answer->frame.reason = profile_intern(load, name.reason);
}

static void answer_kernel(struct load *load, const struct address *a, struct answer *answer)
{
	struct timeline_hit hit;
	const uint64_t avma = lookup_avma(a);
	timeline_find(load->timeline, TIMELINE_KERNEL_PID, avma, a->time_ns, &hit);
	answer->valid_from_ns = hit.valid_from_ns;
	answer->valid_to_ns = hit.valid_to_ns;
	answer->frame.is_kernel = true;
	if (hit.layer == LAYER_CODE && hit.trust == TRUST_EXACT) {
		name_by_code(load, a, &hit, answer);
		return;
	}
	struct symbol_table *table = load_kernel_symbols(load);
	struct symbol symbol;
	if (table && symbol_find(table, avma, &symbol)) {
		const char *module = symbol_module(table, avma);
		answer->frame.function = naming_of_kernel(load, &symbol, module);
		answer->frame.object_path =
		    profile_intern(load, *module ? module : "[kernel.kallsyms]");
		answer->frame.offset = a->avma - symbol.start_svma;
		answer->frame.has_offset = true;
		answer->frame.trust = PROFILE_EXACT;
	} else if (hit.layer == LAYER_CODE) {
		name_by_code(load, a, &hit, answer);
	} else {
		/* Where a module lies is told beside the symbols. */
		const bool is_module =
		    hit.layer == LAYER_MAPPING && load->objects.items[hit.object].short_name !=
						      intern_text(&load->strings, "[kernel]");
		naming_unknown(
		    load, is_module ? hit.object : INTERN_NONE,
		    table ? "no kernel symbol covers this address"
			  : "no kernel symbols (kptr_restrict hides them, or another boot)",
		    &answer->frame);
		if (!is_module)
			answer->frame.object_path = profile_intern(load, "[kernel.kallsyms]");
	}
}

int load_put_frame(struct load *load, const struct profile_frame *made, uint64_t early_load_ns,
		   uint32_t *id)
{
	struct profile_frame *frame = vector_push(&load->profile->frames);
	uint64_t *load_ns = vector_push(&load->frame_load_ns);
	if (!frame || !load_ns || made->function == INTERN_NONE || made->reason == INTERN_NONE ||
	    made->object_path == INTERN_NONE)
		return STATUS_NO_MEMORY;
	*frame = *made;
	*load_ns = early_load_ns;
	*id = (uint32_t)load->profile->frames.count - 1;
	return 0;
}

/* *id is the innermost one: from it the others are found. */
static int put_frames(struct load *load, struct answer *answer, uint32_t *id)
{
	int got = load_put_frame(load, &answer->frame, answer->load_ns, id);
	for (uint32_t i = 0; got == 0 && i < answer->inlined_count; i++) {
		answer->inlined[i].inlined_into = *id + 1;
		got = load_put_frame(load, &answer->inlined[i], answer->load_ns, id);
	}
	return got;
}

static int make_frame(struct load *load, const struct address *a, struct cached_frame *made)
{
	struct answer answer;
	answer.frame = (struct profile_frame){ .avma = a->avma, .object_avma = a->avma };
	answer.inlined_count = 0;
	answer.load_ns = 0;
	if (a->is_kernel)
		answer_kernel(load, a, &answer);
	else if (a->interpreted)
		answer_interpreted(load, a, &answer);
	else
		answer_user(load, a, &answer);
	*made = (struct cached_frame){ .avma = a->avma,
				       .interpreted = a->interpreted,
				       .space = a->space,
				       .is_return = a->is_return,
				       .valid_from_ns = answer.valid_from_ns,
				       .valid_to_ns = answer.valid_to_ns };
	return put_frames(load, &answer, &made->frame);
}

int load_resolve(struct load *load, const struct address *address, struct resolved *resolved)
{
	if (!load->frames)
		load->frames = calloc(1, sizeof(*load->frames));
	struct frame_cache *cache = load->frames;
	if (!cache || !grow(cache))
		return STATUS_NO_MEMORY;
	const size_t at = slot_of(cache, address);
	for (uint32_t i = cache->slots[at]; i; i = cache->items.items[i - 1].next) {
		const struct cached_frame *item = &cache->items.items[i - 1];
		if (address->time_ns < item->valid_from_ns || address->time_ns >= item->valid_to_ns)
			continue;
		*resolved =
		    (struct resolved){ item->frame, item->valid_from_ns, item->valid_to_ns };
		return 0;
	}
	struct cached_frame made;
	const int got = make_frame(load, address, &made);
	struct cached_frame *item = got == 0 ? vector_push(&cache->items) : NULL;
	if (!item)
		return STATUS_NO_MEMORY;
	made.next = cache->slots[at];
	cache->used += cache->slots[at] == 0;
	*item = made;
	cache->slots[at] = (uint32_t)cache->items.count;
	*resolved = (struct resolved){ made.frame, made.valid_from_ns, made.valid_to_ns };
	return 0;
}
