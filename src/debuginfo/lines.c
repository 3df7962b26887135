#include "debuginfo/internal.h"

const char *unit_path(struct debuginfo *info, struct unit *unit, const char *file)
{
	const size_t size = strlen(unit->folder);
	if (!file)
		return "";
	if (file[0] == '/' || !size ||
	    (strncmp(file, unit->folder, size) == 0 && file[size] == '/'))
		return file;
	struct sink path = { 0 };
	sink_text(&path, unit->folder);
	sink_text(&path, "/");
	sink_text(&path, file);
	const uint32_t id =
	    sink_failed(&path) ? INTERN_NONE : intern_bytes(&info->paths, sink_bytes(&path));
	sink_clear(&path);
	return id == INTERN_NONE ? file : intern_get(&info->paths, id);
}

/* libdw gives the rows of all sequences in order of their addresses, of equal ones the last one of
 * the program last, behind the end of a sequence before it.
 */
bool unit_read_lines(struct debuginfo *info, struct unit *unit)
{
	Dwarf_Lines *lines;
	size_t count;
	const char *last_file = NULL;
	const char *path = "";
	if (dwarf_getsrclines(&unit->die, &lines, &count) != 0)
		return true;
	if (!vector_reserve(&unit->rows, count))
		return false;
	for (size_t i = 0; i < count; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		Dwarf_Addr svma;
		bool is_end;
		int number = 0;
		int column = 0;
		if (!line || dwarf_lineaddr(line, &svma) != 0 ||
		    dwarf_lineendsequence(line, &is_end) != 0)
			continue;
		(void)dwarf_lineno(line, &number);
		(void)dwarf_linecol(line, &column);
		struct line_row *last =
		    unit->rows.count ? &unit->rows.items[unit->rows.count - 1] : NULL;
		struct line_row *row =
		    last && last->svma == svma ? last : &unit->rows.items[unit->rows.count++];
		*row = (struct line_row){ .svma = svma };
		if (is_end)
			continue;
		const char *file = dwarf_linesrc(line, NULL, NULL);
		/* Mostly it is that of the row before. */
		if (file != last_file)
			path = unit_path(info, unit, file);
		last_file = file;
		row->file = path;
		row->line = number > 0 ? (uint32_t)number : 0;
		row->column = column > 0 ? (uint32_t)column : 0;
	}
	return true;
}

const struct line_row *unit_row(const struct unit *unit, uint64_t svma)
{
	size_t low = 0;
	size_t high = unit->rows.count;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (unit->rows.items[middle].svma <= svma)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &unit->rows.items[low - 1] : NULL;
}
