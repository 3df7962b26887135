/* rings.h - the two rings of every CPU: how large they may be, and getting them. */
#ifndef RECORD_RINGS_H
#define RECORD_RINGS_H

#include "record/events.h"

struct rings_want {
	size_t sample_bytes; /* 0: as allowed */
	bool large_samples;  /* they carry copies of stacks */
};

/* Opens events->cpus for the CPUs that are online. Returns 0 or a negative status after
 * saying why; what was opened is closed by rings_close().
 */
int rings_open(struct events *events, const struct rings_want *want, const struct say *say);
void rings_close(struct events *events);

/* The sizes that `limits` and RLIMIT_MEMLOCK (`rlimit_bytes`) leave to `cpu_count` CPUs. */
struct rings_sizes {
	size_t sample_bytes;
	size_t sideband_bytes;
};

struct rings_sizes rings_sizes(const struct os_perf_limits *limits, uint64_t rlimit_bytes,
			       size_t cpu_count, const struct rings_want *want);

#endif
