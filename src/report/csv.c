#include "base/escape.h"
#include "report/columns.h"
#include "report/write.h"

void report_write_csv(struct sink *out, const struct report_view *view)
{
	const struct report_column *columns[REPORT_COLUMN_LIMIT];
	const size_t count = report_columns(view->options, columns);
	struct sink cell = { 0 };
	for (size_t i = 0; i < count; i++)
		sink_printf(out, "%s%s", i ? "," : "", columns[i]->name);
	sink_text(out, "\n");
	for (size_t r = 0; r < view->groups->order.count; r++) {
		const uint32_t id = view->groups->order.items[r];
		for (size_t i = 0; i < count; i++) {
			sink_reset(&cell);
			columns[i]->put(&cell, view->groups, view->profile,
					&view->groups->items.items[id]);
			sink_text(out, i ? "," : "");
			escape_csv(out, sink_bytes(&cell));
		}
		sink_text(out, "\n");
	}
	out->failed |= sink_failed(&cell);
	sink_clear(&cell);
}
