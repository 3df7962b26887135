/* Names of functions. Of most the linker's is told. Compilers leave it out of functions that no
 * other unit can call; those are called as their declarations are, after what they are in.
 */
#include "debuginfo/internal.h"

#include <dwarf.h>
#include <stdlib.h>

enum {
	REFERENCE_LIMIT = 16,  /* from what was inlined to its origin, to its declaration */
	AROUND_LIMIT = 16,     /* namespaces and types in each other; more are left out */
	NAME_LIMIT = 64 << 10, /* bytes of a name that is put together */
};

/* The DIE that this one comes from. False at the end. */
static bool origin_of(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die origin;
	if (!(dwarf_attr(die, DW_AT_abstract_origin, &attr) ||
	      dwarf_attr(die, DW_AT_specification, &attr)) ||
	    !dwarf_formref_die(&attr, &origin))
		return false;
	*die = origin;
	return true;
}

static const char *text_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	const char *text = dwarf_attr(die, name, &attr) ? dwarf_formstring(&attr) : NULL;
	return text ? text : "";
}

static const char *linkage_of(Dwarf_Die *die)
{
	const char *text = text_of(die, DW_AT_linkage_name);
	return *text ? text : text_of(die, DW_AT_MIPS_linkage_name);
}

bool name_is_part(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_subprogram;
}

bool name_is_told(Dwarf_Die *die)
{
	return dwarf_hasattr(die, DW_AT_linkage_name) ||
	       dwarf_hasattr(die, DW_AT_MIPS_linkage_name) ||
	       dwarf_hasattr(die, DW_AT_specification) || dwarf_hasattr(die, DW_AT_abstract_origin);
}

static int by_place(const void *left, const void *right)
{
	const uint8_t *const *place = left;
	const struct named *named = right;
	return *place < named->die ? -1 : *place > named->die;
}

/* A type without a name is mostly that of a lambda; the line tells one from another. */
static void put_part(struct sink *out, Dwarf_Die *die)
{
	const char *name = text_of(die, DW_AT_name);
	Dwarf_Die origin = *die;
	for (int i = 0; !*name && i < REFERENCE_LIMIT && origin_of(&origin); i++)
		name = text_of(&origin, DW_AT_name);
	const int tag = dwarf_tag(die);
	int line;
	if (*name)
		sink_text(out, name);
	else if (tag == DW_TAG_namespace)
		sink_text(out, "(anonymous namespace)");
	else if (dwarf_decl_line(die, &line) == 0)
		sink_printf(out, "{lambda:%d}", line);
	else
		sink_text(out, "{unnamed}");
	sink_text(out, "::");
}

/* "space::type::" for what is around a DIE of the unit; nothing where that is not known. */
static void put_around(struct sink *out, const struct unit *unit, const Dwarf_Die *die)
{
	const uint8_t *place = die->addr;
	const struct named *found =
	    unit->named.count
		? bsearch(&place, unit->named.items, unit->named.count, sizeof(*found), by_place)
		: NULL;
	uint32_t around[AROUND_LIMIT];
	size_t count = 0;
	uint32_t next = found ? found->around : SCOPE_NONE;
	for (; next != SCOPE_NONE && count < AROUND_LIMIT; next = unit->named.items[next].around)
		around[count++] = next;
	while (count--) {
		Dwarf_Die part = *die;
		part.addr = (void *)(uintptr_t)unit->named.items[around[count]].die;
		part.abbrev = NULL;
		put_part(out, &part);
	}
}

const char *name_of(struct debuginfo *info, const struct unit *unit, const Dwarf_Die *start)
{
	Dwarf_Die die = *start;
	const char *plain = "";
	for (int i = 0; i < REFERENCE_LIMIT; i++) {
		const char *linkage = linkage_of(&die);
		if (*linkage)
			return linkage;
		if (!*plain)
			plain = text_of(&die, DW_AT_name);
		if (!origin_of(&die))
			break;
	}
	struct sink name = { .limit = NAME_LIMIT };
	put_around(&name, unit, &die);
	uint32_t id = INTERN_NONE;
	if (*plain && name.size) {
		sink_text(&name, plain);
		if (!sink_failed(&name) && name.size <= info->name_budget) {
			info->name_budget -= name.size;
			id = intern_bytes(&info->paths, sink_bytes(&name));
		}
	}
	sink_clear(&name);
	return id == INTERN_NONE ? plain : intern_get(&info->paths, id);
}
