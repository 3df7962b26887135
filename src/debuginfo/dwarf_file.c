#include "debuginfo/dwarf_file.h"

#include "base/status.h"
#include "debuginfo/unpack.h"

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

/* Objects that are not linked need their relocations; nothing of them is ever mapped. */
static bool is_unlinked(const struct elf_image *image)
{
	struct elf_section section;
	return elf_section_named(image, ".rela.debug_info", &section) ||
	       elf_section_named(image, ".rel.debug_info", &section);
}

static struct bytes section_of(const struct elf_image *image, const char *kind)
{
	for (size_t i = 1; i < image->section_count; i++) {
		struct elf_section section;
		if (!elf_section_at(image, i, &section) || !is_named(section.name, kind) ||
		    section.header.sh_type == SHT_NOBITS)
			continue;
		return elf_section_bytes(image, &section);
	}
	return (struct bytes){ (const uint8_t *)"", 0 };
}

static int begin(struct dwarf_file *file)
{
	if (!dwarf_file_has_units(&file->image))
		return STATUS_NOT_FOUND;
	if (is_unlinked(&file->image))
		return STATUS_UNSUPPORTED;
	const int got = unpack_debug_sections(&file->image, &file->unpacked);
	if (got < 0)
		return got;
	if (got > 0) {
		elf_image_close(&file->image);
		if (elf_image_open(&file->image, sink_bytes(&file->unpacked)) < 0)
			return STATUS_CORRUPT;
	}
	file->dwarf = dwarf_begin_elf(file->image.elf, DWARF_C_READ, NULL);
	if (!file->dwarf)
		return STATUS_CORRUPT;
	file->info = section_of(&file->image, "info");
	file->ranges = section_of(&file->image, "ranges");
	file->rnglists = section_of(&file->image, "rnglists");
	file->addr = section_of(&file->image, "addr");
	file->line = section_of(&file->image, "line");
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
	sink_clear(&file->unpacked);
}
