#include "top/print.h"

#include "base/escape.h"
#include "base/status.h"
#include "top/columns.h"

#include <inttypes.h>

void live_put_state(struct sink *out, const struct live_state *state)
{
	if (state->frequency_hz)
		sink_printf(out, "%" PRIu64 " Hz ", state->frequency_hz);
	sink_printf(out, "%s, every %.1f s", state->event ? state->event : "",
		    (double)state->interval_ns / 1e9);
	if (state->is_slowed)
		sink_text(out, " (slowed)");
	sink_text(out, "; ");
	sink_grouped(out, state->interval_samples);
	sink_text(out, state->interval_samples == 1 ? " sample, " : " samples, ");
	sink_grouped(out, state->lost_count);
	sink_text(out, " lost");
	if (state->throttle_count)
		sink_printf(out, ", throttled %" PRIu64 " times", state->throttle_count);
	if (state->interval_cpu >= 0)
		sink_printf(out, "; %.2f CPUs", state->interval_cpu);
	if (state->status < 0)
		sink_printf(out, "; not read: %s", status_text(state->status));
}

void live_put_trust(struct sink *out, const struct live *live, enum live_window window,
		    const struct live_cells *cells)
{
	bool is_first = true;
	for (int i = 0; i < PROFILE_TRUST_COUNT; i++) {
		if (cells->trust[i] <= 0 || cells->samples <= 0)
			continue;
		sink_printf(out, "%s%.1f %% %s", is_first ? "" : ", ",
			    100 * cells->trust[i] / cells->samples,
			    profile_trust_name((enum profile_trust)i));
		is_first = false;
	}
	sink_text(out, is_first ? "no samples" : " of ");
	if (!is_first) {
		sink_grouped(out, (uint64_t)(cells->samples + 0.5));
		sink_text(out, " samples");
	}
	if (window == LIVE_LAST)
		sink_printf(out, " in the last %.0f s", cells->seconds);
	else if (window == LIVE_ALL)
		sink_printf(out, " in %.0f s", cells->seconds);
	else
		sink_printf(out, ", half as much every %.0f s", live_window_seconds(live));
}

struct column {
	const char *title;
	bool is_right;
	bool is_shown;
};

enum { COLUMN_WIDEST = 60 };

/* Width on the terminal: characters, not bytes. Wide ones are few in names. */
static size_t width_of(struct bytes text)
{
	size_t count = 0;
	for (size_t i = 0; i < text.size; i++)
		count += (text.data[i] & 0xc0) != 0x80;
	return count;
}

struct table {
	const struct live_cells *cells;
	const struct intern *strings;
	const struct live_rows *rows;
	size_t row_count;
	size_t widths[LIVE_COLUMN_COUNT];
};

static void put_cell(struct sink *raw, struct sink *shown, const struct table *table,
		     enum live_column column, size_t row)
{
	sink_reset(raw);
	sink_reset(shown);
	live_put_column(raw, table->cells, table->strings,
			&table->cells->items.items[table->rows->items[row]], column);
	escape_terminal(shown, sink_bytes(raw));
}

static void measure(struct table *table, const struct column *columns)
{
	struct sink raw = { 0 };
	struct sink shown = { 0 };
	for (int i = 0; i < LIVE_COLUMN_COUNT; i++) {
		table->widths[i] = strlen(columns[i].title);
		for (size_t row = 0; row < table->row_count; row++) {
			put_cell(&raw, &shown, table, (enum live_column)i, row);
			const size_t width = width_of(sink_bytes(&shown));
			if (width > table->widths[i])
				table->widths[i] = width;
		}
		if (table->widths[i] > COLUMN_WIDEST)
			table->widths[i] = COLUMN_WIDEST;
	}
	sink_clear(&raw);
	sink_clear(&shown);
}

/* The text as far as so many characters go. */
static struct bytes first_of(struct bytes text, size_t width)
{
	size_t shown = 0;
	for (size_t i = 0; i < text.size; i++) {
		shown += (text.data[i] & 0xc0) != 0x80;
		if (shown > width)
			return (struct bytes){ text.data, i };
	}
	return text;
}

static void put_padded(struct sink *out, struct bytes text, size_t width, bool is_right,
		       bool is_last)
{
	const size_t whole = width_of(text);
	const bool is_cut = whole > width;
	const size_t shown = is_cut ? width : whole;
	if (is_cut)
		text = first_of(text, width - 3);
	const size_t gap = shown < width ? width - shown : 0;
	if (is_right)
		sink_printf(out, "%*s", (int)gap, "");
	sink_put(out, text.data, text.size);
	if (is_cut)
		sink_text(out, "...");
	if (!is_right && !is_last)
		sink_printf(out, "%*s", (int)gap, "");
	if (!is_last)
		sink_text(out, "  ");
}

/* A line without its end, cut to the width. */
static void put_line_end(struct sink *out, size_t start, unsigned width)
{
	size_t at = start;
	size_t shown = 0;
	while (width && at < out->size) {
		shown += (out->data[at] & 0xc0) != 0x80;
		if (shown > width) {
			out->size = at;
			break;
		}
		at++;
	}
	sink_text(out, "\n");
}

static void put_table(struct sink *out, struct table *table, const struct column *columns,
		      unsigned width)
{
	struct sink raw = { 0 };
	struct sink shown = { 0 };
	measure(table, columns);
	size_t start = out->size;
	for (int i = 0; i < LIVE_COLUMN_COUNT; i++) {
		const char *title = columns[i].title;
		if (columns[i].is_shown)
			put_padded(out, (struct bytes){ (const uint8_t *)title, strlen(title) },
				   table->widths[i], columns[i].is_right,
				   i + 1 == LIVE_COLUMN_COUNT);
	}
	put_line_end(out, start, width);
	for (size_t row = 0; row < table->row_count; row++) {
		start = out->size;
		for (int i = 0; i < LIVE_COLUMN_COUNT; i++) {
			if (!columns[i].is_shown)
				continue;
			put_cell(&raw, &shown, table, (enum live_column)i, row);
			put_padded(out, sink_bytes(&shown), table->widths[i], columns[i].is_right,
				   i + 1 == LIVE_COLUMN_COUNT);
		}
		put_line_end(out, start, width);
	}
	sink_clear(&raw);
	sink_clear(&shown);
}

int live_print_text(struct sink *out, const struct live *live,
		    const struct live_print_options *options)
{
	const struct column columns[LIVE_COLUMN_COUNT] = {
		{ "Overhead", true, true }, { "Total", true, options->rows.with_callers },
		{ "Samples", true, true },  { "Runtime", false, true },
		{ "Tier", false, true },    { "Symbol", false, true },
		{ "Line", false, true },    { "Object", false, true },
		{ "Process", false, true },
	};
	struct live_cells cells = { 0 };
	struct live_rows rows = { 0 };
	int got = live_sum(live, options->window, &cells);
	if (got == 0)
		got = live_rows_make(&rows, &cells, live_strings(live), &options->rows);
	if (got == 0) {
		struct table table = { &cells, live_strings(live), &rows, rows.count, { 0 } };
		if (options->limit && options->limit < rows.count)
			table.row_count = options->limit;
		live_put_trust(out, live, options->window, &cells);
		sink_text(out, "\n");
		live_put_state(out, live_state(live));
		sink_text(out, "\n\n");
		put_table(out, &table, columns, options->width);
		sink_text(out, "\n");
	}
	live_rows_clear(&rows);
	live_cells_clear(&cells);
	return got < 0 || sink_failed(out) ? STATUS_NO_MEMORY : 0;
}

static void put_json_text(struct sink *out, const char *key, const char *text)
{
	sink_printf(out, ",\"%s\":\"", key);
	escape_json(out, (struct bytes){ (const uint8_t *)text, strlen(text) });
	sink_u8(out, '"');
}

static void put_json_row(struct sink *out, const struct live_cells *cells,
			 const struct intern *strings, const struct live_cell *cell,
			 bool with_callers)
{
	struct sink tiers = { 0 };
	live_put_tiers(&tiers, cell, strings);
	sink_u8(&tiers, 0);
	sink_printf(out, "{\"overhead\":%.4f", live_percent(cells, cell->self));
	if (with_callers)
		sink_printf(out, ",\"total\":%.4f", live_percent(cells, cell->total));
	sink_printf(out, ",\"samples\":%.1f", cell->samples);
	put_json_text(out, "runtime", intern_get(strings, cell->key.runtime));
	put_json_text(out, "tier", sink_failed(&tiers) ? "" : (const char *)tiers.data);
	put_json_text(out, "last_tier", intern_get(strings, cell->last_tier));
	put_json_text(out, "symbol", intern_get(strings, cell->key.symbol));
	if (cell->line) {
		put_json_text(out, "file", intern_get(strings, cell->file));
		sink_printf(out, ",\"line\":%u", cell->line);
	}
	put_json_text(out, "object", intern_get(strings, cell->key.object));
	put_json_text(out, "process", intern_get(strings, cell->key.process));
	if (cell->pid)
		sink_printf(out, ",\"pid\":%u", cell->pid);
	sink_u8(out, '}');
	sink_clear(&tiers);
}

static void put_json_head(struct sink *out, const struct live *live, const struct live_cells *cells)
{
	const struct live_state *state = live_state(live);
	sink_printf(out, "{\"interval\":%" PRIu64, state->interval_count);
	put_json_text(out, "event", state->event ? state->event : "");
	sink_printf(out,
		    ",\"frequency_hz\":%" PRIu64 ",\"seconds\":%.3f,\"interval_samples\":%" PRIu64
		    ",\"lost\":%" PRIu64 ",\"throttled\":%" PRIu64 ",\"cost_ms\":%.3f",
		    state->frequency_hz, (double)state->interval_ns / 1e9, state->interval_samples,
		    state->lost_count, state->throttle_count, (double)state->cost_ns / 1e6);
	if (state->interval_cpu >= 0)
		sink_printf(out, ",\"cpus\":%.3f", state->interval_cpu);
	sink_printf(out, ",\"last\":%s,\"window_seconds\":%.3f,\"samples\":%.1f,\"trust\":{",
		    state->is_last ? "true" : "false", cells->seconds, cells->samples);
	for (int i = 0; i < PROFILE_TRUST_COUNT; i++)
		sink_printf(out, "%s\"%s\":%.1f", i ? "," : "",
			    profile_trust_name((enum profile_trust)i), cells->trust[i]);
	sink_text(out, "},\"rows\":[");
}

int live_print_json(struct sink *out, const struct live *live,
		    const struct live_print_options *options)
{
	struct live_cells cells = { 0 };
	struct live_rows rows = { 0 };
	int got = live_sum(live, options->window, &cells);
	if (got == 0)
		got = live_rows_make(&rows, &cells, live_strings(live), &options->rows);
	if (got == 0) {
		put_json_head(out, live, &cells);
		for (size_t i = 0; i < rows.count && (!options->limit || i < options->limit); i++) {
			if (i)
				sink_u8(out, ',');
			put_json_row(out, &cells, live_strings(live),
				     &cells.items.items[rows.items[i]], options->rows.with_callers);
		}
		sink_text(out, "]}\n");
	}
	live_rows_clear(&rows);
	live_cells_clear(&cells);
	return got < 0 || sink_failed(out) ? STATUS_NO_MEMORY : 0;
}
