/* Stubs through which calls leave an object (.plt). GNU ld describes them in .eh_frame, lld does
 * not. What they do to the stack follows from the machine's psABI.
 */
#include "unwind/cfi_table.h"
#include "unwind/rules.h"

enum {
	X86_64_ENTRY = 16,
	X86_64_PUSHED_AT = 6, /* the first stub has pushed its word */
	AARCH64_FIRST = 32,
	WORD = 8,
};

/* The stub has pushed its number where (rip & 15) is at or behind some byte; the CFA is
 * rsp + 8 + (that ? 8 : 0).
 */
#define PUSHED_FROM(byte)                                      \
	{                                                      \
		0x77, WORD,              /* breg7 8 */         \
		    0x80, 0,             /* breg16 0 */        \
		    0x3f, 0x1a,          /* lit15, and */      \
		    0x30 + (byte), 0x2a, /* lit, ge */         \
		    0x33, 0x24, 0x22     /* lit3, shl, plus */ \
	}
static const uint8_t pushed_from_11[] = PUSHED_FROM(11); /* jmp *, push, jmp */
static const uint8_t pushed_from_9[] = PUSHED_FROM(9);   /* endbr64, push, jmp */

static bool starts_with(struct bytes bytes, size_t at, const char *code, size_t size)
{
	return bytes.size >= at + size && memcmp(bytes.data + at, code, size) == 0;
}

static void make_x86_64(struct cfi_table *table, struct cfi_function *f, struct bytes code)
{
	struct cfi_row row = unwind_rule_entry(UNWIND_X86_64);
	if (!starts_with(code, 0, "\xff\x35", 2)) {
		(void)cfi_put_row(table, f, 0, &row);
		return;
	}
	/* The first one is jumped to by the others, and pushes once more. */
	row.cfa.operand = 2 * WORD;
	(void)cfi_put_row(table, f, 0, &row);
	row.cfa.operand = 3 * WORD;
	(void)cfi_put_row(table, f, X86_64_PUSHED_AT, &row);
	const bool has_endbr = starts_with(code, X86_64_ENTRY, "\xf3\x0f\x1e\xfa", 4);
	row.expressions = has_endbr ? pushed_from_9 : pushed_from_11;
	row.cfa = (struct cfi_rule){ .kind = CFI_VALUE_EXPRESSION, .size = sizeof(pushed_from_9) };
	(void)cfi_put_row(table, f, X86_64_ENTRY, &row);
}

static void make_aarch64(struct cfi_table *table, struct cfi_function *f, struct bytes code)
{
	static const char push[] = "\xf0\x7b\xbf\xa9"; /* stp x16, x30, [sp, #-16]! */
	enum { INSTRUCTION = sizeof(push) - 1 };
	const struct cfi_row entry = unwind_rule_entry(UNWIND_AARCH64);
	const struct cfi_row pushed = unwind_rule_fixed(UNWIND_AARCH64, 2 * WORD, false);
	(void)cfi_put_row(table, f, 0, &entry);
	for (uint32_t at = 0; at < 2 * INSTRUCTION; at += INSTRUCTION) {
		if (!starts_with(code, at, push, INSTRUCTION))
			continue;
		(void)cfi_put_row(table, f, at + INSTRUCTION, &pushed);
		(void)cfi_put_row(table, f, AARCH64_FIRST, &entry);
		return;
	}
}

void cfi_make_stub_rows(struct cfi_table *table, struct cfi_function *f)
{
	const struct bytes code = table->stubs[f->entry_off].bytes;
	if (table->machine == UNWIND_AARCH64)
		make_aarch64(table, f, code);
	else
		make_x86_64(table, f, code);
}
