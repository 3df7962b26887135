/* Any calls with any numbers: the file that comes out is one that libelf and libdw can read,
 * and no two functions share a place in it.
 */
#include "base/status.h"
#include "image/image.h"

#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_READ_BACK = 256 << 20 };

static void must(bool is_right)
{
	if (!is_right)
		abort();
}

/* Mostly small numbers, and the ones at the ends of their ranges. */
static uint64_t number(struct cursor *c)
{
	const uint8_t kind = cursor_u8(c);
	switch (kind & 7) {
	case 0:
		return cursor_u64(c);
	case 1:
		return UINT64_MAX - cursor_u8(c);
	case 2:
		return cursor_u32(c);
	case 3:
		return (uint64_t)0x7f0000000000 + ((uint64_t)cursor_u8(c) << (kind >> 3));
	case 4:
		return cursor_u16(c);
	default:
		return cursor_u8(c);
	}
}

static struct bytes some_bytes(struct cursor *c)
{
	const size_t size = cursor_u8(c);
	return cursor_take(c, size < cursor_left(c) ? size : cursor_left(c));
}

static void add_function(struct image *image, struct cursor *c)
{
	struct image_function f = { .name = some_bytes(c) };
	f.start_avma = number(c);
	f.size = number(c);
	f.code = some_bytes(c);
	must(image_function(image, &f) == 0);
}

static void add_line(struct image *image, struct cursor *c)
{
	struct image_line line = { .offset = number(c) };
	line.file = cursor_u8(c) & 1 ? image_source(image, some_bytes(c)) : (uint32_t)number(c);
	line.line = (uint32_t)number(c);
	line.column = (uint32_t)number(c);
	must(image_line(image, &line) == 0);
}

static void add_scope(struct image *image, struct cursor *c)
{
	struct image_inline scope = { .offset = number(c) };
	scope.size = number(c);
	scope.depth = cursor_u8(c) & 3;
	scope.name = some_bytes(c);
	scope.call_file = image_source(image, some_bytes(c));
	scope.call_line = (uint32_t)number(c);
	must(image_inline(image, &scope) == 0);
}

static void add(struct image *image, struct cursor *c)
{
	switch (cursor_u8(c) % 6) {
	case 0:
	case 1:
		add_function(image, c);
		break;
	case 2:
		add_line(image, c);
		break;
	case 3:
		add_scope(image, c);
		break;
	case 4: {
		const struct bytes blob = some_bytes(c);
		must(image_unwinding(image, blob, number(c) % 64) == 0);
		break;
	}
	default: {
		const uint64_t start_avma = number(c);
		must(image_avoid(image, start_avma, number(c)) == 0);
	}
	}
}

static int by_value(const void *left, const void *right)
{
	const GElf_Sym *a = left;
	const GElf_Sym *b = right;
	return a->st_value < b->st_value ? -1 : a->st_value > b->st_value;
}

static void check_symbols(Elf *elf, Elf_Scn *scn, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	const size_t count = header->sh_size / header->sh_entsize;
	GElf_Sym *symbols = calloc(count, sizeof(*symbols));
	must(data && symbols);
	for (size_t i = 1; i < count; i++) {
		GElf_Shdr section;
		must(gelf_getsym(data, (int)i, &symbols[i]) != NULL);
		must(elf_strptr(elf, header->sh_link, symbols[i].st_name) != NULL);
		must(gelf_getshdr(elf_getscn(elf, symbols[i].st_shndx), &section) != NULL);
		must(symbols[i].st_value >= section.sh_addr && symbols[i].st_size > 0);
		must(symbols[i].st_value - section.sh_addr + symbols[i].st_size <= section.sh_size);
	}
	qsort(symbols, count, sizeof(*symbols), by_value);
	for (size_t i = 2; i < count; i++)
		must(symbols[i - 1].st_value + symbols[i - 1].st_size <= symbols[i].st_value);
	free(symbols);
}

static void check_lines(Elf *elf)
{
	Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	Dwarf_Off off = 0;
	Dwarf_Off next;
	size_t head;
	while (dwarf && dwarf_nextcu(dwarf, off, &next, &head, NULL, NULL, NULL) == 0) {
		Dwarf_Die unit;
		Dwarf_Die child;
		Dwarf_Lines *lines;
		size_t count;
		must(dwarf_offdie(dwarf, off + head, &unit) != NULL);
		must(dwarf_child(&unit, &child) == 0);
		do {
			must(dwarf_diename(&child) != NULL || dwarf_hasattr(&child, 0x11));
		} while (dwarf_siblingof(&child, &child) == 0);
		must(dwarf_getsrclines(&unit, &lines, &count) == 0);
		off = next;
	}
	dwarf_end(dwarf);
}

static void check_frames(Elf *elf, const GElf_Ehdr *header, Elf_Scn *scn)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	must(data != NULL);
	Dwarf_CFI_Entry entry;
	Dwarf_Off off = 0;
	Dwarf_Off next;
	int got;
	while ((got = dwarf_next_cfi(header->e_ident, data, true, off, &next, &entry)) == 0)
		off = next;
	must(got == 1);
	Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
	must(cfi != NULL);
	dwarf_cfi_end(cfi);
}

static void read_back(int fd)
{
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	GElf_Ehdr ehdr;
	size_t names;
	must(elf && gelf_getehdr(elf, &ehdr) && elf_getshdrstrndx(elf, &names) == 0);
	Elf_Scn *scn = NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr header;
		must(gelf_getshdr(scn, &header) != NULL);
		const char *name = elf_strptr(elf, names, header.sh_name);
		must(name != NULL);
		if (header.sh_type == SHT_SYMTAB)
			check_symbols(elf, scn, &header);
		else if (strcmp(name, ".debug_info") == 0)
			check_lines(elf);
		else if (strcmp(name, ".eh_frame") == 0)
			check_frames(elf, &ehdr, scn);
	}
	elf_end(elf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image *image;
	if (image_new(&image, &(struct image_options){ .elf_machine = EM_X86_64,
						       .has_unwind_maps = true }) < 0)
		return 0;
	struct cursor c = cursor_over((struct bytes){ data, size });
	while (cursor_left(&c))
		add(image, &c);
	const int got = image_finish(image);
	must(got == 0 || got == STATUS_TOO_BIG);
	if (got == 0 && image_file_size(image) < MAX_READ_BACK) {
		const int fd = memfd_create("image", MFD_CLOEXEC);
		must(fd >= 0 && image_write(image, fd) == 0);
		read_back(fd);
		close(fd);
	}
	image_free(image);
	return 0;
}
