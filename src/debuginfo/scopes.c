/* Which functions the code of a unit is of: its tree of DIEs is walked once, in the order in which
 * it lies in the file.
 */
#include "debuginfo/internal.h"

#include <dwarf.h>

enum {
	DEPTH_LIMIT = 128, /* namespaces, types, blocks and inlined functions in each other */
};

static bool is_function(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

/* Nothing that could have code is inside of these. */
static bool is_skipped(int tag)
{
	switch (tag) {
	case DW_TAG_enumeration_type:
	case DW_TAG_array_type:
	case DW_TAG_subroutine_type:
	case DW_TAG_imported_unit:
	case DW_TAG_formal_parameter:
	case DW_TAG_variable:
	case DW_TAG_call_site:
	case DW_TAG_GNU_call_site:
		return true;
	default:
		return false;
	}
}

/* Returns the index of the scope, or `parent` where the DIE has no code; -1 without memory. */
static int64_t add_scope(const struct scope_walk *walk, Dwarf_Die *die, int tag, uint32_t parent)
{
	struct unit *unit = walk->unit;
	const uint32_t index = (uint32_t)unit->scopes.count;
	if (index == SCOPE_NONE)
		return parent;
	const int got = range_reader_add(walk->reader, die, index, &unit->spans);
	if (got < 0)
		return -1;
	if (got == 0)
		return tag == DW_TAG_subprogram ? SCOPE_NONE : parent;
	struct scope *scope = vector_push(&unit->scopes);
	if (!scope)
		return -1;
	*scope = (struct scope){ .die = *die,
				 .parent = parent,
				 .is_inlined = tag == DW_TAG_inlined_subroutine };
	return index;
}

struct level {
	Dwarf_Die die;
	uint32_t scope; /* around the DIEs of this level */
	uint32_t named; /* index of the DIE in unit->named; SCOPE_NONE: not there yet */
	int tag;
};

/* Remembers where a function is whose linker's name is not told: in a namespace or a type. */
static bool note_named(const struct scope_walk *walk, struct level *levels, int depth)
{
	struct unit *unit = walk->unit;
	uint32_t around = SCOPE_NONE;
	if (!depth || !name_is_part(levels[depth - 1].tag) ||
	    levels[depth - 1].tag == DW_TAG_subprogram || name_is_told(&levels[depth].die))
		return true;
	for (int i = 0; i <= depth; i++) {
		struct level *level = &levels[i];
		if (!name_is_part(level->tag))
			continue;
		if (level->named == SCOPE_NONE) {
			struct named *named = vector_push(&unit->named);
			if (!named)
				return false;
			*named = (struct named){ level->die.addr, around };
			level->named = (uint32_t)(unit->named.count - 1);
		}
		around = level->named;
	}
	return true;
}

/* Goes to what follows a level, whose end is marked by the zero at `end`. Returns the new depth, or
 * -1 at the end of the unit.
 */
static int go_up(const struct scope_walk *walk, struct level *levels, int depth, const uint8_t *end)
{
	const uint8_t *next = end;
	while (depth > 0 && next && next + 1 < walk->end) {
		next++;
		depth--;
		if (*next) {
			Dwarf_Die *die = &levels[depth].die;
			die->addr = (void *)(uintptr_t)next;
			die->abbrev = NULL;
			return depth;
		}
	}
	return -1;
}

/* Moves to the DIE that comes after this one and all in it. */
static int go_on(const struct scope_walk *walk, struct level *levels, int depth)
{
	Dwarf_Die next;
	const int got = dwarf_siblingof(&levels[depth].die, &next);
	if (got < 0)
		return -1;
	if (got > 0)
		return go_up(walk, levels, depth, next.addr);
	levels[depth].die = next;
	return depth;
}

static bool walk_dies(const struct scope_walk *walk, struct level *levels)
{
	int depth = 0;
	while (depth >= 0 && walk->info->die_budget) {
		walk->info->die_budget--;
		struct level *level = &levels[depth];
		uint32_t scope = level->scope;
		const int tag = dwarf_tag(&level->die);
		level->named = SCOPE_NONE;
		level->tag = tag;
		if (tag == DW_TAG_subprogram && !note_named(walk, levels, depth))
			return false;
		if (is_function(tag)) {
			const int64_t got = add_scope(walk, &level->die, tag, scope);
			if (got < 0)
				return false;
			scope = (uint32_t)got;
		}
		Dwarf_Die child;
		if (depth + 1 < DEPTH_LIMIT && !is_skipped(tag) &&
		    dwarf_child(&level->die, &child) == 0) {
			levels[++depth] = (struct level){ .die = child, .scope = scope };
			continue;
		}
		depth = go_on(walk, levels, depth);
	}
	return true;
}

bool unit_read_scopes(const struct scope_walk *walk, const Dwarf_Die *first)
{
	struct level levels[DEPTH_LIMIT];
	struct span_table ranges = { 0 };
	Dwarf_Die unit = *first;
	if (dwarf_child(&unit, &levels[0].die) != 0)
		return true;
	levels[0].scope = SCOPE_NONE;
	const bool done = walk_dies(walk, levels);
	ranges = walk->unit->spans;
	walk->unit->spans = (struct span_table){ 0 };
	if (!done) {
		vector_clear(&ranges);
		return false;
	}
	return span_seal(&ranges, &walk->unit->spans);
}

static uint32_t number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;
	if (!dwarf_attr(die, name, &attr) || dwarf_formudata(&attr, &value) != 0)
		return 0;
	return value <= UINT32_MAX ? (uint32_t)value : 0;
}

const struct debuginfo_scope *unit_scope(struct debuginfo *info, struct unit *unit, uint32_t index)
{
	struct scope *scope = &unit->scopes.items[index];
	if (scope->was_named)
		return &scope->told;
	scope->was_named = true;
	Dwarf_Die *die = &scope->die;
	const char *file =
	    unit->files ? dwarf_filesrc(unit->files, number_of(die, DW_AT_call_file), NULL, NULL)
			: NULL;
	scope->told = (struct debuginfo_scope){ .name = name_of(info, unit, die),
						.call_file = unit_path(info, unit, file),
						.call_line = number_of(die, DW_AT_call_line),
						.call_column = number_of(die, DW_AT_call_column) };
	return &scope->told;
}
