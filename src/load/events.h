/* events.h - what a recording's runtimes told of their code over the run.
 *
 *   options.code_events = true;  load_open(&load, &options, &error);
 *   load_profile(load, &profile);                    or load_samples()
 *   struct profile_events events = { 0 };
 *   load_code_events(load, &profile, &events);
 *
 * Times are those of the producers where they are in the samples' clock (docs/timeline.md);
 * pieces without are only counted. What is inferred from the announcements alone is in it: code of
 * a lower tier that was made after code of a higher one (profile/events.h has what samples show).
 * Those are left out that lie outside of the times or the processes that the options ask for.
 */
#ifndef LOAD_EVENTS_H
#define LOAD_EVENTS_H

#include "load/load.h"
#include "profile/events.h"

/* `profile` is the one that was filled last, or an empty one: then no event has its function.
 * Returns 0 or STATUS_NO_MEMORY; the events, in time order, are the caller's to clear.
 */
int load_code_events(struct load *load, struct profile *profile, struct profile_events *events);

#endif
