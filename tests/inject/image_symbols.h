/* image_symbols.h - the function at an offset of an ELF file, as perf finds it.
 *
 * Perf turns symbol values into file offsets by the section they are in.
 */
#ifndef TESTS_INJECT_IMAGE_SYMBOLS_H
#define TESTS_INJECT_IMAGE_SYMBOLS_H

#include "base/vector.h"

#include <stdbool.h>
#include <stdint.h>

struct image_symbol {
	uint64_t file_off;
	uint64_t size;
	uint32_t name; /* offset in `names` */
};

struct image_file {
	char *path;
	bool is_elf;
	VECTOR(struct image_symbol) symbols;
	VECTOR(char) names;
};

struct image_files {
	VECTOR(struct image_file) items;
};

/* NULL where the file is not there, or no ELF file. Read once. */
const struct image_file *image_files_get(struct image_files *files, const char *path);
const struct image_symbol *image_symbol_at(const struct image_file *file, uint64_t file_off);
static inline const char *image_symbol_name(const struct image_file *file,
					    const struct image_symbol *symbol)
{
	return &file->names.items[symbol->name];
}
void image_files_clear(struct image_files *files);

#endif
