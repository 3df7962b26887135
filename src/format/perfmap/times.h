/* times.h - when each part of a growing perf map was first seen.
 *
 * The recorder follows /tmp/perf-PID.map and notes, for every stretch of bytes
 * that appeared together, the interval of time in which they were written. The
 * notes lie beside the map in the recording, one text line a stretch:
 *
 *   END_OFFSET EARLIEST_NS BEST_NS LATEST_NS\n      decimal, CLOCK_MONOTONIC
 *
 * Bytes before END_OFFSET (and behind the line before) were written between
 * EARLIEST and LATEST, most likely at BEST. The first line is "perfmap-times 1".
 * Offsets and times never go back; a line that does is passed over.
 */
#ifndef FORMAT_PERFMAP_TIMES_H
#define FORMAT_PERFMAP_TIMES_H

#include "base/bytes.h"
#include "base/sink.h"

struct perfmap_stretch {
	uint64_t end_offset;
	uint64_t earliest_ns;
	uint64_t best_ns;
	uint64_t latest_ns;
};

struct perfmap_times {
	struct bytes text;
	size_t next_offset;
	struct perfmap_stretch stretch; /* the last one read; zero before the first */
};

/* Returns 0 or STATUS_NOT_FORMAT. */
int perfmap_times_init(struct perfmap_times *times, struct bytes text);

/* The stretch that holds the byte at `offset`; offsets must not go back between
 * calls. Returns 1 with *stretch filled, or 0 where no stretch covers it.
 */
int perfmap_times_at(struct perfmap_times *times, uint64_t offset, struct perfmap_stretch *stretch);

void perfmap_times_begin(struct sink *out);
void perfmap_times_put(struct sink *out, const struct perfmap_stretch *stretch);

#endif
