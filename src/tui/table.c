#include "tui/table.h"

#include "base/search.h"

#include "tui/keys.h"

#include <stdlib.h>
#include <string.h>

enum {
	MEASURED_ROWS = 200, /* from the top; longer texts further down are cut */
	GAP = 1,             /* between columns */
	REST_ENOUGH = 60,    /* no other column is cut that it has more */
	REST_LEAST = 16,     /* what takes the rest needs this before others leave */
	SHIFT = 8,
	SHIFT_MOST = 4096,
};

static size_t source_count(const struct table *table)
{
	return table->source.count(table->source.context);
}

size_t table_shown_count(const struct table *table)
{
	return table->is_filtered ? table->shown.count : source_count(table);
}

size_t table_shown(const struct table *table, size_t index)
{
	if (index >= table_shown_count(table))
		return SIZE_MAX;
	return table->is_filtered ? table->shown.items[index] : index;
}

size_t table_chosen(const struct table *table)
{
	return table_shown(table, table->at.chosen);
}

/* The text of a cell, in the table's scratch. */
static struct bytes cell_of(struct table *table, size_t row, size_t column)
{
	sink_reset(&table->scratch);
	table->source.cell(table->source.context, row, column, &table->scratch);
	return sink_bytes(&table->scratch);
}

static bool holds(struct bytes text, const char *part)
{
	const size_t size = strlen(part);
	for (size_t i = 0; size <= text.size && i <= text.size - size; i++)
		if (strncasecmp((const char *)text.data + i, part, size) == 0)
			return true;
	return false;
}

static bool passes(struct table *table, size_t row, const char *part)
{
	for (size_t c = 0; c < table->column_count; c++)
		if (table->columns[c].is_searched && holds(cell_of(table, row, c), part))
			return true;
	return false;
}

static bool filter_rows(struct table *table)
{
	const size_t count = source_count(table);
	const char *part = (const char *)table->filter.data;
	table->shown.count = 0;
	table->is_filtered = false;
	if (table->filter.size < 2)
		return true;
	for (size_t row = 0; row < count; row++) {
		if (!passes(table, row, part))
			continue;
		size_t *slot = vector_push(&table->shown);
		if (!slot)
			return false;
		*slot = row;
	}
	table->is_filtered = true;
	return true;
}

/* The index of a row among those that are shown, or of the first behind it. */
static size_t index_of(const struct table *table, size_t row)
{
	if (!table->is_filtered)
		return row;
	size_t count;
	SEARCH(count, table->shown.count, i, table->shown.items[i] < row);
	return count;
}

void table_choose(struct table *table, size_t row)
{
	scroll_to(&table->at, table_shown_count(table), index_of(table, row));
}

static void remember(struct table *table)
{
	const size_t row = table_chosen(table);
	if (!table->source.id)
		return;
	table->chosen_id = row == SIZE_MAX ? 0 : table->source.id(table->source.context, row) + 1;
}

/* The cursor stays at its place on the screen, too, as far as it can. */
static void find_remembered(struct table *table)
{
	const size_t count = table_shown_count(table);
	if (!table->source.id || !table->chosen_id)
		return;
	for (size_t i = 0; i < count; i++) {
		const size_t row = table_shown(table, i);
		if (table->source.id(table->source.context, row) + 1 != table->chosen_id)
			continue;
		if (table->at.first)
			scroll_to(&table->at, count, i);
		else
			table->at.chosen = i;
		return;
	}
}

void table_changed(struct table *table)
{
	(void)filter_rows(table);
	find_remembered(table);
	table->is_measured = false;
}

void table_clear(struct table *table)
{
	vector_clear(&table->shown);
	sink_clear(&table->filter);
	sink_clear(&table->scratch);
	find_clear(&table->find);
	table->at = (struct scroll){ 0 };
	table->chosen_id = 0;
	table->shift = 0;
	table->is_filtered = false;
}

bool table_filter(struct table *table, const char *text)
{
	const size_t row = table_chosen(table);
	sink_reset(&table->filter);
	sink_cstr(&table->filter, text ? text : "");
	const bool done = !sink_failed(&table->filter) && filter_rows(table);
	table->is_measured = false;
	table_choose(table, row == SIZE_MAX ? 0 : row);
	remember(table);
	return done;
}

const char *table_search(struct table *table, const char *expression)
{
	return find_set(&table->find, expression);
}

static bool is_match(struct table *table, size_t row)
{
	for (size_t c = 0; c < table->column_count; c++)
		if (table->columns[c].is_searched &&
		    find_matches(&table->find, cell_of(table, row, c)))
			return true;
	return false;
}

bool table_next(struct table *table, bool backwards, bool stays)
{
	const size_t count = table_shown_count(table);
	for (size_t i = stays ? 0 : 1; i < count + !stays; i++) {
		const size_t step = backwards ? count - i % count : i;
		const size_t index = (table->at.chosen + step) % count;
		if (!is_match(table, table_shown(table, index)))
			continue;
		scroll_to(&table->at, count, index);
		remember(table);
		return true;
	}
	return false;
}

bool table_key(struct table *table, int32_t key)
{
	if (key == '<' || key == '>') {
		const unsigned shift = table->shift;
		table->shift = key == '>' ? shift + (shift < SHIFT_MOST ? SHIFT : 0)
					  : shift - (shift ? SHIFT : 0);
		return true;
	}
	if (!scroll_key(&table->at, table_shown_count(table), key))
		return false;
	remember(table);
	return true;
}

/* How wide the columns would like to be. */
static void measure(struct table *table, struct canvas *canvas)
{
	size_t rows = table_shown_count(table);
	if (rows > MEASURED_ROWS)
		rows = MEASURED_ROWS;
	for (size_t c = 0; c < table->column_count; c++) {
		const struct table_column *column = &table->columns[c];
		const size_t title = strlen(column->title) + ((int)c == table->sorted_by);
		unsigned width = (unsigned)title;
		for (size_t i = 0; i < rows; i++) {
			const unsigned has =
			    canvas_width(canvas, cell_of(table, table_shown(table, i), c));
			width = has > width ? has : width;
		}
		if (width < column->least)
			width = column->least;
		table->whole_widths[c] = width;
		if (column->most && width > column->most)
			width = column->most;
		table->widths[c] = width;
	}
	table->is_measured = true;
}

/* The column that leaves next; -1: none does any more. */
static int next_to_leave(const struct table *table, const unsigned *widths)
{
	int next = -1;
	for (size_t c = 0; c < table->column_count; c++)
		if (widths[c] && table->columns[c].leaves &&
		    (next < 0 || table->columns[c].leaves >= table->columns[next].leaves))
			next = (int)c;
	return next;
}

/* The widths of the columns in a place of this width; 0: not shown. */
static void lay_out(const struct table *table, unsigned width, unsigned *widths)
{
	unsigned whole = 0;
	for (size_t c = 0; c < table->column_count; c++) {
		const bool is_long =
		    table->columns[c].takes_rest && table->whole_widths[c] > REST_ENOUGH;
		whole += (is_long ? REST_ENOUGH : table->whole_widths[c]) + GAP;
	}
	memcpy(widths, whole <= width + GAP ? table->whole_widths : table->widths,
	       sizeof(table->widths));
	for (;;) {
		unsigned used = 0;
		int rest = -1;
		for (size_t c = 0; c < table->column_count; c++) {
			if (table->columns[c].takes_rest)
				rest = (int)c;
			else if (widths[c])
				used += widths[c] + GAP;
		}
		unsigned wanted = 0;
		if (rest >= 0 && table->columns[rest].least > REST_LEAST)
			wanted = table->columns[rest].least + GAP;
		else if (rest >= 0)
			wanted = REST_LEAST + GAP;
		const int leaves = next_to_leave(table, widths);
		if (used + wanted <= width + GAP || leaves < 0) {
			if (rest >= 0)
				widths[rest] = used < width ? width - used : 0;
			return;
		}
		widths[leaves] = 0;
	}
}

static void draw_cell(struct table *table, struct canvas *canvas, const struct area *area,
		      size_t row, size_t c)
{
	const struct table_column *column = &table->columns[c];
	const struct bytes text = cell_of(table, row, c);
	const enum ink ink =
	    table->source.ink ? table->source.ink(table->source.context, row, c) : INK_PLAIN;
	if (column->is_right)
		canvas_put_right(canvas, area, ink, text);
	else
		(void)canvas_put_from(canvas, area, ink, text,
				      column->takes_rest ? table->shift : 0);
	size_t start;
	size_t end;
	if (!column->is_searched || !find_next(&table->find, text, 0, &start, &end) || start == end)
		return;
	/* What matches is shown where it is seen. Escapes before it would move it. */
	const unsigned before = canvas_width(canvas, (struct bytes){ text.data, start });
	const unsigned behind = canvas_width(canvas, (struct bytes){ text.data, end });
	const unsigned shift = column->takes_rest ? table->shift : 0;
	if (before < shift || before - shift >= area->columns)
		return;
	struct area match = { area->row, area->column + before - shift, 1, behind - before };
	if (match.columns > area->columns - (before - shift))
		match.columns = area->columns - (before - shift);
	canvas_paint(canvas, &match, INK_MATCH);
}

static void draw_row(struct table *table, struct canvas *canvas, const struct area *area,
		     const unsigned *widths, size_t row)
{
	struct area cell = { area->row, area->column, 1, 0 };
	for (size_t c = 0; c < table->column_count; c++) {
		if (!widths[c])
			continue;
		cell.columns = widths[c];
		draw_cell(table, canvas, &cell, row, c);
		cell.column += widths[c] + GAP;
	}
}

static void draw_titles(const struct table *table, struct canvas *canvas, const struct area *area,
			const unsigned *widths)
{
	struct area cell = { area->row, area->column, 1, area->columns };
	canvas_fill(canvas, &cell, INK_HEAD);
	for (size_t c = 0; c < table->column_count; c++) {
		char title[64];
		size_t size = strlen(table->columns[c].title);
		if (!widths[c])
			continue;
		if (size > sizeof(title) - 1)
			size = sizeof(title) - 1;
		memcpy(title, table->columns[c].title, size);
		if ((int)c == table->sorted_by)
			title[size++] = '*';
		cell.columns = widths[c];
		const struct bytes text = { (const uint8_t *)title, size };
		if (table->columns[c].is_right)
			canvas_put_right(canvas, &cell, INK_HEAD, text);
		else
			(void)canvas_put(canvas, &cell, INK_HEAD, text);
		cell.column += widths[c] + GAP;
	}
}

void table_draw(struct table *table, struct canvas *canvas, const struct area *area)
{
	unsigned widths[TABLE_COLUMN_LIMIT] = { 0 };
	if (!area->rows || table->column_count > TABLE_COLUMN_LIMIT)
		return;
	const size_t count = table_shown_count(table);
	if (!table->is_measured)
		measure(table, canvas);
	lay_out(table, area->columns, widths);
	draw_titles(table, canvas, area, widths);
	scroll_fit(&table->at, count, area->rows - 1);
	for (size_t i = 0; i < table->at.page && table->at.first + i < count; i++) {
		const struct area line = { area->row + 1 + (unsigned)i, area->column, 1,
					   area->columns };
		draw_row(table, canvas, &line, widths, table_shown(table, table->at.first + i));
		if (table->at.first + i == table->at.chosen)
			canvas_choose(canvas, &line);
	}
	if (!count && table->nothing && area->rows > 1) {
		const struct area line = { area->row + 1, area->column, 1, area->columns };
		(void)canvas_put_text(canvas, &line, INK_QUIET, table->nothing);
	}
}

void table_write(struct table *table, struct sink *out, unsigned columns, bool is_ascii)
{
	unsigned widths[TABLE_COLUMN_LIMIT] = { 0 };
	struct canvas canvas = { .is_ascii = is_ascii };
	const struct area line = { 0, 0, 1, columns };
	const unsigned shift = table->shift;
	if (canvas_resize(&canvas, 1, columns) < 0 || table->column_count > TABLE_COLUMN_LIMIT) {
		out->failed = true;
		return;
	}
	measure(table, &canvas);
	lay_out(table, columns, widths);
	table->shift = 0;
	draw_titles(table, &canvas, &line, widths);
	canvas_text(&canvas, out);
	for (size_t i = 0; i < table_shown_count(table); i++) {
		canvas_erase(&canvas);
		draw_row(table, &canvas, &line, widths, table_shown(table, i));
		canvas_text(&canvas, out);
	}
	table->shift = shift;
	canvas_clear(&canvas);
}
