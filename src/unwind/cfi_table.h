/* cfi_table.h - the table's inside. Shared inside unwind/. */
#ifndef UNWIND_CFI_TABLE_H
#define UNWIND_CFI_TABLE_H

#include "base/arena.h"
#include "base/idmap.h"
#include "base/vector.h"
#include "unwind/cfi_entries.h"

enum {
	CFI_EH_FRAME,
	CFI_DEBUG_FRAME,
	CFI_SECTIONS,
	CFI_OF_STUBS = CFI_SECTIONS,
	CFI_NO_ROW = 0,
	CFI_NOT_MADE = 0xffffffff,
};

/* A function: its rows are made when they are first asked for. */
struct cfi_function {
	uint64_t start_svma;
	uint32_t size;
	uint32_t entry_off; /* in its section; of stubs: which ones */
	uint32_t first_row; /* into rows; CFI_NOT_MADE */
	uint32_t row_count : 30;
	uint32_t source : 2; /* CFI_EH_FRAME, CFI_DEBUG_FRAME, CFI_OF_STUBS */
};

/* Functions have few different rows among them: each is kept once. */
struct cfi_place {
	uint32_t off; /* from the function's start */
	uint32_t row; /* into distinct, + 1; CFI_NO_ROW */
};

/* What was found last, by a hash of the address. */
struct cfi_recent {
	uint64_t svma;
	uint32_t row;
};

struct cfi_table {
	enum unwind_machine machine;
	struct cfi_section sections[CFI_SECTIONS];
	struct cfi_entries entries[CFI_SECTIONS];
	struct cfi_stubs stubs[CFI_STUBS];
	void *owned; /* what .debug_frame was unpacked to */
	VECTOR(struct cfi_function) functions;
	VECTOR(struct cfi_place) rows;
	VECTOR(struct cfi_row) distinct;
	struct idmap by_hash; /* index + 1 */
	struct arena rules;
	struct cfi_recent *recent; /* NULL: too small a table to need it */
};

/* As cfi_table_sections(); the table frees `owned`, also where this fails. */
int cfi_table_make(struct cfi_table **table, const struct cfi_sections *sections, void *owned);

/* Makes the rows of a function. What memory or the table's limit does not allow is left out. */
void cfi_make_rows(struct cfi_table *table, struct cfi_function *f);

/* The next row of a function whose rows are being made; NULL: nothing holds from there on. */
bool cfi_put_row(struct cfi_table *table, struct cfi_function *f, uint32_t off,
		 const struct cfi_row *row);

/* The rows of linkers' stubs, by their shape. */
void cfi_make_stub_rows(struct cfi_table *table, struct cfi_function *f);

#endif
