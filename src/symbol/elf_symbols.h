/* elf_symbols.h - from the parts of an ELF image into a table that is being built. */
#ifndef SYMBOL_ELF_SYMBOLS_H
#define SYMBOL_ELF_SYMBOLS_H

#include "symbol/elf_image.h"
#include "symbol/table_internal.h"

/* The functions of the first section of that type (SHT_SYMTAB, SHT_DYNSYM). Names stay in
 * the image. Returns how many were added, or STATUS_NO_MEMORY.
 */
int elf_add_symbols(struct symbol_table *table, const struct elf_image *image, uint32_t type);

/* "name@plt" for each stub of a procedure linkage table. Returns 0 or STATUS_NO_MEMORY. */
int elf_add_plt(struct symbol_table *table, const struct elf_image *image);

/* The symbols that distributions pack into .gnu_debugdata. As elf_add_symbols. */
int elf_add_mini_debug(struct symbol_table *table, const struct elf_image *image);

#endif
