/* event.h - events by the names that perf gives them.
 *
 *   struct event_list events = { 0 };
 *   struct event_error error;
 *   if (event_parse(&events, "cycles:u,page-faults", &error) < 0)
 *           tell(error.name, error.reason);
 *   vector_clear(&events);
 *
 * Takes a comma list of hardware, software and cache events ("cycles", "cs",
 * "L1-dcache-load-misses"), raw ones ("r1a8") and those of a PMU by the terms that
 * it declares in /sys ("cpu/event=0x3c,umask=1,period=5000/"), each with modifiers
 * behind a colon: u k h G H p P. Names are at most EVENT_NAME_SIZE - 1 bytes.
 */
#ifndef RECORD_EVENT_H
#define RECORD_EVENT_H

#include "base/vector.h"

#include <linux/perf_event.h>
#include <stdint.h>

enum { EVENT_NAME_SIZE = 128 };

struct event {
	char name[EVENT_NAME_SIZE]; /* as it was written, modifiers included */
	uint32_t type;
	uint64_t config;
	uint64_t config1;
	uint64_t config2;
	uint64_t period;       /* from a PMU's term; 0: as the session says */
	uint64_t frequency_hz; /* likewise */
	bool exclude_user;
	bool exclude_kernel;
	bool exclude_hv;
	bool exclude_guest;
	bool exclude_host;
	bool is_precision_best; /* ":P": as precise as the CPU can */
	uint8_t precision;      /* number of p: perf_event_attr.precise_ip */
};

struct event_list {
	VECTOR(struct event);
};

struct event_error {
	char name[EVENT_NAME_SIZE]; /* the event that was wrong, or its beginning */
	const char *reason;         /* a phrase: "there is no event of this name" */
};

/* Appends. Returns 0, STATUS_NOT_FOUND or _UNSUPPORTED with *error filled, or _NO_MEMORY. */
int event_parse(struct event_list *events, const char *text, struct event_error *error);

/* What samples without hardware counters: "cpu-clock", the modifiers of `event` kept. */
struct event event_cpu_clock(const struct event *event);

/* True for the events that fall back to cpu-clock where the CPU has no counters: cycles. */
bool event_has_fallback(const struct event *event);

/* In the order in which help lists them; NULL past the last. */
const char *event_name(size_t index);

#endif
