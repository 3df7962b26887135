/* doctor.h - what this machine, this kernel and this user allow a recording.
 *
 *   struct doctor doctor;
 *   if (doctor_examine(&doctor) == 0)
 *           for (size_t i = 0; i < doctor.findings.count; i++)
 *                   show(&doctor.findings.items[i]);
 *   doctor_clear(&doctor);
 *
 * Tries rather than reads where it can: opens events, makes files, and leaves none
 * behind. Runs no program. Texts live until doctor_clear(). One thread.
 */
#ifndef RECORD_DOCTOR_H
#define RECORD_DOCTOR_H

#include "base/arena.h"
#include "base/vector.h"
#include "record/runtimes.h"

#include <stdbool.h>

enum doctor_verdict {
	DOCTOR_OK,
	DOCTOR_LIMITED, /* recordings work, with less in them */
	DOCTOR_REFUSED, /* no recording without it */
	DOCTOR_VERDICT_COUNT,
};

/* "ok", "limited", "refused" */
const char *doctor_verdict_name(enum doctor_verdict verdict);

struct doctor_finding {
	const char *name; /* of what was looked at, in a few words: never changes */
	enum doctor_verdict verdict;
	const char *text; /* what is allowed, or what is missing and why; no full stop */
	const char *try;  /* the command that lifts it; "" where none does, or none is needed */
};

struct doctor {
	struct arena arena;
	VECTOR(struct doctor_finding) findings;
	const struct runtimes_installed *runtimes;
	size_t runtime_count;
	bool can_record; /* nothing is refused */
};

/* Returns 0 or STATUS_NO_MEMORY; clear in both cases. */
int doctor_examine(struct doctor *doctor);
void doctor_clear(struct doctor *doctor);

#endif
