#include "symbol/plt_internal.h"

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
			plt_add_stub(r, order < r->in_order.count ? r->in_order.items[order] : NULL,
				     svma, step);
			continue;
		}
		if (p[i] == 0xf2)
			i++;
		if (i + 6 > step || p[i] != 0xff || p[i + 1] != 0x25)
			continue;
		const uint64_t target = svma + i + 6 + (uint64_t)(int64_t)little_i32(p + i + 2);
		plt_add_stub(r, plt_name_of_slot(r, target), svma, step);
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
		plt_add_stub(r, plt_name_of_slot(r, target), has_bti ? svma - 4 : svma,
			     has_bti ? STUB_BYTES + 4 : STUB_BYTES);
	}
}

/* "ff 25 abs32", or "ff a3 disp32" behind the start of the GOT in position-independent code. */
static void read_386(struct plt_reader *r, const GElf_Shdr *header, struct bytes code)
{
	struct elf_section got;
	uint64_t got_svma = 0;
	if (elf_section_named(r->image, ".got.plt", &got) ||
	    elf_section_named(r->image, ".got", &got))
		got_svma = got.header.sh_addr;
	const size_t step = header->sh_entsize == 8 ? 8 : 16;
	for (size_t at = 0; at + step <= code.size; at += step) {
		const uint8_t *p = code.data + at;
		const size_t i = memcmp(p, "\xf3\x0f\x1e\xfb", 4) == 0 ? 4 : 0;
		if (i + 6 > step || p[i] != 0xff || (p[i + 1] != 0x25 && p[i + 1] != 0xa3))
			continue;
		const uint64_t base = p[i + 1] == 0x25 ? 0 : got_svma;
		const uint32_t target = (uint32_t)(base + (uint32_t)little_i32(p + i + 2));
		plt_add_stub(r, plt_name_of_slot(r, target), header->sh_addr + at, step);
	}
}

/* Stubs in the order of their relocations, behind a header. sh_entsize is not to be
 * believed: linkers write 0 or 4. What fits the size of the section is right.
 */
static void read_in_order(struct plt_reader *r, const GElf_Shdr *header)
{
	static const struct {
		unsigned machine;
		unsigned header_size;
		unsigned stub_size;
	} SHAPES[] = {
		{ EM_ARM, 20, 12 }, { EM_ARM, 32, 16 }, { EM_RISCV, 32, 16 }, { EM_S390, 32, 32 }
	};
	const uint64_t count = r->in_order.count;
	for (size_t s = 0; s < sizeof(SHAPES) / sizeof(SHAPES[0]); s++) {
		const uint64_t size = SHAPES[s].stub_size;
		if (SHAPES[s].machine != r->image->header.e_machine ||
		    header->sh_size != SHAPES[s].header_size + count * size)
			continue;
		const uint64_t first = header->sh_addr + SHAPES[s].header_size;
		for (size_t i = 0; i < count && !r->no_memory; i++)
			plt_add_stub(r, r->in_order.items[i], first + i * size, size);
		return;
	}
}

void plt_read_stubs(struct plt_reader *r, const struct elf_section *section)
{
	const struct bytes code = elf_section_bytes(r->image, section);
	if (r->image->header.e_machine == EM_X86_64)
		read_x86_64(r, &section->header, code);
	else if (r->image->header.e_machine == EM_AARCH64)
		read_aarch64(r, &section->header, code);
	else if (r->image->header.e_machine == EM_386)
		read_386(r, &section->header, code);
	else if (strcmp(section->name, ".plt") == 0)
		read_in_order(r, &section->header);
}
