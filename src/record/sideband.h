/* sideband.h - reads what the kernel tells of tasks and mappings, as it comes.
 *
 *   struct sideband sideband = { .collector = collector, .build_ids = &ids };
 *   sideband_scan(&sideband, data, size);
 *
 * Hands processes and file mappings on to the collector, files to the build ids, BPF programs to
 * those who keep them, and counts what was lost. Samples do not come here.
 */
#ifndef RECORD_SIDEBAND_H
#define RECORD_SIDEBAND_H

#include "os/proc.h"
#include "record/agents.h"
#include "record/bpf_programs.h"
#include "record/build_ids.h"
#include "record/collector.h"
#include "record/interpreters.h"

struct sideband {
	struct collector *collector; /* may be NULL */
	struct build_ids *build_ids;
	struct bpf_programs *bpf;          /* NULL: nobody asks for them */
	struct interpreters *interpreters; /* may be NULL */
	struct agents *agents;             /* may be NULL */
	struct proc_ids *born; /* threads that FORK records told of are added; may be NULL */
	uint64_t lost_count;
	uint64_t record_count;
};

/* The trailer that all events of a recording share: TID, TIME, CPU, IDENTIFIER. */
enum { SIDEBAND_TRAILER_BYTES = 32, SIDEBAND_TRAILER_TIME = 8 };

/* Whole records, as the kernel wrote them, in host byte order. Changes them in place: in
 * MMAP2 records of files that have one, the build id takes the place of device and inode.
 */
void sideband_scan(struct sideband *sideband, uint8_t *records, size_t size);

/* An executable mapping: one that was seen, or one that was there before. */
struct sideband_mapping {
	uint64_t start_avma;
	uint64_t size;
	struct build_id_file file;
};

/* Returns the file's build id, which lives until the next call, or nothing. */
struct bytes sideband_mapping(struct sideband *sideband, const struct sideband_mapping *mapping);

#endif
