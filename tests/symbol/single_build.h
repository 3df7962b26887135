/* single_build.h - a program that was published as one file, for tests.
 *
 *   struct bytes file = make_single(true);     free_fixture() frees it
 */
#ifndef TESTS_SINGLE_BUILD_H
#define TESTS_SINGLE_BUILD_H

#include "base/sink.h"
#include "clr/build_id.h"
#include "clr/fixture.h"

#include <elf.h>

enum { DATA_OFF = 0x1000, DATA_SIZE = 0x100, PLACEHOLDER = 0x40, NEXT_ENTRY = 0x2240 };

/* Written down a second time: it is the format's. */
static const uint8_t SIGNATURE[] = { 0x8b, 0x12, 0x02, 0xb9, 0x6a, 0x61, 0x20, 0x38,
				     0x72, 0x7b, 0x93, 0x02, 0x14, 0xd7, 0xa0, 0x32,
				     0x13, 0xf5, 0xb9, 0xe6, 0xef, 0xae, 0x33, 0x18,
				     0xee, 0x3b, 0x2d, 0xce, 0x24, 0xb3, 0x6a, 0xae };

static inline void put_text(struct sink *out, const char *text)
{
	sink_u8(out, (uint8_t)strlen(text));
	sink_text(out, text);
}

static inline void put_entry(struct sink *out, uint64_t off, uint64_t size, uint8_t type,
			     const char *name)
{
	sink_u64(out, off);
	sink_u64(out, size);
	sink_u64(out, 0); /* as it is, not packed */
	sink_u8(out, type);
	put_text(out, name);
}

/* A program of two segments, and behind it: an assembly without code, one with code, the list. */
static inline struct bytes make_single(bool with_offset)
{
	const struct bytes il = read_fixture(SHAPES_IL);
	const struct bytes code = read_fixture(SHAPES);
	struct sink out = { 0 };
	const Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
				    .e_type = ET_DYN,
				    .e_machine = EM_X86_64,
				    .e_version = 1,
				    .e_phoff = sizeof(header),
				    .e_ehsize = sizeof(header),
				    .e_phentsize = sizeof(Elf64_Phdr),
				    .e_phnum = 2 };
	const Elf64_Phdr text = {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = DATA_OFF, .p_memsz = DATA_OFF
	};
	const Elf64_Phdr data = { .p_type = PT_LOAD,
				  .p_flags = PF_R | PF_W,
				  .p_offset = DATA_OFF,
				  .p_vaddr = 2 * DATA_OFF,
				  .p_filesz = DATA_SIZE,
				  .p_memsz = DATA_SIZE };
	sink_put(&out, &header, sizeof(header));
	sink_put(&out, &text, sizeof(text));
	sink_put(&out, &data, sizeof(data));
	sink_zeros(&out, DATA_OFF + PLACEHOLDER - out.size);
	const uint64_t header_off = NEXT_ENTRY + code.size;
	sink_u64(&out, with_offset ? header_off : 0);
	sink_put(&out, SIGNATURE, sizeof(SIGNATURE));
	sink_zeros(&out, DATA_OFF + DATA_SIZE - out.size);
	const uint64_t il_off = out.size;
	sink_put(&out, il.data, il.size);
	sink_zeros(&out, NEXT_ENTRY - out.size);
	sink_put(&out, code.data, code.size);
	sink_u32(&out, 6);
	sink_u32(&out, 0);
	sink_u32(&out, 3);
	put_text(&out, "an-id");
	sink_zeros(&out, 40);
	put_entry(&out, NEXT_ENTRY, code.size, 1, "lib/Shapes.dll");
	put_entry(&out, il_off, il.size, 1, "Plain.dll");
	put_entry(&out, 0, 8, 3, "a.deps.json");
	assert_false(sink_failed(&out));
	free_fixture(il);
	free_fixture(code);
	/* Of exact size. */
	uint8_t *exact = malloc(out.size);
	assert_non_null(exact);
	memcpy(exact, out.data, out.size);
	const struct bytes file = { exact, out.size };
	sink_clear(&out);
	return file;
}

#endif
