#include "debuginfo/dwarf_file.h"

#include "base/status.h"

/* zlib packs at most 1032 bytes into one; zstd in practice far less than this. */
enum { MOST_A_BYTE = 2048, SMALL = 1 << 16 };
static const uint64_t MOST_UNPACKED_BYTES = (uint64_t)8 << 30;

static bool is_debug_name(const char *name)
{
	return strncmp(name, ".debug_", 7) == 0 || strncmp(name, ".zdebug_", 8) == 0;
}

/* ".debug_info" for .debug_info.dwo and the .zdebug_ names too. */
static bool is_named(const char *name, const char *kind)
{
	const char *rest = strncmp(name, ".zdebug_", 8) == 0  ? name + 8
			   : strncmp(name, ".debug_", 7) == 0 ? name + 7
							      : "";
	const size_t size = strlen(kind);
	return strncmp(rest, kind, size) == 0 && (!rest[size] || strcmp(rest + size, ".dwo") == 0);
}

bool dwarf_file_has_units(const struct elf_image *image)
{
	for (size_t i = 1; i < image->section_count; i++) {
		struct elf_section section;
		if (elf_section_at(image, i, &section) && is_named(section.name, "info") &&
		    elf_section_bytes(image, &section).size)
			return true;
	}
	return false;
}

static bool is_split(const struct elf_image *image)
{
	struct elf_section section;
	return elf_section_named(image, ".debug_info.dwo", &section);
}

/* What a packed section says that it will take; 0 for one that is not packed. */
static uint64_t promised_bytes(const struct elf_image *image, const struct elf_section *section)
{
	struct cursor c = cursor_over(elf_section_bytes(image, section));
	GElf_Chdr header;
	if (section->header.sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(section->scn, &header) ? header.ch_size : 0;
	if (strncmp(section->name, ".zdebug_", 8) != 0)
		return 0;
	const struct bytes magic = cursor_take(&c, 4);
	c.swap = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	const uint64_t size = cursor_u64(&c);
	return !cursor_failed(&c) && memcmp(magic.data, "ZLIB", 4) == 0 ? size : 0;
}

/* libdw allocates what is promised before it unpacks. */
static int check_sizes(const struct elf_image *image)
{
	uint64_t total = 0;
	for (size_t i = 1; i < image->section_count; i++) {
		struct elf_section section;
		if (!elf_section_at(image, i, &section) || !is_debug_name(section.name))
			continue;
		const uint64_t packed = elf_section_bytes(image, &section).size;
		const uint64_t promised = promised_bytes(image, &section);
		if (promised > MOST_UNPACKED_BYTES || promised > packed * MOST_A_BYTE + SMALL)
			return STATUS_TOO_BIG;
		total += promised;
	}
	return total > MOST_UNPACKED_BYTES ? STATUS_TOO_BIG : STATUS_OK;
}

/* As libdw has it: after it unpacked the section. */
static struct bytes unpacked(const struct elf_image *image, const char *kind)
{
	for (size_t i = 1; i < image->section_count; i++) {
		struct elf_section section;
		if (!elf_section_at(image, i, &section) || !is_named(section.name, kind) ||
		    section.header.sh_type == SHT_NOBITS)
			continue;
		const Elf_Data *data = elf_rawdata(section.scn, NULL);
		if (data && data->d_buf && data->d_size)
			return (struct bytes){ data->d_buf, data->d_size };
	}
	return (struct bytes){ (const uint8_t *)"", 0 };
}

static int begin(struct dwarf_file *file)
{
	if (!dwarf_file_has_units(&file->image))
		return STATUS_NOT_FOUND;
	/* Objects that are not linked need their relocations; nothing of them is ever mapped. */
	if (file->image.header.e_type == ET_REL && !is_split(&file->image))
		return STATUS_UNSUPPORTED;
	const int got = check_sizes(&file->image);
	if (got < 0)
		return got;
	file->dwarf = dwarf_begin_elf(file->image.elf, DWARF_C_READ, NULL);
	if (!file->dwarf)
		return STATUS_CORRUPT;
	file->info = unpacked(&file->image, "info");
	file->ranges = unpacked(&file->image, "ranges");
	file->rnglists = unpacked(&file->image, "rnglists");
	file->addr = unpacked(&file->image, "addr");
	file->has_own_lines = unpacked(&file->image, "line").size != 0;
	file->swap = (file->image.header.e_ident[EI_DATA] == ELFDATA2MSB) !=
		     (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	return STATUS_OK;
}

int dwarf_file_open(struct dwarf_file *file, struct bytes bytes)
{
	*file = (struct dwarf_file){ .bytes = bytes };
	int got = elf_image_open(&file->image, bytes);
	if (got == STATUS_OK)
		got = begin(file);
	if (got < 0)
		dwarf_file_close(file);
	return got;
}

void dwarf_file_close(struct dwarf_file *file)
{
	if (file->dwarf)
		dwarf_end(file->dwarf);
	file->dwarf = NULL;
	elf_image_close(&file->image);
}
