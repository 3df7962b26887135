/* read_back.h - an image written to memory and opened with libelf and libdw.
 *
 *   struct read_back r;
 *   read_back_open(&r, image);             finished
 *   const GElf_Sym sym = read_back_symbol(&r, 0);
 *   read_back_close(&r);                   also frees the image
 */
#ifndef TESTS_IMAGE_READ_BACK_H
#define TESTS_IMAGE_READ_BACK_H

#include "image/image.h"

#include <elfutils/libdw.h>
#include <gelf.h>

struct read_back {
	struct image *image;
	int fd;
	uint8_t *data; /* the file, mapped */
	size_t size;
	Elf *elf;
	Dwarf *dwarf; /* NULL: no debug sections */
};

void read_back_open(struct read_back *r, struct image *image);
void read_back_close(struct read_back *r);

/* By name; NULL: it is not there. */
Elf_Scn *read_back_section(const struct read_back *r, const char *name, GElf_Shdr *header);

/* The symbol of the nth function. */
GElf_Sym read_back_symbol(const struct read_back *r, uint32_t function);
const char *read_back_name(const struct read_back *r, const GElf_Sym *symbol);

/* "FILE:LINE:COLUMN" at the file offset, or "?". Until the next call. */
const char *read_back_line(const struct read_back *r, uint64_t off);

/* Names from the innermost inlined function to the symbol's: "inner<outer<function". */
const char *read_back_scopes(const struct read_back *r, uint64_t off);

#endif
