/* elf_image.h - one ELF image in memory, read through libelf.
 *
 * libelf gives headers, symbols and relocations in host form, with its bounds
 * checks; the contents of sections are taken from the image itself, so that names
 * outlive the handle. Nothing here asks libelf for anything that could write into
 * the image.
 */
#ifndef SYMBOL_ELF_IMAGE_H
#define SYMBOL_ELF_IMAGE_H

#include "base/bytes.h"

#include <gelf.h>

struct elf_image {
	struct bytes bytes;
	Elf *elf;
	GElf_Ehdr header;
	size_t section_count;
	struct bytes section_names;
};

struct elf_section {
	Elf_Scn *scn;
	GElf_Shdr header;
	const char *name;
};

/* Returns 0, or STATUS_NOT_FORMAT or _CORRUPT. */
int elf_image_open(struct elf_image *image, struct bytes bytes);
void elf_image_close(struct elf_image *image);

/* False where there is no such section. */
bool elf_section_at(const struct elf_image *image, size_t index, struct elf_section *section);
bool elf_section_named(const struct elf_image *image, const char *name,
		       struct elf_section *section);
bool elf_section_typed(const struct elf_image *image, uint32_t type, struct elf_section *section);

/* What the file holds of the section; empty for .bss and where it leaves the file. */
struct bytes elf_section_bytes(const struct elf_image *image, const struct elf_section *section);

/* The string table in section `index`, cut so that every name in it ends inside it. */
struct bytes elf_strings(const struct elf_image *image, size_t index);

/* The name at an offset of such a table; "" outside of it. Not elf_strptr(): that looks for
 * the end of the table on each call, which a hostile table can make long.
 */
const char *elf_string_at(struct bytes strings, uint64_t offset);

/* The descriptor of the build id note, or empty. */
struct bytes elf_image_build_id(const struct elf_image *image);

#endif
