/* frame_code.h - what the instructions around a program counter say of its frame.
 *
 *   struct cfi_row row;
 *   if (unwind_rule_of_code(machine, code, pc_off, &row))
 *           place->code = UNWIND_RULE, place->rule = row;
 *   else
 *           place->code = UNWIND_FRAME_POINTER;
 *
 * Code that keeps frame pointers, and tells nothing else, has none at its first and last
 * instructions: there the frame pointer is still, or again, the caller's, and to follow it
 * would pass over the caller. Read are the instructions that compilers write in those two
 * places; at the first that is none of them the reading ends, and the frame pointer holds.
 * Only the innermost frame, or one that a signal interrupted, can be stopped there.
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2;
 * Arm Architecture Reference Manual for A-profile.
 */
#ifndef UNWIND_FRAME_CODE_H
#define UNWIND_FRAME_CODE_H

#include "base/bytes.h"
#include "unwind/cfi.h"

/* `code` starts with the function; what lies behind pc_off may be missing. True with a row where
 * the instructions tell: that of the frame pointer, once it was seen to be set, or of what was
 * pushed where it is not, or no longer, the function's own.
 */
bool unwind_rule_of_code(enum unwind_machine machine, struct bytes code, uint64_t pc_off,
			 struct cfi_row *row);

/* True if the bytes end with an instruction that calls: what lies behind it can be a return
 * address. *target_distance is, from the end of the bytes, where a direct call goes to; 0: it is
 * not told.
 */
bool unwind_ends_with_call(enum unwind_machine machine, struct bytes before,
			   int64_t *target_distance);

/* True if the bytes end with an instruction that enters the kernel. */
bool unwind_ends_with_system_call(enum unwind_machine machine, struct bytes before);

#endif
