/* plt_internal.h - the stubs of a procedure linkage table and where their names come from.
 *
 * A stub jumps through a slot of the GOT; the relocation of that slot names the function.
 * Where the code of the stubs can be read (x86, AArch64), each is named by the slot that
 * it uses, wherever the linker put it (.plt, .plt.sec, .plt.got); elsewhere stubs are
 * taken to stand in the order of the relocations.
 */
#ifndef SYMBOL_PLT_INTERNAL_H
#define SYMBOL_PLT_INTERNAL_H

#include "symbol/elf_symbols.h"

struct plt_slot {
	uint64_t svma;
	const char *name;
	const struct symbol_candidate *function; /* where the name comes from it */
	size_t position;                         /* in .rela.plt, SIZE_MAX elsewhere */
	uint64_t resolver_svma; /* of an indirect function, which has no name here; or 0 */
};

/* The relocation types of a machine; 0: none. */
struct plt_machine {
	uint32_t jump_slot;
	uint32_t glob_dat;
	uint32_t irelative;
};

struct plt_reader {
	struct symbol_table *table;
	const struct elf_image *image;
	struct plt_machine machine;
	VECTOR(struct plt_slot) slots;
	VECTOR(const char *) in_order; /* names by position in .rela.plt, NULL for none */
	size_t name_bytes_left; /* for names of stubs: they cannot be more than the file holds */
	bool no_memory;
};

/* The function that a slot of the GOT is for, or NULL. */
const char *plt_name_of_slot(const struct plt_reader *r, uint64_t svma);

/* Adds "FUNCTION@plt"; nothing where `function` is NULL. */
void plt_add_stub(struct plt_reader *r, const char *function, uint64_t svma, uint64_t size);

/* The stubs of one code section. */
void plt_read_stubs(struct plt_reader *r, const struct elf_section *section);

#endif
