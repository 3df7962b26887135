#include "base/sink.h"
#include "base/status.h"
#include "symbol/elf_symbols.h"

#include <lzma.h>

enum { MAX_PATH_BYTES = 1 << 14 };

static const char DEBUG_ROOT[] = "/usr/lib/debug";

/* What .gnu_debuglink says: a file name, filled up to four bytes, and a CRC-32. */
struct debug_link {
	const char *name;
	uint32_t crc;
};

static bool read_debug_link(const struct elf_image *image, struct debug_link *link)
{
	struct elf_section section;
	if (!elf_section_named(image, ".gnu_debuglink", &section))
		return false;
	const struct bytes bytes = elf_section_bytes(image, &section);
	struct cursor c = cursor_over(bytes);
	c.swap = (image->header.e_ident[EI_DATA] == ELFDATA2MSB) !=
		 (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	link->name = cursor_cstr(&c);
	cursor_take(&c, -(strlen(link->name) + 1) & 3);
	link->crc = cursor_u32(&c);
	/* A path here would let an object choose any file of the machine. */
	return !cursor_failed(&c) && *link->name && !strchr(link->name, '/') &&
	       strcmp(link->name, "..") != 0;
}

/* True if the opened file is the debug file of the image: by build id where both
 * have one, else by the CRC of the whole file.
 */
static bool is_of(const struct elf_image *debug, const struct elf_image *image,
		  const struct debug_link *link)
{
	const struct bytes wanted = elf_image_build_id(image);
	const struct bytes found = elf_image_build_id(debug);
	if (debug->header.e_machine != image->header.e_machine)
		return false;
	if (wanted.size && found.size)
		return wanted.size == found.size &&
		       memcmp(wanted.data, found.data, found.size) == 0;
	return link && lzma_crc32(debug->bytes.data, debug->bytes.size, 0) == link->crc;
}

/* One candidate. Returns how many symbols were added; 0 leaves nothing open. */
static int try_file(struct symbol_table *table, const struct elf_image *image,
		    const struct debug_link *link, struct sink *path)
{
	struct bytes bytes;
	sink_u8(path, '\0');
	if (sink_failed(path) || !symbol_open(table, (const char *)path->data, &bytes))
		return 0;
	struct elf_image debug;
	int added = 0;
	if (elf_image_open(&debug, bytes) == STATUS_OK) {
		if (is_of(&debug, image, link))
			added = elf_add_symbols(table, &debug, SHT_SYMTAB);
		elf_image_close(&debug);
	}
	if (added == 0)
		symbol_close_last(table);
	return added;
}

static int by_build_id(struct symbol_table *table, const struct elf_image *image, struct sink *path)
{
	const struct bytes id = elf_image_build_id(image);
	if (id.size < 2 || id.size > 64)
		return 0;
	sink_printf(path, "%s/.build-id/%02x/", DEBUG_ROOT, id.data[0]);
	for (size_t i = 1; i < id.size; i++)
		sink_printf(path, "%02x", id.data[i]);
	sink_text(path, ".debug");
	return try_file(table, image, NULL, path);
}

static int by_link(struct symbol_table *table, const struct elf_image *image, struct sink *path,
		   const char *object)
{
	struct debug_link link;
	const char *slash = strrchr(object, '/');
	const int folder = slash ? (int)(slash - object) : 1;
	const char *start = slash ? object : ".";
	if (!read_debug_link(image, &link) || folder > 4096)
		return 0;
	int added = 0;
	for (int place = 0; place < 3 && added == 0; place++) {
		sink_reset(path);
		sink_printf(path, "%s%.*s%s/%s", place == 2 ? DEBUG_ROOT : "", folder, start,
			    place == 1 ? "/.debug" : "", link.name);
		/* An object can name itself. */
		if (path->size == strlen(object) && memcmp(path->data, object, path->size) == 0)
			continue;
		added = try_file(table, image, &link, path);
	}
	return added;
}

int elf_add_debug_file(struct symbol_table *table, const struct elf_image *image, const char *path)
{
	struct sink candidate = { .limit = MAX_PATH_BYTES };
	int added = by_build_id(table, image, &candidate);
	if (added == 0)
		added = by_link(table, image, &candidate, path);
	sink_clear(&candidate);
	return added;
}
