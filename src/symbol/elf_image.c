#include "symbol/elf_image.h"

#include "base/status.h"
#include "symbol/symbol.h"

int elf_image_open(struct elf_image *image, struct bytes bytes)
{
	*image = (struct elf_image){ .bytes = bytes };
	if (bytes.size < EI_NIDENT || memcmp(bytes.data, ELFMAG, SELFMAG) != 0)
		return STATUS_NOT_FORMAT;
	elf_version(EV_CURRENT);
	/* libelf wants a writable pointer, but writes only in elf_update(). */
	image->elf = elf_memory((char *)(uintptr_t)bytes.data, bytes.size);
	if (!image->elf || elf_kind(image->elf) != ELF_K_ELF ||
	    !gelf_getehdr(image->elf, &image->header)) {
		elf_image_close(image);
		return STATUS_CORRUPT;
	}
	if (elf_getshdrnum(image->elf, &image->section_count) != 0)
		image->section_count = 0;
	size_t names_index;
	if (elf_getshdrstrndx(image->elf, &names_index) == 0)
		image->section_names = elf_strings(image, names_index);
	return STATUS_OK;
}

void elf_image_close(struct elf_image *image)
{
	if (image->elf)
		elf_end(image->elf);
	image->elf = NULL;
}

bool elf_section_at(const struct elf_image *image, size_t index, struct elf_section *section)
{
	section->scn = elf_getscn(image->elf, index);
	if (!section->scn || !gelf_getshdr(section->scn, &section->header))
		return false;
	section->name = elf_string_at(image->section_names, section->header.sh_name);
	return true;
}

bool elf_section_named(const struct elf_image *image, const char *name, struct elf_section *section)
{
	for (size_t i = 1; i < image->section_count; i++)
		if (elf_section_at(image, i, section) && strcmp(section->name, name) == 0)
			return true;
	return false;
}

bool elf_section_typed(const struct elf_image *image, uint32_t type, struct elf_section *section)
{
	for (size_t i = 1; i < image->section_count; i++)
		if (elf_section_at(image, i, section) && section->header.sh_type == type)
			return true;
	return false;
}

static struct bytes slice(struct bytes bytes, uint64_t offset, uint64_t size)
{
	if (offset > bytes.size || size > bytes.size - offset)
		return (struct bytes){ .data = bytes.data, .size = 0 };
	return (struct bytes){ .data = bytes.data + offset, .size = (size_t)size };
}

struct bytes elf_section_bytes(const struct elf_image *image, const struct elf_section *section)
{
	if (section->header.sh_type == SHT_NOBITS)
		return slice(image->bytes, 0, 0);
	return slice(image->bytes, section->header.sh_offset, section->header.sh_size);
}

struct bytes elf_strings(const struct elf_image *image, size_t index)
{
	struct elf_section section;
	struct bytes strings = { 0 };
	if (index != SHN_UNDEF && elf_section_at(image, index, &section))
		strings = elf_section_bytes(image, &section);
	const uint8_t *last = strings.size ? memrchr(strings.data, '\0', strings.size) : NULL;
	strings.size = last ? (size_t)(last - strings.data) + 1 : 0;
	return strings;
}

const char *elf_string_at(struct bytes strings, uint64_t offset)
{
	return offset < strings.size ? (const char *)strings.data + offset : "";
}

/* The build id among the notes (gabi, "Note Section"): three words, then name and
 * descriptor, each filled up to the alignment.
 */
static struct bytes build_id_in(const struct elf_image *image, struct bytes notes, uint64_t align)
{
	const uint64_t mask = align == 8 ? 7 : 3;
	const bool is_big = image->header.e_ident[EI_DATA] == ELFDATA2MSB;
	struct cursor c = cursor_over(notes);
	c.swap = is_big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	while (cursor_left(&c)) {
		const uint64_t name_size = cursor_u32(&c);
		const uint64_t size = cursor_u32(&c);
		const uint32_t type = cursor_u32(&c);
		const struct bytes name = cursor_take(&c, name_size);
		cursor_take(&c, -(12 + name_size) & mask);
		const struct bytes descriptor = cursor_take(&c, size);
		if (cursor_failed(&c))
			break;
		if (type == NT_GNU_BUILD_ID && name.size == 4 && size > 0 &&
		    memcmp(name.data, "GNU", 4) == 0)
			return descriptor;
		const uint64_t padding = -size & mask;
		cursor_take(&c, padding < cursor_left(&c) ? padding : cursor_left(&c));
	}
	return slice(image->bytes, 0, 0);
}

struct bytes elf_image_build_id(const struct elf_image *image)
{
	/* No object has more; hostile ones could make us read the same notes over and over. */
	int left = 64;
	struct bytes found = slice(image->bytes, 0, 0);
	for (size_t i = 1; i < image->section_count && !found.size && left; i++) {
		struct elf_section section;
		if (elf_section_at(image, i, &section) && section.header.sh_type == SHT_NOTE &&
		    left--)
			found = build_id_in(image, elf_section_bytes(image, &section),
					    section.header.sh_addralign);
	}
	size_t count = 0;
	if (elf_getphdrnum(image->elf, &count) != 0)
		return found;
	left = 64;
	for (size_t i = 0; i < count && !found.size && left; i++) {
		GElf_Phdr segment;
		if (gelf_getphdr(image->elf, (int)i, &segment) && segment.p_type == PT_NOTE &&
		    left--)
			found = build_id_in(image,
					    slice(image->bytes, segment.p_offset, segment.p_filesz),
					    segment.p_align);
	}
	return found;
}

struct bytes symbol_build_id(struct bytes bytes)
{
	struct elf_image image;
	if (elf_image_open(&image, bytes) < 0)
		return (struct bytes){ .data = bytes.data, .size = 0 };
	const struct bytes found = elf_image_build_id(&image);
	elf_image_close(&image);
	return found;
}
