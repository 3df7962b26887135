/* rules.h - rows for frames whose shape is known without tables.
 *
 *   place->code = UNWIND_RULE;
 *   place->rule = unwind_rule_entry(frame->machine);     at a function's first instruction
 *
 * Offsets are those of the usual frames: the return address in the word below the CFA (or in
 * the link register), the caller's frame pointer in the one below that. The rows own nothing.
 */
#ifndef UNWIND_RULES_H
#define UNWIND_RULES_H

#include "base/bytes.h"
#include "unwind/cfi.h"

/* The frame pointer points at the caller's, and the return address lies above it. */
struct cfi_row unwind_rule_frame_pointer(enum unwind_machine machine);

/* Nothing is pushed as yet: the return address is at sp, or in the link register. */
struct cfi_row unwind_rule_entry(enum unwind_machine machine);

/* The frame pointer is pushed, but still the caller's; on aarch64 the pair of it and the link
 * register.
 */
struct cfi_row unwind_rule_pushed(enum unwind_machine machine);

/* Nothing called it. */
struct cfi_row unwind_rule_outermost(enum unwind_machine machine);

/* The CFA is sp + size; the frame pointer was saved, or is the caller's still. On aarch64 the link
 * register was saved with it.
 */
struct cfi_row unwind_rule_fixed(enum unwind_machine machine, int32_t size, bool has_saved_bp);

/* At the instructions that return from a signal handler (Linux): all registers are in the frame
 * that the kernel put on the stack. C libraries mostly have call frame information there, but the
 * kernel's own for aarch64 and musl's have none.
 */
struct cfi_row unwind_rule_signal(enum unwind_machine machine);

/* True if `code`, the bytes at the program counter, are those instructions. */
bool unwind_is_signal_return(enum unwind_machine machine, struct bytes code);

#endif
