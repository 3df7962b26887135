/* drain.h - moves records from the rings into the file.
 *
 *   struct drain drain = { .events = &events, .file = &file, .sideband = &sideband };
 *   drain_sideband(&drain);    when a sideband ring woke us: often, and at once
 *   drain_round(&drain);       when a sample ring is well filled: all rings
 *   drain_clear(&drain);
 *
 * Samples go from the ring into the file by one system call for many pieces, and are
 * not looked at but for their headers, and for what slots.h looks for.
 *
 * A round ends with a FINISHED_ROUND record: every ring was read once or more since
 * the one before, so nothing that is still to come is older than what was in the file
 * at the *previous* one. That is what readers sort by, and why sideband records that
 * were read in a round must be written in it.
 */
#ifndef RECORD_DRAIN_H
#define RECORD_DRAIN_H

#include "record/data_file.h"
#include "record/events.h"
#include "record/held.h"
#include "record/sideband.h"
#include "record/slots.h"

struct drain {
	struct events *events;
	struct data_file *file;
	struct sideband *sideband;
	struct slots *slots;   /* NULL: nothing is looked for in samples */
	struct held *held;     /* records wait here for agents; NULL: there are none */
	struct sink pending;   /* sideband records that are read but not written yet */
	uint64_t sample_count; /* without the records of the walk of interpreters ... */
	uint64_t frames_count; /* ... which these are */
	uint64_t lost_count;   /* told by LOST records in the sample rings */
	uint64_t throttle_count;
	uint64_t first_sample_ns; /* 0: no sample yet */
	uint64_t last_sample_ns;
};

void drain_sideband(struct drain *drain);
void drain_round(struct drain *drain);

/* The last round: writes what waits for agents, after having given them a moment. */
void drain_end(struct drain *drain);
void drain_clear(struct drain *drain);

/* Counts what is in `unread` bytes of a CPU's sample ring. */
void drain_count(struct drain *drain, const struct cpu_rings *rings, size_t unread);

#endif
