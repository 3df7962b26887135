/* libelf unpacks sections in place, and would write to the image that it was given. So it is
 * given one of our own, with the section alone in it.
 */
#include "unwind/cfi_unpack.h"

#include "base/status.h"

#include <gelf.h>
#include <stdlib.h>

enum {
	OLD_HEAD_SIZE = 12, /* "ZLIB", and the size with the highest byte first */
	SECTION_COUNT = 2,
	DATA_OFF = sizeof(Elf64_Ehdr) + SECTION_COUNT * sizeof(Elf64_Shdr),
};

/* What is unpacked may be no larger. */
static const uint64_t UNPACKED_LIMIT = (uint64_t)128 << 20;

static uint64_t unpacked_size(struct bytes section, bool is_old)
{
	struct cursor c = cursor_over(section);
	if (is_old) {
		c.swap = true;
		(void)cursor_u32(&c);
		return cursor_u64(&c);
	}
	(void)cursor_u64(&c); /* type, and what is reserved */
	return cursor_u64(&c);
}

static void put_image(uint8_t *image, struct bytes section, bool is_old)
{
	const Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_REL,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_shoff = sizeof(Elf64_Ehdr),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTION_COUNT,
	};
	const Elf64_Shdr sections[SECTION_COUNT] = {
		{ 0 },
		{ .sh_type = SHT_PROGBITS,
		  .sh_flags = is_old ? 0 : SHF_COMPRESSED,
		  .sh_offset = DATA_OFF,
		  .sh_size = section.size,
		  .sh_addralign = 1 },
	};
	memcpy(image, &header, sizeof(header));
	memcpy(image + sizeof(header), sections, sizeof(sections));
	memcpy(image + DATA_OFF, section.data, section.size);
}

/* A copy of what the only section holds. */
static int unpack_image(Elf *elf, struct bytes *section, void **owned, bool is_old)
{
	Elf_Scn *scn = elf ? elf_getscn(elf, 1) : NULL;
	if (!scn)
		return STATUS_CORRUPT;
	if ((is_old ? elf_compress_gnu(scn, 0, 0) : elf_compress(scn, 0, 0)) != 1)
		return STATUS_UNSUPPORTED;
	const Elf_Data *data = elf_rawdata(scn, NULL);
	if (!data || !data->d_size || data->d_size > UNPACKED_LIMIT)
		return STATUS_CORRUPT;
	*owned = malloc(data->d_size);
	if (!*owned)
		return STATUS_NO_MEMORY;
	memcpy(*owned, data->d_buf, data->d_size);
	*section = (struct bytes){ *owned, data->d_size };
	return 0;
}

int cfi_unpack(struct bytes *section, void **owned, bool is_old)
{
	const size_t head = is_old ? (size_t)OLD_HEAD_SIZE : sizeof(Elf64_Chdr);
	if (section->size < head)
		return STATUS_CORRUPT;
	if (unpacked_size(*section, is_old) > UNPACKED_LIMIT || section->size > UNPACKED_LIMIT)
		return STATUS_TOO_BIG;
	uint8_t *image = malloc(DATA_OFF + section->size);
	if (!image)
		return STATUS_NO_MEMORY;
	put_image(image, *section, is_old);
	elf_version(EV_CURRENT);
	Elf *elf = elf_memory((char *)image, DATA_OFF + section->size);
	const int got = unpack_image(elf, section, owned, is_old);
	elf_end(elf);
	free(image);
	return got;
}
