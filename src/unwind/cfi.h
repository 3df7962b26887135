/* cfi.h - the call frame information of an x86-64 ELF object, as a table.
 *
 *   struct cfi_table *table;
 *   int got = cfi_table_elf(&table, image);
 *   const struct cfi_row *row = cfi_find(table, svma);
 *   cfi_table_free(table);
 *
 * .eh_frame is compiled once into rows: from this address on, the frame is found
 * so. Kept is what an unwinder of code addresses needs: the frame's address (CFA)
 * from rsp or rbp, and where rbp was saved; the return address lies below the CFA.
 * Everything else (other registers, expressions) makes a row that says so.
 * Source: DWARF 5, section 6.4; LSB 5.0 Core, section 10.6 (.eh_frame).
 * The table borrows nothing; it may be read from any thread.
 */
#ifndef UNWIND_CFI_H
#define UNWIND_CFI_H

#include "base/bytes.h"

#include <stdint.h>

enum cfi_frame {
	CFI_NONE, /* between functions, or described in a way we do not follow */
	CFI_FROM_SP,
	CFI_FROM_BP,
	CFI_PLT,   /* a stub of 16 bytes that has pushed 8 from its byte cfa_offset on */
	CFI_OUTER, /* the outermost frame: no return address */
};

struct cfi_row {
	uint64_t start_svma;
	int32_t cfa_offset;
	int16_t bp_offset; /* from the CFA, where has_bp */
	uint8_t frame;     /* enum cfi_frame */
	uint8_t has_bp;    /* rbp was saved; else it is the caller's still */
};

struct cfi_table;

/* Returns 0 with a table to be freed, or STATUS_NOT_FORMAT, _NOT_FOUND (no .eh_frame, or
 * another machine), _NO_MEMORY. Damaged entries are left out.
 */
int cfi_table_elf(struct cfi_table **table, struct bytes image);
void cfi_table_free(struct cfi_table *table);

/* The row that covers the address; NULL before the first. */
const struct cfi_row *cfi_find(const struct cfi_table *table, uint64_t svma);

/* From a bare section, as it lies at `section_svma`; what cfi_table_elf() does inside. */
int cfi_table_section(struct cfi_table **table, struct bytes section, uint64_t section_svma);

#endif
