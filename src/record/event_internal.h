/* event_internal.h - what event.c and event_pmu.c share. */
#ifndef RECORD_EVENT_INTERNAL_H
#define RECORD_EVENT_INTERNAL_H

#include "base/bytes.h"
#include "record/event.h"

/* The type and configuration of "pmu/terms/", with the slashes already taken away.
 * `root` is /sys/bus/event_source/devices. Returns 0, or STATUS_NOT_FOUND with *reason set.
 */
int event_parse_pmu(struct event *event, const char *root, struct bytes pmu, struct bytes terms,
		    const char **reason);

/* A number in base 16 after "0x", else 10, that is all of `text`. */
bool event_parse_number(struct bytes text, uint64_t *value);
bool event_parse_hex(struct bytes text, uint64_t *value);

#endif
