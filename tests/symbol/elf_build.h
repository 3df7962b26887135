/* elf_build.h - small ELF64 images for tests.
 *
 *   struct elf_build b;
 *   elf_build_start(&b, ET_DYN);
 *   elf_build_symbol(&b, "alpha", 0x1000, 16, STB_GLOBAL, STT_FUNC);
 *   struct bytes image = elf_build_end(&b);        to be freed
 *
 * .text lies at svma 0x1000 and file offset 0x1000, 0x1000 bytes long.
 */
#ifndef TESTS_ELF_BUILD_H
#define TESTS_ELF_BUILD_H

#include "base/sink.h"

#include <elf.h>

enum {
	BUILD_TEXT_SVMA = 0x1000,
	BUILD_TEXT_SIZE = 0x1000,
	BUILD_DATA_SVMA = 0x2000,
	BUILD_TEXT_INDEX = 1,
	BUILD_DATA_INDEX = 2,
};

struct elf_build {
	struct sink symbols;
	struct sink names;
	struct bytes build_id;
	const char *debug_link;
	uint32_t debug_crc;
	struct bytes mini_debug;
	uint32_t symbol_type; /* SHT_SYMTAB, SHT_DYNSYM; 0: no symbols */
	uint16_t type;
	uint16_t machine;
	bool is_debug_file; /* .text is NOBITS */
};

void elf_build_start(struct elf_build *b, uint16_t type);
void elf_build_symbol(struct elf_build *b, const char *name, uint64_t svma, uint64_t size,
		      int binding, int type);
void elf_build_symbol_in(struct elf_build *b, const char *name, const Elf64_Sym *sym);
struct bytes elf_build_end(struct elf_build *b);

#endif
