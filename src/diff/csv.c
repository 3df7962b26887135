#include "base/escape.h"
#include "diff/unit.h"
#include "diff/write.h"

#include <inttypes.h>

static void put_text(struct sink *out, const struct diff *diff, uint32_t string)
{
	sink_u8(out, ',');
	escape_csv(out, intern_get_bytes(&diff->match.strings, string));
}

void diff_write_csv(struct sink *out, const struct diff_view *view)
{
	const struct diff *diff = view->diff;
	sink_text(out, "verdict,before,after,change,noise,samples_before,samples_after,symbol,"
		       "symbol_before,object,runtime,found\n");
	for (size_t i = 0; i < diff->order.count; i++) {
		const struct diff_row *row = &diff->rows.items[diff->order.items[i]];
		const struct diff_figure *figure = diff_figure(diff, row);
		const struct diff_function *function = &diff->match.functions.items[row->function];
		sink_printf(out, "%s,%.9g,%.9g,%.9g,%.9g,%" PRIu64 ",%" PRIu64,
			    diff_verdict(figure), unit_plain(view, figure->value[DIFF_BEFORE]),
			    unit_plain(view, figure->value[DIFF_AFTER]),
			    unit_plain(view, diff_change(figure)), unit_plain(view, figure->noise),
			    figure->count[DIFF_BEFORE], figure->count[DIFF_AFTER]);
		put_text(out, diff, function->name[DIFF_AFTER]);
		put_text(out, diff, function->name[DIFF_BEFORE]);
		put_text(out, diff, function->object[DIFF_AFTER]);
		put_text(out, diff, function->runtime);
		sink_printf(out, ",%s\n", diff_found_name((enum diff_found)function->found));
	}
}
