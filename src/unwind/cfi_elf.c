/* Where the call frame information of an ELF object lies. */
#include "base/status.h"
#include "unwind/cfi_table.h"
#include "unwind/cfi_unpack.h"

#include <gelf.h>

struct object {
	struct bytes image;
	Elf *elf;
	enum unwind_machine machine;
};

static int open_object(struct object *o, struct bytes image)
{
	GElf_Ehdr header;
	elf_version(EV_CURRENT);
	/* libelf asks for a writable pointer; it writes nothing for what is used here. */
	*o = (struct object){ .image = image,
			      .elf = elf_memory((char *)(uintptr_t)image.data, image.size) };
	if (!o->elf || !gelf_getehdr(o->elf, &header))
		return STATUS_NOT_FORMAT;
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
		return STATUS_NOT_FOUND;
	if (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64)
		return STATUS_NOT_FOUND;
	o->machine = header.e_machine == EM_X86_64 ? UNWIND_X86_64 : UNWIND_AARCH64;
	return 0;
}

/* The bytes of a section that is in the file; false where there is none. */
static bool find_section(const struct object *o, const char *wanted, GElf_Shdr *sh,
			 struct bytes *bytes)
{
	size_t names;
	if (elf_getshdrstrndx(o->elf, &names) != 0)
		return false;
	Elf_Scn *scn = NULL;
	while ((scn = elf_nextscn(o->elf, scn))) {
		const char *name =
		    gelf_getshdr(scn, sh) ? elf_strptr(o->elf, names, sh->sh_name) : NULL;
		if (!name || strcmp(name, wanted) != 0 || sh->sh_type == SHT_NOBITS ||
		    sh->sh_offset > o->image.size || sh->sh_size > o->image.size - sh->sh_offset)
			continue;
		*bytes = (struct bytes){ o->image.data + sh->sh_offset, sh->sh_size };
		return true;
	}
	return false;
}

/* What the file has from an address on, to the end of the segment. */
static bool find_loaded(const struct object *o, uint64_t svma, struct bytes *bytes)
{
	size_t count;
	if (elf_getphdrnum(o->elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr ph;
		if (!gelf_getphdr(o->elf, (int)i, &ph) || ph.p_type != PT_LOAD ||
		    svma < ph.p_vaddr || svma - ph.p_vaddr >= ph.p_filesz ||
		    ph.p_offset > o->image.size || ph.p_filesz > o->image.size - ph.p_offset)
			continue;
		const uint64_t at = svma - ph.p_vaddr;
		*bytes = (struct bytes){ o->image.data + ph.p_offset + at, ph.p_filesz - at };
		return true;
	}
	return false;
}

/* Without section headers: .eh_frame_hdr has a program header, and tells where .eh_frame is. */
static bool find_by_segment(const struct object *o, struct cfi_sections *sections)
{
	size_t count;
	if (elf_getphdrnum(o->elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr ph;
		struct bytes bytes;
		if (!gelf_getphdr(o->elf, (int)i, &ph) || ph.p_type != PT_GNU_EH_FRAME ||
		    !find_loaded(o, ph.p_vaddr, &bytes))
			continue;
		const struct cfi_section hdr = { .bytes = bytes,
						 .svma = ph.p_vaddr,
						 .data_svma = ph.p_vaddr };
		struct cursor c = cursor_over(bytes);
		const uint8_t version = cursor_u8(&c);
		const uint8_t encoding = cursor_u8(&c);
		(void)cursor_u16(&c);
		sections->eh_frame_svma = cfi_pointer(&hdr, &c, encoding);
		sections->data_svma = ph.p_vaddr;
		return version == 1 && !cursor_failed(&c) &&
		       find_loaded(o, sections->eh_frame_svma, &sections->eh_frame);
	}
	return false;
}

static void find_eh_frame(const struct object *o, struct cfi_sections *sections)
{
	GElf_Shdr sh;
	struct bytes unused;
	if (find_section(o, ".eh_frame_hdr", &sh, &unused))
		sections->data_svma = sh.sh_addr;
	if (find_section(o, ".eh_frame", &sh, &sections->eh_frame))
		sections->eh_frame_svma = sh.sh_addr;
	else if (!find_by_segment(o, sections))
		sections->eh_frame = (struct bytes){ 0 };
}

/* Compilers that were told to make no .eh_frame write .debug_frame, which may be compressed. */
static int find_debug_frame(const struct object *o, struct bytes *bytes, void **owned)
{
	GElf_Shdr sh;
	if (find_section(o, ".debug_frame", &sh, bytes))
		return sh.sh_flags & SHF_COMPRESSED ? cfi_unpack(bytes, owned, false) : 0;
	if (find_section(o, ".zdebug_frame", &sh, bytes))
		return cfi_unpack(bytes, owned, true);
	*bytes = (struct bytes){ 0 };
	return 0;
}

static void find_stubs(const struct object *o, struct cfi_sections *sections)
{
	static const char *const names[CFI_STUBS] = { ".plt", ".plt.sec", ".plt.got", ".iplt" };
	for (size_t i = 0; i < CFI_STUBS; i++) {
		GElf_Shdr sh;
		struct bytes bytes;
		if (find_section(o, names[i], &sh, &bytes))
			sections->stubs[i] = (struct cfi_stubs){ bytes, sh.sh_addr };
	}
}

int cfi_table_elf_debug(struct cfi_table **table, struct bytes image, struct bytes debug)
{
	struct object o;
	struct object beside = { 0 };
	struct cfi_sections sections = { .machine = UNWIND_X86_64 };
	void *owned = NULL;
	int got = open_object(&o, image);
	if (got == 0) {
		sections.machine = o.machine;
		find_eh_frame(&o, &sections);
		find_stubs(&o, &sections);
		got = find_debug_frame(&o, &sections.debug_frame, &owned);
	}
	if (got == 0 && !sections.debug_frame.size && debug.size &&
	    open_object(&beside, debug) == 0 && beside.machine == o.machine)
		got = find_debug_frame(&beside, &sections.debug_frame, &owned);
	elf_end(o.elf);
	elf_end(beside.elf);
	/* Packed in a way that cannot be read: the rest is still there. */
	if (got == STATUS_UNSUPPORTED || got == STATUS_CORRUPT || got == STATUS_TOO_BIG)
		sections.debug_frame = (struct bytes){ 0 };
	else if (got < 0)
		return got;
	return cfi_table_make(table, &sections, owned);
}

int cfi_table_elf(struct cfi_table **table, struct bytes image)
{
	return cfi_table_elf_debug(table, image, (struct bytes){ 0 });
}
