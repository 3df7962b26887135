/* symbol.h - the functions of an ELF object, of an assembly or of the kernel, by address.
 *
 *   struct symbol_files files = { .context = c, .open = open_file, .close = close_file };
 *   struct symbol_table *table;
 *   int got = symbol_table_file(&table, &files, "/usr/bin/node", build_id);
 *   struct symbol sym;
 *   if (symbol_find(table, svma, &sym))
 *           ...
 *   symbol_table_free(table);
 *
 * An object's symbols come from .symtab, .dynsym, .gnu_debugdata and separate
 * debug files (debug_file.h), PLT entries from their relocations; those of a .NET assembly from the
 * tables of its code that was compiled ahead, and its metadata (clr/image.h).
 * Opens nothing itself: it asks through `files`, so callers decide about roots,
 * limits and owners. A table may be read from any thread, that of an assembly from one at a time.
 */
#ifndef SYMBOL_SYMBOL_H
#define SYMBOL_SYMBOL_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

struct symbol_files {
	void *context;
	/* The bytes of a file, valid until close; false where there is none. */
	bool (*open)(void *context, const char *path, struct bytes *bytes);
	void (*close)(void *context, struct bytes bytes);
	/* The debug file of a build id, from a server; as open. NULL: there is no server. */
	bool (*fetch_debug)(void *context, struct bytes build_id, struct bytes *bytes);
};

struct symbol {
	const char *name; /* as in the table: mangled, raw; lives as long as the table */
	uint64_t start_svma;
	uint64_t size; /* 0-sized symbols reach up to the next one */
	/* Code of .NET that was compiled ahead: the name is written as in the runtime's dumps. */
	bool is_method;
	const char
	    *assembly; /* its file inside of a single-file program; NULL: the object itself */
};

struct symbol_table;

/* Of an ELF object or a PE file with .NET code. `build_id` empty: any file at the path is believed;
 * else a file with another build id (of a PE file: clr/build_id.h) is refused with
 * STATUS_NOT_FOUND. Debug files are looked for in the usual places, the assemblies of a composite
 * image beside it. Returns 0 with *table to be freed, or a negative status.
 */
int symbol_table_file(struct symbol_table **table, const struct symbol_files *files,
		      const char *path, struct bytes build_id);

/* From bytes that are an ELF image already (the vdso). */
int symbol_table_image(struct symbol_table **table, struct bytes image);

/* From the text of /proc/kallsyms: svma is the address itself. STATUS_NOT_FOUND where
 * kptr_restrict hides all addresses.
 */
int symbol_table_kallsyms(struct symbol_table **table, struct bytes text);

void symbol_table_free(struct symbol_table *table);

/* True where the file may have methods of .NET: a look at its headers, cheap beside a table. */
bool symbol_may_have_methods(const struct symbol_files *files, const char *path);

/* For a program that may be a single file of .NET: forgets its assemblies if their bundle has
 * another id (clr_bundle_id()) than the one of the recording. Returns false then.
 */
bool symbol_check_bundle(struct symbol_table *table, struct bytes bundle_id);

/* True for a PE file: all its symbols are methods. */
bool symbol_is_assembly(const struct symbol_table *table);

/* How many addresses have a name. */
size_t symbol_count(const struct symbol_table *table);

/* Where a byte of the file is as linked; false where no segment holds it. */
bool symbol_file_to_svma(const struct symbol_table *table, uint64_t file_off, uint64_t *svma);

/* Whether NativeAOT made the code at the address: it is in a section that its linker keeps for
 * managed code. What is named there is a method of .NET, other code of the same object is not.
 */
bool symbol_is_managed(const struct symbol_table *table, uint64_t svma);

/* The instructions from an address on, as the object's own file holds them: at most `size` bytes,
 * cut where its executable segment ends; empty where there is none. Lives as long as the table.
 */
struct bytes symbol_code(const struct symbol_table *table, uint64_t svma, uint64_t size);

/* The machine in the file's header, as EM_X86_64; EM_NONE for the kernel's symbols. */
uint16_t symbol_machine(const struct symbol_table *table);

/* Fills *symbol for the address; false in gaps. */
bool symbol_find(const struct symbol_table *table, uint64_t svma, struct symbol *symbol);

/* The first function of that name, by address; slow. False where there is none. */
bool symbol_find_name(const struct symbol_table *table, const char *name, struct symbol *symbol);

/* The module a kernel symbol is in ("[nf_tables]"), or "" for the kernel itself. */
const char *symbol_module(const struct symbol_table *table, uint64_t avma);

/* The build id in an ELF image's notes, or empty. */
struct bytes symbol_build_id(struct bytes image);

#endif
