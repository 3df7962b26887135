/* load.h - a recording, read into a timeline and a profile.
 *
 *   struct load *load;
 *   struct load_error error;
 *   if (load_open(&load, &(struct load_options){ .input = "perf.data" }, &error) == 0) {
 *           struct profile profile = { 0 };
 *           load_profile(load, &profile);
 *           ...
 *           profile_clear(&profile);
 *   }
 *   load_close(load);
 *
 * Reads what `polyperf record` and perf wrote. load_open() walks the records once
 * for everything but samples, finds the jitdumps and perf maps (in the recording's
 * zip, where the mappings say, beside the recording, where the options point) and
 * seals the timeline. Then the samples are walked, in file order and summed up
 * (load_profile) or one by one in time order (load_samples). A profile's ids are
 * good as long as it lives; it borrows nothing from the load. One thread.
 */
#ifndef LOAD_LOAD_H
#define LOAD_LOAD_H

#include "base/progress.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bundle;
struct load_kept;

struct load_options {
	const char *input; /* a path, or "-" */
	/* Borrowed: in place of the zip at the end of the input; NULL: that. */
	struct bundle *bundle;
	struct load_kept *kept; /* kept.h: of the loads before; NULL: this is the only one */
	struct progress
	    *progress; /* told by all walks over the recording and its dumps; may be NULL */
	/* Each "FILE" or "PID=FILE". */
	const char *const *dumps;
	size_t dump_count;
	const char *const *maps;
	size_t map_count;
	uint64_t skew_ns;    /* 0: the timeline's default */
	bool raw_names;      /* show names as the producers wrote them */
	bool self_contained; /* opens no file but the recording and those given here */
	bool in_order;       /* load_samples() will be called */
	bool keep_code;      /* what code.h tells will be asked for */
	bool code_events;    /* and what events.h tells */
	bool lines;          /* give frames their source lines */
	bool walked_lines;   /* and those that the walk of an interpreter found, at least */
	bool inlines;        /* and frames to functions that were inlined there */
	bool native_frames;  /* show what interprets, too, where the frames it runs are known */
	/* Stacks with functions of a runtime have nothing else: what those call counts for them. */
	bool no_native;
	bool innermost;     /* stacks end where the sample was: no callers */
	bool fetches_debug; /* asks $DEBUGINFOD_URLS for debug files that are not here */
	/* Samples that are kept; NULL or 0 keeps all. */
	const char *comm;
	const uint32_t *pids;
	size_t pid_count;
	const uint32_t *tids;
	size_t tid_count;
	uint64_t from_ns; /* in the recording's clock */
	uint64_t to_ns;   /* exclusive; 0: no end */
};

struct load_error {
	const char *path; /* borrowed from the options */
	uint64_t offset;
	int status;
};

/* Something that the reader of a report should know. */
struct load_note {
	char *text; /* unescaped: print through escape.h */
	bool is_warning;
};

enum { LOAD_EARLY_BUCKETS = 8 };

/* How early samples came whose code was announced after them. */
struct load_early {
	uint64_t count;
	uint64_t max_ns;
	uint64_t buckets[LOAD_EARLY_BUCKETS]; /* below 10 us, 100 us, 1 ms, 10 ms, 100 ms, 1 s, 10
						 s, more */
};

struct load;

/* Returns 0, or a negative status with *error filled; the load is NULL then. */
int load_open(struct load **load, const struct load_options *options, struct load_error *error);
void load_close(struct load *load);

/* Sums all samples up. Returns 0 or a negative status. */
int load_profile(struct load *load, struct profile *profile);

struct load_sample {
	uint32_t thread; /* ids of the profile */
	uint32_t event;
	uint32_t stack;
	uint32_t cpu;
	uint64_t time_ns;
	uint64_t period;
	uint64_t addr;
	bool has_cpu;
	bool has_time;
};

/* Calls `each` for every sample in time order; a non-zero return ends the walk and
 * is returned. The profile gets the things that the samples refer to, no rows.
 */
int load_samples(struct load *load, struct profile *profile,
		 int (*each)(void *context, const struct profile *profile,
			     const struct load_sample *sample),
		 void *context);

size_t load_note_count(const struct load *load);
const struct load_note *load_note(const struct load *load, size_t index);
const struct load_early *load_early(const struct load *load);

/* True where the events' samples carry a callchain. */
bool load_has_chains(const struct load *load);

#endif
