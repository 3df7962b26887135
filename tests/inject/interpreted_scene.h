/* interpreted_scene.h - a handmade recording of a process that runs an interpreter.
 *
 * A program with the functions EVAL (_PyEval_EvalFrameDefault), helper and main; code "x" is the
 * function of that name of /src/x.py, at the line that the stack says.
 */
#ifndef TESTS_INJECT_INTERPRETED_SCENE_H
#define TESTS_INJECT_INTERPRETED_SCENE_H

#include "load/recording.h"

enum { SCENE_PID = 4000001, SCENE_CHILD = 4000002, SCENE_BASE = 0x400000 };
#define SCENE_MS UINT64_C(1000000)

struct interpreted_scene {
	struct recording r;
	uint64_t sample_type;
	uint64_t time_ns; /* of the sample under way */
	uint32_t pid;
};

/* In user mode, with the callers of each kind. */
struct interpreted_sample {
	const char *native; /* E, h, m: innermost first */
	const char
	    *frames;    /* "a12 b3.": a letter and a line each, a dot where an activation ends */
	bool is_kernel; /* it was in the kernel, at 0xffffffff81000000 */
	bool has_stack; /* a piece of stack instead of callers */
};

/* `sample_type`: more than IDENTIFIER, IP, TID, TIME and PERIOD. */
void scene_begin(struct interpreted_scene *s, uint64_t sample_type);
void scene_sample(struct interpreted_scene *s, const struct interpreted_sample *what);

#endif
