#include "elf_build.h"

#include <stdlib.h>

void elf_build_start(struct elf_build *b, uint16_t type)
{
	*b = (struct elf_build){ .type = type, .machine = EM_X86_64, .symbol_type = SHT_SYMTAB };
	sink_zeros(&b->symbols, sizeof(Elf64_Sym));
	sink_u8(&b->names, 0);
}

void elf_build_symbol_in(struct elf_build *b, const char *name, const Elf64_Sym *sym)
{
	Elf64_Sym named = *sym;
	named.st_name = (uint32_t)b->names.size;
	sink_put(&b->symbols, &named, sizeof(named));
	sink_cstr(&b->names, name);
}

void elf_build_symbol(struct elf_build *b, const char *name, uint64_t svma, uint64_t size,
		      int binding, int type)
{
	const Elf64_Sym sym = { .st_info = (unsigned char)ELF64_ST_INFO(binding, type),
				.st_shndx = BUILD_TEXT_INDEX,
				.st_value = svma,
				.st_size = size };
	elf_build_symbol_in(b, name, &sym);
}

enum { MOST_SECTIONS = 10 };

struct image {
	struct sink out;
	Elf64_Shdr sections[MOST_SECTIONS];
	struct sink names;
	uint32_t count;
};

/* Appends a section; its contents go to the end of the file so far. */
static Elf64_Shdr *put_section(struct image *m, const char *name, uint32_t type,
			       struct bytes contents)
{
	sink_zeros(&m->out, -m->out.size & 7);
	Elf64_Shdr *s = &m->sections[m->count++];
	*s = (Elf64_Shdr){ .sh_name = (uint32_t)m->names.size,
			   .sh_type = type,
			   .sh_offset = m->out.size,
			   .sh_size = contents.size,
			   .sh_addralign = 1 };
	sink_cstr(&m->names, name);
	sink_put(&m->out, contents.data, contents.size);
	return s;
}

static void put_note(struct image *m, struct bytes build_id)
{
	struct sink note = { 0 };
	sink_u32(&note, 4);
	sink_u32(&note, (uint32_t)build_id.size);
	sink_u32(&note, NT_GNU_BUILD_ID);
	sink_cstr(&note, "GNU");
	sink_put(&note, build_id.data, build_id.size);
	sink_zeros(&note, -build_id.size & 3);
	put_section(m, ".note.gnu.build-id", SHT_NOTE, sink_bytes(&note))->sh_addralign = 4;
	sink_clear(&note);
}

static void put_debug_link(struct image *m, const char *name, uint32_t crc)
{
	struct sink link = { 0 };
	sink_cstr(&link, name);
	sink_zeros(&link, -link.size & 3);
	sink_u32(&link, crc);
	put_section(m, ".gnu_debuglink", SHT_PROGBITS, sink_bytes(&link));
	sink_clear(&link);
}

static void put_code(struct image *m, bool is_debug_file)
{
	sink_zeros(&m->out, BUILD_TEXT_SVMA - m->out.size);
	if (!is_debug_file)
		sink_zeros(&m->out, BUILD_TEXT_SIZE + 16);
	Elf64_Shdr *text =
	    put_section(m, ".text", is_debug_file ? SHT_NOBITS : SHT_PROGBITS, (struct bytes){ 0 });
	text->sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	text->sh_addr = text->sh_offset = BUILD_TEXT_SVMA;
	text->sh_size = BUILD_TEXT_SIZE;
	Elf64_Shdr *data =
	    put_section(m, ".data", is_debug_file ? SHT_NOBITS : SHT_PROGBITS, (struct bytes){ 0 });
	data->sh_flags = SHF_ALLOC | SHF_WRITE;
	data->sh_addr = data->sh_offset = BUILD_DATA_SVMA;
	data->sh_size = 16;
}

static void put_headers(struct image *m, const struct elf_build *b)
{
	const uint64_t table_off = m->out.size;
	Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)m->out.data;
	*header =
	    (Elf64_Ehdr){ .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			  .e_type = b->type,
			  .e_machine = b->machine,
			  .e_version = EV_CURRENT,
			  .e_phoff = sizeof(*header),
			  .e_shoff = table_off,
			  .e_ehsize = sizeof(*header),
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = 2,
			  .e_shentsize = sizeof(Elf64_Shdr),
			  .e_shnum = (uint16_t)m->count,
			  .e_shstrndx = (uint16_t)(m->count - 1) };
	Elf64_Phdr *segments = (Elf64_Phdr *)(void *)(m->out.data + sizeof(*header));
	segments[0] = (Elf64_Phdr){ .p_type = PT_LOAD,
				    .p_flags = PF_R | PF_X,
				    .p_offset = BUILD_TEXT_SVMA,
				    .p_vaddr = BUILD_TEXT_SVMA,
				    .p_filesz = BUILD_TEXT_SIZE,
				    .p_memsz = BUILD_TEXT_SIZE,
				    .p_align = 4096 };
	segments[1] = (Elf64_Phdr){ .p_type = PT_LOAD,
				    .p_flags = PF_R | PF_W,
				    .p_offset = BUILD_DATA_SVMA,
				    .p_vaddr = BUILD_DATA_SVMA + 0x10000,
				    .p_filesz = 16,
				    .p_memsz = 64,
				    .p_align = 4096 };
	sink_put(&m->out, m->sections, m->count * sizeof(Elf64_Shdr));
}

struct bytes elf_build_end(struct elf_build *b)
{
	struct image m = { .count = 1 };
	sink_u8(&m.names, 0);
	sink_zeros(&m.out, sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr));
	put_code(&m, b->is_debug_file);
	if (b->build_id.size)
		put_note(&m, b->build_id);
	if (b->debug_link)
		put_debug_link(&m, b->debug_link, b->debug_crc);
	if (b->mini_debug.size)
		put_section(&m, ".gnu_debugdata", SHT_PROGBITS, b->mini_debug);
	if (b->symbol_type) {
		Elf64_Shdr *symbols =
		    put_section(&m, b->symbol_type == SHT_DYNSYM ? ".dynsym" : ".symtab",
				b->symbol_type, sink_bytes(&b->symbols));
		symbols->sh_entsize = sizeof(Elf64_Sym);
		symbols->sh_addralign = 8;
		symbols->sh_link = m.count;
		put_section(&m, ".strtab", SHT_STRTAB, sink_bytes(&b->names));
	}
	Elf64_Shdr *names = put_section(&m, ".shstrtab", SHT_STRTAB, (struct bytes){ 0 });
	names->sh_offset = m.out.size;
	names->sh_size = m.names.size;
	sink_put(&m.out, m.names.data, m.names.size);
	sink_zeros(&m.out, -m.out.size & 7);
	put_headers(&m, b);
	sink_clear(&m.names);
	sink_clear(&b->symbols);
	sink_clear(&b->names);

	/* Exactly as large as the image, so that ASan guards its end. */
	uint8_t *copy = malloc(m.out.size);
	if (copy)
		memcpy(copy, m.out.data, m.out.size);
	const struct bytes image = { .data = copy, .size = copy ? m.out.size : 0 };
	sink_clear(&m.out);
	return image;
}
