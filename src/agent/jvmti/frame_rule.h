/* frame_rule.h - how HotSpot's compiled frames are found, as a jitdump says it.
 *
 *   struct frame_rule rule;
 *   if (frame_rule_make(&rule, code_size, &frame))
 *           load.unwinding = &rule.unwinding;
 *
 * A compiled method or stub has one frame, of one size, from the end of its prologue to its
 * return: the return address in its topmost word, the caller's frame pointer below that, whether
 * the method keeps frame pointers itself or not. x86-64 and aarch64.
 */
#ifndef AGENT_JVMTI_FRAME_RULE_H
#define AGENT_JVMTI_FRAME_RULE_H

#include "agent/jvmti/vm_structs.h"

#include <polyperf/jit.h>

enum { FRAME_RULE_MAX = 128 };

struct frame_rule {
	uint8_t bytes[FRAME_RULE_MAX];
	struct polyperf_jit_unwinding unwinding; /* of the bytes */
};

/* False where the code has no frame of its own, or this machine is none of the two. */
bool frame_rule_make(struct frame_rule *rule, uint64_t code_size, const struct vm_frame *frame);

#endif
