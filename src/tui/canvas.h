/* canvas.h - what a screen shall show, as cells in memory: widgets draw here, screen.h shows it.
 *
 *   struct canvas canvas = { 0 };
 *   canvas_resize(&canvas, 24, 80);
 *   const struct area line = { .row = 0, .column = 0, .rows = 1, .columns = 80 };
 *   canvas_put(&canvas, &line, INK_TITLE, name);
 *   canvas_clear(&canvas);
 *
 * Needs no terminal, so what draws can be tested without one. Texts may come from anywhere: they
 * are escaped (base/escape.h), wide characters take two cells and are never cut in halves,
 * combining ones go with what they combine with, a few at most. Widths are the locale's wcwidth(3);
 * with is_ascii other characters are shown as question marks. One thread.
 */
#ifndef TUI_CANVAS_H
#define TUI_CANVAS_H

#include "base/sink.h"

#include <stdbool.h>
#include <stdint.h>

/* What a text is, not how it looks: colours are chosen in screen.c, and need not be there. */
enum ink {
	INK_PLAIN,
	INK_HOT,  /* at least 5 percent, as perf has it */
	INK_WARM, /* at least half a percent */
	INK_TITLE,
	INK_SOURCE,
	INK_QUIET,
	INK_HEAD, /* names of columns */
	INK_BAR,  /* status lines */
	INK_ERROR,
	INK_MATCH, /* what was searched for */
	INK_COUNT,
};

enum { CANVAS_MARKS = 2 };

struct canvas_cell {
	uint32_t base;                /* code point; 0: the right half of the wide one before */
	uint32_t marks[CANVAS_MARKS]; /* what combines with it; 0: none */
	uint8_t ink;                  /* enum ink */
	bool is_chosen;               /* under the cursor: shown in reverse */
};

struct canvas {
	unsigned rows;
	unsigned columns;
	bool is_ascii;
	struct canvas_cell *cells; /* rows * columns */
	size_t capacity;
	struct sink scratch;
};

/* A rectangle of a canvas; what goes beyond the canvas is not drawn. */
struct area {
	unsigned row;
	unsigned column;
	unsigned rows;
	unsigned columns;
};

/* Blank, of this size. 0 or STATUS_NO_MEMORY, then it is as it was. */
int canvas_resize(struct canvas *canvas, unsigned rows, unsigned columns);
void canvas_erase(struct canvas *canvas);
void canvas_clear(struct canvas *canvas);

/* Writes a text of one line into the first row of the area, and returns how many columns it took.
 * One that has no room ends with three dots. Nothing behind it is erased.
 */
unsigned canvas_put(struct canvas *canvas, const struct area *area, enum ink ink,
		    struct bytes text);
unsigned canvas_put_text(struct canvas *canvas, const struct area *area, enum ink ink,
			 const char *text);
/* The same without its first `skip` columns; what is left out is marked as well. */
unsigned canvas_put_from(struct canvas *canvas, const struct area *area, enum ink ink,
			 struct bytes text, unsigned skip);
/* At the right end of the area's first row. */
void canvas_put_right(struct canvas *canvas, const struct area *area, enum ink ink,
		      struct bytes text);

/* How many columns a text takes when all of it is shown. */
unsigned canvas_width(struct canvas *canvas, struct bytes text);

/* All cells of the area become blanks of this ink; or get the ink, or are chosen, as they are. */
void canvas_fill(struct canvas *canvas, const struct area *area, enum ink ink);
void canvas_paint(struct canvas *canvas, const struct area *area, enum ink ink);
void canvas_choose(struct canvas *canvas, const struct area *area);

/* A frame along the inner side of an area, with a title. */
void canvas_frame(struct canvas *canvas, const struct area *area, const char *title);

/* A canvas as lines of text, without blanks at their ends: for tests, and to write down what is
 * shown.
 */
void canvas_text(const struct canvas *canvas, struct sink *out);

#endif
