/* replay.h - copies a recording's records in time order, with mmap events that lead to images.
 *
 * Each piece of code gets an mmap event at its load time. Stock perf is followed record by
 * record (belief.h): where it would take a sample's address for something else than our own
 * reports do, an event is put before the sample that sets it right. That moves early samples
 * into their code's life, brings code back that another event hid, and takes away what was
 * unloaded; whatever the rules of the timeline, perf follows them.
 */
#ifndef INJECT_REPLAY_H
#define INJECT_REPLAY_H

#include "inject/images.h"
#include "inject/interpreted.h"
#include "inject/output.h"

struct replay_options {
	struct load *load;
	const struct images *images;
	struct interpreted *interpreted;
	struct inject_output *output;
	bool only_needed; /* no events but those that samples need */
};

struct replay_counts {
	uint64_t samples;      /* what the walk of an interpreter wrote is none */
	uint64_t interpreted;  /* of them: with functions of an interpreter */
	uint64_t walk_records; /* what it wrote: left out */
	uint64_t loads;        /* events at load times */
	uint64_t corrections;  /* events before samples */
	uint64_t dropped;      /* mappings of memory without a file, where code lies */
	uint64_t left_out;     /* records that inject does not carry over */
};

/* Returns 0 or STATUS_NO_MEMORY. */
int replay_run(const struct replay_options *options, struct replay_counts *counts);

#endif
