#include "base/escape.h"
#include "diff/unit.h"
#include "diff/write.h"

#include <inttypes.h>

static void put_text(struct sink *out, const char *name, struct bytes text)
{
	sink_printf(out, ",\"%s\":\"", name);
	escape_json(out, text);
	sink_u8(out, '"');
}

static void put_figure(struct sink *out, const struct diff_view *view, const char *name,
		       const struct diff_figure *figure)
{
	sink_printf(out,
		    "\"%s\":{\"verdict\":\"%s\",\"before\":%.9g,\"after\":%.9g,\"change\":%.9g,"
		    "\"noise\":%.9g,\"samples_before\":%" PRIu64 ",\"samples_after\":%" PRIu64 "}",
		    name, diff_verdict(figure), unit_plain(view, figure->value[DIFF_BEFORE]),
		    unit_plain(view, figure->value[DIFF_AFTER]),
		    unit_plain(view, diff_change(figure)), unit_plain(view, figure->noise),
		    figure->count[DIFF_BEFORE], figure->count[DIFF_AFTER]);
}

static void put_row(struct sink *out, const struct diff_view *view, const struct diff_row *row)
{
	const struct diff *diff = view->diff;
	const struct intern *strings = &diff->match.strings;
	const struct diff_function *f = &diff->match.functions.items[row->function];
	sink_u8(out, '{');
	put_figure(out, view, "self", &row->self);
	sink_u8(out, ',');
	put_figure(out, view, "total", &row->total);
	put_text(out, "symbol", intern_get_bytes(strings, f->name[DIFF_AFTER]));
	put_text(out, "symbol_before", intern_get_bytes(strings, f->name[DIFF_BEFORE]));
	put_text(out, "object", intern_get_bytes(strings, f->object[DIFF_AFTER]));
	put_text(out, "object_before", intern_get_bytes(strings, f->object[DIFF_BEFORE]));
	put_text(out, "runtime", intern_get_bytes(strings, f->runtime));
	sink_printf(out, ",\"found\":\"%s\"", diff_found_name((enum diff_found)f->found));
	put_text(out, "key", intern_get_bytes(strings, f->key));
	sink_u8(out, '}');
}

void diff_write_json(struct sink *out, const struct diff_view *view)
{
	static const char *const SIDES[] = { "before", "after" };
	const struct diff *diff = view->diff;
	sink_printf(out, "{\"by\":\"%s\",\"beyond_noise\":%zu,\"compared\":%zu,\"spread\":%.9g",
		    diff_by_name(diff->options.by), diff->beyond, diff->compared, diff->spread);
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		const struct diff_total *total = &diff->sides[side];
		const char *event = view->events[side];
		sink_printf(out, ",\n\"%s\":{\"recordings\":%u", SIDES[side], total->recordings);
		put_text(out, "event", (struct bytes){ (const uint8_t *)event, strlen(event) });
		sink_printf(out, ",\"samples\":%" PRIu64 ",\"weight\":%.9g,\"seconds\":%.9g}",
			    total->count, total->weight, total->seconds);
	}
	sink_text(out, ",\n\"rows\":[");
	for (size_t i = 0; i < diff->order.count; i++) {
		sink_text(out, i ? ",\n" : "\n");
		put_row(out, view, &diff->rows.items[diff->order.items[i]]);
	}
	sink_text(out, "\n]}\n");
}
