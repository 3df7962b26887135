#include "tui/top_view.h"

#include "base/hash.h"
#include "base/status.h"
#include "top/columns.h"
#include "top/print.h"
#include "tui/bar.h"
#include "tui/keys.h"
#include "tui/top_view_internal.h"

#include <stdlib.h>
#include <string.h>

/* Total is left out where callers are not counted: see column_of(). */
static const struct table_column all_columns[LIVE_COLUMN_COUNT] = {
	{ .title = "Overhead", .is_right = true, .least = 8 },
	{ .title = "Total", .is_right = true, .least = 8 },
	{ .title = "Samples", .is_right = true, .least = 7, .leaves = 5 },
	{ .title = "Runtime", .least = 7, .most = 12, .is_searched = true },
	{ .title = "Tier", .most = 14, .leaves = 1 },
	{ .title = "Symbol", .takes_rest = true, .is_searched = true },
	{ .title = "Line", .most = 24, .leaves = 3 },
	{ .title = "Object", .most = 20, .leaves = 4, .is_searched = true },
	{ .title = "Process", .most = 22, .leaves = 2, .is_searched = true },
};
/* Number of a column of the table, as above. */
static enum live_column column_of(const struct top_view *v, size_t column)
{
	return (enum live_column)(v->with_callers || column == LIVE_COLUMN_SELF ? column
										: column + 1);
}

static const struct live_cell *cell_of(const struct top_view *v, size_t row)
{
	return &v->cells.items.items[v->rows.items[row]];
}

static size_t count_rows(void *context)
{
	return ((const struct top_view *)context)->rows.count;
}

static void put_cell(void *context, size_t row, size_t column, struct sink *out)
{
	const struct top_view *v = context;
	const struct live_cell *cell = cell_of(v, row);
	live_put_column(out, &v->cells, &v->strings, cell, column_of(v, column));
}

static enum ink ink_of(void *context, size_t row, size_t column)
{
	const struct top_view *v = context;
	const struct live_cell *cell = cell_of(v, row);
	const double percent = live_percent(&v->cells, v->with_callers ? cell->total : cell->self);
	const enum live_column which = column_of(v, column);
	if (which == LIVE_COLUMN_SELF || which == LIVE_COLUMN_TOTAL)
		return percent >= 5 ? INK_HOT : percent >= 0.5 ? INK_WARM : INK_PLAIN;
	return which == LIVE_COLUMN_LINE || cell->is_unknown ? INK_QUIET : INK_PLAIN;
}

static uint64_t id_of(void *context, size_t row)
{
	const struct top_view *v = context;
	const struct live_key *key = &cell_of(v, row)->key;
	const uint32_t ids[] = { key->symbol, key->object, key->runtime, key->process };
	uint64_t hash = 0;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		const struct bytes text = intern_get_bytes(&v->strings, ids[i]);
		hash = hash_bytes(text.data, text.size, hash);
	}
	return hash == UINT64_MAX ? 0 : hash;
}

static int sorted_column(const struct top_view *v)
{
	static const int columns[LIVE_SORT_COUNT] = {
		[LIVE_SORT_SELF] = LIVE_COLUMN_SELF,       [LIVE_SORT_TOTAL] = LIVE_COLUMN_TOTAL,
		[LIVE_SORT_SAMPLES] = LIVE_COLUMN_SAMPLES, [LIVE_SORT_SYMBOL] = LIVE_COLUMN_SYMBOL,
		[LIVE_SORT_RUNTIME] = LIVE_COLUMN_RUNTIME, [LIVE_SORT_OBJECT] = LIVE_COLUMN_OBJECT,
		[LIVE_SORT_PROCESS] = LIVE_COLUMN_PROCESS,
	};
	const int column = columns[v->rows_options.sort];
	if (column == LIVE_COLUMN_TOTAL && !v->with_callers)
		return -1;
	return v->with_callers || column == LIVE_COLUMN_SELF ? column : column - 1;
}

static void set_columns(struct top_view *v)
{
	const size_t count = v->with_callers ? LIVE_COLUMN_COUNT : LIVE_COLUMN_COUNT - 1;
	for (size_t i = 0; i < count; i++)
		v->columns[i] = all_columns[column_of(v, i)];
	v->table.columns = v->columns;
	v->table.column_count = count;
	v->table.sorted_by = sorted_column(v);
}

int top_view_make_rows(struct top_view *v)
{
	v->rows_options.filter = v->filter.size ? (const char *)v->filter.data : NULL;
	v->rows_options.with_callers = v->with_callers;
	set_columns(v);
	const int got = live_rows_make(&v->rows, &v->cells, &v->strings, &v->rows_options);
	table_changed(&v->table);
	return got;
}

static void put_end(struct sink *sink)
{
	sink_u8(sink, 0);
	if (sink_failed(sink))
		sink_reset(sink);
}

/* The numbers as they are now, so that they stay while the engine goes on. */
static int take_numbers(struct top_view *v)
{
	struct live_cells sum = { 0 };
	struct intern strings = { 0 };
	int got = live_sum(v->live, v->window, &sum);
	if (got == 0)
		got = live_cells_intern(&sum, live_strings(v->live), &strings);
	if (got < 0) {
		live_cells_clear(&sum);
		intern_clear(&strings);
		return got;
	}
	live_cells_clear(&v->cells);
	intern_clear(&v->strings);
	v->cells = sum;
	v->strings = strings;
	sink_reset(&v->state);
	sink_reset(&v->trust);
	live_put_state(&v->state, live_state(v->live));
	live_put_trust(&v->trust, v->live, v->window, &v->cells);
	put_end(&v->state);
	put_end(&v->trust);
	return top_view_make_rows(v);
}

int top_view_interval(struct top_view *v)
{
	v->has_ended |= live_state(v->live)->is_last;
	if (v->is_paused)
		return 0;
	if (v->is_inside) {
		const struct live_detail *detail = live_detail(v->live);
		const char *reason = detail->reason;
		const struct bytes text =
		    reason ? (struct bytes){ (const uint8_t *)reason, strlen(reason) }
			   : detail->text;
		if (pane_set(&v->pane, text) < 0)
			return STATUS_NO_MEMORY;
	}
	return take_numbers(v);
}

int top_view_open(struct top_view *v, struct live *live, const struct live_rows_options *rows,
		  enum live_window window, bool with_callers)
{
	*v = (struct top_view){
		.live = live,
		.rows_options = *rows,
		.window = window,
		.with_callers = with_callers,
		.table = { .source = { v, count_rows, put_cell, ink_of, id_of },
			   .nothing = "no samples yet" },
	};
	if (rows->filter) {
		sink_text(&v->filter, rows->filter);
		put_end(&v->filter);
	}
	return top_view_make_rows(v);
}

void top_view_leave_inside(struct top_view *v)
{
	(void)live_look_into(v->live, NULL);
	free((char *)v->inside.symbol);
	free((char *)v->inside.object);
	v->inside = (struct live_query){ 0 };
	v->is_inside = false;
	pane_clear(&v->pane);
}

void top_view_close(struct top_view *v)
{
	if (v->live)
		top_view_leave_inside(v);
	table_clear(&v->table);
	live_rows_clear(&v->rows);
	live_cells_clear(&v->cells);
	intern_clear(&v->strings);
	prompt_clear(&v->prompt);
	sink_clear(&v->state);
	sink_clear(&v->trust);
	sink_clear(&v->filter);
}

int top_view_enter(struct top_view *v)
{
	const size_t row = table_chosen(&v->table);
	if (row == SIZE_MAX || row >= v->rows.count)
		return STATUS_NOT_FOUND;
	const struct live_cell *cell = cell_of(v, row);
	if (cell->is_unknown)
		return STATUS_UNSUPPORTED;
	const struct live_query query = {
		.symbol = strdup(intern_get(&v->strings, cell->key.symbol)),
		.object = strdup(intern_get(&v->strings, cell->key.object)),
		.pid = cell->pid,
	};
	v->inside = query;
	v->is_inside = true;
	v->is_paused = false;
	if (!query.symbol || !query.object || live_look_into(v->live, &query) < 0) {
		top_view_leave_inside(v);
		return STATUS_NO_MEMORY;
	}
	return pane_set(&v->pane, (struct bytes){ (const uint8_t *)"...", 3 });
}

static const char *text_of(const struct sink *sink)
{
	return sink->size ? (const char *)sink->data : "";
}

static void draw_head(struct top_view *v, struct canvas *canvas)
{
	const struct area second = { 1, 0, 1, canvas->columns };
	const char *mark = v->is_paused ? "PAUSED" : v->has_ended ? "ENDED" : NULL;
	bar_draw(canvas, 0, text_of(&v->state), mark);
	canvas_put_text(canvas, &second, INK_QUIET, text_of(&v->trust));
}

static void draw_foot(struct top_view *v, struct canvas *canvas)
{
	const unsigned row = canvas->rows - 1;
	const struct area line = { row, 0, 1, canvas->columns };
	if (v->asking) {
		canvas_fill(canvas, &line, INK_PLAIN);
		v->cursor_row = row;
		v->cursor_column = prompt_draw(&v->prompt, canvas, &line);
		return;
	}
	if (v->message) {
		bar_draw_ink(canvas, row, INK_ERROR, v->message, NULL);
		return;
	}
	struct sink left = { 0 };
	if (v->is_inside)
		sink_printf(&left, "%s", v->inside.symbol);
	else if (v->filter.size > 1)
		sink_printf(&left, "filter: %s", text_of(&v->filter));
	else
		sink_printf(&left, "sorted by %s", live_sort_name(v->rows_options.sort));
	put_end(&left);
	bar_draw(canvas, row, text_of(&left),
		 v->is_inside ? "q:back v:view ?:help" : "q:quit p:pause s:sort /:filter ?:help");
	sink_clear(&left);
}

void top_view_draw(struct top_view *v, struct canvas *canvas)
{
	enum { HEAD_ROWS = 2, FOOT_ROWS = 1 };
	const struct area all = { 0, 0, canvas->rows, canvas->columns };
	canvas_erase(canvas);
	draw_head(v, canvas);
	if (canvas->rows > HEAD_ROWS + FOOT_ROWS) {
		const struct area body = { HEAD_ROWS, 0, canvas->rows - HEAD_ROWS - FOOT_ROWS,
					   canvas->columns };
		if (v->is_inside)
			pane_draw(&v->pane, canvas, &body);
		else
			table_draw(&v->table, canvas, &body);
	}
	draw_foot(v, canvas);
	if (v->is_help)
		overlay_draw(&v->help, canvas, &all);
	if (v->is_menu)
		overlay_draw(&v->menu, canvas, &all);
}

bool top_view_has_cursor(const struct top_view *v)
{
	return v->asking != TOP_NO_PROMPT;
}
