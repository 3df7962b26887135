/* assembly.h - the methods of a .NET assembly that were compiled ahead, as symbols.
 *
 * An svma is an RVA. Names are made one by one, when a method is asked for, and kept: an assembly
 * has tens of thousands, a profile shows hundreds. So finds may come from one thread at a time.
 */
#ifndef SYMBOL_ASSEMBLY_H
#define SYMBOL_ASSEMBLY_H

#include "symbol/symbol.h"

struct assembly;

/* True for what begins as a PE file does. */
bool assembly_is_like(struct bytes file);

/* `file` is borrowed. Files of components are looked for beside `path`, through `files`, which are
 * copied. Returns as clr_image_open().
 */
int assembly_open(struct assembly **assembly, const struct symbol_files *files, const char *path,
		  struct bytes file);
void assembly_close(struct assembly *assembly);

/* EM_*; EM_NONE where no code was compiled ahead. */
uint16_t assembly_machine(const struct assembly *assembly);

size_t assembly_count(const struct assembly *assembly);
bool assembly_file_to_svma(const struct assembly *assembly, uint64_t file_off, uint64_t *svma);
struct bytes assembly_code(const struct assembly *assembly, uint64_t svma, uint64_t size);
bool assembly_find(struct assembly *assembly, uint64_t svma, struct symbol *symbol);
bool assembly_find_name(struct assembly *assembly, const char *name, struct symbol *symbol);

#endif
