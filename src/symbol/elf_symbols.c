#include "symbol/elf_symbols.h"

#include "base/status.h"

#include <stdlib.h>

struct section_range {
	uint64_t start_svma;
	uint64_t end_svma;
	bool is_code;
	bool is_there;
};

struct reader {
	struct symbol_table *table;
	const struct elf_image *image;
	struct section_range *sections;
	struct bytes names;
	Elf_Data *symbols;
	Elf_Data *extended; /* section indices past 16 bits, or NULL */
	bool has_mapping_symbols;
	bool has_thumb_bit;
};

static struct section_range *read_sections(const struct elf_image *image)
{
	struct section_range *ranges = calloc(image->section_count + 1, sizeof(*ranges));
	for (size_t i = 1; ranges && i < image->section_count; i++) {
		struct elf_section section;
		if (!elf_section_at(image, i, &section))
			continue;
		const GElf_Shdr *h = &section.header;
		ranges[i].start_svma = h->sh_addr;
		if (__builtin_add_overflow(h->sh_addr, h->sh_size, &ranges[i].end_svma))
			ranges[i].end_svma = UINT64_MAX;
		ranges[i].is_code = h->sh_flags & SHF_EXECINSTR;
		ranges[i].is_there = true;
	}
	return ranges;
}

/* Assemblers mark code and data in code sections by "$x", "$d" (ARM, RISC-V), and leave
 * labels of their own that start with ".L".
 */
static bool is_assembler_label(const struct reader *r, const char *name)
{
	return (name[0] == '$' && r->has_mapping_symbols) || (name[0] == '.' && name[1] == 'L');
}

static const struct section_range *range_of(const struct reader *r, const GElf_Sym *sym,
					    size_t index)
{
	size_t section = sym->st_shndx;
	if (section == SHN_XINDEX && r->extended) {
		GElf_Sym unused;
		Elf32_Word wide = 0;
		if (!gelf_getsymshndx(r->symbols, r->extended, (int)index, &unused, &wide))
			return NULL;
		section = wide;
	} else if (section >= SHN_LORESERVE) {
		return NULL;
	}
	if (section == SHN_UNDEF || section >= r->image->section_count ||
	    !r->sections[section].is_there)
		return NULL;
	return &r->sections[section];
}

/* One symbol. Returns 1 if it was added, 0 if it is none of ours, or a negative status. */
static int add_symbol(const struct reader *r, const GElf_Sym *sym, size_t index)
{
	const unsigned type = GELF_ST_TYPE(sym->st_info);
	const bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
	if ((!is_function && type != STT_NOTYPE) || sym->st_shndx == SHN_UNDEF || sym->st_name == 0)
		return 0;
	const struct section_range *range = range_of(r, sym, index);
	const char *name = elf_string_at(r->names, sym->st_name);
	if (!range || !*name)
		return 0;
	const unsigned visibility = GELF_ST_VISIBILITY(sym->st_other);
	if (!is_function && (!range->is_code || is_assembler_label(r, name) ||
			     visibility == STV_HIDDEN || visibility == STV_INTERNAL))
		return 0;

	const unsigned binding = GELF_ST_BIND(sym->st_info);
	struct symbol_candidate candidate = { .start_svma = sym->st_value, .name = name };
	if (r->has_thumb_bit && is_function)
		candidate.start_svma &= ~(uint64_t)1;
	if (binding == STB_WEAK)
		candidate.flags |= SYMBOL_WEAK;
	if (binding == STB_GLOBAL || binding == STB_GNU_UNIQUE)
		candidate.flags |= SYMBOL_GLOBAL;
	if (type == STT_GNU_IFUNC)
		candidate.flags |= SYMBOL_INDIRECT;
	if (sym->st_size == 0) {
		candidate.flags |= SYMBOL_UNSIZED;
		candidate.end_svma = range->end_svma;
	} else if (sym->st_size > UINT32_MAX ||
		   __builtin_add_overflow(candidate.start_svma, sym->st_size,
					  &candidate.end_svma)) {
		return 0;
	}
	return symbol_add(r->table, &candidate) ? 1 : STATUS_NO_MEMORY;
}

/* libelf has the symbols in host order already; taking them straight from its buffer
 * saves the checks of a call each, which count in objects with half a million.
 */
static bool symbol_at(const struct reader *r, size_t index, GElf_Sym *sym)
{
	if (r->image->header.e_ident[EI_CLASS] == ELFCLASS64) {
		memcpy(sym, (const char *)r->symbols->d_buf + index * sizeof(*sym), sizeof(*sym));
		return true;
	}
	return gelf_getsym(r->symbols, (int)index, sym) != NULL;
}

static int add_all(const struct reader *r, uint64_t entry_size)
{
	const size_t count = r->symbols->d_size / entry_size;
	int added = 0;
	for (size_t i = 1; i < count && i < INT32_MAX; i++) {
		GElf_Sym sym;
		if (!symbol_at(r, i, &sym))
			break;
		const int got = add_symbol(r, &sym, i);
		if (got < 0)
			return got;
		added += got;
	}
	return added;
}

static Elf_Data *extended_indices(const struct elf_image *image, const struct elf_section *symbols)
{
	for (size_t i = 1; i < image->section_count; i++) {
		struct elf_section section;
		if (elf_section_at(image, i, &section) &&
		    section.header.sh_type == SHT_SYMTAB_SHNDX &&
		    section.header.sh_link == elf_ndxscn(symbols->scn))
			return elf_getdata(section.scn, NULL);
	}
	return NULL;
}

int elf_add_symbols(struct symbol_table *table, const struct elf_image *image, uint32_t type)
{
	struct elf_section section;
	if (!elf_section_typed(image, type, &section))
		return 0;
	const unsigned machine = image->header.e_machine;
	struct reader r = { .table = table,
			    .image = image,
			    .names = elf_strings(image, section.header.sh_link),
			    .symbols = elf_getdata(section.scn, NULL),
			    .extended = extended_indices(image, &section),
			    .has_mapping_symbols =
				machine == EM_ARM || machine == EM_AARCH64 || machine == EM_RISCV,
			    .has_thumb_bit = machine == EM_ARM };
	const size_t entry_size = gelf_fsize(image->elf, ELF_T_SYM, 1, EV_CURRENT);
	if (!r.names.size || !r.symbols || !r.symbols->d_buf || r.symbols->d_type != ELF_T_SYM ||
	    !entry_size)
		return 0;
	r.sections = read_sections(image);
	if (!r.sections)
		return STATUS_NO_MEMORY;
	const int added = add_all(&r, entry_size);
	free(r.sections);
	return added;
}
