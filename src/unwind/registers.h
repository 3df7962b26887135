/* registers.h - the registers of a stopped thread, in DWARF's numbering.
 *
 *   struct unwind_registers registers = { 0 };
 *   int number = unwind_register_of_perf(UNWIND_X86_64, perf_number);
 *   if (number >= 0)
 *           unwind_set(&registers, (unsigned)number, value);
 *
 * Not every register need be known: frames are found with what is there.
 * Source: System V psABI for x86-64, figure 3.36, with the return address's column for
 * the program counter; DWARF for the Arm 64-bit Architecture, section 4.1.
 */
#ifndef UNWIND_REGISTERS_H
#define UNWIND_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

enum unwind_machine { UNWIND_X86_64, UNWIND_AARCH64 };

enum {
	UNWIND_REGISTERS = 33,

	UNWIND_X86_64_BX = 3,
	UNWIND_X86_64_BP = 6,
	UNWIND_X86_64_SP = 7,
	UNWIND_X86_64_PC = 16,
	UNWIND_X86_64_REGISTERS,

	UNWIND_AARCH64_FP = 29,
	UNWIND_AARCH64_LR = 30,
	UNWIND_AARCH64_SP = 31,
	UNWIND_AARCH64_PC = 32,
};

struct unwind_registers {
	uint64_t values[UNWIND_REGISTERS];
	uint64_t known; /* a bit for each */
};

static inline void unwind_set(struct unwind_registers *r, unsigned number, uint64_t value)
{
	r->values[number] = value;
	r->known |= (uint64_t)1 << number;
}

/* False where it is not known; *value is not touched then. */
static inline bool unwind_get(const struct unwind_registers *r, unsigned number, uint64_t *value)
{
	if (number >= UNWIND_REGISTERS || !(r->known >> number & 1))
		return false;
	*value = r->values[number];
	return true;
}

static inline unsigned unwind_bp(enum unwind_machine machine)
{
	return machine == UNWIND_AARCH64 ? UNWIND_AARCH64_FP : UNWIND_X86_64_BP;
}

static inline unsigned unwind_sp(enum unwind_machine machine)
{
	return machine == UNWIND_AARCH64 ? UNWIND_AARCH64_SP : UNWIND_X86_64_SP;
}

static inline unsigned unwind_pc(enum unwind_machine machine)
{
	return machine == UNWIND_AARCH64 ? UNWIND_AARCH64_PC : UNWIND_X86_64_PC;
}

/* From the numbers of perf samples (asm/perf_regs.h of the machine); -1: not one of these. */
int unwind_register_of_perf(enum unwind_machine machine, unsigned perf_number);

#endif
