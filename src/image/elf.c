/* Symbols, headers and the build id. Written by hand, not by libelf: that copies every section
 * into one buffer and fills holes with bytes, and here code stays where the caller has it and
 * holes stay holes. Source of the format: gABI, elf(5).
 */
#include "image/internal.h"

#include <elf.h>

/* The build id's hash must be the same in every build and on every machine, so not that of
 * base/hash.h. It has to tell files apart, not to withstand a forger: who makes the code can
 * put any build id into a file of their own. XXH3 reads at the speed of memory (SHA-1 takes 50
 * to 120 ms for 100 MB, with or without instructions of its own), and 128 bits are enough.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
	NOTE_SIZE = sizeof(Elf64_Nhdr) + 4 + BUILD_ID_SIZE,
	ALIGN_16 = 16,
	TAIL_ALIGN = 16,
	SECTION_NAMES_SIZE = 256,
};

struct section_form {
	const char *name;
	uint32_t type;
	uint32_t link; /* enum section_kind */
	uint64_t flags;
	uint64_t align;
	uint64_t entry_size;
};

static const struct section_form FORMS[SECTION_COUNT] = {
	[SECTION_NULL] = { "", SHT_NULL, 0, 0, 0, 0 },
	[SECTION_NOTE] = { ".note.gnu.build-id", SHT_NOTE, 0, SHF_ALLOC, 4, 0 },
	[SECTION_EH_FRAME_HDR] = { ".eh_frame_hdr", SHT_PROGBITS, 0, SHF_ALLOC, 4, 0 },
	[SECTION_EH_FRAME] = { ".eh_frame", SHT_PROGBITS, 0, SHF_ALLOC, 8, 0 },
	[SECTION_TEXT] = { ".text", SHT_PROGBITS, 0, SHF_ALLOC | SHF_EXECINSTR, ALIGN_16, 0 },
	/* Not marked executable: readers think that no such section can be without bytes. */
	[SECTION_ABSENT] = { ".text.absent", SHT_NOBITS, 0, SHF_ALLOC, ALIGN_16, 0 },
	[SECTION_SYMTAB] = { ".symtab", SHT_SYMTAB, SECTION_STRTAB, 0, 8, sizeof(Elf64_Sym) },
	[SECTION_STRTAB] = { ".strtab", SHT_STRTAB, 0, 0, 1, 0 },
	[SECTION_DEBUG_ABBREV] = { ".debug_abbrev", SHT_PROGBITS, 0, 0, 1, 0 },
	[SECTION_DEBUG_INFO] = { ".debug_info", SHT_PROGBITS, 0, 0, 1, 0 },
	[SECTION_DEBUG_LINE] = { ".debug_line", SHT_PROGBITS, 0, 0, 1, 0 },
	[SECTION_DEBUG_ARANGES] = { ".debug_aranges", SHT_PROGBITS, 0, 0, ALIGN_16, 0 },
	[SECTION_DEBUG_RANGES] = { ".debug_ranges", SHT_PROGBITS, 0, 0, ALIGN_16, 0 },
	[SECTION_DEBUG_STR] = { ".debug_str", SHT_PROGBITS, 0, SHF_MERGE | SHF_STRINGS, 1, 1 },
	[SECTION_SHSTRTAB] = { ".shstrtab", SHT_STRTAB, 0, 0, 1, 0 },
};

enum { FIRST_IN_TAIL = SECTION_SYMTAB };

static unsigned segment_count(const struct image *image)
{
	return image->fdes.count ? 4 : 3;
}

void elf_place_head(struct image *image)
{
	struct section *s = image->sections;
	s[SECTION_NOTE].off = sizeof(Elf64_Ehdr) + segment_count(image) * sizeof(Elf64_Phdr);
	s[SECTION_NOTE].size = NOTE_SIZE;
	uint64_t end = s[SECTION_NOTE].off + NOTE_SIZE;
	if (image->fdes.count) {
		s[SECTION_EH_FRAME_HDR].off = align_up(end, 8);
		s[SECTION_EH_FRAME].off =
		    align_up(s[SECTION_EH_FRAME_HDR].off + eh_frame_hdr_size_bound(image), 8);
		end = align_up(s[SECTION_EH_FRAME].off + eh_frame_size_bound(image), PAGE_SIZE);
	}
	image->head_size = end;
}

uint64_t elf_tail_size_bound(const struct image *image)
{
	return info_size_bound(image) + image->names.arena.used + SECTION_NAMES_SIZE +
	       SECTION_COUNT * (sizeof(Elf64_Shdr) + TAIL_ALIGN) +
	       sizeof(Elf64_Sym) * ((uint64_t)image->functions.count + 1);
}

/* Sections that would be empty are left out. */
static void number_sections(struct image *image)
{
	uint32_t count = 1;
	for (unsigned i = SECTION_NULL + 1; i < SECTION_COUNT; i++) {
		struct section *s = &image->sections[i];
		if (i >= FIRST_IN_TAIL && i < SECTION_SHSTRTAB)
			s->size = image->contents[i].size;
		if (s->size || i == SECTION_SHSTRTAB || i == SECTION_SYMTAB || i == SECTION_STRTAB)
			s->index = count++;
	}
}

static int make_symbols(struct image *image)
{
	struct sink *out = &image->contents[SECTION_SYMTAB];
	struct sink *names = &image->contents[SECTION_STRTAB];
	const size_t count = image->functions.count;
	uint32_t *name_at = arena_new(&image->arena, uint32_t, image->names.texts.count + 1);
	uint8_t *at = sink_reserve(out, (count + 1) * sizeof(Elf64_Sym));
	if (!name_at || !at)
		return name_at && (count + 1) * sizeof(Elf64_Sym) > out->limit ? STATUS_TOO_BIG
									       : STATUS_NO_MEMORY;
	sink_u8(names, 0);
	memset(at, 0, sizeof(Elf64_Sym));
	for (size_t i = 0; i < count; i++) {
		const struct function *f = &image->functions.items[i];
		const enum section_kind kind = f->code.size ? SECTION_TEXT : SECTION_ABSENT;
		if (f->name && !name_at[f->name]) {
			const struct bytes name = intern_get_bytes(&image->names, f->name);
			name_at[f->name] = (uint32_t)names->size;
			sink_put(names, name.data, name.size + 1);
		}
		/* Local: several versions of a function have one name. */
		const Elf64_Sym symbol = { .st_name = name_at[f->name],
					   .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
					   .st_shndx = (uint16_t)image->sections[kind].index,
					   .st_value = f->file_off,
					   .st_size = f->size };
		memcpy(at + (i + 1) * sizeof(symbol), &symbol, sizeof(symbol));
	}
	return sink_status(names);
}

static void place_text(struct image *image)
{
	const struct layout *present = &image->present;
	struct section *text = &image->sections[SECTION_TEXT];
	if (!present->count)
		return;
	text->off = present->clusters.items[0].file_off & ~(uint64_t)(ALIGN_16 - 1);
	text->size = image->code_end - text->off;
}

static void place_tail(struct image *image)
{
	uint64_t off = image->code_end;
	for (unsigned i = FIRST_IN_TAIL; i < SECTION_COUNT; i++) {
		struct section *s = &image->sections[i];
		s->size = image->contents[i].size;
		if (!s->index)
			continue;
		off = align_up(off, FORMS[i].align);
		s->off = off;
		off += s->size;
	}
	image->headers_off = align_up(off, 8);
}

static void make_section_headers(struct image *image)
{
	struct sink *names = &image->contents[SECTION_SHSTRTAB];
	struct sink *out = &image->headers;
	uint32_t name_at[SECTION_COUNT] = { 0 };
	for (unsigned i = 0; i < SECTION_COUNT; i++) {
		name_at[i] = (uint32_t)names->size;
		if (i == SECTION_NULL || image->sections[i].index)
			sink_cstr(names, FORMS[i].name);
	}
	place_tail(image);
	for (unsigned i = 0; i < SECTION_COUNT; i++) {
		const struct section *s = &image->sections[i];
		const struct section_form *form = &FORMS[i];
		if (i != SECTION_NULL && !s->index)
			continue;
		const Elf64_Shdr header = {
			.sh_name = name_at[i],
			.sh_type = form->type,
			.sh_flags = form->flags,
			.sh_addr = form->flags & SHF_ALLOC ? s->off : 0,
			.sh_offset = s->off,
			.sh_size = s->size,
			.sh_link = form->link ? image->sections[form->link].index : 0,
			/* One past the last local symbol. */
			.sh_info = i == SECTION_SYMTAB ? (uint32_t)image->functions.count + 1 : 0,
			.sh_addralign = form->align,
			.sh_entsize = form->entry_size,
		};
		sink_put(out, &header, sizeof(header));
	}
	image->file_size = image->headers_off + out->size;
}

static void put_segment(struct sink *out, uint32_t type, uint32_t flags,
			const struct section *section, uint64_t align)
{
	const Elf64_Phdr header = { .p_type = type,
				    .p_flags = flags,
				    .p_offset = section->off,
				    .p_vaddr = section->off,
				    .p_paddr = section->off,
				    .p_filesz = section->size,
				    .p_memsz = section->size,
				    .p_align = align };
	sink_put(out, &header, sizeof(header));
}

static void put_segments(struct image *image, struct sink *out)
{
	const struct section *s = image->sections;
	const struct section *absent = &s[SECTION_ABSENT];
	const Elf64_Phdr load = { .p_type = PT_LOAD,
				  /* Checkers want code in what is executable. */
				  .p_flags = s[SECTION_TEXT].size ? PF_R | PF_X : PF_R,
				  .p_filesz = image->code_end,
				  .p_memsz =
				      absent->size ? absent->off + absent->size : image->code_end,
				  .p_align = PAGE_SIZE };
	sink_put(out, &load, sizeof(load));
	put_segment(out, PT_NOTE, PF_R, &s[SECTION_NOTE], 4);
	if (image->fdes.count)
		put_segment(out, PT_GNU_EH_FRAME, PF_R, &s[SECTION_EH_FRAME_HDR], 4);
	put_segment(out, PT_GNU_STACK, PF_R | PF_W, &s[SECTION_NULL], ALIGN_16);
}

static void pad_to(struct sink *out, uint64_t size)
{
	if (size > out->size)
		sink_zeros(out, size - out->size);
}

/* All of the file before the first function. */
static void make_head(struct image *image)
{
	static const uint16_t ONE = 1;
	const bool is_little = *(const uint8_t *)&ONE == 1;
	struct sink *out = &image->head;
	const Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     is_little ? ELFDATA2LSB : ELFDATA2MSB, EV_CURRENT, ELFOSABI_NONE },
		.e_type = ET_DYN,
		.e_machine = image->elf_machine,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_shoff = image->headers_off,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (uint16_t)segment_count(image),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (uint16_t)(image->headers.size / sizeof(Elf64_Shdr)),
		.e_shstrndx = (uint16_t)image->sections[SECTION_SHSTRTAB].index,
	};
	const Elf64_Nhdr note = { .n_namesz = 4,
				  .n_descsz = BUILD_ID_SIZE,
				  .n_type = NT_GNU_BUILD_ID };
	sink_put(out, &header, sizeof(header));
	put_segments(image, out);
	sink_put(out, &note, sizeof(note));
	sink_put(out, "GNU", 4);
	sink_put(out, image->build_id, BUILD_ID_SIZE);
	for (unsigned i = SECTION_EH_FRAME_HDR; i <= SECTION_EH_FRAME; i++) {
		if (!image->sections[i].index)
			continue;
		pad_to(out, image->sections[i].off);
		sink_put(out, image->contents[i].data, image->contents[i].size);
	}
}

/* From all that the file will hold but the id itself. */
static void make_build_id(struct image *image)
{
	XXH3_state_t state;
	XXH3_INITSTATE(&state);
	XXH3_128bits_reset(&state);
	const uint16_t machine[4] = { image->elf_machine };
	XXH3_128bits_update(&state, machine, sizeof(machine));
	for (uint32_t i = 0; i < image->present.count; i++) {
		const struct function *f = &image->functions.items[image->present.order[i]];
		XXH3_128bits_update(&state, f->code.data, f->code.size);
	}
	for (unsigned i = 0; i < SECTION_COUNT; i++)
		if (image->contents[i].size)
			XXH3_128bits_update(&state, image->contents[i].data,
					    image->contents[i].size);
	XXH3_128bits_update(&state, image->headers.data, image->headers.size);
	XXH128_canonical_t digest;
	XXH128_canonicalFromHash(&digest, XXH3_128bits_digest(&state));
	/* 20 bytes are what every reader knows; the rest says nothing new. */
	XXH32_canonical_t rest;
	XXH32_canonicalFromHash(&rest, XXH32(&digest, sizeof(digest), 0));
	memcpy(image->build_id, &digest, sizeof(digest));
	memcpy(image->build_id + sizeof(digest), &rest, BUILD_ID_SIZE - sizeof(digest));
}

int elf_make(struct image *image)
{
	place_text(image);
	/* Before the symbols, which name sections by number. */
	number_sections(image);
	const int got = make_symbols(image);
	if (got < 0)
		return got;
	make_section_headers(image);
	make_build_id(image);
	make_head(image);
	if (sink_failed(&image->headers) || sink_failed(&image->contents[SECTION_SHSTRTAB]) ||
	    sink_failed(&image->head))
		return STATUS_NO_MEMORY;
	return 0;
}
