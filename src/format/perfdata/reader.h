/* reader.h - the records of a perf.data file, one at a time.
 *
 *   struct perfdata *file;
 *   struct perfdata_record record;
 *   int got = perfdata_open(&file, bytes);
 *   while (got >= 0 && (got = perfdata_next(file, &record)) > 0)
 *           if (record.type == PERFDATA_MMAP2)
 *                   ...
 *   perfdata_close(file);
 *
 * Reads file mode and pipe mode, version 2, either byte order, and compressed
 * records: what they hold comes out as ordinary records. Does no I/O. Attrs and
 * features of pipe mode become known as their records pass; all others are
 * there after perfdata_open(). A record that contradicts itself is counted,
 * named by perfdata_problem() and passed over; one of an unknown type is counted
 * too, but handed out.
 *
 * One thread at a time. `bytes` must outlive the reader; strings and arrays it
 * returns live until perfdata_close().
 */
#ifndef FORMAT_PERFDATA_READER_H
#define FORMAT_PERFDATA_READER_H

#include "base/bytes.h"
#include "base/status.h"
#include "format/perfdata/layout.h"

#include <stdbool.h>
#include <stdint.h>

struct perfdata;

/* struct perf_event_attr, in host byte order; fields a short attr lacks are 0. */
struct perfdata_attr {
	uint32_t type;
	uint32_t size; /* as the file says; may be larger than what we know */
	uint64_t config;
	uint64_t config1; /* a breakpoint's address */
	uint64_t config2;
	uint64_t sample_period; /* or frequency, with PERFDATA_ATTR_FREQ */
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t flags; /* PERFDATA_ATTR_*: bit numbers as on a little-endian host */
	uint64_t branch_sample_type;
	uint64_t sample_regs_user;
	uint32_t sample_stack_user;
	int32_t clockid;
	uint64_t sample_regs_intr;
};

struct perfdata_event {
	struct perfdata_attr attr;
	const char *name; /* from EVENT_DESC or EVENT_UPDATE, else made from type and config */
	const uint64_t *ids;
	size_t id_count;
	struct bytes raw; /* the attr in the file's byte order, as far as its size says */
};

/* A record and where it came from. */
struct perfdata_record {
	uint32_t type; /* an enum perfdata_record_type, or one newer than this build */
	uint16_t misc;
	uint64_t offset;   /* in the file; of the outer record when it was compressed */
	uint64_t ordinal;  /* grows from 1, with gaps; the same in every pass */
	struct bytes body; /* behind the 8-byte header */
	bool stable; /* body lives as long as the reader; else until the next perfdata_next() */
};

/* What was wrong with the input; kinds, not single cases. Reading records a
 * second time, in the same order, counts nothing twice.
 */
struct perfdata_problem {
	uint64_t first_offset;
	uint64_t count;
	uint32_t record_type; /* 0: the file around the records */
	int status;
	const char *what; /* a static sentence */
};

/* Returns 0 and a reader to be closed, or a negative status: NOT_FORMAT,
 * TRUNCATED, CORRUPT, UNSUPPORTED, NO_MEMORY. `*error_offset` (may be NULL)
 * then tells the byte.
 */
int perfdata_open(struct perfdata **file, struct bytes bytes, uint64_t *error_offset);
void perfdata_close(struct perfdata *file);

/* Returns 1 with *record filled, 0 at the end, or a negative status from which
 * there is no going on (the records read so far stand): NO_MEMORY only.
 */
int perfdata_next(struct perfdata *file, struct perfdata_record *record);

/* Back to the first record. What pipe mode has learned is kept. */
void perfdata_rewind(struct perfdata *file);

bool perfdata_is_pipe(const struct perfdata *file);
bool perfdata_is_swapped(const struct perfdata *file);
bool perfdata_is_compressed(const struct perfdata *file);

/* True if the file was never finished: its header does not say how long the records are. */
bool perfdata_is_interrupted(const struct perfdata *file);

/* Where the events' part ends and a tail may begin. In pipe mode and in an
 * interrupted file: where records end, known once perfdata_next() returned 0;
 * the whole size before.
 */
uint64_t perfdata_end_offset(const struct perfdata *file);

size_t perfdata_event_count(const struct perfdata *file);
const struct perfdata_event *perfdata_event(const struct perfdata *file, size_t index);

/* The raw bytes of a feature section (an enum perfdata_feature), empty if not there. In pipe mode
 * what came as records: HEADER_TRACING_DATA and HEADER_BUILD_ID look here as a file's sections do.
 */
struct bytes perfdata_feature(const struct perfdata *file, unsigned feature);

/* True also for a section that is there and empty: of some features that is all they say. */
bool perfdata_has_feature(const struct perfdata *file, unsigned feature);

size_t perfdata_problem_count(const struct perfdata *file);
const struct perfdata_problem *perfdata_problem(const struct perfdata *file, size_t index);

#endif
