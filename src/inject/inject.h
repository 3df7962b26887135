/* inject.h - a recording as unmodified perf understands it.
 *
 *   struct inject_result result;
 *   int got = inject_run(load, &(struct inject_options){ .output = "OUT.data" }, &result);
 *
 * Writes one ELF image for each process that has code made at run time, and a perf.data
 * whose mmap events lead to them (docs/inject.md). The load must have been opened with
 * keep_code. Files appear when they are whole. One thread.
 */
#ifndef INJECT_INJECT_H
#define INJECT_INJECT_H

#include "inject/replay.h"

struct inject_options {
	const char *output;    /* a path, or "-" */
	const char *cache_dir; /* images go into this build-id cache; NULL: beside the output */
	const char *producer;  /* for the images: program and version */
	bool all;              /* also code that no sample hit */
	bool human_names;      /* symbols as people write them, not as the runtimes do */
};

struct inject_result {
	struct replay_counts counts;
	uint32_t image_count;
	uint32_t code_count;        /* in them: pieces of code made at run time ... */
	uint32_t interpreted_count; /* ... and functions of interpreters */
	uint64_t image_bytes;
	bool images_failed; /* it was not the output that failed */
};

/* Returns 0, or STATUS_IO (errno), _NO_MEMORY, _TOO_BIG, _UNSUPPORTED (the recording is of a
 * machine of the other byte order), and tells by images_failed which.
 */
int inject_run(struct load *load, const struct inject_options *options,
	       struct inject_result *result);

#endif
