/* Where the call frame information of an ELF object lies. */
#include "base/status.h"
#include "unwind/cfi_table.h"

#include <gelf.h>
#include <stdlib.h>

static int machine_of(Elf *elf, enum unwind_machine *machine)
{
	GElf_Ehdr header;
	if (!elf || !gelf_getehdr(elf, &header))
		return STATUS_NOT_FORMAT;
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
		return STATUS_NOT_FOUND;
	if (header.e_machine == EM_X86_64)
		*machine = UNWIND_X86_64;
	else if (header.e_machine == EM_AARCH64)
		*machine = UNWIND_AARCH64;
	else
		return STATUS_NOT_FOUND;
	return 0;
}

static bool find_section(Elf *elf, const char *wanted, GElf_Shdr *sh)
{
	size_t names;
	if (elf_getshdrstrndx(elf, &names) != 0)
		return false;
	Elf_Scn *scn = NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name =
		    gelf_getshdr(scn, sh) ? elf_strptr(elf, names, sh->sh_name) : NULL;
		if (name && strcmp(name, wanted) == 0 && sh->sh_type != SHT_NOBITS)
			return true;
	}
	return false;
}

static int bytes_of(struct bytes image, const GElf_Shdr *sh, struct bytes *bytes)
{
	if (sh->sh_offset > image.size || sh->sh_size > image.size - sh->sh_offset)
		return STATUS_CORRUPT;
	*bytes = (struct bytes){ image.data + sh->sh_offset, sh->sh_size };
	return 0;
}

int cfi_table_elf_debug(struct cfi_table **table, struct bytes image, struct bytes debug)
{
	struct cfi_sections sections = { .machine = UNWIND_X86_64 };
	GElf_Shdr sh;
	(void)debug;
	elf_version(EV_CURRENT);
	/* libelf asks for a writable pointer; it writes nothing for what is used here. */
	Elf *elf = elf_memory((char *)(uintptr_t)image.data, image.size);
	int got = machine_of(elf, &sections.machine);
	if (got == 0 && find_section(elf, ".eh_frame_hdr", &sh))
		sections.data_svma = sh.sh_addr;
	if (got == 0)
		got = find_section(elf, ".eh_frame", &sh) ? bytes_of(image, &sh, &sections.eh_frame)
							  : STATUS_NOT_FOUND;
	sections.eh_frame_svma = sh.sh_addr;
	elf_end(elf);
	return got < 0 ? got : cfi_table_make(table, &sections, NULL);
}

int cfi_table_elf(struct cfi_table **table, struct bytes image)
{
	return cfi_table_elf_debug(table, image, (struct bytes){ 0 });
}
