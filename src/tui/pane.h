/* pane.h - text to scroll through and search, with a line under the cursor.
 *
 *   struct pane pane = { 0 };
 *   pane_set(&pane, sink_bytes(&text));
 *   pane_draw(&pane, canvas, &area);
 *   if (!pane_key(&pane, key)) ...
 *   pane_clear(&pane);
 *
 * The text is lines of UTF-8 that our own writers made (names in it are escaped already), with
 * the colours of annotate/text_out.c: ESC [ N m becomes an ink, all other controls are shown
 * escaped. The pane keeps a copy. Not tied to ncurses. One thread.
 */
#ifndef TUI_PANE_H
#define TUI_PANE_H

#include "base/vector.h"
#include "tui/canvas.h"
#include "tui/find.h"
#include "tui/scroll.h"

struct pane_span {
	size_t start; /* into `text` */
	size_t end;
	uint8_t ink;
};

struct pane_line {
	size_t first_span;
	size_t span_count;
};

struct pane {
	struct scroll at; /* at.chosen is the line under the cursor */
	unsigned shift;   /* sideways */
	struct sink text;
	VECTOR(struct pane_span) spans;
	VECTOR(struct pane_line) lines;
	struct find find;
	struct sink scratch;
};

/* Another text; the cursor stays where it is as far as there are lines. 0 or STATUS_NO_MEMORY. */
int pane_set(struct pane *pane, struct bytes text);
void pane_clear(struct pane *pane);
void pane_draw(struct pane *pane, struct canvas *canvas, const struct area *area);

/* As table_key(); left and right scroll sideways as well. */
bool pane_key(struct pane *pane, int32_t key);
/* Puts the cursor on a line, in the middle of the screen where it was not seen before. */
void pane_choose(struct pane *pane, size_t line);
/* A line without its colours, appended. */
void pane_line_text(const struct pane *pane, size_t line, struct sink *out);

/* As table_search() and table_next(). */
const char *pane_search(struct pane *pane, const char *expression);
bool pane_next(struct pane *pane, bool backwards, bool stays);

#endif
