#include "unwind/rules.h"

enum { WORD = 8 };

/* Of x86-64: rbp, then the return address. */
static const struct cfi_rule x86_64_pair[] = { { .kind = CFI_AT_CFA, .operand = -2 * WORD },
					       { .kind = CFI_AT_CFA, .operand = -WORD } };
/* x29 and x30. */
static const struct cfi_rule aarch64_pair[] = { { .kind = CFI_AT_CFA, .operand = -2 * WORD },
						{ .kind = CFI_AT_CFA, .operand = -WORD } };

enum saved { SAVED_NOTHING, SAVED_RETURN, SAVED_BOTH };

static struct cfi_row row_of(enum unwind_machine machine, unsigned cfa_register, int32_t size,
			     enum saved saved)
{
	const bool is_arm = machine == UNWIND_AARCH64;
	const unsigned from = is_arm ? UNWIND_AARCH64_LR : UNWIND_X86_64_PC;
	const struct cfi_rule *pair = is_arm ? aarch64_pair : x86_64_pair;
	struct cfi_row row = {
		.cfa = { .kind = CFI_REGISTER, .number = (uint8_t)cfa_register, .operand = size },
		.return_register = (uint8_t)from,
	};
	if (saved == SAVED_NOTHING)
		return row;
	row.ruled = (uint64_t)1 << from;
	row.rules = pair + 1;
	row.plain_return = 1;
	if (saved == SAVED_BOTH) {
		row.ruled |= (uint64_t)1 << unwind_bp(machine);
		row.rules = pair;
		row.plain_return = 2;
	}
	return row;
}

struct cfi_row unwind_rule_frame_pointer(enum unwind_machine machine)
{
	return row_of(machine, unwind_bp(machine), 2 * WORD, SAVED_BOTH);
}

struct cfi_row unwind_rule_entry(enum unwind_machine machine)
{
	return machine == UNWIND_AARCH64 ? row_of(machine, UNWIND_AARCH64_SP, 0, SAVED_NOTHING)
					 : row_of(machine, UNWIND_X86_64_SP, WORD, SAVED_RETURN);
}

struct cfi_row unwind_rule_pushed(enum unwind_machine machine)
{
	return row_of(machine, unwind_sp(machine), 2 * WORD, SAVED_RETURN);
}

struct cfi_row unwind_rule_outermost(enum unwind_machine machine)
{
	static const struct cfi_rule undefined = { .kind = CFI_UNDEFINED };
	struct cfi_row row = row_of(machine, unwind_sp(machine), 0, SAVED_NOTHING);
	row.ruled = (uint64_t)1 << row.return_register;
	row.rules = &undefined;
	row.plain_return = 0;
	return row;
}

struct cfi_row unwind_rule_fixed(enum unwind_machine machine, int32_t size, bool has_saved_bp)
{
	return row_of(machine, unwind_sp(machine), size, has_saved_bp ? SAVED_BOTH : SAVED_RETURN);
}

/* Where the kernel put the registers, in bytes from sp (asm/sigcontext.h, asm/ucontext.h): each an
 * expression of three bytes, DW_OP_breg of sp and an offset of two bytes.
 */
#define AT(sp, offset) 0x70 + (sp), 0x80 | ((offset)&0x7f), (offset) >> 7
enum { EXPRESSION_SIZE = 3, CFA_SIZE = EXPRESSION_SIZE + 1, OP_DEREF = 0x06 };

#define X86(offset) AT(UNWIND_X86_64_SP, offset)
static const uint8_t x86_64_signal[] = {
	/* rax rdx rcx rbx rsi rdi rbp rsp, r8 to r15, rip; the CFA is rsp's value. */
	X86(144), X86(136), X86(152), X86(128), X86(112), X86(104), X86(120),
	X86(160), X86(40),  X86(48),  X86(56),  X86(64),  X86(72),  X86(80),
	X86(88),  X86(96),  X86(168), X86(160), OP_DEREF,
};

#define ARM(n) AT(UNWIND_AARCH64_SP, 312 + WORD * (n))
static const uint8_t aarch64_signal[] = {
	ARM(0),  ARM(1),  ARM(2),  ARM(3),  ARM(4),  ARM(5),  ARM(6),  ARM(7),   ARM(8),
	ARM(9),  ARM(10), ARM(11), ARM(12), ARM(13), ARM(14), ARM(15), ARM(16),  ARM(17),
	ARM(18), ARM(19), ARM(20), ARM(21), ARM(22), ARM(23), ARM(24), ARM(25),  ARM(26),
	ARM(27), ARM(28), ARM(29), ARM(30), ARM(31), ARM(32), ARM(31), OP_DEREF,
};

#define RULE(n)                                                                                   \
	{                                                                                         \
		.kind = CFI_EXPRESSION, .size = EXPRESSION_SIZE, .operand = EXPRESSION_SIZE * (n) \
	}
static const struct cfi_rule signal_rules[UNWIND_REGISTERS] = {
	RULE(0),  RULE(1),  RULE(2),  RULE(3),  RULE(4),  RULE(5),  RULE(6),  RULE(7),  RULE(8),
	RULE(9),  RULE(10), RULE(11), RULE(12), RULE(13), RULE(14), RULE(15), RULE(16), RULE(17),
	RULE(18), RULE(19), RULE(20), RULE(21), RULE(22), RULE(23), RULE(24), RULE(25), RULE(26),
	RULE(27), RULE(28), RULE(29), RULE(30), RULE(31), RULE(32),
};

struct cfi_row unwind_rule_signal(enum unwind_machine machine)
{
	const bool is_arm = machine == UNWIND_AARCH64;
	const unsigned count = is_arm ? UNWIND_REGISTERS : UNWIND_X86_64_REGISTERS;
	return (struct cfi_row){
		.cfa = { .kind = CFI_VALUE_EXPRESSION,
			 .size = CFA_SIZE,
			 .operand = (int32_t)(EXPRESSION_SIZE * count) },
		.ruled = ((uint64_t)1 << count) - 1,
		.rules = signal_rules,
		.expressions = is_arm ? aarch64_signal : x86_64_signal,
		.return_register = (uint8_t)unwind_pc(machine),
		.is_signal = 1,
	};
}

bool unwind_is_signal_return(enum unwind_machine machine, struct bytes code)
{
	static const uint8_t x86_64[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t x86_64_short[] = { 0xb8, 15, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t aarch64[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };
	if (machine == UNWIND_AARCH64)
		return code.size >= sizeof(aarch64) &&
		       memcmp(code.data, aarch64, sizeof(aarch64)) == 0;
	return (code.size >= sizeof(x86_64) && memcmp(code.data, x86_64, sizeof(x86_64)) == 0) ||
	       (code.size >= sizeof(x86_64_short) &&
		memcmp(code.data, x86_64_short, sizeof(x86_64_short)) == 0);
}
