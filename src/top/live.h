/* live.h - what is hot now: a session that is summed up while it runs.
 *
 *   struct live *live;
 *   live_new(&live, &options);
 *   int got = live_run(live, &result);             calls options.on_interval after each interval
 *   live_free(live);
 *
 * and there: live_sum(live, LIVE_LAST, &cells), live_state(live), live_look_into(live, &query).
 *
 * Each interval is a small recording in memory (record_intervals of record/session.h) that
 * load/load.h reads as any other, with what it kept of the one before (load/kept.h): so names,
 * tiers, lines and trust are those that `record` and `report` would show of the same samples. What
 * is left of it are a few numbers a function (cells.h). One thread.
 */
#ifndef TOP_LIVE_H
#define TOP_LIVE_H

#include "record/session.h"
#include "top/window.h"

enum { LIVE_COST_PART = 10 }; /* of the time between refreshes one may take a tenth of a CPU */

struct live;

struct live_options {
	struct record_options record; /* output and intervals are ours */
	uint64_t interval_ns;
	double window_seconds;
	bool with_callers;
	bool native_frames; /* as load_options */
	bool raw_names;
	bool no_lines;
	/* After each interval; non-zero ends. */
	int (*on_interval)(void *context, struct live *live);
	/* When one of the descriptors is readable. */
	enum record_answer (*on_ready)(void *context, struct live *live);
	const int *fds;
	size_t fd_count;
	void *context;
};

/* Returns 0 or STATUS_NO_MEMORY. The options are copied, what they point to is borrowed. */
int live_new(struct live **live, const struct live_options *options);
void live_free(struct live *live); /* NULL is harmless */

/* As record_run(). */
int live_run(struct live *live, struct record_result *result);

struct live_state {
	uint64_t interval_count;
	const char *event;
	uint64_t frequency_hz; /* 0: by period */
	uint64_t interval_ns;  /* how long the last one was */
	uint64_t interval_samples;
	uint64_t lost_count; /* since the start */
	uint64_t throttle_count;
	uint64_t cost_ns;    /* CPU time of the last refresh, by us */
	double interval_cpu; /* CPUs that the programs used in the last one; negative: not known */
	bool is_slowed;      /* refreshed less often than was asked for: it cost too much */
	bool is_last;
	int status;        /* of the last interval, if it could not be read; else 0 */
	size_t note_count; /* what loads told, each once */
};

const struct live_state *live_state(const struct live *live);
const char *live_note(const struct live *live, size_t index);

/* What the ids of cells mean; until the next interval. */
const struct intern *live_strings(const struct live *live);
int live_sum(const struct live *live, enum live_window window, struct live_cells *cells);
double live_window_seconds(const struct live *live);

/* May be changed while it runs. */
void live_set_interval(struct live *live, uint64_t interval_ns);
void live_set_window(struct live *live, double seconds);
void live_set_callers(struct live *live, bool with_callers);
uint64_t live_interval_ns(const struct live *live);

/* Of one function, from the next interval on, as long as it is not called again: its annotated
 * code with the counts of the last window. NULL: of none. Texts are copied.
 */
struct live_query {
	const char *symbol;
	const char *object;
	uint32_t pid; /* 0: of all */
};
/* Returns 0 or STATUS_NO_MEMORY. */
int live_look_into(struct live *live, const struct live_query *query);

/* Text in lines, made by the last interval; empty before. `status` says why there is none. */
struct live_detail {
	struct bytes text;
	uint64_t samples;
	const char *reason; /* a sentence; NULL: there is text */
};
const struct live_detail *live_detail(const struct live *live);

/* How the text is made. */
void live_style_detail(struct live *live, unsigned view, unsigned width, bool is_ascii);

#endif
