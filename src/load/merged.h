/* merged.h - stacks with frames of interpreters, for those who copy a recording's records.
 *
 *   struct profile profile = { 0 };
 *   merged_begin(load, &profile);
 *   ... of each sample record, in the order of merged_time_ns():
 *           merged_sample(load, &sample, &merged);
 *           if (merged.kind == MERGED_STACK)
 *                   use(profile.stacks.items[merged.stack]);
 *   merged_rewind(load);               another walk over the same samples, with the same ids
 *   merged_end(load);
 *
 * Samples that no stack of an interpreter belongs to are told so at once: they are neither resolved
 * nor unwound. The load must have been opened with walked_lines, if lines are wanted. No other walk
 * over the samples meanwhile. One thread.
 */
#ifndef LOAD_MERGED_H
#define LOAD_MERGED_H

#include "format/perfdata/records.h"
#include "load/load.h"

enum merged_kind {
	MERGED_PLAIN,  /* a sample without frames of interpreters */
	MERGED_STACK,  /* one with some */
	MERGED_RECORD, /* no sample: what the walk wrote */
};

struct merged {
	enum merged_kind kind;
	uint32_t stack; /* MERGED_STACK: of the profile */
};

/* True for an event whose samples are what the walk writes. */
bool merged_is_event(const struct load *load, size_t event);

/* True where samples may have frames of interpreters, and some event is not the walk's. */
bool merged_is_needed(const struct load *load);

/* Each returns 0 or STATUS_NO_MEMORY. */
int merged_begin(struct load *load, struct profile *profile);
int merged_sample(struct load *load, const struct perfdata_sample *sample, struct merged *merged);
void merged_rewind(struct load *load);
int merged_end(struct load *load);

/* By which a sample record is to be put in order: a stack comes where its sample does. */
uint64_t merged_time_ns(struct load *load, const struct perfdata_record *record);

#endif
