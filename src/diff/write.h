/* write.h - a diff as text, CSV or JSON.
 *
 *   diff_choose(&diff, &(struct diff_choice){ .sort = DIFF_SORT_CHANGE, .percent_limit = 0.1 });
 *   struct diff_view view = { &diff, { "cycles", "cycles" }, false };
 *   struct sink out = { 0 };
 *   diff_write_text(&out, &view, width);
 *
 * Names are escaped for where they go. The caller prints and clears the sink.
 */
#ifndef DIFF_WRITE_H
#define DIFF_WRITE_H

#include "base/sink.h"
#include "diff/diff.h"

#define DIFF_SORT_LIST(X)                                                     \
	X(CHANGE, "change") /* beyond noise first, then the largest change */ \
	X(BEFORE, "before")                                                   \
	X(AFTER, "after")                                                     \
	X(RATIO, "ratio") /* after / before, the most extreme first */        \
	X(SYMBOL, "symbol")

enum diff_sort {
#define X(name, text) DIFF_SORT_##name,
	DIFF_SORT_LIST(X)
#undef X
};

struct diff_choice {
	enum diff_sort sort;
	double percent_limit; /* of all samples, on one of the sides at least */
	size_t top;           /* no more rows; 0: all */
	bool changed;         /* only what is beyond noise */
	/* Comma-separated patterns as in fnmatch(3); NULL shows all. */
	const char *objects;
	const char *symbols;
};

/* Leaves in diff->order what was chosen, sorted. */
void diff_choose(struct diff *diff, const struct diff_choice *choice);

/* "change" to DIFF_SORT_CHANGE; -1 for a word that is none of them. */
int diff_sort_find(const char *text);

struct diff_view {
	const struct diff *diff;
	const char *events[DIFF_SIDES];
	bool is_time; /* weights are nanoseconds */
};

/* "more", "less", "appeared", "vanished"; "noise" where the change is not beyond it. */
const char *diff_verdict(const struct diff_figure *figure);

/* `width`: of the terminal, to cut long names; 0 cuts nothing. */
void diff_write_text(struct sink *out, const struct diff_view *view, unsigned width);

/* Header
 * "verdict,before,after,change,noise,samples_before,samples_after,symbol,symbol_before,object,
 * runtime,found". Shares are in percent, all else in the event's unit.
 */
void diff_write_csv(struct sink *out, const struct diff_view *view);
void diff_write_json(struct sink *out, const struct diff_view *view);

#endif
