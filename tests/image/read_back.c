#include "read_back.h"

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void read_back_open(struct read_back *r, struct image *image)
{
	*r = (struct read_back){ .image = image, .fd = memfd_create("image", MFD_CLOEXEC) };
	assert_true(r->fd >= 0);
	assert_int_equal(image_write(image, r->fd), 0);
	r->size = image_file_size(image);
	assert_int_equal(lseek(r->fd, 0, SEEK_END), r->size);
	r->data = mmap(NULL, r->size, PROT_READ, MAP_PRIVATE, r->fd, 0);
	assert_true(r->data != MAP_FAILED);
	elf_version(EV_CURRENT);
	r->elf = elf_begin(r->fd, ELF_C_READ_MMAP, NULL);
	assert_non_null(r->elf);
	GElf_Shdr header;
	if (read_back_section(r, ".debug_info", &header)) {
		r->dwarf = dwarf_begin_elf(r->elf, DWARF_C_READ, NULL);
		assert_non_null(r->dwarf);
	}
}

void read_back_close(struct read_back *r)
{
	dwarf_end(r->dwarf);
	elf_end(r->elf);
	munmap(r->data, r->size);
	close(r->fd);
	image_free(r->image);
}

Elf_Scn *read_back_section(const struct read_back *r, const char *name, GElf_Shdr *header)
{
	size_t names;
	assert_int_equal(elf_getshdrstrndx(r->elf, &names), 0);
	Elf_Scn *scn = NULL;
	while ((scn = elf_nextscn(r->elf, scn))) {
		assert_non_null(gelf_getshdr(scn, header));
		const char *found = elf_strptr(r->elf, names, header->sh_name);
		assert_non_null(found);
		if (strcmp(found, name) == 0)
			return scn;
	}
	return NULL;
}

GElf_Sym read_back_symbol(const struct read_back *r, uint32_t function)
{
	GElf_Shdr header;
	Elf_Scn *scn = read_back_section(r, ".symtab", &header);
	assert_non_null(scn);
	GElf_Sym symbol = { 0 };
	assert_non_null(gelf_getsym(elf_getdata(scn, NULL), (int)function + 1, &symbol));
	return symbol;
}

const char *read_back_name(const struct read_back *r, const GElf_Sym *symbol)
{
	GElf_Shdr header = { 0 };
	assert_non_null(read_back_section(r, ".symtab", &header));
	return elf_strptr(r->elf, header.sh_link, symbol->st_name);
}

const char *read_back_line(const struct read_back *r, uint64_t off)
{
	static char text[512];
	Dwarf_Die unit;
	if (!dwarf_addrdie(r->dwarf, off, &unit))
		return "?";
	Dwarf_Line *line = dwarf_getsrc_die(&unit, off);
	int number = 0;
	int column = 0;
	if (!line || dwarf_lineno(line, &number) || dwarf_linecol(line, &column))
		return "?";
	const char *file = dwarf_linesrc(line, NULL, NULL);
	(void)snprintf(text, sizeof(text), "%s:%d:%d", file ? file : "?", number, column);
	return text;
}

/* dwarf_getscopes() would follow an inlined function to where it was defined. */
const char *read_back_scopes(const struct read_back *r, uint64_t off)
{
	static char text[1024];
	char rest[sizeof(text)];
	text[0] = '\0';
	Dwarf_Die die;
	if (!dwarf_addrdie(r->dwarf, off, &die))
		return "?";
	while (dwarf_child(&die, &die) == 0) {
		bool is_inside;
		do {
			is_inside = dwarf_haspc(&die, off) == 1;
		} while (!is_inside && dwarf_siblingof(&die, &die) == 0);
		if (!is_inside)
			break;
		memcpy(rest, text, sizeof(rest));
		(void)snprintf(text, sizeof(text), "%s%s%.900s", dwarf_diename(&die),
			       rest[0] ? "<" : "", rest);
	}
	return text;
}
