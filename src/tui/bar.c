#include "tui/bar.h"

#include <string.h>

enum { GAP = 2 };

void bar_draw_ink(struct canvas *canvas, unsigned row, enum ink ink, const char *left,
		  const char *right)
{
	struct area line = { row, 0, 1, canvas->columns };
	canvas_fill(canvas, &line, ink);
	if (right) {
		const struct bytes text = { (const uint8_t *)right, strlen(right) };
		const unsigned width = canvas_width(canvas, text);
		if (!left || width + GAP <= canvas->columns - canvas->columns / 3) {
			canvas_put_right(canvas, &line, ink, text);
			line.columns = width + GAP < line.columns ? line.columns - width - GAP : 0;
		}
	}
	if (left)
		(void)canvas_put_text(canvas, &line, ink, left);
}

void bar_draw(struct canvas *canvas, unsigned row, const char *left, const char *right)
{
	bar_draw_ink(canvas, row, INK_BAR, left, right);
}
