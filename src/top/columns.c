#include "top/columns.h"

#include "top/rows.h"

void live_put_column(struct sink *out, const struct live_cells *cells, const struct intern *strings,
		     const struct live_cell *cell, enum live_column column)
{
	switch (column) {
	case LIVE_COLUMN_SELF:
		sink_printf(out, "%.2f%%", live_percent(cells, cell->self));
		return;
	case LIVE_COLUMN_TOTAL:
		sink_printf(out, "%.2f%%", live_percent(cells, cell->total));
		return;
	case LIVE_COLUMN_SAMPLES:
		sink_printf(out, "%.0f", cell->samples);
		return;
	case LIVE_COLUMN_RUNTIME:
		sink_text(out, intern_get(strings, cell->key.runtime));
		return;
	case LIVE_COLUMN_TIER:
		live_put_tier(out, cell, strings);
		return;
	case LIVE_COLUMN_SYMBOL:
		sink_text(out, intern_get(strings, cell->key.symbol));
		return;
	case LIVE_COLUMN_LINE:
		live_put_line(out, cell, strings);
		return;
	case LIVE_COLUMN_OBJECT:
		sink_text(out, intern_get(strings, cell->key.object));
		return;
	case LIVE_COLUMN_PROCESS:
	case LIVE_COLUMN_COUNT:
		live_put_process(out, cell, strings);
		return;
	}
}
