#include "tui/canvas.h"

#include "base/escape.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* Stands where a combining character has nothing to combine with. */
enum { NOTHING_TO_MARK = ' ', UNKNOWN = 0xfffd, NO_JOINER = 0x200b, NO_BREAK = 0xfeff };

static const struct canvas_cell blank = { .base = ' ' };

int canvas_resize(struct canvas *canvas, unsigned rows, unsigned columns)
{
	const size_t count = (size_t)rows * columns;
	if (count > canvas->capacity) {
		struct canvas_cell *cells = calloc(count, sizeof(*cells));
		if (!cells)
			return STATUS_NO_MEMORY;
		free(canvas->cells);
		canvas->cells = cells;
		canvas->capacity = count;
	}
	canvas->rows = rows;
	canvas->columns = columns;
	canvas_erase(canvas);
	return 0;
}

void canvas_erase(struct canvas *canvas)
{
	for (size_t i = 0; i < (size_t)canvas->rows * canvas->columns; i++)
		canvas->cells[i] = blank;
}

void canvas_clear(struct canvas *canvas)
{
	free(canvas->cells);
	sink_clear(&canvas->scratch);
	*canvas = (struct canvas){ 0 };
}

static struct canvas_cell *cell_at(struct canvas *canvas, unsigned row, unsigned column)
{
	if (row >= canvas->rows || column >= canvas->columns)
		return NULL;
	return &canvas->cells[(size_t)row * canvas->columns + column];
}

/* The next character of valid UTF-8. */
static uint32_t take_character(struct bytes *text)
{
	static const uint8_t masks[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	const uint8_t first = text->data[0];
	size_t length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
	if (length > text->size)
		length = text->size;
	uint32_t point = first & masks[length];
	for (size_t i = 1; i < length; i++)
		point = point << 6 | (text->data[i] & 0x3f);
	*text = (struct bytes){ text->data + length, text->size - length };
	return point;
}

/* Zero for what combines, and for what is not seen. */
static unsigned width_of(uint32_t point)
{
	const int width = point < 0x80 ? 1 : wcwidth((wchar_t)point);
	return width < 0 ? 1 : (unsigned)width;
}

static uint32_t shown_as(const struct canvas *canvas, uint32_t point)
{
	if (point < 0x80)
		return point;
	if (canvas->is_ascii)
		return '?';
	return wcwidth((wchar_t)point) < 0 ? UNKNOWN : point;
}

static bool is_invisible(uint32_t point)
{
	return (point >= NO_JOINER && point <= NO_JOINER + 2) || point == NO_BREAK ||
	       (point >= 0x2060 && point <= 0x2064);
}

static unsigned width_of_safe(struct bytes text)
{
	unsigned width = 0;
	bool has_base = false;
	while (text.size) {
		const uint32_t point = take_character(&text);
		const unsigned wide = width_of(point);
		if (is_invisible(point))
			continue;
		width += !wide && !has_base ? 1 : wide;
		has_base = true;
	}
	return width;
}

static struct bytes make_safe(struct canvas *canvas, struct bytes text)
{
	sink_reset(&canvas->scratch);
	escape_terminal(&canvas->scratch, text);
	return sink_bytes(&canvas->scratch);
}

unsigned canvas_width(struct canvas *canvas, struct bytes text)
{
	return text.size ? width_of_safe(make_safe(canvas, text)) : 0;
}

static void add_mark(struct canvas_cell *cell, uint32_t mark)
{
	for (size_t i = 0; cell && i < CANVAS_MARKS; i++)
		if (!cell->marks[i]) {
			cell->marks[i] = mark;
			return;
		}
}

/* Half of a wide character that is written over leaves a blank. */
static void write_cell(struct canvas *canvas, unsigned row, unsigned column,
		       struct canvas_cell cell)
{
	struct canvas_cell *here = cell_at(canvas, row, column);
	struct canvas_cell *next = cell_at(canvas, row, column + 1);
	if (!here)
		return;
	if (here->base == 0 && column && cell.base)
		here[-1].base = ' ';
	if (next && next->base == 0 && cell.base)
		next->base = ' ';
	*here = cell;
}

/* Where a text goes, and how much of it was gone through. */
struct pen {
	struct canvas *canvas;
	const struct area *area;
	enum ink ink;
	unsigned skip;
	unsigned column; /* of the whole text */
	unsigned used;   /* of the area */
	bool is_over;    /* it has more than there is room for */
	struct canvas_cell *last;
};

static void put_blank(struct pen *pen)
{
	write_cell(pen->canvas, pen->area->row, pen->area->column + pen->used++,
		   (struct canvas_cell){ .base = ' ', .ink = (uint8_t)pen->ink });
}

static void put_character(struct pen *pen, uint32_t point)
{
	const unsigned width = width_of(point);
	const unsigned start = pen->column;
	struct canvas *canvas = pen->canvas;
	pen->column += width;
	pen->last = NULL;
	if (start < pen->skip) {
		/* The right half of a wide one that is left out. */
		for (unsigned at = pen->skip; at < pen->column && pen->used < pen->area->columns;
		     at++)
			put_blank(pen);
		return;
	}
	if (pen->used + width > pen->area->columns) {
		pen->is_over = true;
		return;
	}
	const unsigned column = pen->area->column + pen->used;
	const bool is_cut = column + width > canvas->columns;
	struct canvas_cell cell = { .base = is_cut ? ' ' : shown_as(canvas, point),
				    .ink = (uint8_t)pen->ink };
	write_cell(canvas, pen->area->row, column, cell);
	pen->last = cell_at(canvas, pen->area->row, column);
	if (width == 2 && !is_cut) {
		/* An ASCII stand-in has two places as well, so that widths stay. */
		cell.base = canvas->is_ascii ? '?' : 0;
		write_cell(canvas, pen->area->row, column + 1, cell);
	}
	pen->used += width;
}

static void put_safe(struct pen *pen, struct bytes text)
{
	bool has_base = false;
	while (text.size && !pen->is_over) {
		const uint32_t point = take_character(&text);
		if (is_invisible(point))
			continue;
		if (width_of(point)) {
			put_character(pen, point);
		} else {
			if (!has_base)
				put_character(pen, NOTHING_TO_MARK);
			if (!pen->canvas->is_ascii)
				add_mark(pen->last, point);
		}
		has_base = true;
	}
}

/* The last cell of the area that is used says that there is more, the first that there was. */
static void mark_cut(struct pen *pen, unsigned at)
{
	struct canvas *canvas = pen->canvas;
	const unsigned column = pen->area->column + at;
	if (!pen->area->columns || column >= canvas->columns)
		return;
	write_cell(canvas, pen->area->row, column,
		   (struct canvas_cell){ .base = canvas->is_ascii ? '~' : 0x2026,
					 .ink = (uint8_t)pen->ink });
}

unsigned canvas_put_from(struct canvas *canvas, const struct area *area, enum ink ink,
			 struct bytes text, unsigned skip)
{
	struct area inside = *area;
	if (area->row >= canvas->rows || area->column >= canvas->columns || !text.size)
		return 0;
	if (inside.columns > canvas->columns - inside.column)
		inside.columns = canvas->columns - inside.column;
	struct pen pen = { .canvas = canvas, .area = &inside, .ink = ink, .skip = skip };
	put_safe(&pen, make_safe(canvas, text));
	if (pen.is_over) {
		while (pen.used < inside.columns)
			put_blank(&pen);
		mark_cut(&pen, inside.columns - 1);
	}
	if (skip && pen.used)
		mark_cut(&pen, 0);
	return pen.used;
}

unsigned canvas_put(struct canvas *canvas, const struct area *area, enum ink ink, struct bytes text)
{
	return canvas_put_from(canvas, area, ink, text, 0);
}

unsigned canvas_put_text(struct canvas *canvas, const struct area *area, enum ink ink,
			 const char *text)
{
	return canvas_put(canvas, area, ink, (struct bytes){ (const uint8_t *)text, strlen(text) });
}

void canvas_put_right(struct canvas *canvas, const struct area *area, enum ink ink,
		      struct bytes text)
{
	const unsigned width = canvas_width(canvas, text);
	struct area at = *area;
	if (width < area->columns) {
		at.column += area->columns - width;
		at.columns = width;
	}
	(void)canvas_put(canvas, &at, ink, text);
}

enum touch { TOUCH_FILL, TOUCH_PAINT, TOUCH_CHOOSE };

static void touch(struct canvas *canvas, const struct area *area, enum ink ink, enum touch how)
{
	for (unsigned r = area->row; r < canvas->rows && r - area->row < area->rows; r++) {
		for (unsigned c = area->column;
		     c < canvas->columns && c - area->column < area->columns; c++) {
			struct canvas_cell *cell = cell_at(canvas, r, c);
			if (how == TOUCH_FILL)
				write_cell(
				    canvas, r, c,
				    (struct canvas_cell){ .base = ' ', .ink = (uint8_t)ink });
			else if (how == TOUCH_PAINT)
				cell->ink = (uint8_t)ink;
			else
				cell->is_chosen = true;
		}
	}
}

void canvas_fill(struct canvas *canvas, const struct area *area, enum ink ink)
{
	touch(canvas, area, ink, TOUCH_FILL);
}

void canvas_paint(struct canvas *canvas, const struct area *area, enum ink ink)
{
	touch(canvas, area, ink, TOUCH_PAINT);
}

void canvas_choose(struct canvas *canvas, const struct area *area)
{
	touch(canvas, area, INK_PLAIN, TOUCH_CHOOSE);
}

static void put_one(struct canvas *canvas, unsigned row, unsigned column, uint32_t drawn,
		    char ascii)
{
	write_cell(canvas, row, column,
		   (struct canvas_cell){ .base = canvas->is_ascii ? (uint32_t)ascii : drawn,
					 .ink = INK_QUIET });
}

void canvas_frame(struct canvas *canvas, const struct area *area, const char *title)
{
	if (area->rows < 2 || area->columns < 2)
		return;
	const unsigned bottom = area->row + area->rows - 1;
	const unsigned right = area->column + area->columns - 1;
	for (unsigned c = area->column + 1; c < right; c++) {
		put_one(canvas, area->row, c, 0x2500, '-');
		put_one(canvas, bottom, c, 0x2500, '-');
	}
	for (unsigned r = area->row + 1; r < bottom; r++) {
		put_one(canvas, r, area->column, 0x2502, '|');
		put_one(canvas, r, right, 0x2502, '|');
	}
	put_one(canvas, area->row, area->column, 0x250c, '+');
	put_one(canvas, area->row, right, 0x2510, '+');
	put_one(canvas, bottom, area->column, 0x2514, '+');
	put_one(canvas, bottom, right, 0x2518, '+');
	if (!title || area->columns < 6)
		return;
	struct area at = { area->row, area->column + 2, 1, area->columns - 4 };
	at.column += canvas_put_text(canvas, &at, INK_TITLE, " ");
	at.columns -= 2;
	at.column += canvas_put_text(canvas, &at, INK_TITLE, title);
	at.columns = 1;
	(void)canvas_put_text(canvas, &at, INK_TITLE, " ");
}

static void put_utf8(struct sink *out, uint32_t point)
{
	if (point < 0x80) {
		sink_u8(out, (uint8_t)point);
		return;
	}
	if (point < 0x800) {
		sink_u8(out, (uint8_t)(0xc0 | point >> 6));
	} else {
		if (point < 0x10000) {
			sink_u8(out, (uint8_t)(0xe0 | point >> 12));
		} else {
			sink_u8(out, (uint8_t)(0xf0 | point >> 18));
			sink_u8(out, (uint8_t)(0x80 | (point >> 12 & 0x3f)));
		}
		sink_u8(out, (uint8_t)(0x80 | (point >> 6 & 0x3f)));
	}
	sink_u8(out, (uint8_t)(0x80 | (point & 0x3f)));
}

void canvas_text(const struct canvas *canvas, struct sink *out)
{
	for (unsigned r = 0; r < canvas->rows; r++) {
		const size_t start = out->size;
		for (unsigned c = 0; c < canvas->columns; c++) {
			const struct canvas_cell *cell =
			    &canvas->cells[(size_t)r * canvas->columns + c];
			if (!cell->base)
				continue;
			put_utf8(out, cell->base);
			for (size_t i = 0; i < CANVAS_MARKS && cell->marks[i]; i++)
				put_utf8(out, cell->marks[i]);
		}
		while (out->size > start && out->data[out->size - 1] == ' ')
			out->size--;
		sink_u8(out, '\n');
	}
}
