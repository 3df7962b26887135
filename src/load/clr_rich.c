/* The JIT's rich map: which call each stretch of code was inlined for, and its place in IL.
 *
 *   code      |-- root --|--- A ---|-- A, B --|-- root --|
 *   scopes               [ A                 ]
 *                                  [ B        ]
 *
 * Stretches come one after another. Calls that one begins within are scopes, outer ones told first;
 * a scope ends where a stretch is no longer in its call.
 *
 * Where a call was inlined into the root the plain map tells: it has the root's IL for all code.
 * For deeper calls it is what was told of the caller before, since the nodes' own field for it is
 * what was in memory (.NET 8 to 10). A node is one call: it has one place, wherever its code went.
 */
#include "load/clr_internal.h"

#include "base/search.h"
#include "base/status.h"
#include "format/jitdump/layout.h"

#include <stdlib.h>

enum {
	DEPTH_LIMIT = 64,
	/* Of one piece of code; the largest methods have some thousand. A few bytes of a map can
	 * begin as many scopes as may be in each other.
	 */
	SCOPE_LIMIT = 1 << 17,
	NOT_KNOWN = -1,
};

struct rich {
	struct clr_work *work;
	struct clr_rich_inline *nodes;
	uint32_t *parents; /* by node; UINT32_MAX: it has none */
	int32_t *last_il;  /* by node: the place in its IL that was told last */
	int32_t *call_il;  /* by node: where the caller calls it; NOT_KNOWN until it is needed */
	struct clr_spot *calls; /* of the plain map: the root's IL, ascending by native_off */
	uint32_t call_count;
	uint32_t node_count;
	struct clr_spot *spots;
	uint32_t spot_count;
	/* The scopes that are open, outermost first: their nodes, and where their size is told. */
	uint32_t open[DEPTH_LIMIT];
	size_t size_at[DEPTH_LIMIT];
	uint32_t starts[DEPTH_LIMIT];
	uint32_t depth;
};

static bool read_nodes(struct rich *rich, const struct clr_event_rich_map *map)
{
	const size_t room = (size_t)map->inline_count + 1;
	rich->nodes = calloc(room, sizeof(*rich->nodes));
	rich->parents = calloc(room, sizeof(*rich->parents));
	rich->last_il = calloc(room, sizeof(*rich->last_il));
	rich->call_il = calloc(room, sizeof(*rich->call_il));
	if (!rich->nodes || !rich->parents || !rich->last_il || !rich->call_il)
		return false;
	for (size_t i = 0; i < room; i++)
		rich->call_il[i] = NOT_KNOWN;
	while (rich->node_count < map->inline_count &&
	       clr_rich_inline(map, rich->node_count, &rich->nodes[rich->node_count]))
		rich->node_count++;
	clr_rich_parents(map, rich->parents);
	return true;
}

static bool read_spots(struct rich *rich, const struct clr_event_rich_map *map)
{
	struct clr_rich_mapping mapping;
	rich->spots = calloc((size_t)map->mapping_count + 1, sizeof(*rich->spots));
	if (!rich->spots)
		return false;
	for (uint32_t i = 0; i < map->mapping_count && clr_rich_mapping(map, i, &mapping); i++)
		rich->spots[rich->spot_count++] =
		    (struct clr_spot){ .native_off = mapping.native_off,
				       .il_off = mapping.il_off,
				       .order = i,
				       .node = mapping.inlinee < rich->node_count ? mapping.inlinee
										  : 0 };
	clr_sort_spots(rich->spots, rich->spot_count);
	return true;
}

/* The plain map's places in the root's IL; none where there is no such map. */
static bool read_calls(struct rich *rich)
{
	const struct clr_map *plain = clr_il_map_of(rich->work->process, rich->work->code);
	const uint32_t count = plain ? plain->il.count : 0;
	rich->calls = calloc((size_t)count + 1, sizeof(*rich->calls));
	if (!rich->calls)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		struct clr_spot *spot = &rich->calls[rich->call_count];
		spot->order = i;
		if (!clr_il_map_entry(&plain->il, i, &spot->il_off, &spot->native_off))
			break;
		rich->call_count += spot->il_off >= 0;
	}
	clr_sort_spots(rich->calls, rich->call_count);
	return true;
}

/* The root's IL of an instruction. */
static int32_t root_il(const struct rich *rich, uint32_t native_off)
{
	size_t count;
	SEARCH(count, rich->call_count, i, rich->calls[i].native_off <= native_off);
	return count ? rich->calls[count - 1].il_off : rich->last_il[0];
}

/* Where a node is called, its code beginning there for the first time. */
static int32_t call_il_of(struct rich *rich, uint32_t node, uint32_t native_off)
{
	const uint32_t caller = rich->parents[node];
	int32_t *il = &rich->call_il[node];
	if (*il == NOT_KNOWN)
		*il = caller ? rich->last_il[caller] : root_il(rich, native_off);
	return *il;
}

/* The calls around, outermost first, without the root. */
static uint32_t chain_of(const struct rich *rich, uint32_t node, uint32_t *chain)
{
	uint32_t depth = 0;
	uint32_t reversed[DEPTH_LIMIT];
	for (; node && node < rich->node_count && depth < DEPTH_LIMIT; node = rich->parents[node])
		reversed[depth++] = node;
	/* Deeper than we tell, or not of this tree: it counts for the method itself. */
	if (node)
		return 0;
	for (uint32_t i = 0; i < depth; i++)
		chain[i] = reversed[depth - 1 - i];
	return depth;
}

/* The method that a node is of; the root's is the code's. */
static struct clr_method_place place_of(const struct rich *rich, uint32_t node)
{
	const struct clr_work *work = rich->work;
	if (!node)
		return (struct clr_method_place){ work->code->module_id, work->code->token,
						  work->code->time_ns };
	return clr_place_of_method(work->process, rich->nodes[node].method_id, work->code->time_ns);
}

static uint32_t put_string(struct clr_work *work, uint32_t string)
{
	const struct bytes text = intern_get_bytes(&work->load->strings, string);
	uint32_t *at = text.size ? idmap_put(&work->string_at, string) : NULL;
	if (!at || work->strings.size > UINT32_MAX / 2)
		return JITDUMP_NO_STRING;
	if (!*at) {
		*at = (uint32_t)work->strings.size + 1;
		sink_put(&work->strings, text.data, text.size);
		sink_u8(&work->strings, 0);
	}
	return *at - 1;
}

static uint32_t name_of(struct clr_work *work, uint64_t method_id)
{
	const uint32_t name =
	    clr_name_of(work->load, work->process, method_id, work->code->time_ns);
	return name == INTERN_NONE || !name ? intern_text(&work->load->strings, "[inlined]") : name;
}

static void open_scope(struct rich *rich, uint32_t node, uint32_t native_off)
{
	struct clr_work *work = rich->work;
	const struct clr_rich_inline *what = &rich->nodes[node];
	const struct clr_method_place caller = place_of(rich, rich->parents[node]);
	const int32_t call_il = call_il_of(rich, node, native_off);
	struct clr_source_line call = { 0 };
	(void)clr_source_line(
	    work->load,
	    clr_assembly_of(work->load, work->process, caller.module_id, caller.time_ns),
	    caller.token, (uint32_t)call_il, &call);
	sink_u32(&work->scopes, native_off);
	rich->size_at[rich->depth] = work->scopes.size;
	sink_u32(&work->scopes, 0);
	sink_u32(&work->scopes, rich->depth);
	sink_u32(&work->scopes, call.line);
	sink_u32(&work->scopes, call.column);
	sink_u32(&work->scopes, (uint32_t)call_il);
	sink_u32(&work->scopes, put_string(work, name_of(work, what->method_id)));
	sink_u32(&work->scopes, put_string(work, call.file));
	rich->starts[rich->depth] = native_off;
	rich->open[rich->depth++] = node;
	work->scope_count++;
}

static void close_scopes(struct rich *rich, uint32_t depth, uint32_t native_off)
{
	while (rich->depth > depth) {
		rich->depth--;
		sink_patch_u32(&rich->work->scopes, rich->size_at[rich->depth],
			       native_off - rich->starts[rich->depth]);
	}
}

static void take_spot(struct rich *rich, const struct clr_spot *spot)
{
	uint32_t chain[DEPTH_LIMIT];
	const uint32_t depth = chain_of(rich, spot->node, chain);
	uint32_t same = 0;
	while (same < depth && same < rich->depth && rich->open[same] == chain[same])
		same++;
	close_scopes(rich, same, spot->native_off);
	while (rich->depth < depth && rich->work->scope_count < SCOPE_LIMIT)
		open_scope(rich, chain[rich->depth], spot->native_off);
	clr_put_spot(rich->work, spot, place_of(rich, depth ? spot->node : 0));
}

/* Of those at one place the last stands: calls that left no code of their own are not told. */
static void take_spots(struct rich *rich)
{
	const struct clr_work *work = rich->work;
	const uint64_t size = work->size ? work->size : work->code->size;
	const struct clr_spot entry = { .il_off = CLR_IL_PROLOG };
	if (!rich->spot_count || rich->spots[0].native_off)
		take_spot(rich, &entry);
	for (uint32_t i = 0; i < rich->spot_count; i++) {
		const struct clr_spot *spot = &rich->spots[i];
		const bool is_last =
		    i + 1 == rich->spot_count || rich->spots[i + 1].native_off != spot->native_off;
		if (is_last && spot->native_off < size)
			take_spot(rich, spot);
		if (spot->il_off >= 0)
			rich->last_il[spot->node] = spot->il_off;
	}
	close_scopes(rich, 0, size < UINT32_MAX ? (uint32_t)size : UINT32_MAX);
}

int clr_make_rich(struct clr_work *work, const struct clr_event_rich_map *map)
{
	struct rich rich = { .work = work };
	const bool done = read_nodes(&rich, map) && read_spots(&rich, map) && read_calls(&rich);
	if (done)
		take_spots(&rich);
	free(rich.nodes);
	free(rich.parents);
	free(rich.last_il);
	free(rich.call_il);
	free(rich.calls);
	free(rich.spots);
	return done ? 0 : STATUS_NO_MEMORY;
}
