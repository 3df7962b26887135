/* recording.h - writes a perf.data file of one event, for the generators here.
 *
 *   struct recording r;
 *   recording_begin(&r, "perf.data", "cpu-clock");
 *   perfdata_put_comm(&r.records, ...);          any record, then now and then
 *   recording_flush(&r, false);
 *   recording_end(&r);
 *
 * Samples carry IP, TID, TIME, PERIOD and CALLCHAIN, as those of `perf record -g`;
 * times are of CLOCK_MONOTONIC. What fails ends the program.
 */
#ifndef BENCH_RECORDING_H
#define BENCH_RECORDING_H

#include "base/sink.h"
#include "format/perfdata/writer.h"

#include <stdio.h>

struct recording {
	FILE *file;
	struct sink records; /* not yet written */
	struct perfdata_layout layout;
	uint64_t sample_type;
	uint64_t first_ns;
	uint64_t last_ns;
};

struct recording_sample {
	uint32_t pid;
	uint32_t tid;
	uint64_t time_ns;
	const uint64_t *chain; /* addresses, leaf first, without context marks */
	size_t depth;
};

void recording_begin(struct recording *r, const char *path, const char *event);
struct perfdata_new_id recording_id(const struct recording *r, uint32_t pid, uint32_t tid,
				    uint64_t time_ns);
void recording_sample(struct recording *r, const struct recording_sample *sample);

/* Writes what has gathered if it is much, or if `all`. */
void recording_flush(struct recording *r, bool all);
void recording_end(struct recording *r);

_Noreturn void give_up(const char *what);

#endif
