/* slots.h - what the code of interpreters with a slot is, for frames in the copies of stacks.
 *
 *   slots_init(&slots, &(struct slots_view){ in, interpreters_process });
 *   slots_see(&slots, ring, at, size);       each sample record, while its process still lives
 *   struct bytes records = slots_records(&slots);
 *   slots_clear(&slots);
 *
 * For recorders that may not walk: frames with a slot (include/polyperf/interp.h) lie on the stack,
 * which samples have a copy of. They have the address of their code, and its generation; names are
 * in the memory of the process. So each sample is looked through as it is read, and of code that
 * was not seen before the texts are read from the process, if it is still of that generation,
 * before and after. Code that is gone by then has no name, and never another's.
 *
 * Records: format/frames/reader.h; one thread.
 */
#ifndef RECORD_SLOTS_H
#define RECORD_SLOTS_H

#include "base/idmap.h"
#include "base/sink.h"
#include "os/perf_ring.h"
#include "record/interpreters.h"

/* What is known of a process; NULL: nothing. */
struct slots_view {
	const struct interpreters *interpreters;
	const struct walk_process *(*process)(const struct interpreters *interpreters, pid_t pid);
};

struct slots {
	struct slots_view view;
	struct idmap known;    /* by code, generation and process: 1 */
	struct idmap runtimes; /* by process and program: id */
	struct sink records;
	uint32_t last_runtime;
	uint64_t code_count; /* told */
	uint64_t gone_count; /* code that was gone */
};

void slots_init(struct slots *slots, const struct slots_view *view);

/* A sample in the ring, whose header and size are at `at`. */
void slots_see(struct slots *slots, const struct perf_ring *ring, uint64_t at, size_t size);

/* Empty where nothing was found, or without memory. */
struct bytes slots_records(const struct slots *slots);

void slots_clear(struct slots *slots);

#endif
