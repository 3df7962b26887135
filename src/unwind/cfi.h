/* cfi.h - the call frame information of an object, as a table of rows.
 *
 *   struct cfi_table *table;
 *   int got = cfi_table_elf(&table, image);
 *   const struct cfi_row *row = cfi_find(table, svma);
 *   cfi_table_free(table);
 *
 * A row says how a frame is undone where the program counter is in some range: what the
 * frame's address (CFA: the caller's sp) is, and where each register of the caller is
 * found. The functions of .eh_frame and .debug_frame are put in order at once; the rows
 * of one are made when it is first asked for, and kept. So a table belongs to one thread
 * at a time, and borrows the bytes that it was made from for its life.
 * Source: DWARF 5, section 6.4; LSB 5.0 Core, section 10.6 (.eh_frame); DWARF for the
 * Arm 64-bit Architecture.
 */
#ifndef UNWIND_CFI_H
#define UNWIND_CFI_H

#include "base/bytes.h"
#include "unwind/registers.h"

enum cfi_rule_kind {
	CFI_SAME,
	CFI_UNDEFINED,        /* lost; of the return address: this is the outermost frame */
	CFI_AT_CFA,           /* saved `operand` bytes from the CFA */
	CFI_VALUE_CFA,        /* it is the CFA + operand */
	CFI_REGISTER,         /* it is register `number` + operand, as in this frame */
	CFI_EXPRESSION,       /* saved where an expression says, which starts with the CFA */
	CFI_VALUE_EXPRESSION, /* it is what the expression gives */
};

struct cfi_rule {
	uint8_t kind;    /* enum cfi_rule_kind */
	uint8_t number;  /* CFI_REGISTER */
	uint16_t size;   /* of an expression */
	int32_t operand; /* or where the expression starts in row->expressions */
};

struct cfi_row {
	struct cfi_rule cfa;          /* CFI_REGISTER or CFI_VALUE_EXPRESSION */
	uint64_t ruled;               /* the registers that have a rule, a bit each */
	const struct cfi_rule *rules; /* of these, the lowest register's first */
	const uint8_t *expressions;
	uint8_t return_register; /* the one whose rule finds the return address */
	uint8_t is_signal;       /* what is "returned" to was interrupted: it called nothing */
	/* The return address's place among `rules`, from 1, of a row that asks of registers nothing
	 * but to be loaded from the stack. 0 where that was not looked at: slower, but as right.
	 */
	uint8_t plain_return;
};

struct cfi_table;

/* Returns 0 with a table to be freed, or STATUS_NOT_FORMAT, _NOT_FOUND (no such section, or
 * another machine), _CORRUPT, _NO_MEMORY. Damaged entries are left out.
 */
int cfi_table_elf(struct cfi_table **table, struct bytes image);

/* The same with the object's separate debug file beside it, whose .debug_frame counts where the
 * object tells nothing. Either may be empty.
 */
int cfi_table_elf_debug(struct cfi_table **table, struct bytes image, struct bytes debug);

/* Bare sections, with the addresses at which they lie. Stubs of the linker (.plt and its like) are
 * known by their shape; not every linker describes them.
 */
struct cfi_stubs {
	struct bytes bytes;
	uint64_t svma;
};

enum { CFI_STUBS = 4 };

struct cfi_sections {
	enum unwind_machine machine;
	struct bytes eh_frame;
	uint64_t eh_frame_svma;
	uint64_t data_svma; /* what data-relative pointers count from: .eh_frame_hdr */
	struct bytes debug_frame;
	struct cfi_stubs stubs[CFI_STUBS];
};
int cfi_table_sections(struct cfi_table **table, const struct cfi_sections *sections);

/* What a jitdump's UNWINDING_INFO tells of the code that follows it. Its bytes are .eh_frame and
 * behind it eh_frame_hdr_size bytes of .eh_frame_hdr; distances in it are those it would have
 * behind the code, at the next multiple of 8. STATUS_NOT_FOUND where it describes nothing:
 * V8 writes an empty header alone for code that has frame pointers.
 */
struct cfi_jit {
	enum unwind_machine machine;
	struct bytes unwinding;
	uint64_t eh_frame_hdr_size;
	uint64_t code_svma; /* where the table says that the code is: mostly as it was told */
	uint64_t code_size;
};
int cfi_table_jit(struct cfi_table **table, const struct cfi_jit *jit);

void cfi_table_free(struct cfi_table *table);

/* The row that holds at the address; NULL where nothing is told, or nothing we could follow. It
 * may move with the next call; its `rules` and `expressions` stay.
 */
const struct cfi_row *cfi_find(struct cfi_table *table, uint64_t svma);

enum unwind_machine cfi_table_machine(const struct cfi_table *table);

/* How many functions the table knows, where each of them starts, lowest first, and the bytes of
 * memory it takes now.
 */
size_t cfi_table_count(const struct cfi_table *table);
uint64_t cfi_table_start(const struct cfi_table *table, size_t index);
size_t cfi_table_bytes(const struct cfi_table *table);

#endif
