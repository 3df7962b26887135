#include "symbol/debug_file.h"

#include "base/sink.h"
#include "base/status.h"

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

/* One candidate, which is open. What is of no use is closed again. */
static int try_bytes(const struct debug_file_search *search, const struct debug_link *link,
		     const char *path, struct bytes bytes)
{
	struct elf_image debug;
	int got = 0;
	if (elf_image_open(&debug, bytes) == STATUS_OK) {
		if (is_of(&debug, search->image, link))
			got = search->use(search->context, &debug, path);
		elf_image_close(&debug);
	}
	if (got <= 0)
		search->files->close(search->files->context, bytes);
	return got;
}

static int try_file(const struct debug_file_search *search, const struct debug_link *link,
		    struct sink *candidate, struct bytes *bytes)
{
	sink_u8(candidate, '\0');
	const char *path = (const char *)candidate->data;
	if (sink_failed(candidate) || !search->files->open(search->files->context, path, bytes))
		return 0;
	return try_bytes(search, link, path, *bytes);
}

bool debug_file_path(struct bytes id, struct sink *path)
{
	if (id.size < 2 || id.size > 64)
		return false;
	sink_printf(path, "%s/.build-id/%02x/", DEBUG_ROOT, id.data[0]);
	for (size_t i = 1; i < id.size; i++)
		sink_printf(path, "%02x", id.data[i]);
	sink_text(path, ".debug");
	return true;
}

static int by_build_id(const struct debug_file_search *search, struct sink *candidate,
		       struct bytes *bytes)
{
	sink_reset(candidate);
	if (!debug_file_path(elf_image_build_id(search->image), candidate))
		return 0;
	return try_file(search, NULL, candidate, bytes);
}

static int by_link(const struct debug_file_search *search, struct sink *candidate,
		   struct bytes *bytes)
{
	struct debug_link link;
	const char *object = search->path;
	const char *slash = strrchr(object, '/');
	const int folder = slash ? (int)(slash - object) : 1;
	const char *start = slash ? object : ".";
	if (!read_debug_link(search->image, &link) || folder > 4096)
		return 0;
	int got = 0;
	for (int place = 0; place < 3 && got == 0; place++) {
		sink_reset(candidate);
		sink_printf(candidate, "%s%.*s%s/%s", place == 2 ? DEBUG_ROOT : "", folder, start,
			    place == 1 ? "/.debug" : "", link.name);
		/* An object can name itself. */
		if (candidate->size == strlen(object) &&
		    memcmp(candidate->data, object, candidate->size) == 0)
			continue;
		got = try_file(search, &link, candidate, bytes);
	}
	return got;
}

static int by_fetching(const struct debug_file_search *search, struct bytes *bytes)
{
	const struct symbol_files *files = search->files;
	const struct bytes id = elf_image_build_id(search->image);
	if (!files->fetch_debug || !id.size || !files->fetch_debug(files->context, id, bytes))
		return 0;
	return try_bytes(search, NULL, "", *bytes);
}

int debug_file_find(const struct debug_file_search *search, struct bytes *bytes)
{
	struct sink candidate = { .limit = MAX_PATH_BYTES };
	int got = by_build_id(search, &candidate, bytes);
	if (got == 0)
		got = by_link(search, &candidate, bytes);
	if (got == 0)
		got = by_fetching(search, bytes);
	sink_clear(&candidate);
	return got;
}
