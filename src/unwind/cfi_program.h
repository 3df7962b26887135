/* cfi_program.h - the instructions of call frame information, run into rules.
 * Shared inside unwind/.
 */
#ifndef UNWIND_CFI_PROGRAM_H
#define UNWIND_CFI_PROGRAM_H

#include "unwind/cfi.h"

/* Pointer encodings of .eh_frame (LSB 5.0 Core, 10.5.1). */
enum {
	PE_ABSPTR = 0x00,
	PE_ULEB128 = 0x01,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SLEB128 = 0x09,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_FORMAT = 0x0f,
	PE_PCREL = 0x10,
	PE_DATAREL = 0x30,
	PE_ALIGNED = 0x50,
	PE_APPLICATION = 0x70,
	PE_OMIT = 0xff,
};

struct cfi_section {
	struct bytes bytes;
	uint64_t svma;
	uint64_t data_svma;
	bool is_debug_frame;
};

struct cfi_cie {
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding; /* of pointers in FDEs */
	uint8_t return_register;
	bool has_augmentation;
	bool is_signal;
	struct cursor program;
};

/* What holds at one address. Without a rule for the CFA nothing does. */
struct cfi_state {
	bool has_cfa;
	struct cfi_rule cfa;
	uint64_t ruled;
	struct cfi_rule rules[UNWIND_REGISTERS];
};

struct cfi_program {
	enum unwind_machine machine;
	const struct cfi_section *section;
	const struct cfi_cie *cie;
	struct cursor instructions; /* of the FDE */
	uint64_t start_svma;
	uint64_t end_svma;
	/* From this address on; false ends the run. */
	bool (*put)(void *context, uint64_t svma, const struct cfi_state *state);
	void *context;
};

/* A pointer of the section, where the cursor stands in it. */
uint64_t cfi_format(struct cursor *c, unsigned encoding);
uint64_t cfi_pointer(const struct cfi_section *section, struct cursor *c, unsigned encoding);

/* Runs the CIE's instructions, then the FDE's, and gives every row of the range. An instruction
 * that is not known ends the function with a row without a CFA. False if `put` was.
 */
bool cfi_program_run(const struct cfi_program *program);

#endif
