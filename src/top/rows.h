/* rows.h - the table that people look at: cells that are wanted, in order.
 *
 *   struct live_rows rows = { 0 };
 *   live_rows_make(&rows, &cells, &strings, &(struct live_rows_options){ .filter = "node" });
 *   for (size_t i = 0; i < rows.count; i++)
 *           use(&cells.items.items[rows.items[i]]);
 *   live_rows_clear(&rows);
 */
#ifndef TOP_ROWS_H
#define TOP_ROWS_H

#include "base/sink.h"
#include "top/cells.h"

#define LIVE_SORT_LIST(X)     \
	X(SELF, "overhead")   \
	X(TOTAL, "total")     \
	X(SAMPLES, "samples") \
	X(SYMBOL, "symbol")   \
	X(RUNTIME, "runtime") \
	X(OBJECT, "object")   \
	X(PROCESS, "process")

enum live_sort {
#define X(name, text) LIVE_SORT_##name,
	LIVE_SORT_LIST(X)
#undef X
	    LIVE_SORT_COUNT
};

const char *live_sort_name(enum live_sort sort);
/* False where there is no such column. */
bool live_sort_parse(const char *text, enum live_sort *sort);

struct live_rows_options {
	enum live_sort sort;
	/* Words, all of which must be somewhere in the process, its id, the runtime, the object or
	 * the symbol, in any case of letters; one behind "process:", "runtime:", "object:" or
	 * "symbol:" in that alone, and one behind "!" nowhere. NULL or "": all.
	 */
	const char *filter;
	double least_percent;
	bool with_callers; /* also those that only called others */
};

struct live_rows {
	VECTOR(uint32_t); /* into cells.items */
};

/* Makes them anew. Returns 0 or STATUS_NO_MEMORY. */
int live_rows_make(struct live_rows *rows, const struct live_cells *cells,
		   const struct intern *strings, const struct live_rows_options *options);
void live_rows_clear(struct live_rows *rows);

double live_percent(const struct live_cells *cells, double weight);

/* The tier of the newest samples, with a plus where others had some: "turbofan+". */
void live_put_tier(struct sink *out, const struct live_cell *cell, const struct intern *strings);

/* Names of the tiers, the one with most weight first: "turbofan+maglev". */
void live_put_tiers(struct sink *out, const struct live_cell *cell, const struct intern *strings);

/* "app.js:12"; the file without its folders; nothing where it is not known. */
void live_put_line(struct sink *out, const struct live_cell *cell, const struct intern *strings);

/* "node", and the id where it is one process: "node 4242". */
void live_put_process(struct sink *out, const struct live_cell *cell, const struct intern *strings);

#endif
