/* step.h - a frame undone by a row. Shared inside unwind/.
 *
 * The stack's bytes are the only memory there is; what lies elsewhere is not known.
 */
#ifndef UNWIND_STEP_H
#define UNWIND_STEP_H

#include "unwind/walk.h"

struct unwind_memory {
	struct bytes bytes;
	uint64_t start_avma;
};

static inline bool unwind_load(const struct unwind_memory *m, uint64_t avma, uint64_t *word)
{
	const uint64_t at = avma - m->start_avma;
	if (avma < m->start_avma || at > m->bytes.size || m->bytes.size - at < sizeof(*word))
		return false;
	memcpy(word, m->bytes.data + at, sizeof(*word));
	return true;
}

struct unwind_step {
	enum unwind_machine machine;
	struct unwind_registers registers;
	struct unwind_memory memory;
	bool is_exact; /* as of struct unwind_frame */
};

/* Puts the caller's registers in place of the frame's. UNWIND_WHOLE says that this is done; pc is
 * 0 then where there is no caller. With anything else the registers are as they were.
 */
enum unwind_end unwind_step(struct unwind_step *step, const struct cfi_row *row);

/* What a DWARF expression gives; it starts with *first on its stack unless that is NULL.
 * UNWIND_WHOLE with *result, or why not: _NO_REGISTER, _TRUNCATED (memory that is not there),
 * _NO_CFI (an operation we do not follow).
 */
enum unwind_end unwind_evaluate(const struct unwind_step *step, struct bytes expression,
				const uint64_t *first, uint64_t *result);

#endif
