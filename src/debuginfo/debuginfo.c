#include "debuginfo/debuginfo.h"

#include "base/status.h"
#include "debuginfo/internal.h"
#include "symbol/debug_file.h"

#include <stdlib.h>

int debuginfo_file_open(struct dwarf_file **result, const struct symbol_files *source,
			struct bytes bytes)
{
	struct dwarf_file *file = calloc(1, sizeof(*file));
	int got = file ? dwarf_file_open(file, bytes) : STATUS_NO_MEMORY;
	if (got < 0) {
		free(file);
		source->close(source->context, bytes);
		return got;
	}
	*result = file;
	return STATUS_OK;
}

void debuginfo_file_close(struct dwarf_file *file, const struct symbol_files *source)
{
	if (!file)
		return;
	const struct bytes bytes = file->bytes;
	dwarf_file_close(file);
	free(file);
	source->close(source->context, bytes);
}

/* Code is where the sections of the object say; what lies elsewhere the linker threw away. */
static bool find_code(struct debuginfo *info, const struct elf_image *image)
{
	struct span_table ranges = { 0 };
	for (size_t i = 1; i < image->section_count; i++) {
		struct elf_section section;
		if (!elf_section_at(image, i, &section) ||
		    !(section.header.sh_flags & SHF_EXECINSTR) || !section.header.sh_size)
			continue;
		struct span *range = vector_push(&ranges);
		if (!range) {
			vector_clear(&ranges);
			return false;
		}
		range->start_svma = section.header.sh_addr;
		if (__builtin_add_overflow(range->start_svma, section.header.sh_size,
					   &range->end_svma))
			range->end_svma = UINT64_MAX;
	}
	return span_seal(&ranges, &info->code);
}

struct found {
	struct sink path; /* of the file with the DWARF */
};

static int has_units(void *context, const struct elf_image *debug, const char *path)
{
	struct found *found = context;
	if (!dwarf_file_has_units(debug))
		return 0;
	sink_reset(&found->path);
	sink_text(&found->path, path);
	return 1;
}

/* The bytes with the DWARF: the object's own, or those of its debug file. Those of the object are
 * closed where they are not the ones.
 */
static int choose_file(struct debuginfo *info, const struct elf_image *image, const char *path,
		       struct found *found, struct bytes *bytes)
{
	if (has_units(found, image, path) > 0)
		return STATUS_OK;
	const struct debug_file_search search = { &info->source, image, path, has_units, found };
	const int got = debug_file_find(&search, bytes);
	if (got > 0)
		return STATUS_OK;
	return got < 0 ? got : STATUS_NOT_FOUND;
}

static bool same(struct bytes a, struct bytes b)
{
	return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

/* Opens the file with the DWARF as info->object. `bytes` are those of the object at the path. */
static int open_object(struct debuginfo *info, const char *path, struct bytes build_id,
		       struct bytes bytes)
{
	struct found found = { .path.limit = 1 << 14 };
	struct elf_image image;
	struct bytes chosen = bytes;
	int got = elf_image_open(&image, bytes);
	if (got == STATUS_OK) {
		if (build_id.size && !same(build_id, elf_image_build_id(&image)))
			got = STATUS_NOT_FOUND;
		else if (!find_code(info, &image))
			got = STATUS_NO_MEMORY;
		else
			got = choose_file(info, &image, path, &found, &chosen);
		elf_image_close(&image);
	}
	if (got < 0 || chosen.data != bytes.data)
		info->source.close(info->source.context, bytes);
	if (got == STATUS_OK)
		got = debuginfo_file_open(&info->object, &info->source, chosen);
	sink_u8(&found.path, '\0');
	if (got == STATUS_OK)
		got = sink_failed(&found.path)
			  ? STATUS_NO_MEMORY
			  : alternate_open(info, (const char *)found.path.data);
	sink_clear(&found.path);
	return got;
}

static void set_limits(struct debuginfo *info, const char *path)
{
	const struct dwarf_file *file = info->object;
	const char *slash = strrchr(path, '/');
	info->die_budget = file->info.size;
	info->name_budget = (1 << 20) + 4 * file->info.size;
	info->range_budget = 4 * (file->info.size + file->ranges.size + file->rnglists.size);
	info->folder = (struct sink){ .limit = 1 << 14 };
	if (slash)
		sink_put(&info->folder, path, (size_t)(slash - path));
	else
		sink_text(&info->folder, ".");
}

int debuginfo_open(struct debuginfo **result, const struct symbol_files *files, const char *path,
		   struct bytes build_id)
{
	struct bytes bytes;
	struct debuginfo *info = calloc(1, sizeof(*info));
	if (!info)
		return STATUS_NO_MEMORY;
	info->source = *files;
	int got = STATUS_NOT_FOUND;
	if (files->open(files->context, path, &bytes))
		got = open_object(info, path, build_id, bytes);
	if (got == STATUS_OK) {
		set_limits(info, path);
		got = units_find(info);
	}
	if (got < 0) {
		debuginfo_close(info);
		return got;
	}
	*result = info;
	return STATUS_OK;
}

void debuginfo_close(struct debuginfo *info)
{
	if (!info)
		return;
	for (size_t i = 0; i < info->units.count; i++)
		unit_clear(&info->units.items[i]);
	for (size_t i = 0; i < info->split.count; i++)
		debuginfo_file_close(info->split.items[i].file, &info->source);
	debuginfo_file_close(info->object, &info->source);
	debuginfo_file_close(info->alternate, &info->source);
	vector_clear(&info->units);
	vector_clear(&info->split);
	vector_clear(&info->code);
	vector_clear(&info->unit_spans);
	sink_clear(&info->folder);
	intern_clear(&info->paths);
	free(info);
}

static void narrow(struct debuginfo_place *place, uint64_t start_svma, uint64_t end_svma)
{
	if (place->start_svma < start_svma)
		place->start_svma = start_svma;
	if (place->end_svma > end_svma)
		place->end_svma = end_svma;
}

static bool put_line(const struct unit *unit, uint64_t svma, struct debuginfo_place *place)
{
	const struct line_row *row = unit_row(unit, svma);
	const struct line_row *rows = unit->rows.items;
	const struct line_row *next = row ? row + 1 : rows;
	if (row)
		narrow(place, row->svma, UINT64_MAX);
	if (unit->rows.count && next < rows + unit->rows.count)
		narrow(place, 0, next->svma);
	if (!row || !row->file)
		return false;
	place->file = row->file;
	place->line = row->line;
	place->column = row->column;
	return true;
}

static bool put_scopes(struct debuginfo *info, struct unit *unit, uint64_t svma,
		       struct debuginfo_place *place)
{
	const struct span *span = span_find(&unit->spans, svma);
	uint64_t start_svma;
	uint64_t end_svma;
	if (!span) {
		span_gap(&unit->spans, svma, &start_svma, &end_svma);
		narrow(place, start_svma, end_svma);
		return false;
	}
	narrow(place, span->start_svma, span->end_svma);
	uint32_t chain[DEBUGINFO_SCOPES];
	uint32_t count = 0;
	uint32_t index = span->value;
	for (; unit->scopes.items[index].is_inlined; index = unit->scopes.items[index].parent) {
		/* The innermost ones are dropped where there are too many. */
		chain[count++ % DEBUGINFO_SCOPES] = index;
		if (unit->scopes.items[index].parent == SCOPE_NONE)
			break;
	}
	place->scope_count = count < DEBUGINFO_SCOPES ? count : DEBUGINFO_SCOPES;
	for (uint32_t i = 0; i < place->scope_count; i++)
		place->scopes[i] =
		    *unit_scope(info, unit, chain[(count - 1 - i) % DEBUGINFO_SCOPES]);
	return true;
}

bool debuginfo_find(struct debuginfo *info, uint64_t svma, struct debuginfo_place *place)
{
	const struct span *span = span_find(&info->unit_spans, svma);
	if (!span || info->has_failed)
		return false;
	struct unit *unit = &info->units.items[UINT32_MAX - span->value];
	if (!unit->was_read && !unit_read(info, unit)) {
		info->has_failed = true;
		return false;
	}
	place->file = "";
	place->line = place->column = place->scope_count = 0;
	place->start_svma = span->start_svma;
	place->end_svma = span->end_svma;
	const bool has_line = put_line(unit, svma, place);
	return put_scopes(info, unit, svma, place) || has_line;
}
