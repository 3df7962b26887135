/* diff.h - two profiles, or two groups of them, compared: what became more, what became less, and
 * what of it is noise.
 *
 *   const struct diff_recording recordings[] = { { &old, old_event, DIFF_BEFORE },
 *                                                { &new, new_event, DIFF_AFTER } };
 *   struct diff diff = { 0 };
 *   if (diff_build(&diff, recordings, 2, &(struct diff_options){ .by = DIFF_BY_SHARE }) == 0)
 *           for (size_t i = 0; i < diff.order.count; i++)
 *                   use(&diff.rows.items[diff.order.items[i]]);
 *   diff_clear(&diff);
 *
 * Noise. Samples are counts: the share of a function in N samples that are drawn at random has the
 * variance p (1 - p) / N. It is worked out for both sides (with the weights of samples where they
 * differ, and one sample more with and without the function, so that few samples are not taken for
 * none), and a change is beyond noise where it is larger than `noise`: the half width of an
 * interval that is so wide that among *all* functions of two equal programs none is beyond it in 19
 * of 20 comparisons (Bonferroni's correction, over those functions that have samples enough to ever
 * be).
 *
 * That is the noise of sampling alone. A program that is run again also does a little other work,
 * which one recording a side cannot tell. With two and more on a side, the spread between them is
 * used: a function's variance is that between its runs, mixed with what all functions together say
 * of how far runs are apart (`spread`), since few runs say little of one function (a moderated
 * t-test), and never less than what sampling explains.
 *
 * The diff borrows the profiles only while it is built. Work and memory grow with the distinct
 * stacks. One thread while it is built, any number after.
 */
#ifndef DIFF_DIFF_H
#define DIFF_DIFF_H

#include "diff/match.h"

/* What figures mean. */
#define DIFF_BY_LIST(X)                                                                     \
	X(SHARE, "share")           /* of all weight of the recording, 0 to 1 */            \
	X(TOTAL, "total")           /* the weight itself: nanoseconds of a clock, events */ \
	X(SECOND, "second")         /* weight a second between first and last sample */     \
	X(CPU_SECOND, "cpu-second") /* weight a second of cpu-clock or task-clock */

enum diff_by {
#define X(name, text) DIFF_BY_##name,
	DIFF_BY_LIST(X)
#undef X
};

struct diff_recording {
	const struct profile *profile;
	uint32_t event; /* of that profile */
	unsigned side;  /* DIFF_BEFORE or DIFF_AFTER; each side has at least one recording */
};

struct diff_options {
	enum diff_by by;
	bool children; /* rows are sorted, and said to be beyond noise, by `total`, not by `self` */
};

/* Means over the recordings of a side, in the unit of diff_by. */
struct diff_figure {
	double value[DIFF_SIDES];
	double noise;               /* |value[1] - value[0]| above this is beyond noise */
	uint64_t count[DIFF_SIDES]; /* of samples, of all recordings */
	bool is_beyond;
};

struct diff_row {
	uint32_t function; /* of diff.match */
	struct diff_figure self;
	struct diff_figure total; /* wherever it is in the stack; a stack counts once */
};

struct diff_total {
	uint64_t count; /* of samples, of all recordings of the side */
	double weight;  /* mean of the recordings */
	double value;   /* that in the unit of diff_by: 1 for shares */
	double seconds; /* mean, between first and last sample */
	unsigned recordings;
};

struct diff {
	struct diff_match match;
	VECTOR(struct diff_row) rows; /* of functions that have samples of the events */
	/* Those beyond noise first, each part by the size of the change, largest first. */
	VECTOR(uint32_t) order;
	struct diff_total sides[DIFF_SIDES];
	size_t compared; /* functions with samples enough to be beyond noise ever */
	size_t beyond;   /* rows that are */
	double
	    spread; /* runs of a side differ by this part of a function's time; 0: one run a side */
	struct diff_options options;
};

/* Returns 0, STATUS_NO_MEMORY, or STATUS_NOT_FOUND where DIFF_BY_CPU_SECOND finds no event that
 * counts processor time in a recording. *diff is zeroed before, and to be cleared in all cases.
 */
int diff_build(struct diff *diff, const struct diff_recording *recordings, size_t count,
	       const struct diff_options *options);
void diff_clear(struct diff *diff);

/* The figure that rows are sorted by. */
static inline const struct diff_figure *diff_figure(const struct diff *diff,
						    const struct diff_row *row)
{
	return diff->options.children ? &row->total : &row->self;
}

static inline double diff_change(const struct diff_figure *figure)
{
	return figure->value[DIFF_AFTER] - figure->value[DIFF_BEFORE];
}

/* Below 0 where `a` comes before `b` in diff.order. */
int diff_compare(const struct diff *diff, const struct diff_row *a, const struct diff_row *b);

/* "share" to DIFF_BY_SHARE; -1 for a word that is none of them. */
int diff_by_find(const char *text);
const char *diff_by_name(enum diff_by by);

#endif
