#include "tui/overlay.h"

#include "tui/keys.h"

#include <ctype.h>
#include <string.h>

enum { KEY_GAP = 2, BORDER = 2 };

static size_t line_count(const struct overlay *overlay)
{
	size_t count = 0;
	if (!overlay->help)
		return overlay->item_count;
	while (overlay->help[count].key || overlay->help[count].what)
		count++;
	return count;
}

static unsigned text_width(struct canvas *canvas, const char *text)
{
	return text ? canvas_width(canvas, (struct bytes){ (const uint8_t *)text, strlen(text) })
		    : 0;
}

static unsigned keys_width(const struct overlay *overlay, struct canvas *canvas)
{
	unsigned most = 0;
	for (size_t i = 0; overlay->help && i < line_count(overlay); i++) {
		const unsigned width = text_width(canvas, overlay->help[i].key);
		most = width > most ? width : most;
	}
	return most ? most + KEY_GAP : 0;
}

static unsigned contents_width(const struct overlay *overlay, struct canvas *canvas, unsigned keys)
{
	unsigned most = text_width(canvas, overlay->title) + 4;
	for (size_t i = 0; i < line_count(overlay); i++) {
		const char *text = overlay->help ? overlay->help[i].what : overlay->items[i];
		const bool has_key = overlay->help && overlay->help[i].key;
		const unsigned width = text_width(canvas, text) + (has_key ? keys : 0);
		most = width > most ? width : most;
	}
	return most;
}

static struct area middle(const struct area *around, unsigned rows, unsigned columns)
{
	struct area area = { .rows = rows < around->rows ? rows : around->rows,
			     .columns = columns < around->columns ? columns : around->columns };
	area.row = around->row + (around->rows - area.rows) / 2;
	area.column = around->column + (around->columns - area.columns) / 2;
	return area;
}

static void draw_line(const struct overlay *overlay, struct canvas *canvas, const struct area *line,
		      size_t index, unsigned keys)
{
	struct area at = *line;
	if (!overlay->help) {
		(void)canvas_put_text(canvas, &at, INK_PLAIN, overlay->items[index]);
		if (index == overlay->at.chosen)
			canvas_choose(canvas, line);
		return;
	}
	const struct help_line *help = &overlay->help[index];
	if (!help->key) {
		(void)canvas_put_text(canvas, &at, INK_TITLE, help->what);
		return;
	}
	(void)canvas_put_text(canvas, &at, INK_SOURCE, help->key);
	if (keys >= at.columns)
		return;
	at.column += keys;
	at.columns -= keys;
	(void)canvas_put_text(canvas, &at, INK_PLAIN, help->what);
}

void overlay_draw(struct overlay *overlay, struct canvas *canvas, const struct area *area)
{
	const size_t count = line_count(overlay);
	const unsigned keys = keys_width(overlay, canvas);
	const unsigned width = contents_width(overlay, canvas, keys);
	const unsigned most = area->rows > BORDER ? area->rows - BORDER : 0;
	const unsigned rows = count < most ? (unsigned)count : most;
	const struct area box = middle(area, rows + BORDER, width + 2 * BORDER);
	if (box.columns < 2 * BORDER)
		return;
	canvas_fill(canvas, &box, INK_PLAIN);
	canvas_frame(canvas, &box, overlay->title);
	if (overlay->help) {
		/* Help has no cursor, it only moves. */
		overlay->at.page = rows;
		if (overlay->at.first + rows > count)
			overlay->at.first = count - rows;
	} else {
		scroll_fit(&overlay->at, count, rows);
	}
	for (unsigned i = 0; i < rows && overlay->at.first + i < count; i++) {
		const struct area line = { box.row + 1 + i, box.column + BORDER, 1,
					   box.columns - 2 * BORDER };
		draw_line(overlay, canvas, &line, overlay->at.first + i, keys);
	}
}

static enum overlay_outcome help_key(struct overlay *overlay, int32_t key)
{
	const size_t count = line_count(overlay);
	struct scroll *at = &overlay->at;
	const size_t last = count > at->page ? count - at->page : 0;
	struct scroll moved = { .chosen = at->first, .page = at->page };
	if (!scroll_key(&moved, count, key))
		return key == KEY_IS_NONE || key == KEY_IS_RESIZED || key == KEY_IS_REDRAW
			   ? OVERLAY_STAYS
			   : OVERLAY_CLOSED;
	at->first = moved.chosen < last ? moved.chosen : last;
	return OVERLAY_STAYS;
}

/* The only item that begins with the letter, or SIZE_MAX. */
static size_t item_of(const struct overlay *overlay, int32_t key)
{
	size_t found = SIZE_MAX;
	for (size_t i = 0; i < overlay->item_count; i++) {
		if (key > 0x7f || tolower((unsigned char)overlay->items[i][0]) != tolower(key))
			continue;
		if (found != SIZE_MAX)
			return SIZE_MAX;
		found = i;
	}
	return found;
}

enum overlay_outcome overlay_key(struct overlay *overlay, int32_t key)
{
	if (overlay->help)
		return help_key(overlay, key);
	const size_t item = key > ' ' ? item_of(overlay, key) : SIZE_MAX;
	if (key == KEY_IS_ENTER || item != SIZE_MAX) {
		if (item != SIZE_MAX)
			overlay->at.chosen = item;
		return overlay->at.chosen < overlay->item_count ? OVERLAY_CHOSEN : OVERLAY_CLOSED;
	}
	if (scroll_key(&overlay->at, overlay->item_count, key))
		return OVERLAY_STAYS;
	return key == KEY_IS_ESCAPE || key == 'q' || key == KEY_IS_LEFT ? OVERLAY_CLOSED
									: OVERLAY_STAYS;
}
