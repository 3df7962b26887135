/* print.h - the table as plain text, and as JSON for programs: an interval each.
 *
 *   live_print_text(&out, live, &options);
 *   live_print_json(&out, live, &options);       one line
 */
#ifndef TOP_PRINT_H
#define TOP_PRINT_H

#include "top/live.h"
#include "top/rows.h"

struct live_print_options {
	struct live_rows_options rows;
	enum live_window window;
	size_t limit;   /* rows; 0: all */
	unsigned width; /* of lines; 0: cuts nothing */
};

/* Return 0 or STATUS_NO_MEMORY. */
int live_print_text(struct sink *out, const struct live *live,
		    const struct live_print_options *options);
int live_print_json(struct sink *out, const struct live *live,
		    const struct live_print_options *options);

/* "999 Hz cpu-clock, 2.0 s; 1,998 samples, 0 lost; 1.02 CPUs": the last interval. */
void live_put_state(struct sink *out, const struct live_state *state);

/* "98.1 % exact, 1.9 % unknown of 9,990 samples in the last 10 s" */
void live_put_trust(struct sink *out, const struct live *live, enum live_window window,
		    const struct live_cells *cells);

#endif
