/* What several debug files share, dwz moves into another one: .gnu_debugaltlink leads to it. */
#include "debuginfo/internal.h"

#include "base/sink.h"
#include "base/status.h"
#include "symbol/debug_file.h"

enum { MAX_PATH_BYTES = 1 << 14 };

struct alternate_link {
	const char *name;
	struct bytes build_id;
};

static bool read_link(const struct elf_image *image, struct alternate_link *link)
{
	struct elf_section section;
	if (!elf_section_named(image, ".gnu_debugaltlink", &section))
		return false;
	struct cursor c = cursor_over(elf_section_bytes(image, &section));
	link->name = cursor_cstr(&c);
	link->build_id = cursor_take(&c, cursor_left(&c));
	return true;
}

static bool take(struct debuginfo *info, const struct alternate_link *link, struct bytes bytes)
{
	struct dwarf_file *file;
	if (debuginfo_file_open(&file, &info->source, bytes) < 0)
		return false;
	const struct bytes found = symbol_build_id(bytes);
	if (found.size != link->build_id.size ||
	    memcmp(found.data, link->build_id.data, found.size) != 0) {
		debuginfo_file_close(file, &info->source);
		return false;
	}
	info->alternate = file;
	dwarf_setalt(info->object->dwarf, file->dwarf);
	return true;
}

/* A name without a slash in front is meant from where the debug file is. */
static void candidate(const struct alternate_link *link, const char *path, int place,
		      struct sink *out)
{
	const char *slash = strrchr(path, '/');
	sink_reset(out);
	if (place == 0) {
		(void)debug_file_path(link->build_id, out);
		return;
	}
	if (link->name[0] != '/')
		sink_printf(out, "%.*s/", slash ? (int)(slash - path) : 1, slash ? path : ".");
	sink_text(out, link->name);
}

int alternate_open(struct debuginfo *info, const char *path)
{
	struct alternate_link link;
	struct bytes bytes;
	if (!read_link(&info->object->image, &link))
		return STATUS_OK;
	struct sink out = { .limit = MAX_PATH_BYTES };
	const struct symbol_files *source = &info->source;
	for (int place = 0; place < 2 && !info->alternate; place++) {
		candidate(&link, path, place, &out);
		if (!out.size)
			continue;
		sink_u8(&out, '\0');
		if (!sink_failed(&out) &&
		    source->open(source->context, (const char *)out.data, &bytes))
			(void)take(info, &link, bytes);
	}
	sink_clear(&out);
	if (!info->alternate && source->fetch_debug && link.build_id.size &&
	    source->fetch_debug(source->context, link.build_id, &bytes))
		(void)take(info, &link, bytes);
	/* libdw would look for it itself, wherever the name says. */
	return info->alternate ? STATUS_OK : STATUS_NOT_FOUND;
}
