/* truth_announce.h - tells profilers of new code as runtimes do: jitdump, perf map, or both.
 *
 *   struct announcer *to = announcer_open(ANNOUNCE_JITDUMP, "/some/dir");
 *   announce_load(to, "spin_1", address, bytes, size);
 *   announcer_close(to);
 *
 * The dump is DIR/jit-PID.dump, marked by an executable mapping of its first
 * page; the map is /tmp/perf-PID.map. Each record is one write(2). Any thread.
 * What cannot be written ends the program: a silent client proves nothing.
 */
#ifndef CLIENTS_TRUTH_ANNOUNCE_H
#define CLIENTS_TRUTH_ANNOUNCE_H

#include <stddef.h>
#include <stdint.h>

enum {
	ANNOUNCE_JITDUMP = 1,
	ANNOUNCE_MAP = 2,
};

struct announcer;

/* Of the calling process: a forked child opens its own. */
struct announcer *announcer_open(int kinds, const char *dump_dir);
void announcer_close(struct announcer *to);

/* The code's index, which a later move refers to. `bytes` is where it can be read. */
uint64_t announce_load(struct announcer *to, const char *name, const uint8_t *address,
		       const uint8_t *bytes, size_t size);

/* Only a jitdump can say it; a map says nothing. */
void announce_move(struct announcer *to, uint64_t index, const uint8_t *from,
		   const uint8_t *address, size_t size);

#endif
