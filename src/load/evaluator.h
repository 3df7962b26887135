/* evaluator.h - the C functions that interpret: where frames of the language belong on a native
 * stack.
 *
 *   enum walk_language language;
 *   if (evaluator_role("_PyEval_EvalFrameDefault", &language) == EVALUATOR_ACTIVATION) ...
 *
 * Any thread.
 */
#ifndef LOAD_EVALUATOR_H
#define LOAD_EVALUATOR_H

#include "bpf/abi.h"

enum evaluator_role {
	EVALUATOR_NONE,
	/* It is on the stack once for each group of frames. */
	EVALUATOR_ACTIVATION,
	/* What an activation calls to run one instruction: a part of it that is its own function.
	 */
	EVALUATOR_PART,
	/* Code that a runtime made of its functions. PHP's and LuaJIT's is an activation by itself;
	 * what Ruby makes is run by an activation, as its first frame; Python's trampolines call
	 * one.
	 */
	EVALUATOR_COMPILED,
	EVALUATOR_ENTERED,
	EVALUATOR_TRAMPOLINE,
	/* It starts programs and threads: no interpreter is outside of it. */
	EVALUATOR_START,
};

/* *language is set for all but EVALUATOR_NONE and _START. `symbol` is a raw name; what compilers
 * put behind a dot for a part of a function is passed over.
 */
enum evaluator_role evaluator_role(const char *symbol, enum walk_language *language);

/* The same of code that was made at run time, by the runtime's name. */
enum evaluator_role evaluator_role_of_code(const char *runtime, enum walk_language *language);

#endif
