/* find.h - what the searches for single interpreters share. */
#ifndef INTERP_FIND_H
#define INTERP_FIND_H

#include "interp/interp.h"
#include "symbol/elf_image.h"

/* A symbol that is looked for, by name, of any type. */
struct interp_symbol {
	const char *name;
	uint64_t value; /* address as linked; offset of thread-local ones */
	uint64_t size;
	bool is_there;
};

/* Fills what .dynsym, else .symtab, has. Returns how many are there. */
size_t interp_symbols(const struct elf_image *elf, struct interp_symbol *symbols, size_t count);

/* What the file has at an address as linked; empty where it is not there in whole. */
struct bytes interp_bytes(const struct elf_image *elf, uint64_t svma, uint64_t size);

/* True with the module that the loader gave to this object's thread-local variables. */
bool interp_tls_module(const struct elf_image *elf, const struct interp_object *object,
		       const struct interp_view *view, uint32_t *module);

/* One search a language: as interp_find(). */
typedef int interp_search(const struct elf_image *elf, const struct interp_object *object,
			  const struct interp_view *view, struct interp_found *found);

interp_search interp_python;
interp_search interp_php;
interp_search interp_ruby;
interp_search interp_perl;
interp_search interp_slot;
interp_search interp_luajit;

/* For `return`: the interpreter is there, but cannot be walked. */
static inline int interp_refuse(struct interp_found *found, const char *reason)
{
	found->refusal = reason;
	return 0;
}

#endif
