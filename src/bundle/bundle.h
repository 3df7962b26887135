/* bundle.h - the zip at the end of a recording: dumps, maps, facts.
 *
 *   struct bundle *bundle;
 *   if (bundle_open(&bundle, recording_bytes) == 0)
 *           bundle_read(bundle, "about.json", &bytes);
 *   bundle_close(bundle);
 *
 * The recording is a perf.data file with a zip behind it whose offsets count
 * the perf.data in front (docs/formats/recording.md). Members stored without
 * compression are borrowed from the recording; others are unpacked into memory,
 * within limits. One thread.
 */
#ifndef BUNDLE_BUNDLE_H
#define BUNDLE_BUNDLE_H

#include "base/bytes.h"

#include <stdint.h>

struct bundle;

struct bundle_member {
	const char *name; /* "process/42/perf.map" */
	uint64_t size;
};

/* Returns 0, STATUS_NOT_FORMAT where the bytes end in no zip, or another negative status. */
int bundle_open(struct bundle **bundle, struct bytes recording);
void bundle_close(struct bundle *bundle);

size_t bundle_count(const struct bundle *bundle);
struct bundle_member bundle_member(const struct bundle *bundle, size_t index);

/* The member's bytes, which live until bundle_close(). STATUS_NOT_FOUND, _CORRUPT, _TOO_BIG. */
int bundle_read(struct bundle *bundle, const char *name, struct bytes *bytes);

/* Appends to the recording that is open for reading and writing as `fd`. */
struct bundle_writer;

int bundle_writer_open(struct bundle_writer **writer, int fd, bool compress);
int bundle_writer_add(struct bundle_writer *writer, const char *name, struct bytes content);
/* Copies from a file that may be large; stops at its end or at `limit` bytes. */
int bundle_writer_add_fd(struct bundle_writer *writer, const char *name, int fd, uint64_t limit);
/* The same for the bytes behind `offset`. */
int bundle_writer_add_rest(struct bundle_writer *writer, const char *name, int fd, uint64_t offset,
			   uint64_t limit);
/* Writes the directory. The writer is freed whatever happens. */
int bundle_writer_close(struct bundle_writer *writer);

/* A writer that writes nothing: contents are kept, files stay open where they are, as long as
 * they are then. Frees the writer; the bundle reads as one of a recording would.
 */
int bundle_writer_open_list(struct bundle_writer **writer);
int bundle_writer_close_list(struct bundle_writer *writer, struct bundle **bundle);

#endif
