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
 * written plain), AUXTRACE (it points at trace data, which are not copied) and DIR_FORMAT (the
 * output is one file), BUILD_ID with the new entries behind the old. Features of numbers that this
 * build does not know are left out, for perf does not stand some that it does not know. Offsets
 * are 64-bit. A FINISHED_ROUND is put between records every MiB, so that readers need not keep
 * all of them. A file appears under its name only at the commit.
 *
 * A pipe ("-", or where `path` is a FIFO or a device): HEADER_ATTR and HEADER_FEATURE records carry
 * the same, but for features above 65,519 bytes, which no record can hold. BUILD_ID entries become
 * HEADER_BUILD_ID records, which must come before the samples that need them: those that are told
 * before the first record stand in front of all. What is told is written at once, so that a pipe's
 * reader may have read it when an error comes up; a closed one is STATUS_IO (EPIPE) where SIGPIPE
 * is ignored.
 *
 * `input` must have been read to its end once (a pipe's features are known then) and must
 * outlive the output. Its byte order must be the host's. One thread.
 */
#ifndef INJECT_OUTPUT_H
#define INJECT_OUTPUT_H

#include "format/perfdata/reader.h"

#include <stdint.h>

struct inject_output;

/* True where an output is written as a pipe. */
bool inject_output_is_pipe(const char *path);

/* Returns 0, STATUS_IO (errno), _NO_MEMORY, _UNSUPPORTED for an input of the other byte order, or
 * _TOO_BIG for an event with so many ids (8,173) that no pipe can tell them.
 */
int inject_output_open(struct inject_output **out, const char *path, struct perfdata *input);

/* The same without some events, for which left_out(context, index) is true: the output has neither
 * their attrs nor their ids, nor what records say of those (LOST, EVENT_UPDATE, ID_INDEX). Their
 * samples are not to be copied. An event must be left.
 */
struct inject_output_events {
	bool (*left_out)(const void *context, size_t event);
	const void *context;
};
int inject_output_open_without(struct inject_output **out, const char *path, struct perfdata *input,
			       const struct inject_output_events *events);

/* Copies them: they need not stay. Failures are kept and told by the commit. */
void inject_output_records(struct inject_output *out, struct bytes records);

/* Which records of the input are not copied. */
enum inject_omission {
	INJECT_COPIED = 0,
	/* The output says it in its own way: attrs, features, rounds. */
	INJECT_REWRITTEN,
	/* A hardware trace (Intel PT, ARM SPE, ...) and what leads to it: the trace itself lies
	 * outside of records, at places that the AUXTRACE feature lists. To be told to the user.
	 */
	INJECT_HARDWARE_TRACE,
};
enum inject_omission inject_output_omission(const struct perfdata *input, uint32_t type);

/* The record as it was in the input, header included. Those that are not to be copied are not. */
void inject_output_copy(struct inject_output *out, const struct perfdata_record *record);

/* A further entry of the BUILD_ID feature. */
void inject_output_build_id(struct inject_output *out, uint16_t misc, int32_t pid,
			    struct bytes build_id, const char *path);

/* Returns 0, or the first failure: STATUS_IO (errno), _NO_MEMORY. Frees in any case; after a
 * failure no file is left, and one that was there before is as it was.
 */
int inject_output_commit(struct inject_output *out);
void inject_output_abandon(struct inject_output *out);

#endif
