/* intervals.h - what a session that is looked at while it runs keeps, and what it forgets.
 *
 *   intervals_begin(&intervals, session);            behind session_begin()
 *   intervals_take(&intervals, session);             at the end of each interval
 *   intervals_end(&intervals, session);              and of the last
 *   intervals_clear(&intervals);
 *
 * The file is one in memory. Between two intervals it holds what is true of all samples that come
 * (mappings, names, forks; and code that interpreters told of, which they tell once), while samples
 * are kept in chunks, one an interval, as long as they are young enough:
 *
 *   header | base | samples since | features            while the caller looks at it
 *   header | base |                                     then
 *
 * The base grows with processes that come and go. When it is large it is made anew, from what runs
 * then, as at the beginning of a recording, and the collector with it.
 */
#ifndef RECORD_INTERVALS_H
#define RECORD_INTERVALS_H

#include "base/sink.h"
#include "base/vector.h"
#include "os/machine.h"

enum {
	INTERVALS_BASE_BYTES = 4 << 20,  /* the base is not made anew below this */
	INTERVALS_KEPT_BYTES = 64 << 20, /* of samples; the oldest go */
	INTERVALS_LIST_LIMIT = 1000,     /* and of chunks */
};

struct session;

struct intervals_chunk {
	struct sink records;
	uint64_t from_ns;
	uint64_t to_ns;
};

struct intervals {
	VECTOR(struct intervals_chunk) chunks; /* the newest is the last */
	size_t chunk_bytes;
	uint64_t base_end_off; /* in the file */
	uint64_t base_limit_bytes;
	uint64_t from_ns; /* where the interval began */
	uint64_t sample_count;
	uint64_t lost_count;
	uint64_t throttle_count;
	uint64_t restart_count;
	char path[40];
	struct machine machine;
	bool has_machine;
};

/* Each returns 0 or a negative status. */
int intervals_begin(struct intervals *intervals, struct session *session);

/* Drains the rings, hands out, forgets. 1: the receiver wants no more. */
int intervals_take(struct intervals *intervals, struct session *session);

/* After the last drain and collector_finish(). */
int intervals_end(struct intervals *intervals, struct session *session);

void intervals_clear(struct intervals *intervals);

#endif
