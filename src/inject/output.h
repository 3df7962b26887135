/* output.h - the perf.data that inject writes: a copy of another one, with other records.
 *
 *   struct inject_output *out;
 *   inject_output_open(&out, "OUT.data", input);          a path, or "-": pipe format to stdout
 *   inject_output_records(out, bytes);                    whole records, in time order ...
 *   inject_output_build_id(out, misc, pid, build_id, path);    ... beside them, at any time
 *   inject_output_commit(out);                            or inject_output_abandon()
 *
 * A file: header, the input's attrs with their ids as they were, records, and the input's
 * feature sections as they were, but for those that would be untrue: no COMPRESSED (records are
 * written plain), SAMPLE_TIME, AUXTRACE and DIR_FORMAT as said in output.c, BUILD_ID with the
 * new entries behind the old. Offsets are 64-bit. A FINISHED_ROUND is put between records every
 * now and then, so that readers need not keep all of them. A file appears under its name
 * only at the commit.
 *
 * A pipe: HEADER_ATTR and HEADER_FEATURE records carry the same, BUILD_ID entries become
 * HEADER_BUILD_ID records, which must come before the samples that need them.
 *
 * `input` must have been read to its end once (a pipe's features are known then) and must
 * outlive the output. Its byte order must be the host's. One thread.
 */
#ifndef INJECT_OUTPUT_H
#define INJECT_OUTPUT_H

#include "format/perfdata/reader.h"

#include <stdint.h>

struct inject_output;

/* Returns 0, STATUS_IO (errno), _NO_MEMORY, or _UNSUPPORTED for an input of the other byte order. */
int inject_output_open(struct inject_output **out, const char *path, struct perfdata *input);

/* Copies them: they need not stay. Failures are kept and told by the commit. */
void inject_output_records(struct inject_output *out, struct bytes records);

/* The record as it was in the input, header included. */
void inject_output_copy(struct inject_output *out, const struct perfdata_record *record);

/* A further entry of the BUILD_ID feature. */
void inject_output_build_id(struct inject_output *out, uint16_t misc, int32_t pid,
			    struct bytes build_id, const char *path);

int inject_output_commit(struct inject_output *out); /* frees */
void inject_output_abandon(struct inject_output *out);

#endif
