/* usage.h - CPU time of processes, and their names, as /proc tells them.
 *
 *   struct live_usage usage = { 0 };
 *   live_usage_begin(&usage, is_system_wide);
 *   live_usage_see(&usage, pid);                  each process of an interval
 *   double seconds = live_usage_end(&usage);      of CPU time since the end before; negative:
 * unknown live_usage_clear(&usage);
 *
 * Of the whole machine it is what CPUs did not idle. Else of the processes that were seen; of one
 * that ended, or was not seen before, what it used meanwhile is not known and not counted.
 */
#ifndef TOP_USAGE_H
#define TOP_USAGE_H

#include "base/vector.h"

#include <stdbool.h>
#include <stdint.h>

struct live_used {
	uint32_t pid;
	uint64_t ticks;
	bool is_seen;
};

struct live_usage {
	bool is_system_wide;
	uint64_t machine_ticks;
	VECTOR(struct live_used) processes;
};

void live_usage_begin(struct live_usage *usage, bool is_system_wide);
void live_usage_see(struct live_usage *usage, uint32_t pid);
double live_usage_end(struct live_usage *usage);
void live_usage_clear(struct live_usage *usage);

#endif
