#include "symbol/plt_internal.h"

#include "base/search.h"
#include "base/status.h"

#include <stdlib.h>

/* More sections of a kind than this make no object that a linker wrote. */
enum { MAX_RELOCATION_SECTIONS = 64, MAX_STUB_SECTIONS = 16 };

static struct plt_machine machine_of(unsigned machine)
{
	switch (machine) {
	case EM_X86_64:
		return (struct plt_machine){ R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT,
					     R_X86_64_IRELATIVE };
	case EM_AARCH64:
		return (struct plt_machine){ R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT,
					     R_AARCH64_IRELATIVE };
	case EM_386:
		return (struct plt_machine){ R_386_JMP_SLOT, R_386_GLOB_DAT, R_386_IRELATIVE };
	case EM_ARM:
		return (struct plt_machine){ R_ARM_JUMP_SLOT, R_ARM_GLOB_DAT, R_ARM_IRELATIVE };
	case EM_RISCV:
		return (struct plt_machine){ R_RISCV_JUMP_SLOT, 0, 58 /* R_RISCV_IRELATIVE */ };
	case EM_PPC64:
		return (struct plt_machine){ R_PPC64_JMP_SLOT, R_PPC64_GLOB_DAT,
					     R_PPC64_IRELATIVE };
	case EM_S390:
		return (struct plt_machine){ R_390_JMP_SLOT, R_390_GLOB_DAT, R_390_IRELATIVE };
	default:
		return (struct plt_machine){ 0 };
	}
}

static bool relocation_at(Elf_Data *data, bool has_addend, size_t index, GElf_Rela *rela)
{
	GElf_Rel rel;
	if (has_addend)
		return gelf_getrela(data, (int)index, rela) != NULL;
	if (!gelf_getrel(data, (int)index, &rel))
		return false;
	*rela = (GElf_Rela){ .r_offset = rel.r_offset, .r_info = rel.r_info };
	return true;
}

static const char *relocation_name(const GElf_Rela *rela, Elf_Data *symbols, struct bytes strings)
{
	GElf_Sym sym;
	if (!symbols || !gelf_getsym(symbols, (int)GELF_R_SYM(rela->r_info), &sym))
		return NULL;
	return elf_string_at(strings, sym.st_name);
}

static void read_relocations(struct plt_reader *r, const struct elf_section *section)
{
	const bool has_addend = section->header.sh_type == SHT_RELA;
	const bool is_plt =
	    strcmp(section->name, ".rela.plt") == 0 || strcmp(section->name, ".rel.plt") == 0;
	Elf_Data *data = elf_getdata(section->scn, NULL);
	struct elf_section symbols;
	Elf_Data *symbol_data = NULL;
	struct bytes strings = { 0 };
	if (elf_section_at(r->image, section->header.sh_link, &symbols) &&
	    (symbols.header.sh_type == SHT_DYNSYM || symbols.header.sh_type == SHT_SYMTAB)) {
		symbol_data = elf_getdata(symbols.scn, NULL);
		strings = elf_strings(r->image, symbols.header.sh_link);
	}
	if (!data || !data->d_buf)
		return;
	GElf_Rela rela;
	/* Sections can lie over each other, but no more relocations fit in the file. */
	const size_t most = r->image->bytes.size / sizeof(Elf32_Rel);
	for (size_t i = 0;
	     i < INT32_MAX && r->slots.count < most && relocation_at(data, has_addend, i, &rela);
	     i++) {
		const size_t type = GELF_R_TYPE(rela.r_info);
		const bool is_indirect = type != 0 && type == r->machine.irelative;
		if (type == 0 ||
		    (type != r->machine.jump_slot && type != r->machine.glob_dat && !is_indirect))
			continue;
		struct plt_slot *slot = vector_push(&r->slots);
		if (!slot) {
			r->no_memory = true;
			return;
		}
		slot->svma = rela.r_offset;
		slot->position = is_plt ? i : SIZE_MAX;
		if (is_indirect)
			slot->resolver_svma = (uint64_t)rela.r_addend;
		else
			slot->name = relocation_name(&rela, symbol_data, strings);
	}
}

static int by_svma(const void *a, const void *b)
{
	const struct plt_slot *x = a;
	const struct plt_slot *y = b;
	return x->svma < y->svma ? -1 : x->svma > y->svma;
}

static int by_resolver(const void *a, const void *b)
{
	const struct plt_slot *x = a;
	const struct plt_slot *y = b;
	return x->resolver_svma < y->resolver_svma ? -1 : x->resolver_svma > y->resolver_svma;
}

static void sort_slots(struct plt_reader *r, int (*compare)(const void *, const void *))
{
	if (r->slots.count)
		qsort(r->slots.items, r->slots.count, sizeof(struct plt_slot), compare);
}

/* The resolver of an indirect function stands at the same address under the function's
 * name, of its own type, and often under one of its own.
 */
static bool is_better_indirect(const struct symbol_candidate *other,
			       const struct symbol_candidate *best)
{
	if (!best)
		return true;
	if ((other->flags ^ best->flags) & SYMBOL_INDIRECT)
		return other->flags & SYMBOL_INDIRECT;
	return symbol_is_better(other, best);
}

/* The first slot of that resolver, or the count; slots are sorted by it. */
static size_t first_of_resolver(const struct plt_reader *r, uint64_t svma)
{
	size_t count;
	SEARCH(count, r->slots.count, i, r->slots.items[i].resolver_svma < svma);
	return count;
}

/* An indirect function has no relocation by name: its address leads to it. */
static void name_indirect(struct plt_reader *r)
{
	sort_slots(r, by_resolver);
	for (size_t i = 0; i < r->table->candidates.count; i++) {
		const struct symbol_candidate *candidate = &r->table->candidates.items[i];
		const size_t at = first_of_resolver(r, candidate->start_svma);
		struct plt_slot *slot = at < r->slots.count ? &r->slots.items[at] : NULL;
		if (slot && slot->resolver_svma && slot->resolver_svma == candidate->start_svma &&
		    is_better_indirect(candidate, slot->function))
			slot->function = candidate;
	}
	for (size_t i = 0; i < r->slots.count; i++) {
		struct plt_slot *slot = &r->slots.items[i];
		if (!slot->function && i && slot->resolver_svma &&
		    slot->resolver_svma == slot[-1].resolver_svma)
			slot->function = slot[-1].function;
		if (slot->function)
			slot->name = slot->function->name;
	}
}

/* The names of .rela.plt by their place in it; relocations of no function leave a NULL. */
static void list_in_order(struct plt_reader *r)
{
	for (size_t i = 0; i < r->slots.count; i++) {
		const struct plt_slot *slot = &r->slots.items[i];
		if (slot->position == SIZE_MAX)
			continue;
		while (r->in_order.count <= slot->position) {
			if (!vector_push(&r->in_order)) {
				r->no_memory = true;
				return;
			}
		}
		r->in_order.items[slot->position] = slot->name;
	}
}

const char *plt_name_of_slot(const struct plt_reader *r, uint64_t svma)
{
	const struct plt_slot key = { .svma = svma };
	const struct plt_slot *slot =
	    r->slots.count ? bsearch(&key, r->slots.items, r->slots.count, sizeof(key), by_svma)
			   : NULL;
	return slot ? slot->name : NULL;
}

void plt_add_stub(struct plt_reader *r, const char *function, uint64_t svma, uint64_t size)
{
	static const char SUFFIX[] = "@plt";
	if (!function || !*function || *function == '@' || svma + size < svma)
		return;
	size_t length = 0;
	while (length < r->name_bytes_left && function[length] && function[length] != '@')
		length++; /* not the version: "memcpy@@GLIBC_2.14" */
	if (length + sizeof(SUFFIX) > r->name_bytes_left)
		return;
	r->name_bytes_left -= length + sizeof(SUFFIX);
	char *name = arena_new(&r->table->names, char, length + sizeof(SUFFIX));
	if (!name) {
		r->no_memory = true;
		return;
	}
	memcpy(name, function, length);
	memcpy(name + length, SUFFIX, sizeof(SUFFIX));
	const struct symbol_candidate candidate = {
		.start_svma = svma, .end_svma = svma + size, .name = name, .flags = SYMBOL_PLT
	};
	if (!symbol_add(r->table, &candidate))
		r->no_memory = true;
}

int elf_add_plt(struct symbol_table *table, const struct elf_image *image)
{
	struct plt_reader r = { .table = table,
				.image = image,
				.machine = machine_of(image->header.e_machine),
				.name_bytes_left = image->bytes.size };
	struct elf_section section;
	int left = MAX_RELOCATION_SECTIONS;
	for (size_t i = 1; i < image->section_count && !r.no_memory && left; i++) {
		if (!elf_section_at(image, i, &section) ||
		    (section.header.sh_type != SHT_RELA && section.header.sh_type != SHT_REL) ||
		    !(section.header.sh_flags & SHF_ALLOC))
			continue;
		read_relocations(&r, &section);
		left--;
	}
	name_indirect(&r);
	list_in_order(&r);
	sort_slots(&r, by_svma);
	left = MAX_STUB_SECTIONS;
	for (size_t i = 1; i < image->section_count && !r.no_memory && left; i++) {
		if (!elf_section_at(image, i, &section) || strncmp(section.name, ".plt", 4) != 0 ||
		    !(section.header.sh_flags & SHF_EXECINSTR))
			continue;
		plt_read_stubs(&r, &section);
		left--;
	}
	vector_clear(&r.slots);
	vector_clear(&r.in_order);
	return r.no_memory ? STATUS_NO_MEMORY : STATUS_OK;
}
