/* code.h - a compiled method as JVMTI tells it, to a load as polyperf/jit.h takes it.
 *
 *   struct code_builder builder = { .options = &options, .is_hotspot = true };
 *   struct polyperf_jit_load_info load = { .struct_size = sizeof(load) };
 *   code_build(&builder, &jvm, &event, &load);
 *   polyperf_jit_load(jit, &load);
 *   code_builder_clear(&builder);
 *
 * HotSpot notes down, for some places in the code, which methods' frames a walk of the stack
 * would find there. A place is behind the instructions that it speaks of: a call's is its return
 * address. So each speaks of what lies between the place before it and itself:
 *
 *        0x10: alpha:3                  0x00-0x0f  alpha line of 3
 *        0x24: beta:1 in alpha:7        0x10-0x23  beta, inlined at alpha:7
 *        0x30: alpha:9                  0x24-0x2f  alpha line of 9
 *                                       0x30-      not known
 *
 * Other JVMs go by JVMTI's letter, where a place is where its instructions begin. One
 * thread at a time.
 */
#ifndef AGENT_JVMTI_CODE_H
#define AGENT_JVMTI_CODE_H

#include "agent/jvmti/methods.h"
#include "agent/jvmti/options.h"
#include "base/vector.h"

#include <polyperf/jit.h>

struct code_event {
	jmethodID method;
	uint64_t code_avma;
	uint64_t size;
	const jvmtiAddrLocationMap *map; /* used where there is no compile_info */
	jint map_length;
	const void *compile_info; /* as of jvmticmlr.h; may be NULL */
};

/* The frames at some instructions, innermost first. */
struct code_range {
	uint32_t start_off;
	uint32_t end_off;
	uint32_t frame_count;
	const jmethodID *methods;
	const jint *bytecodes;
};

/* A call that was inlined, around the range that is looked at. */
struct code_scope {
	size_t index; /* in `inlines` */
	jmethodID callee;
	jint call_bytecode;
};

enum { CODE_DEPTH_MAX = 256 };

struct code_builder {
	const struct options *options;
	bool is_hotspot;
	struct methods methods;
	VECTOR(struct code_range) ranges;
	VECTOR(jint) map_bytecodes;
	VECTOR(struct polyperf_jit_line) lines;
	VECTOR(struct polyperf_jit_inline) inlines;
	VECTOR(struct polyperf_jit_bytecode) bytecodes;
	struct code_scope open[CODE_DEPTH_MAX];
	size_t open_count;
};

/* Fills name, address, size, lines, inlines and bytecodes; what they point at lives until
 * the next call. Without memory there are fewer lines.
 */
void code_build(struct code_builder *builder, const struct jvm *jvm, const struct code_event *event,
		struct polyperf_jit_load_info *load);

void code_builder_clear(struct code_builder *builder);

#endif
