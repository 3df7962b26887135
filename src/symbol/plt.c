#include "base/status.h"
#include "symbol/elf_symbols.h"

#include <stdlib.h>

/* A stub of the PLT jumps through a slot of the GOT; the relocation of that slot names
 * the function. Where the code of the stubs can be read (x86-64, AArch64), each is
 * named by the slot that it uses, wherever the linker put it (.plt, .plt.sec, .plt.got);
 * elsewhere stubs are taken to stand in the order of the relocations.
 */
struct slot {
	uint64_t svma;
	const char *name;
	const struct symbol_candidate *function; /* where the name comes from it */
	size_t position;                         /* in .rela.plt, SIZE_MAX elsewhere */
	uint64_t resolver_svma; /* of an indirect function, which has no name here; or 0 */
};

struct machine {
	uint32_t jump_slot;
	uint32_t glob_dat;
	uint32_t irelative;
};

static struct machine machine_of(unsigned machine)
{
	switch (machine) {
	case EM_X86_64:
		return (struct machine){ R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT,
					 R_X86_64_IRELATIVE };
	case EM_AARCH64:
		return (struct machine){ R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT,
					 R_AARCH64_IRELATIVE };
	case EM_386:
		return (struct machine){ R_386_JMP_SLOT, R_386_GLOB_DAT, R_386_IRELATIVE };
	case EM_ARM:
		return (struct machine){ R_ARM_JUMP_SLOT, R_ARM_GLOB_DAT, R_ARM_IRELATIVE };
	case EM_RISCV:
		return (struct machine){ R_RISCV_JUMP_SLOT, 0, 58 /* R_RISCV_IRELATIVE */ };
	case EM_PPC64:
		return (struct machine){ R_PPC64_JMP_SLOT, R_PPC64_GLOB_DAT, R_PPC64_IRELATIVE };
	case EM_S390:
		return (struct machine){ R_390_JMP_SLOT, R_390_GLOB_DAT, R_390_IRELATIVE };
	default:
		return (struct machine){ 0 };
	}
}

/* More sections of a kind than this make no object that a linker wrote. */
enum { MAX_RELOCATION_SECTIONS = 64, MAX_STUB_SECTIONS = 16 };

struct plt_reader {
	struct symbol_table *table;
	const struct elf_image *image;
	struct machine machine;
	VECTOR(struct slot) slots;
	VECTOR(const char *) in_order; /* names by position in .rela.plt, NULL for none */
	bool no_memory;
};

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

static const char *relocation_name(const struct plt_reader *r, const GElf_Rela *rela,
				   const struct elf_section *symbols, Elf_Data *symbol_data)
{
	GElf_Sym sym;
	if (!symbol_data || !gelf_getsym(symbol_data, (int)GELF_R_SYM(rela->r_info), &sym) ||
	    !sym.st_name)
		return NULL;
	return elf_strptr(r->image->elf, symbols->header.sh_link, sym.st_name);
}

static void read_relocations(struct plt_reader *r, const struct elf_section *section)
{
	const bool has_addend = section->header.sh_type == SHT_RELA;
	const bool is_plt =
	    strcmp(section->name, ".rela.plt") == 0 || strcmp(section->name, ".rel.plt") == 0;
	Elf_Data *data = elf_getdata(section->scn, NULL);
	struct elf_section symbols;
	Elf_Data *symbol_data = NULL;
	if (elf_section_at(r->image, section->header.sh_link, &symbols) &&
	    (symbols.header.sh_type == SHT_DYNSYM || symbols.header.sh_type == SHT_SYMTAB))
		symbol_data = elf_getdata(symbols.scn, NULL);
	if (!data || !data->d_buf)
		return;
	GElf_Rela rela;
	for (size_t i = 0; i < INT32_MAX && relocation_at(data, has_addend, i, &rela); i++) {
		const size_t type = GELF_R_TYPE(rela.r_info);
		const bool is_indirect = type != 0 && type == r->machine.irelative;
		if (type == 0 ||
		    (type != r->machine.jump_slot && type != r->machine.glob_dat && !is_indirect))
			continue;
		struct slot *slot = vector_push(&r->slots);
		if (!slot) {
			r->no_memory = true;
			return;
		}
		slot->svma = rela.r_offset;
		slot->position = is_plt ? i : SIZE_MAX;
		if (is_indirect)
			slot->resolver_svma = (uint64_t)rela.r_addend;
		else
			slot->name = relocation_name(r, &rela, &symbols, symbol_data);
	}
}

static int by_svma(const void *a, const void *b)
{
	const struct slot *x = a;
	const struct slot *y = b;
	return x->svma < y->svma ? -1 : x->svma > y->svma;
}

static int by_resolver(const void *a, const void *b)
{
	const struct slot *x = a;
	const struct slot *y = b;
	return x->resolver_svma < y->resolver_svma ? -1 : x->resolver_svma > y->resolver_svma;
}

static int by_position(const void *a, const void *b)
{
	const struct slot *x = a;
	const struct slot *y = b;
	return x->position < y->position ? -1 : x->position > y->position;
}

static void sort_slots(struct plt_reader *r, int (*compare)(const void *, const void *))
{
	if (r->slots.count)
		qsort(r->slots.items, r->slots.count, sizeof(struct slot), compare);
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

/* An indirect function has no relocation by name: its address leads to it. */
static void name_indirect(struct plt_reader *r)
{
	sort_slots(r, by_resolver);
	for (size_t i = 0; i < r->table->candidates.count && r->slots.count; i++) {
		const struct symbol_candidate *candidate = &r->table->candidates.items[i];
		const struct slot key = { .resolver_svma = candidate->start_svma };
		struct slot *slot =
		    bsearch(&key, r->slots.items, r->slots.count, sizeof(key), by_resolver);
		if (!slot || !slot->resolver_svma)
			continue;
		while (slot > r->slots.items && by_resolver(slot - 1, &key) == 0)
			slot--;
		for (; slot < r->slots.items + r->slots.count && by_resolver(slot, &key) == 0;
		     slot++)
			if (is_better_indirect(candidate, slot->function)) {
				slot->function = candidate;
				slot->name = candidate->name;
			}
	}
}

/* The names of .rela.plt by their place in it. */
static void list_in_order(struct plt_reader *r)
{
	sort_slots(r, by_position);
	for (size_t i = 0; i < r->slots.count && r->slots.items[i].position != SIZE_MAX; i++) {
		const char **name = vector_push(&r->in_order);
		if (!name) {
			r->no_memory = true;
			return;
		}
		*name = r->slots.items[i].name;
	}
}

static const char *name_of_slot(const struct plt_reader *r, uint64_t svma)
{
	const struct slot key = { .svma = svma };
	const struct slot *slot =
	    r->slots.count ? bsearch(&key, r->slots.items, r->slots.count, sizeof(key), by_svma)
			   : NULL;
	return slot ? slot->name : NULL;
}

static void add_stub(struct plt_reader *r, const char *function, uint64_t svma, uint64_t size)
{
	static const char SUFFIX[] = "@plt";
	if (!function || !*function || svma + size < svma)
		return;
	const size_t length = strlen(function);
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

static int32_t little_i32(const uint8_t *p)
{
	return (int32_t)((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
			 (uint32_t)p[3] << 24);
}

/* "ff 25 disp32", jmp *disp(%rip), perhaps behind endbr64 or a bnd prefix. Where lazy
 * binding was split off (.plt.sec), what is left in .plt pushes the number of the
 * relocation: "68 imm32".
 */
static void read_x86_64(struct plt_reader *r, const GElf_Shdr *header, struct bytes code)
{
	const size_t step = header->sh_entsize == 8 ? 8 : 16;
	for (size_t at = 0; at + step <= code.size; at += step) {
		const uint8_t *p = code.data + at;
		const uint64_t svma = header->sh_addr + at;
		size_t i = 0;
		if (memcmp(p, "\xf3\x0f\x1e\xfa", 4) == 0)
			i += 4;
		if (i + 6 <= step && p[i] == 0x68) {
			const size_t order = (uint32_t)little_i32(p + i + 1);
			add_stub(r, order < r->in_order.count ? r->in_order.items[order] : NULL,
				 svma, step);
			continue;
		}
		if (p[i] == 0xf2)
			i++;
		if (i + 6 > step || p[i] != 0xff || p[i + 1] != 0x25)
			continue;
		const uint64_t target = svma + i + 6 + (uint64_t)(int64_t)little_i32(p + i + 2);
		add_stub(r, name_of_slot(r, target), svma, step);
	}
}

/* adrp x16, PAGE; ldr x17, [x16, #OFFSET]; add ...; br x17, perhaps behind "bti c". */
static void read_aarch64(struct plt_reader *r, const GElf_Shdr *header, struct bytes code)
{
	enum { BTI_C = (int)0xd503245f, STUB_BYTES = 16 };
	for (size_t at = 0; at + STUB_BYTES <= code.size; at += 4) {
		const uint32_t adrp = (uint32_t)little_i32(code.data + at);
		const uint32_t ldr = (uint32_t)little_i32(code.data + at + 4);
		if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
			continue;
		const uint32_t pages = (adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
		const int64_t page = (int64_t)((uint64_t)pages << 43) >> 43;
		const uint64_t svma = header->sh_addr + at;
		const uint64_t target = (svma & ~(uint64_t)4095) + (uint64_t)page * 4096 +
					(uint64_t)(ldr >> 10 & 0xfff) * 8;
		const bool has_bti = at >= 4 && little_i32(code.data + at - 4) == BTI_C;
		add_stub(r, name_of_slot(r, target), has_bti ? svma - 4 : svma,
			 has_bti ? STUB_BYTES + 4 : STUB_BYTES);
	}
}

/* The header in front of the stubs is what is left over. */
static void read_in_order(struct plt_reader *r, const GElf_Shdr *header)
{
	const uint64_t size = header->sh_entsize;
	const size_t count = r->in_order.count;
	if (!size || !count || header->sh_size / size < count)
		return;
	const uint64_t first = header->sh_addr + (header->sh_size - count * size);
	for (size_t i = 0; i < count && !r->no_memory; i++)
		add_stub(r, r->in_order.items[i], first + i * size, size);
}

static void read_stubs(struct plt_reader *r, const struct elf_section *section)
{
	const struct bytes code = elf_section_bytes(r->image, section);
	if (r->image->header.e_machine == EM_X86_64)
		read_x86_64(r, &section->header, code);
	else if (r->image->header.e_machine == EM_AARCH64)
		read_aarch64(r, &section->header, code);
	else if (strcmp(section->name, ".plt") == 0)
		read_in_order(r, &section->header);
}

int elf_add_plt(struct symbol_table *table, const struct elf_image *image)
{
	struct plt_reader r = { .table = table,
				.image = image,
				.machine = machine_of(image->header.e_machine) };
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
		read_stubs(&r, &section);
		left--;
	}
	vector_clear(&r.slots);
	vector_clear(&r.in_order);
	return r.no_memory ? STATUS_NO_MEMORY : STATUS_OK;
}
