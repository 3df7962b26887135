#include "debuginfo/internal.h"

#include "base/status.h"

#include <dwarf.h>
#include <stdlib.h>

/* The higher value wins a place that two units claim: the first unit is to. */
static uint32_t value_of(size_t index)
{
	return UINT32_MAX - (uint32_t)index;
}

struct finding {
	struct debuginfo *info;
	struct span_table ranges;
	bool has_silent; /* a unit that does not say where its code is */
};

static int add_unit(struct finding *finding, Dwarf_Die *die, size_t die_off, size_t end_off)
{
	struct debuginfo *info = finding->info;
	struct range_reader reader = { .code = &info->code, .budget = &info->range_budget };
	const int tag = dwarf_tag(die);
	/* Those of dwz that are shared have no code. */
	if ((tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit) ||
	    info->units.count == UINT32_MAX || !range_reader_init(&reader, info->object, die))
		return STATUS_OK;
	const int got =
	    range_reader_add(&reader, die, value_of(info->units.count), &finding->ranges);
	if (got < 0)
		return got;
	struct unit *unit = vector_push(&info->units);
	if (!unit)
		return STATUS_NO_MEMORY;
	unit->die = *die;
	unit->die_off = die_off;
	unit->end_off = end_off;
	unit->has_ranges = got > 0;
	finding->has_silent |= got == 0;
	return STATUS_OK;
}

static int by_offset(const void *left, const void *right)
{
	const size_t *die_off = left;
	const struct unit *unit = right;
	return *die_off < unit->die_off ? -1 : *die_off > unit->die_off;
}

static int add_arange(struct finding *finding, Dwarf_Arange *arange)
{
	const struct debuginfo *info = finding->info;
	Dwarf_Addr start;
	Dwarf_Word length;
	Dwarf_Off offset;
	if (!arange || dwarf_getarangeinfo(arange, &start, &length, &offset) != 0 || !length ||
	    start + length < start || !span_find(&info->code, start))
		return STATUS_OK;
	const struct unit *unit =
	    bsearch(&offset, info->units.items, info->units.count, sizeof(*unit), by_offset);
	if (!unit || unit->has_ranges)
		return STATUS_OK;
	struct span *range = vector_push(&finding->ranges);
	if (!range)
		return STATUS_NO_MEMORY;
	*range =
	    (struct span){ start, start + length, value_of((size_t)(unit - info->units.items)) };
	return STATUS_OK;
}

/* Some compilers and assemblers tell in .debug_aranges alone where the code of a unit is. */
static int add_aranges(struct finding *finding)
{
	Dwarf_Aranges *aranges;
	size_t count;
	int got = STATUS_OK;
	if (!finding->has_silent ||
	    dwarf_getaranges(finding->info->object->dwarf, &aranges, &count) != 0)
		return STATUS_OK;
	for (size_t i = 0; i < count && got == STATUS_OK; i++)
		got = add_arange(finding, dwarf_onearange(aranges, i));
	return got;
}

int units_find(struct debuginfo *info)
{
	struct finding finding = { .info = info };
	Dwarf *dwarf = info->object->dwarf;
	Dwarf_Off offset = 0;
	Dwarf_Off next;
	size_t header_size;
	int got = STATUS_OK;
	while (got == STATUS_OK &&
	       dwarf_nextcu(dwarf, offset, &next, &header_size, NULL, NULL, NULL) == 0) {
		Dwarf_Die die;
		if (next <= offset)
			break;
		if (dwarf_offdie(dwarf, offset + header_size, &die))
			got = add_unit(&finding, &die, offset + header_size, next);
		offset = next;
	}
	if (got == STATUS_OK)
		got = add_aranges(&finding);
	if (got == STATUS_OK && !span_seal(&finding.ranges, &info->unit_spans))
		got = STATUS_NO_MEMORY;
	vector_clear(&finding.ranges);
	return got;
}

static bool read_split(const struct scope_walk *whole, struct range_reader *reader)
{
	struct scope_walk walk = *whole;
	struct dwarf_file *file;
	Dwarf_Die die;
	if (!split_find(walk.info, &walk.unit->die, &die, &file) ||
	    !range_reader_split(reader, file, &die))
		return true;
	walk.end = file->info.data + file->info.size;
	if (file->line.size &&
	    dwarf_getsrcfiles(&die, &walk.unit->files, &walk.unit->file_count) != 0)
		walk.unit->files = NULL;
	return unit_read_scopes(&walk, &die);
}

bool unit_read(struct debuginfo *info, struct unit *unit)
{
	struct range_reader reader = { .code = &info->code, .budget = &info->range_budget };
	uint8_t type = 0;
	Dwarf_Attribute folder;
	const char *text =
	    dwarf_attr(&unit->die, DW_AT_comp_dir, &folder) ? dwarf_formstring(&folder) : NULL;
	unit->folder = text ? text : "";
	unit->was_read = true;
	if (dwarf_getsrcfiles(&unit->die, &unit->files, &unit->file_count) != 0)
		unit->files = NULL;
	if (!range_reader_init(&reader, info->object, &unit->die) ||
	    !unit_read_lines(info, unit, &reader))
		return false;
	(void)dwarf_cu_info(unit->die.cu, NULL, &type, NULL, NULL, NULL, NULL, NULL);
	const struct bytes dies = info->object->info;
	const struct scope_walk walk = {
		.info = info,
		.unit = unit,
		.reader = &reader,
		.end = dies.data + (unit->end_off < dies.size ? unit->end_off : dies.size),
	};
	return type == DW_UT_skeleton ? read_split(&walk, &reader)
				      : unit_read_scopes(&walk, &unit->die);
}

void unit_clear(struct unit *unit)
{
	vector_clear(&unit->rows);
	vector_clear(&unit->scopes);
	vector_clear(&unit->spans);
	vector_clear(&unit->named);
}
