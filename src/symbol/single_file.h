/* single_file.h - the assemblies in a .NET program that was published as one file.
 *
 * The program is an ELF file with a bundle behind it; the runtime maps the code of assemblies from
 * where they lie in it. Their svmas are places in the file, raised above those of the ELF part.
 * Compressed assemblies are unpacked into memory, so that no mapping leads here: they are left out.
 *
 * Source: src/native/corehost/bundle and src/installer/managed/Microsoft.NET.HostModel/Bundle of
 * dotnet/runtime.
 */
#ifndef SYMBOL_SINGLE_FILE_H
#define SYMBOL_SINGLE_FILE_H

#include "symbol/elf_image.h"
#include "symbol/symbol.h"

struct single_file;

/* True where there is a bundle. */
bool single_file_is_like(const struct elf_image *image);

/* *result is NULL where the file is none. Returns 0 or STATUS_NO_MEMORY. The bytes are borrowed. */
int single_file_open(struct single_file **result, const struct elf_image *image);
void single_file_close(struct single_file *single);

/* As those of symbol.h. */
bool single_file_to_svma(struct single_file *single, uint64_t file_off, uint64_t *svma);
struct bytes single_file_code(struct single_file *single, uint64_t svma, uint64_t size);
bool single_file_find(struct single_file *single, uint64_t svma, struct symbol *symbol);

#endif
