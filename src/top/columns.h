/* columns.h - what the columns of the table say of a function, the same on a screen and printed. */
#ifndef TOP_COLUMNS_H
#define TOP_COLUMNS_H

#include "base/sink.h"
#include "top/cells.h"

/* In the order in which they are shown. */
enum live_column {
	LIVE_COLUMN_SELF,
	LIVE_COLUMN_TOTAL, /* left out where callers are not counted */
	LIVE_COLUMN_SAMPLES,
	LIVE_COLUMN_RUNTIME,
	LIVE_COLUMN_TIER,
	LIVE_COLUMN_SYMBOL,
	LIVE_COLUMN_LINE,
	LIVE_COLUMN_OBJECT,
	LIVE_COLUMN_PROCESS,
	LIVE_COLUMN_COUNT,
};

/* Unescaped. */
void live_put_column(struct sink *out, const struct live_cells *cells, const struct intern *strings,
		     const struct live_cell *cell, enum live_column column);

#endif
