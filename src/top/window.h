/* window.h - the intervals that a table is made of: the last ones, all, or all the less the older.
 *
 *   struct live_windows windows;
 *   live_windows_init(&windows, 10.0);
 *   live_windows_put(&windows, &cells);         an interval; takes the cells over
 *   live_windows_sum(&windows, LIVE_LAST, &sum);
 *   live_windows_clear(&windows);
 *
 * Memory is bounded however long it runs: there are limits to functions of an interval and of
 * all together, beyond which those with least weight are left out; their weight stays in the whole.
 */
#ifndef TOP_WINDOW_H
#define TOP_WINDOW_H

#include "top/cells.h"

enum live_window {
	LIVE_LAST,     /* the last seconds, all alike */
	LIVE_DECAYING, /* what is so many seconds old counts half */
	LIVE_ALL,      /* since the start */
	LIVE_WINDOW_COUNT,
};

enum {
	LIVE_INTERVAL_CELLS = 20000,
	LIVE_WINDOW_CELLS = 400000, /* of all intervals of LIVE_LAST */
	LIVE_SUM_CELLS = 50000,
	LIVE_STRING_BYTES = 32 << 20, /* then those that nobody has any more go */
};

struct live_windows {
	double seconds;
	struct intern strings; /* of all cells */
	size_t string_limit;
	VECTOR(struct live_cells) last; /* the newest is the last one */
	size_t last_cells;
	struct live_cells decaying;
	struct live_cells all;
};

void live_windows_init(struct live_windows *windows, double seconds);

/* The cells are empty then, also where it fails. Returns 0 or STATUS_NO_MEMORY. */
int live_windows_put(struct live_windows *windows, struct live_cells *cells);

/* Fills empty cells. Returns 0 or STATUS_NO_MEMORY. */
int live_windows_sum(const struct live_windows *windows, enum live_window which,
		     struct live_cells *sum);

void live_windows_clear(struct live_windows *windows);

#endif
