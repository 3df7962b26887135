#include "symbol/single_file.h"

#include "base/path.h"
#include "base/search.h"
#include "base/status.h"
#include "base/vector.h"
#include "clr/build_id.h"
#include "symbol/assembly.h"

#include <stdlib.h>

/* No linker puts anything there. */
static const uint64_t BASE_SVMA = UINT64_C(1) << 62;

enum {
	TYPE_ASSEMBLY = 1,
	ENTRY_MIN = 8 + 8 + 1 + 1, /* of the oldest version */
	WITH_SETTINGS = 2,         /* the version that has them in its header */
	WITH_COMPRESSION = 6,
	SETTINGS_SIZE = 5 * 8,
};

struct entry {
	struct bytes name;
	uint64_t off;
	uint64_t size;
	struct assembly *assembly; /* NULL: none, or nobody asked for it yet */
	char *text;                /* its file's name; the assembly's */
	bool was_opened;
};

struct single_file {
	struct bytes file;
	VECTOR(struct entry) entries; /* assemblies, by off */
};

static bool is_behind_segments(const struct elf_image *image)
{
	size_t count = 0;
	const uint64_t headers_end =
	    image->header.e_shoff + (uint64_t)image->section_count * image->header.e_shentsize;
	if (elf_getphdrnum(image->elf, &count) != 0 || headers_end >= image->bytes.size)
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;
		if (gelf_getphdr(image->elf, (int)i, &segment) && segment.p_type == PT_LOAD &&
		    (segment.p_offset >= image->bytes.size ||
		     segment.p_filesz >= image->bytes.size - segment.p_offset))
			return false;
	}
	return true;
}

/* The offset in front of the host's signature; 0 where there is none, or it was never set. */
static uint64_t header_of_segment(const struct elf_image *image, const GElf_Phdr *segment)
{
	const uint8_t *data = image->bytes.data + segment->p_offset;
	const uint8_t *at =
	    memmem(data, segment->p_filesz, CLR_BUNDLE_SIGNATURE, sizeof(CLR_BUNDLE_SIGNATURE));
	uint64_t header_off = 0;
	if (at && at - data >= (ptrdiff_t)sizeof(header_off))
		memcpy(&header_off, at - sizeof(header_off), sizeof(header_off));
	return header_off;
}

/* Looked for in data alone, and only where something is behind all that is the program. */
static uint64_t find_header(const struct elf_image *image)
{
	size_t count = 0;
	if (!is_behind_segments(image) || elf_getphdrnum(image->elf, &count) != 0)
		return 0;
	uint64_t header_off = 0;
	for (size_t i = 0; i < count && !header_off; i++) {
		GElf_Phdr segment;
		if (gelf_getphdr(image->elf, (int)i, &segment) && segment.p_type == PT_LOAD &&
		    (segment.p_flags & PF_W))
			header_off = header_of_segment(image, &segment);
	}
	return header_off;
}

bool single_file_is_like(const struct elf_image *image)
{
	return find_header(image) != 0;
}

/* A length of seven bits a byte, then the text. */
static struct bytes take_text(struct cursor *c)
{
	const uint64_t size = cursor_uleb(c);
	if (size > cursor_left(c))
		cursor_fail(c);
	return cursor_take(c, cursor_failed(c) ? 0 : (size_t)size);
}

static bool take_entry(struct single_file *single, struct cursor *c, uint32_t version)
{
	struct entry entry = { .off = cursor_u64(c), .size = cursor_u64(c) };
	const uint64_t packed_size = version >= WITH_COMPRESSION ? cursor_u64(c) : 0;
	const uint8_t type = cursor_u8(c);
	entry.name = take_text(c);
	if (cursor_failed(c) || type != TYPE_ASSEMBLY || packed_size ||
	    entry.off >= single->file.size || entry.size > single->file.size - entry.off)
		return true;
	struct entry *slot = vector_push(&single->entries);
	if (slot)
		*slot = entry;
	return slot != NULL;
}

static bool take_entries(struct single_file *single, uint64_t header_off)
{
	struct cursor c = cursor_over(single->file);
	(void)cursor_take(&c, header_off);
	const uint32_t version = cursor_u32(&c);
	(void)cursor_u32(&c); /* minor */
	const uint32_t count = cursor_u32(&c);
	(void)take_text(&c); /* the bundle's id */
	if (version >= WITH_SETTINGS)
		(void)cursor_take(&c, SETTINGS_SIZE);
	if (cursor_failed(&c) || !version || !cursor_can_hold(&c, count, ENTRY_MIN))
		return true;
	for (uint32_t i = 0; i < count && !cursor_failed(&c); i++)
		if (!take_entry(single, &c, version))
			return false;
	return true;
}

static int by_off(const void *left, const void *right)
{
	const struct entry *a = left;
	const struct entry *b = right;
	return a->off < b->off ? -1 : a->off > b->off;
}

int single_file_open(struct single_file **result, const struct elf_image *image)
{
	*result = NULL;
	const uint64_t header_off = find_header(image);
	if (!header_off || header_off >= image->bytes.size)
		return STATUS_OK;
	struct single_file *single = calloc(1, sizeof(*single));
	if (!single)
		return STATUS_NO_MEMORY;
	single->file = image->bytes;
	if (!take_entries(single, header_off)) {
		single_file_close(single);
		return STATUS_NO_MEMORY;
	}
	if (!single->entries.count) {
		single_file_close(single);
		return STATUS_OK;
	}
	qsort(single->entries.items, single->entries.count, sizeof(struct entry), by_off);
	*result = single;
	return STATUS_OK;
}

void single_file_close(struct single_file *single)
{
	if (!single)
		return;
	for (size_t i = 0; i < single->entries.count; i++) {
		assembly_close(single->entries.items[i].assembly);
		free(single->entries.items[i].text);
	}
	vector_clear(&single->entries);
	free(single);
}

static struct bytes bytes_of(const struct single_file *single, const struct entry *entry)
{
	return (struct bytes){ single->file.data + entry->off, (size_t)entry->size };
}

/* What a composite image asks for is in the same bundle. */
static bool open_entry(void *context, const char *path, struct bytes *bytes)
{
	const struct single_file *single = context;
	const size_t size = strlen(path);
	for (size_t i = 0; i < single->entries.count; i++) {
		const struct entry *entry = &single->entries.items[i];
		if (entry->name.size != size || memcmp(entry->name.data, path, size) != 0)
			continue;
		*bytes = bytes_of(single, entry);
		return true;
	}
	return false;
}

static void close_entry(void *context, struct bytes bytes)
{
	(void)context;
	(void)bytes;
}

static struct assembly *open_assembly(struct single_file *single, struct entry *entry)
{
	if (entry->was_opened)
		return entry->assembly;
	entry->was_opened = true;
	const struct symbol_files files = { .context = single,
					    .open = open_entry,
					    .close = close_entry };
	entry->text = strndup((const char *)entry->name.data, entry->name.size);
	if (!entry->text ||
	    assembly_open(&entry->assembly, &files, entry->text, bytes_of(single, entry)) < 0)
		entry->assembly = NULL;
	return entry->assembly;
}

/* The assembly that a byte of the file is in, or NULL. */
static struct entry *entry_at(struct single_file *single, uint64_t file_off)
{
	size_t count;
	SEARCH(count, single->entries.count, i, single->entries.items[i].off <= file_off);
	struct entry *entry = count ? &single->entries.items[count - 1] : NULL;
	return entry && file_off - entry->off < entry->size && open_assembly(single, entry) ? entry
											    : NULL;
}

bool single_file_to_svma(struct single_file *single, uint64_t file_off, uint64_t *svma)
{
	if (!entry_at(single, file_off))
		return false;
	*svma = BASE_SVMA + file_off;
	return true;
}

/* And the place inside of it. */
static struct entry *entry_of(struct single_file *single, uint64_t svma, uint64_t *rva)
{
	struct entry *entry = svma >= BASE_SVMA ? entry_at(single, svma - BASE_SVMA) : NULL;
	return entry && assembly_file_to_svma(entry->assembly, svma - BASE_SVMA - entry->off, rva)
		   ? entry
		   : NULL;
}

struct bytes single_file_code(struct single_file *single, uint64_t svma, uint64_t size)
{
	uint64_t rva;
	struct entry *entry = entry_of(single, svma, &rva);
	return entry ? assembly_code(entry->assembly, rva, size) : (struct bytes){ 0 };
}

bool single_file_find(struct single_file *single, uint64_t svma, struct symbol *symbol)
{
	uint64_t rva;
	struct entry *entry = entry_of(single, svma, &rva);
	if (!entry || !assembly_find(entry->assembly, rva, symbol))
		return false;
	/* A method lies in one section: its places in the file and in memory differ by one number.
	 */
	symbol->start_svma = svma - (rva - symbol->start_svma);
	if (!symbol->assembly)
		symbol->assembly = path_name(entry->text);
	return true;
}
