/* top_view.h - the screen of `polyperf top`: the table of what is hot, and a function looked into.
 *
 *   struct top_view view = { 0 };
 *   top_view_open(&view, live, &options);
 *   top_view_interval(&view);                      after each interval: other numbers, unless
 * paused top_view_draw(&view, canvas); switch (top_view_key(&view, key)) ... top_view_close(&view);
 *
 * Needs no terminal. The live engine is changed by keys: interval, window, callers, the function
 * that is looked into. One thread.
 */
#ifndef TUI_TOP_VIEW_H
#define TUI_TOP_VIEW_H

#include "top/columns.h"
#include "top/live.h"
#include "top/rows.h"
#include "tui/overlay.h"
#include "tui/pane.h"
#include "tui/prompt.h"
#include "tui/table.h"

enum top_outcome {
	TOP_STAYS, /* draw again */
	TOP_NOW,   /* end the interval: what is to be shown needs the newest samples */
	TOP_LEAVES,
};

enum top_prompt { TOP_NO_PROMPT, TOP_FILTER, TOP_SEARCH, TOP_INTERVAL, TOP_WINDOW };

struct top_view {
	struct live *live;
	struct live_rows_options rows_options;
	enum live_window window;
	bool with_callers;
	bool is_paused;
	bool has_ended; /* what was looked at has: the numbers are the last */
	bool is_ascii;
	/* What is shown: copies, which a pause keeps. */
	struct live_cells cells;
	struct intern strings;
	struct live_rows rows;
	struct sink state; /* of the interval, and of the trust: with a NUL */
	struct sink trust;
	struct table table;
	struct table_column columns[LIVE_COLUMN_COUNT]; /* those of the table */
	struct pane pane;                               /* of the function */
	bool is_inside;
	struct live_query inside; /* owned texts */
	unsigned inside_view;     /* enum annotate_view */
	struct prompt prompt;
	enum top_prompt asking;
	struct sink filter; /* with a NUL */
	struct overlay help;
	bool is_help;
	struct overlay menu;
	bool is_menu;
	const char *message; /* static; NULL: none */
	unsigned cursor_row; /* where the prompt has the cursor */
	unsigned cursor_column;
};

/* Returns 0 or STATUS_NO_MEMORY; to be closed in any case. `rows` are copied. */
int top_view_open(struct top_view *view, struct live *live, const struct live_rows_options *rows,
		  enum live_window window, bool with_callers);
void top_view_close(struct top_view *view);

/* Takes the numbers of the last interval. 0 or STATUS_NO_MEMORY. */
int top_view_interval(struct top_view *view);

void top_view_draw(struct top_view *view, struct canvas *canvas);
enum top_outcome top_view_key(struct top_view *view, int32_t key);

/* True while something is typed: the cursor is to be seen. */
bool top_view_has_cursor(const struct top_view *view);

#endif
