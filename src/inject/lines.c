#include "inject/lines.h"

#include "base/status.h"

#include <string.h>

static bool is_same(struct bytes a, struct bytes b)
{
	return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

uint32_t lines_source(struct lines *lines, struct bytes file)
{
	sink_reset(&lines->path);
	file = load_source_path(file);
	for (size_t i = 0; i < file.size; i++)
		sink_u8(&lines->path, file.data[i] == ':' ? '/' : file.data[i]);
	return sink_failed(&lines->path) ? UINT32_MAX
					 : image_source(lines->image, sink_bytes(&lines->path));
}

static int source_of(struct lines *lines, const struct jitdump_debug_entry *entry,
		     struct bytes name)
{
	const struct bytes healer = entry->is_name_damaged ? name : (struct bytes){ 0 };
	const bool is_known =
	    is_same(entry->file, lines->last_file) && is_same(healer, lines->last_name);
	if (is_known && lines->last_source != UINT32_MAX)
		return 0;
	struct bytes file = entry->file;
	if (entry->is_name_damaged)
		file = jitdump_debug_repair_name(file, name);
	lines->last_file = entry->file;
	lines->last_name = healer;
	lines->last_is_nameless = !file.size;
	lines->last_source = lines_source(lines, file);
	return lines->last_source == UINT32_MAX ? STATUS_NO_MEMORY : 0;
}

int lines_put(struct lines *lines, struct jitdump_debug_walk *walk, const struct load_code *code)
{
	struct jitdump_debug_entry entry;
	int got = 0;
	while (got == 0 && jitdump_debug_entry_next(walk, &entry) > 0) {
		got = source_of(lines, &entry, code->name);
		const uint64_t offset = jitdump_debug_offset(walk, &entry);
		const struct image_line line = {
			.offset = offset,
			.file = lines->last_source,
			/* No line is better than one of an unknown file. */
			.line = lines->last_is_nameless ? 0 : entry.line,
			.column = code->runtime == RUNTIME_V8 ? entry.column : 0,
		};
		if (got == 0 && offset < code->size)
			got = image_line(lines->image, &line);
	}
	return got;
}

void lines_clear(struct lines *lines)
{
	sink_clear(&lines->path);
}
