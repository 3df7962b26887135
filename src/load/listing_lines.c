/* Line entries and inlined scopes of a piece, laid over each other.
 *
 *   lines    |--- 7 ---|------- 9 -------|
 *   scopes        [ alpha    [ beta ] ]
 *   listing  |-7-|7 in a|9 in a|9 in b|9 in a|9|
 *
 * A sweep over the offsets at which anything begins or ends, with the set of the scopes that are
 * open there: its cost does not depend on how producers let scopes overlap.
 */
#include "load/listing_parts.h"

#include "base/hash.h"
#include "base/sort.h"
#include "base/status.h"
#include "load/inlined.h"
#include "load/naming.h"
#include "timeline/rankset.h"

#include <stdlib.h>

enum {
	ENTRY_LIMIT = 1 << 28,
	DEPTH_LIMIT = 64,
	/* Of scopes that overlap against all rules so many are tried. */
	TRIES = 16,
};

enum event_kind { EVENT_LINE, EVENT_BEGIN, EVENT_END };

struct sweep_scope {
	struct jitdump_inline told;
	uint32_t around; /* index + 1 of the scope that it was inlined into; 0: none */
	uint32_t id;     /* in the listing + 1; 0: it cannot be reached */
	uint32_t rank;
};

struct sweep {
	struct load *load;
	struct listing *listing;
	uint32_t code;
	uint64_t size;
	VECTOR(struct listing_line) lines;
	VECTOR(struct sweep_scope) scopes;
	VECTOR(uint32_t) firsts; /* by scope of the listing: the first that was told of it */
	struct idmap same;       /* by hash: scope of the listing + 1 */
	VECTOR(struct pair) events;
	/* Scopes that are open, deeper ones in front, of one depth those told first. */
	uint32_t *by_rank;
	struct rankset open;
	struct arena arena;
};

static bool put_event(struct sweep *s, uint64_t offset, enum event_kind kind, size_t index)
{
	struct pair *event = vector_push(&s->events);
	if (event)
		*event =
		    (struct pair){ .key = offset, .value = (uint32_t)index << 2 | (uint32_t)kind };
	return event != NULL;
}

static const char *file_text(struct sweep *s, struct bytes file)
{
	const uint32_t id = intern_bytes(&s->load->strings, load_source_path(file));
	return id == INTERN_NONE ? NULL : intern_get(&s->load->strings, id);
}

static int take_lines(struct sweep *s, uint32_t piece)
{
	struct jitdump_debug_walk walk;
	struct jitdump_debug_entry entry;
	uint32_t told_count = 0;
	if (!load_code_lines(s->load, piece, &walk))
		return 0;
	while (s->lines.count < ENTRY_LIMIT && inlined_next_line(s->load, s->code, &walk, &entry)) {
		const uint64_t offset = jitdump_debug_offset(&walk, &entry);
		const bool is_known = entry.line && entry.file.size;
		const uint32_t number = told_count++;
		if (offset >= s->size)
			continue;
		const char *file = file_text(s, is_known ? entry.file : (struct bytes){ 0 });
		struct listing_line *line = vector_push(&s->lines);
		if (!line || !file || !put_event(s, offset, EVENT_LINE, s->lines.count - 1))
			return STATUS_NO_MEMORY;
		line->file = file;
		line->line = is_known ? entry.line : 0;
		line->column = is_known ? entry.column : 0;
		line->text = is_known ? load_code_line_text(s->load, piece, number) : NULL;
	}
	return 0;
}

static bool same_bytes(struct bytes a, struct bytes b)
{
	return a.size == b.size && (!a.size || memcmp(a.data, b.data, a.size) == 0);
}

/* The same call, told once more for another stretch of its instructions? */
static bool is_same_call(const struct sweep_scope *a, uint32_t around_id, uint32_t other_around_id,
			 const struct jitdump_inline *b)
{
	return around_id == other_around_id && a->told.call_line == b->call_line &&
	       a->told.call_column == b->call_column && a->told.call_bytecode == b->call_bytecode &&
	       same_bytes(a->told.name, b->name) && same_bytes(a->told.call_file, b->call_file);
}

static uint64_t hash_call(uint32_t around_id, const struct jitdump_inline *told)
{
	const uint64_t place = (uint64_t)told->call_line << 32 | told->call_column;
	const uint64_t more = (uint64_t)around_id << 32 | (uint32_t)told->call_bytecode;
	return hash_bytes(told->name.data, told->name.size, hash_mix(place, more));
}

/* The listing's scope for one that was told: index + 1; 0 without memory. */
static uint32_t scope_id(struct sweep *s, size_t index)
{
	const struct sweep_scope *scope = &s->scopes.items[index];
	const struct jitdump_inline *told = &scope->told;
	const uint32_t around = scope->around ? s->scopes.items[scope->around - 1].id : 0;
	uint32_t *slot = idmap_put(&s->same, hash_call(around, told));
	if (!slot)
		return 0;
	if (*slot) {
		const struct listing_scope *known = &s->listing->scopes.items[*slot - 1];
		const struct sweep_scope *first = &s->scopes.items[s->firsts.items[*slot - 1]];
		if (is_same_call(first, known->around, around, told))
			return *slot;
	}
	struct load *load = s->load;
	const enum runtime runtime = load->sources.items[load->codes.items[s->code].source].runtime;
	const uint32_t name = naming_as_written(load, told->name, runtime);
	const char *file = file_text(s, told->call_file);
	struct listing_scope *made = vector_push(&s->listing->scopes);
	uint32_t *first = vector_push(&s->firsts);
	if (name == INTERN_NONE || !file || !made || !first)
		return 0;
	*made = (struct listing_scope){ .name = intern_get(&load->strings, name),
					.call_file = file,
					.call_line = told->call_line,
					.call_column = told->call_column,
					.around = around };
	*first = (uint32_t)index;
	*slot = (uint32_t)s->listing->scopes.count;
	return *slot;
}

/* Outer ones are told first: the caller is the last one before that is a step less deep. */
static int take_scopes(struct sweep *s, uint32_t piece)
{
	struct jitdump_about about;
	struct jitdump_inline told;
	uint32_t last[DEPTH_LIMIT] = { 0 };
	if (!load_code_inlines(s->load, piece, &about))
		return 0;
	while (s->scopes.count < ENTRY_LIMIT && jitdump_inline_next(&about, &told) > 0) {
		if (told.depth >= DEPTH_LIMIT || told.offset >= s->size || !told.size ||
		    (told.depth && !last[told.depth - 1]))
			continue;
		struct sweep_scope *scope = vector_push(&s->scopes);
		if (!scope)
			return STATUS_NO_MEMORY;
		const size_t index = s->scopes.count - 1;
		const uint64_t left = s->size - told.offset;
		const uint64_t end = told.offset + (told.size < left ? told.size : left);
		scope->told = told;
		scope->around = told.depth ? last[told.depth - 1] : 0;
		scope->id = scope_id(s, index);
		last[told.depth] = (uint32_t)index + 1;
		for (uint32_t d = told.depth + 1; d < DEPTH_LIMIT; d++)
			last[d] = 0;
		if (!scope->id || !put_event(s, told.offset, EVENT_BEGIN, index) ||
		    !put_event(s, end, EVENT_END, index))
			return STATUS_NO_MEMORY;
	}
	return 0;
}

static int rank_scopes(struct sweep *s)
{
	uint32_t next[DEPTH_LIMIT + 1] = { 0 };
	const uint32_t count = (uint32_t)s->scopes.count;
	for (uint32_t i = 0; i < count; i++)
		next[s->scopes.items[i].told.depth + 1]++;
	for (uint32_t d = 1; d <= DEPTH_LIMIT; d++)
		next[d] += next[d - 1];
	s->by_rank = arena_new(&s->arena, uint32_t, count);
	if (!s->by_rank || !rankset_init(&s->open, &s->arena, count))
		return STATUS_NO_MEMORY;
	for (uint32_t i = count; i-- > 0;) {
		struct sweep_scope *scope = &s->scopes.items[i];
		scope->rank = next[scope->told.depth]++;
		s->by_rank[scope->rank] = i;
	}
	return 0;
}

static bool is_open_all_around(const struct sweep *s, const struct sweep_scope *scope)
{
	for (uint32_t around = scope->around; around; around = s->scopes.items[around - 1].around)
		if (!rankset_has(&s->open, s->scopes.items[around - 1].rank))
			return false;
	return true;
}

/* In the listing + 1; 0: none is open. */
static uint32_t innermost(const struct sweep *s)
{
	uint32_t rank = (uint32_t)s->scopes.count;
	for (int i = 0; rank && i < TRIES; i++) {
		rank = rankset_below(&s->open, rank);
		if (rank == RANKSET_NONE)
			return 0;
		const struct sweep_scope *scope = &s->scopes.items[s->by_rank[rank]];
		if (is_open_all_around(s, scope))
			return scope->id;
	}
	return 0;
}

static int put_line(struct listing *listing, const struct listing_line *line)
{
	const struct listing_line *last =
	    listing->lines.count ? &listing->lines.items[listing->lines.count - 1] : NULL;
	if (last && last->line == line->line && last->column == line->column &&
	    last->scope == line->scope && last->file == line->file)
		return 0;
	struct listing_line *slot = vector_push(&listing->lines);
	if (!slot)
		return STATUS_NO_MEMORY;
	*slot = *line;
	return 0;
}

static void take_event(struct sweep *s, uint32_t event, struct listing_line *line)
{
	const uint32_t index = event >> 2;
	switch (event & 3) {
	case EVENT_LINE:
		*line = s->lines.items[index];
		return;
	case EVENT_BEGIN:
		rankset_add(&s->open, s->scopes.items[index].rank);
		return;
	default:
		rankset_remove(&s->open, s->scopes.items[index].rank);
		return;
	}
}

static int sweep(struct sweep *s)
{
	const size_t count = s->events.count;
	struct pair *spare = calloc(count, sizeof(*spare));
	if (!spare)
		return STATUS_NO_MEMORY;
	sort_pairs(s->events.items, spare, count);
	free(spare);
	struct listing_line line = { .file = "" };
	int got = 0;
	for (size_t i = 0; got == 0 && i < count;) {
		const uint64_t offset = s->events.items[i].key;
		for (; i < count && s->events.items[i].key == offset; i++)
			take_event(s, s->events.items[i].value, &line);
		line.offset = (uint32_t)offset;
		line.scope = s->scopes.count ? innermost(s) : 0;
		if (offset < s->size)
			got = put_line(s->listing, &line);
	}
	return got;
}

int listing_put_lines(struct load *load, uint32_t piece, uint64_t size, struct listing *listing)
{
	struct sweep s = {
		.load = load,
		.listing = listing,
		.code = load->pieces.items[piece].code,
		.size = size,
	};
	int got = take_lines(&s, piece);
	if (got == 0)
		got = take_scopes(&s, piece);
	if (got == 0 && s.scopes.count)
		got = rank_scopes(&s);
	if (got == 0 && s.events.count)
		got = sweep(&s);
	vector_clear(&s.lines);
	vector_clear(&s.scopes);
	vector_clear(&s.firsts);
	vector_clear(&s.events);
	idmap_clear(&s.same);
	arena_clear(&s.arena);
	return got;
}
