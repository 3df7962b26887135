/* sideband.h - reads what the kernel tells of tasks and mappings, as it comes.
 *
 *   struct sideband sideband = { .collector = collector, .build_ids = &ids };
 *   sideband_scan(&sideband, records);
 *
 * Hands processes and file mappings on to the collector, files to the build ids, and
 * counts what was lost. Samples do not come here.
 */
#ifndef RECORD_SIDEBAND_H
#define RECORD_SIDEBAND_H

#include "os/proc.h"
#include "record/build_ids.h"
#include "record/collector.h"

struct sideband {
	struct collector *collector; /* may be NULL */
	struct build_ids *build_ids;
	struct proc_ids *born; /* threads that FORK records told of are added; may be NULL */
	uint64_t lost_count;
	uint64_t record_count;
};

/* The trailer that all events of a recording share: TID, TIME, CPU, IDENTIFIER. */
enum { SIDEBAND_TRAILER_BYTES = 32, SIDEBAND_TRAILER_TIME = 8 };

/* Whole records, as the kernel wrote them, in host byte order. */
void sideband_scan(struct sideband *sideband, struct bytes records);

/* A mapping that was there before: read from /proc. */
struct sideband_mapping {
	pid_t pid;
	uint64_t start_avma;
	uint64_t size;
	uint64_t inode;
	struct bytes build_id;
	const char *path;
};

void sideband_mapping(struct sideband *sideband, const struct sideband_mapping *mapping);

#endif
