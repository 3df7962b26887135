/* Not left to libdw: libelf unpacks a section of an image in memory by writing its new size into
 * the image, which is mapped to be read, and libelf 0.188 knows zlib alone.
 */
#include "debuginfo/unpack.h"

#include "base/status.h"
#include "base/vector.h"

#include <zlib.h>
#include <zstd.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/* zlib packs at most 1032 bytes into one; what zstd packs more tightly is no debug information. */
enum { MOST_A_BYTE = 1100, SMALL = 1 << 16, GNU_HEADER_SIZE = 12 };
static const uint64_t MOST_UNPACKED_BYTES = (uint64_t)8 << 30;

/* A section that is to be in the new image. */
struct part {
	const char *name;
	struct bytes bytes; /* as they are in the file, without a header of packing */
	bool is_packed;
	uint32_t packing; /* ELFCOMPRESS_* */
	uint64_t size;    /* unpacked */
};

struct parts {
	struct part *items;
	size_t count;
	size_t capacity;
};

bool unpack_is_debug(const char *name)
{
	return strncmp(name, ".debug_", 7) == 0 || strncmp(name, ".zdebug_", 8) == 0;
}

/* .zdebug_: "ZLIB", then the size, always in big-endian order. */
static bool read_gnu_header(struct part *part)
{
	struct cursor c = cursor_over(part->bytes);
	const struct bytes magic = cursor_take(&c, 4);
	c.swap = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	part->size = cursor_u64(&c);
	if (cursor_failed(&c) || memcmp(magic.data, "ZLIB", 4) != 0)
		return false;
	part->is_packed = true;
	part->packing = ELFCOMPRESS_ZLIB;
	part->bytes = cursor_take(&c, cursor_left(&c));
	return true;
}

static bool read_header(struct part *part, const struct elf_image *image,
			const struct elf_section *section)
{
	GElf_Chdr header;
	const size_t size =
	    image->header.e_ident[EI_CLASS] == ELFCLASS64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
	if (part->bytes.size < size || !gelf_getchdr(section->scn, &header))
		return false;
	part->is_packed = true;
	part->packing = header.ch_type;
	part->size = header.ch_size;
	part->bytes = (struct bytes){ part->bytes.data + size, part->bytes.size - size };
	return true;
}

static int read_part(struct part *part, const struct elf_image *image,
		     const struct elf_section *section)
{
	*part = (struct part){ .name = section->name, .bytes = elf_section_bytes(image, section) };
	part->size = part->bytes.size;
	bool is_whole = true;
	if (section->header.sh_flags & SHF_COMPRESSED)
		is_whole = read_header(part, image, section);
	else if (strncmp(section->name, ".zdebug_", 8) == 0)
		is_whole = read_gnu_header(part);
	if (!is_whole)
		return STATUS_CORRUPT;
	if (part->is_packed && part->size > part->bytes.size * MOST_A_BYTE + SMALL)
		return STATUS_TOO_BIG;
	return STATUS_OK;
}

/* Returns how many of them are packed, or a negative status. */
static int read_parts(struct parts *parts, const struct elf_image *image)
{
	uint64_t total = 0;
	int packed = 0;
	for (size_t i = 1; i < image->section_count; i++) {
		struct elf_section section;
		if (!elf_section_at(image, i, &section) || !unpack_is_debug(section.name))
			continue;
		struct part *part = vector_push(parts);
		const int got = part ? read_part(part, image, &section) : STATUS_NO_MEMORY;
		if (got < 0)
			return got;
		packed += part->is_packed;
		total += part->is_packed ? part->size : 0;
		if (total > MOST_UNPACKED_BYTES)
			return STATUS_TOO_BIG;
	}
	return packed;
}

static int unpack(const struct part *part, struct sink *out)
{
	uint8_t *room = sink_reserve(out, (size_t)part->size);
	if (!room)
		return STATUS_NO_MEMORY;
	const struct bytes in = part->bytes;
	uLongf size = (uLongf)part->size;
	if (!part->is_packed) {
		memcpy(room, in.data, in.size);
		return STATUS_OK;
	}
	switch (part->packing) {
	case ELFCOMPRESS_ZLIB:
		return uncompress(room, &size, in.data, in.size) == Z_OK && size == part->size
			   ? STATUS_OK
			   : STATUS_CORRUPT;
	case ELFCOMPRESS_ZSTD:
		return ZSTD_decompress(room, (size_t)part->size, in.data, in.size) == part->size
			   ? STATUS_OK
			   : STATUS_CORRUPT;
	default:
		return STATUS_UNSUPPORTED;
	}
}

/* In the byte order and of the class of the image. */
static void put_header(struct sink *out, const struct elf_image *image, const GElf_Shdr *header)
{
	const unsigned order = image->header.e_ident[EI_DATA];
	if (image->header.e_ident[EI_CLASS] == ELFCLASS64) {
		Elf64_Shdr plain = *header;
		Elf_Data from = { .d_buf = &plain,
				  .d_type = ELF_T_SHDR,
				  .d_size = sizeof(plain),
				  .d_version = EV_CURRENT };
		(void)elf64_xlatetof(&from, &from, order);
		sink_put(out, &plain, sizeof(plain));
		return;
	}
	Elf32_Shdr plain = { .sh_name = header->sh_name,
			     .sh_type = header->sh_type,
			     .sh_offset = (Elf32_Off)header->sh_offset,
			     .sh_size = (Elf32_Word)header->sh_size,
			     .sh_addralign = (Elf32_Word)header->sh_addralign };
	Elf_Data from = { .d_buf = &plain,
			  .d_type = ELF_T_SHDR,
			  .d_size = sizeof(plain),
			  .d_version = EV_CURRENT };
	(void)elf32_xlatetof(&from, &from, order);
	sink_put(out, &plain, sizeof(plain));
}

/* The head of the file, now that it is known where the section headers are. */
static void patch_head(struct sink *out, const struct elf_image *image, size_t headers_off,
		       size_t count)
{
	const unsigned order = image->header.e_ident[EI_DATA];
	GElf_Ehdr head = image->header;
	head.e_phoff = head.e_phnum = 0;
	head.e_shoff = headers_off;
	head.e_shnum = (GElf_Half)count;
	head.e_shstrndx = (GElf_Half)(count - 1);
	if (sink_failed(out))
		return;
	if (head.e_ident[EI_CLASS] == ELFCLASS64) {
		Elf_Data from = { .d_buf = &head,
				  .d_type = ELF_T_EHDR,
				  .d_size = sizeof(head),
				  .d_version = EV_CURRENT };
		(void)elf64_xlatetof(&from, &from, order);
		memcpy(out->data, &head, sizeof(head));
		return;
	}
	Elf32_Ehdr small = { .e_type = head.e_type,
			     .e_machine = head.e_machine,
			     .e_version = head.e_version,
			     .e_shoff = (Elf32_Off)head.e_shoff,
			     .e_ehsize = sizeof(Elf32_Ehdr),
			     .e_shentsize = sizeof(Elf32_Shdr),
			     .e_shnum = head.e_shnum,
			     .e_shstrndx = head.e_shstrndx };
	memcpy(small.e_ident, head.e_ident, EI_NIDENT);
	Elf_Data from = { .d_buf = &small,
			  .d_type = ELF_T_EHDR,
			  .d_size = sizeof(small),
			  .d_version = EV_CURRENT };
	(void)elf32_xlatetof(&from, &from, order);
	memcpy(out->data, &small, sizeof(small));
}

static void align(struct sink *out)
{
	sink_zeros(out, -out->size & 7);
}

/* ".debug_info", whatever the section was called. */
static void put_name(struct sink *names, const char *name)
{
	sink_text(names, ".");
	sink_cstr(names, name + (name[1] == 'z' ? 2 : 1));
}

static int build(const struct parts *parts, const struct elf_image *image, struct sink *out)
{
	struct sink names = { 0 };
	struct sink headers = { 0 };
	GElf_Shdr header = { .sh_type = SHT_NULL };
	int got = STATUS_OK;
	put_header(&headers, image, &header);
	sink_cstr(&names, "");
	sink_zeros(out, sizeof(Elf64_Ehdr));
	header = (GElf_Shdr){ .sh_type = SHT_PROGBITS, .sh_addralign = 1 };
	for (size_t i = 0; i < parts->count && got == STATUS_OK; i++) {
		align(out);
		header.sh_name = (GElf_Word)names.size;
		header.sh_offset = out->size;
		header.sh_size = parts->items[i].size;
		put_name(&names, parts->items[i].name);
		put_header(&headers, image, &header);
		got = unpack(&parts->items[i], out);
	}
	header.sh_name = (GElf_Word)names.size;
	header.sh_type = SHT_STRTAB;
	sink_cstr(&names, ".shstrtab");
	header.sh_offset = out->size;
	header.sh_size = names.size;
	put_header(&headers, image, &header);
	sink_put(out, names.data, names.size);
	align(out);
	patch_head(out, image, out->size, parts->count + 2);
	sink_put(out, headers.data, headers.size);
	if (sink_failed(out) || sink_failed(&names) || sink_failed(&headers))
		got = STATUS_NO_MEMORY;
	sink_clear(&names);
	sink_clear(&headers);
	return got;
}

int unpack_debug_sections(const struct elf_image *image, struct sink *out)
{
	enum { MOST_PARTS = 1000 }; /* there are about twenty kinds */
	struct parts parts = { 0 };
	const int packed = read_parts(&parts, image);
	int got = packed;
	if (packed > 0)
		got = parts.count > MOST_PARTS ? STATUS_CORRUPT : build(&parts, image, out);
	vector_clear(&parts);
	return got < 0 ? got : packed > 0;
}
