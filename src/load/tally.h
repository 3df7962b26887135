/* tally.h - counts samples by chain, thread and event; rows are made of it at the end.
 *
 *   struct perfdata_sample *sample = tally_next(load);
 *   perfdata_decode_sample(load->perf, &record, sample);
 *   tally_add(load, space, thread);      counts the sample that tally_next() gave
 *   ...
 *   tally_finish(load);                  makes the profile's rows
 *
 * Samples wait in a small batch, so that the memory each needs (its chain's slot,
 * then its counter) is under way while the others are worked on: reading a large
 * recording is mostly waiting for memory.
 */
#ifndef LOAD_TALLY_H
#define LOAD_TALLY_H

#include "load/load_internal.h"

/* Where to decode the next sample to; NULL without memory. */
struct perfdata_sample *tally_next(struct load *load);

/* `is_stable`: what the sample points to stays while others are decoded. */
int tally_add(struct load *load, uint32_t space, uint32_t thread, bool is_stable);
int tally_finish(struct load *load);
void tally_free(struct load *load);

#endif
