/* follow.h - one growing perf map, and when each part of it was written.
 *
 *   struct follow follow;
 *   follow_start(&follow, fd, not_before_mono_ns);
 *   follow_check(&follow);                whenever the file may have grown
 *   follow_put_times(&follow, &sink);
 *   follow_clear(&follow);
 *
 * Each check compares the file's size with what it was before. Bytes that are new
 * were written after the check before this one began, and before this one ended:
 * that interval is sound whatever the clocks do. Two things make it narrower.
 * A file's mtime never lies after its last write: so the last of the new lines
 * was written no earlier (Linux 6.13 and newer give the very moment, others the
 * tick before it). And the more often one checks, the closer the check before.
 * All times are CLOCK_MONOTONIC. One thread.
 */
#ifndef RECORD_FOLLOW_H
#define RECORD_FOLLOW_H

#include "base/vector.h"
#include "format/perfmap/times.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct follow {
	int fd; /* owned */
	dev_t device;
	ino_t inode;
	uid_t owner;
	bool has_true_mtime; /* the file system stamps with this machine's clock */
	bool has_shrunk;     /* was cut short while it grew: what was before is lost */
	unsigned cut_count;  /* how often it became shorter */
	uint64_t known_size;
	struct timespec last_mtime; /* of the last write that made it longer; 0: not known */
	uint64_t known_at_ns;       /* no later than when it last had that size */
	uint64_t skip_off;          /* bytes in front that another process left there */
	uint64_t wall_offset_at_ns; /* when wall_offset_ns was looked at */
	int64_t wall_offset_ns;     /* CLOCK_REALTIME minus CLOCK_MONOTONIC */
	uint64_t usual_lag_ns;      /* from a write to the check that sees it */
	VECTOR(struct perfmap_stretch) stretches;
};

/* Takes over `fd`, open for reading. Nothing in the file was written before
 * `not_before_ns`; 0 where that is not known. Does not check yet. Returns 0 or
 * STATUS_IO; the fd is closed then.
 */
int follow_start(struct follow *follow, int fd, uint64_t not_before_ns);

/* True if the file has grown (or shrunk) since the check before. */
bool follow_check(struct follow *follow);

/* What is in the file now belongs to somebody else; only what comes behind counts. */
void follow_skip(struct follow *follow);

/* Says of all that is in the file now that it was there when the recording began. */
void follow_settle(struct follow *follow);

/* Forgets when lines appeared that were there before that time: they were there always. */
void follow_forget(struct follow *follow, uint64_t before_ns);

/* True if something was written that did not make the file longer: what it says is then
 * not what it said when it grew.
 */
bool follow_was_rewritten(const struct follow *follow);

/* The text of the member beside the map (format/perfmap/times.h), for its bytes
 * behind `skip_off`.
 */
void follow_put_times(const struct follow *follow, struct sink *out);

void follow_clear(struct follow *follow);

#endif
