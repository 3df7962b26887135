/* Units whose DIEs lie in a file of their own (.dwo). libdw would open it wherever the skeleton
 * says; here it is asked for through the caller's files.
 */
#include "debuginfo/internal.h"

#include "base/sink.h"
#include "base/status.h"

#include <dwarf.h>

enum { MAX_PATH_BYTES = 1 << 14 };

static const char *text_attr(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	const char *text = dwarf_attr(die, name, &attr) ? dwarf_formstring(&attr) : NULL;
	return text ? text : "";
}

/* The unit of that id among those of a .dwo. */
static bool find_unit(struct dwarf_file *file, uint64_t id, Dwarf_Die *unit)
{
	Dwarf_CU *cu = NULL;
	uint8_t type;
	while (dwarf_get_units(file->dwarf, cu, &cu, NULL, &type, unit, NULL) == 0) {
		uint64_t found;
		if (type == DW_UT_split_compile &&
		    dwarf_cu_info(cu, NULL, NULL, NULL, NULL, &found, NULL, NULL) == 0 &&
		    found == id)
			return true;
	}
	return false;
}

static bool try_path(struct debuginfo *info, struct sink *path, uint64_t id, Dwarf_Die *unit,
		     struct dwarf_file **file)
{
	struct bytes bytes;
	sink_u8(path, '\0');
	if (sink_failed(path) ||
	    !info->source.open(info->source.context, (const char *)path->data, &bytes) ||
	    debuginfo_file_open(file, &info->source, bytes) < 0)
		return false;
	struct split_file *slot = find_unit(*file, id, unit) ? vector_push(&info->split) : NULL;
	if (!slot) {
		debuginfo_file_close(*file, &info->source);
		return false;
	}
	slot->file = *file;
	info->die_budget += (*file)->info.size;
	info->range_budget += (*file)->info.size + (*file)->rnglists.size;
	return true;
}

/* Where it was made, then beside the object: whole builds are moved. */
static void candidate(const struct debuginfo *info, Dwarf_Die *skeleton, const char *name,
		      int place, struct sink *path)
{
	const char *folder = text_attr(skeleton, DW_AT_comp_dir);
	const char *slash = strrchr(name, '/');
	sink_reset(path);
	if (place == 0 && name[0] != '/')
		sink_printf(path, "%s/", folder);
	if (place > 0)
		sink_printf(path, "%.*s/", (int)info->folder.size,
			    info->folder.size ? (const char *)info->folder.data : "");
	sink_text(path, place == 2 && slash ? slash + 1 : name);
}

bool split_find(struct debuginfo *info, Dwarf_Die *skeleton, Dwarf_Die *unit,
		struct dwarf_file **file)
{
	const char *name = text_attr(skeleton, DW_AT_dwo_name);
	uint64_t id;
	if (!*name)
		name = text_attr(skeleton, DW_AT_GNU_dwo_name);
	if (!*name || dwarf_cu_info(skeleton->cu, NULL, NULL, NULL, NULL, &id, NULL, NULL) != 0)
		return false;
	struct sink path = { .limit = MAX_PATH_BYTES };
	bool found = false;
	for (int place = 0; place < 3 && !found; place++) {
		if (place == 1 && name[0] == '/')
			continue;
		candidate(info, skeleton, name, place, &path);
		found = try_path(info, &path, id, unit, file);
	}
	sink_clear(&path);
	return found;
}
