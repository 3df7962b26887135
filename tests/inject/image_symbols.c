#include "inject/image_symbols.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put_symbol(struct image_file *file, Elf *elf, const GElf_Sym *symbol, const char *name)
{
	GElf_Shdr section;
	Elf_Scn *scn = elf_getscn(elf, symbol->st_shndx);
	if (GELF_ST_TYPE(symbol->st_info) != STT_FUNC || !name || !scn ||
	    !gelf_getshdr(scn, &section))
		return;
	struct image_symbol *slot = vector_push(&file->symbols);
	const size_t size = strlen(name) + 1;
	if (!slot || !vector_reserve(&file->names, size))
		abort();
	*slot = (struct image_symbol){ .file_off =
					   symbol->st_value - section.sh_addr + section.sh_offset,
				       .size = symbol->st_size,
				       .name = (uint32_t)file->names.count };
	memcpy(file->names.items + file->names.count, name, size);
	file->names.count += size;
}

static void read_table(struct image_file *file, Elf *elf, Elf_Scn *scn, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Sym symbol;
	for (int i = 0; data && gelf_getsym(data, i, &symbol); i++)
		put_symbol(file, elf, &symbol, elf_strptr(elf, header->sh_link, symbol.st_name));
}

static int by_offset(const void *left, const void *right)
{
	const struct image_symbol *a = left;
	const struct image_symbol *b = right;
	return a->file_off < b->file_off ? -1 : a->file_off > b->file_off;
}

static void read_file(struct image_file *file, int fd)
{
	(void)elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	GElf_Shdr header;
	Elf_Scn *scn = NULL;
	file->is_elf = elf && elf_kind(elf) == ELF_K_ELF;
	while (file->is_elf && (scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &header) && header.sh_type == SHT_SYMTAB)
			read_table(file, elf, scn, &header);
	elf_end(elf);
	if (file->symbols.count)
		qsort(file->symbols.items, file->symbols.count, sizeof(*file->symbols.items),
		      by_offset);
}

const struct image_file *image_files_get(struct image_files *files, const char *path)
{
	struct image_file *file = NULL;
	for (size_t i = 0; i < files->items.count; i++)
		if (strcmp(files->items.items[i].path, path) == 0)
			file = &files->items.items[i];
	if (!file) {
		file = vector_push(&files->items);
		if (!file || !(file->path = strdup(path)))
			abort();
		const int fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0) {
			read_file(file, fd);
			close(fd);
		}
	}
	return file->is_elf ? file : NULL;
}

const struct image_symbol *image_symbol_at(const struct image_file *file, uint64_t file_off)
{
	size_t low = 0;
	size_t high = file->symbols.count;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (file->symbols.items[middle].file_off <= file_off)
			low = middle + 1;
		else
			high = middle;
	}
	const struct image_symbol *symbol = low ? &file->symbols.items[low - 1] : NULL;
	return symbol && file_off - symbol->file_off < symbol->size ? symbol : NULL;
}

void image_files_clear(struct image_files *files)
{
	for (size_t i = 0; i < files->items.count; i++) {
		vector_clear(&files->items.items[i].symbols);
		vector_clear(&files->items.items[i].names);
		free(files->items.items[i].path);
	}
	vector_clear(&files->items);
}
