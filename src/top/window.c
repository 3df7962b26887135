#include "top/window.h"

#include "base/status.h"

#include <math.h>

void live_windows_init(struct live_windows *w, double seconds)
{
	*w = (struct live_windows){ .seconds = seconds, .string_limit = LIVE_STRING_BYTES };
}

static void drop_oldest(struct live_windows *w)
{
	w->last_cells -= w->last.items[0].items.count;
	live_cells_clear(&w->last.items[0]);
	w->last.count--;
	memmove(&w->last.items[0], &w->last.items[1], w->last.count * sizeof(w->last.items[0]));
}

static double seconds_of(const struct live_windows *w)
{
	double sum = 0;
	for (size_t i = 0; i < w->last.count; i++)
		sum += w->last.items[i].seconds;
	return sum;
}

/* As many whole intervals as the seconds have, give or take half of one. */
static void drop_old(struct live_windows *w)
{
	while (w->last.count > 1 && (w->last_cells > LIVE_WINDOW_CELLS ||
				     seconds_of(w) - w->last.items[0].seconds / 2 > w->seconds))
		drop_oldest(w);
}

static int intern_again(struct live_windows *w)
{
	struct intern strings = { 0 };
	int got = live_cells_intern(&w->decaying, &w->strings, &strings);
	if (got == 0)
		got = live_cells_intern(&w->all, &w->strings, &strings);
	for (size_t i = 0; got == 0 && i < w->last.count; i++)
		got = live_cells_intern(&w->last.items[i], &w->strings, &strings);
	if (got < 0) {
		intern_clear(&strings);
		return got;
	}
	intern_clear(&w->strings);
	w->strings = strings;
	w->string_limit = 2 * strings.arena.used;
	if (w->string_limit < LIVE_STRING_BYTES)
		w->string_limit = LIVE_STRING_BYTES;
	return 0;
}

int live_windows_put(struct live_windows *w, struct live_cells *cells)
{
	int got = live_cells_trim(cells, LIVE_INTERVAL_CELLS, 0);
	if (got == 0)
		got = live_cells_add(&w->all, cells, 1);
	if (got == 0 && w->all.items.count > (size_t)2 * LIVE_SUM_CELLS)
		got = live_cells_trim(&w->all, LIVE_SUM_CELLS, 0);
	if (got == 0) {
		live_cells_scale(&w->decaying, exp2(-cells->seconds / w->seconds));
		got = live_cells_add(&w->decaying, cells, 1);
	}
	/* What is less than this cannot be seen in any column. */
	if (got == 0)
		got = live_cells_trim(&w->decaying, LIVE_SUM_CELLS, w->decaying.weight * 1e-6);
	struct live_cells *slot = got == 0 ? vector_push(&w->last) : NULL;
	if (!slot) {
		live_cells_clear(cells);
		return got < 0 ? got : STATUS_NO_MEMORY;
	}
	*slot = *cells;
	w->last_cells += cells->items.count;
	*cells = (struct live_cells){ 0 };
	drop_old(w);
	return w->strings.arena.used > w->string_limit ? intern_again(w) : 0;
}

int live_windows_sum(const struct live_windows *w, enum live_window which, struct live_cells *sum)
{
	int got = 0;
	if (which == LIVE_DECAYING)
		return live_cells_add(sum, &w->decaying, 1);
	if (which == LIVE_ALL)
		return live_cells_add(sum, &w->all, 1);
	for (size_t i = 0; got == 0 && i < w->last.count; i++)
		got = live_cells_add(sum, &w->last.items[i], 1);
	return got;
}

void live_windows_clear(struct live_windows *w)
{
	while (w->last.count)
		drop_oldest(w);
	vector_clear(&w->last);
	live_cells_clear(&w->decaying);
	live_cells_clear(&w->all);
	intern_clear(&w->strings);
}
