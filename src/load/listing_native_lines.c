/* Line entries and inlined scopes of native functions, from their debug information. */
#include "load/listing_parts.h"

#include "base/hash.h"
#include "base/status.h"
#include "debuginfo/debuginfo.h"
#include "load/naming.h"

/* Lines are told of no more: no compiler makes a function of that size. */
enum { CODE_LIMIT = 16 << 20 };

/* A walk over a function's code, from answer to answer. */
struct native_walk {
	struct load *load;
	struct listing *listing;
	struct debuginfo *info;
	VECTOR(const char *) symbols; /* by scope of the listing: its name in the file */
	struct idmap same;            /* by hash: scope + 1 */
	bool no_memory;
};

static uint64_t hash_text(const char *text, uint64_t seed)
{
	return hash_bytes(text, strlen(text), seed);
}

static uint64_t hash_call(const struct debuginfo_scope *told, uint32_t around)
{
	const uint64_t place = (uint64_t)told->call_line << 32 | told->call_column;
	return hash_text(told->name, hash_text(told->call_file, hash_mix(place, around)));
}

static bool is_same_call(const struct native_walk *walk, uint32_t index,
			 const struct debuginfo_scope *told, uint32_t around)
{
	const struct listing_scope *known = &walk->listing->scopes.items[index];
	return known->around == around && known->call_line == told->call_line &&
	       known->call_column == told->call_column &&
	       strcmp(known->call_file, told->call_file) == 0 &&
	       strcmp(walk->symbols.items[index], told->name) == 0;
}

/* The listing's scope for one of an answer, made if it is new: index + 1; 0 without memory. */
static uint32_t scope_id(struct native_walk *walk, const struct debuginfo_scope *told,
			 uint32_t around)
{
	struct load *load = walk->load;
	uint32_t *slot = idmap_put(&walk->same, hash_call(told, around));
	if (!slot)
		return 0;
	if (*slot && is_same_call(walk, *slot - 1, told, around))
		return *slot;
	const char *written = *told->name ? told->name : "[inlined]";
	const uint32_t name = naming_as_written(
	    load, (struct bytes){ (const uint8_t *)written, strlen(written) }, RUNTIME_NATIVE);
	struct listing_scope *made = vector_push(&walk->listing->scopes);
	const char **symbol = vector_push(&walk->symbols);
	if (name == INTERN_NONE || !made || !symbol)
		return 0;
	*made = (struct listing_scope){ .name = intern_get(&load->strings, name),
					.call_file = told->call_file,
					.call_line = told->call_line,
					.call_column = told->call_column,
					.around = around };
	*symbol = told->name;
	*slot = (uint32_t)walk->listing->scopes.count;
	return *slot;
}

static void put_line(struct native_walk *walk, const struct listing_line *line)
{
	struct listing *listing = walk->listing;
	const struct listing_line *last =
	    listing->lines.count ? &listing->lines.items[listing->lines.count - 1] : NULL;
	if (last ? last->line == line->line && last->column == line->column &&
		       last->scope == line->scope && strcmp(last->file, line->file) == 0
		 : !line->line && !line->scope)
		return;
	struct listing_line *slot = vector_push(&listing->lines);
	if (slot)
		*slot = *line;
	else
		walk->no_memory = true;
}

static void put_place(struct native_walk *walk, uint32_t offset,
		      const struct debuginfo_place *place)
{
	struct listing_line line = { .offset = offset, .file = place->file };
	const bool is_known = place->line && *place->file;
	line.file = is_known ? place->file : "";
	line.line = is_known ? place->line : 0;
	line.column = is_known ? place->column : 0;
	for (uint32_t i = 0; i < place->scope_count && !walk->no_memory; i++) {
		line.scope = scope_id(walk, &place->scopes[i], line.scope);
		walk->no_memory = !line.scope;
	}
	if (!walk->no_memory)
		put_line(walk, &line);
}

int listing_put_native_lines(struct load *load, struct debuginfo *info, struct listing *listing)
{
	static const struct listing_line unknown = { .file = "" };
	struct native_walk walk = { .load = load, .listing = listing, .info = info };
	const uint64_t step = listing->machine == LISTING_AARCH64 ? 4 : 1;
	const uint64_t size =
	    listing->code.size < CODE_LIMIT ? listing->code.size : (uint64_t)CODE_LIMIT;
	for (uint64_t offset = 0; offset < size && !walk.no_memory;) {
		struct debuginfo_place place;
		const uint64_t svma = listing->start_avma + offset;
		if (debuginfo_find(info, svma, &place)) {
			put_place(&walk, (uint32_t)offset, &place);
			offset += place.end_svma > svma ? place.end_svma - svma : step;
			continue;
		}
		struct listing_line line = unknown;
		line.offset = (uint32_t)offset;
		put_line(&walk, &line);
		offset += step;
	}
	vector_clear(&walk.symbols);
	idmap_clear(&walk.same);
	return walk.no_memory ? STATUS_NO_MEMORY : 0;
}
