/* cfi_program.h - the instructions of call frame information, run into rows.
 * Shared inside unwind/.
 */
#ifndef UNWIND_CFI_PROGRAM_H
#define UNWIND_CFI_PROGRAM_H

#include "unwind/cfi.h"

/* DWARF register numbers of x86-64 (psABI, figure 3.36). */
enum { CFI_BP = 6, CFI_SP = 7, CFI_RETURN_ADDRESS = 16 };

struct cfi_cie {
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding; /* of pointers in FDEs */
	bool has_augmentation;
	struct cursor program;
};

/* Numbers of seven bits a byte; a cursor that ends inside one fails. */
uint64_t cfi_uleb(struct cursor *c);
int64_t cfi_sleb(struct cursor *c);

/* Runs the CIE's instructions, then the FDE's, and gives every row of the range.
 * False if `put` was; an instruction that is not known ends the function with CFI_NONE.
 */
bool cfi_program_run(const struct cfi_cie *cie, struct cursor program, uint64_t start_svma,
		     uint64_t end_svma, bool (*put)(void *context, const struct cfi_row *row),
		     void *context);

#endif
