/* bar.h - one line at the edge of the screen: what this is, and which keys there are.
 *
 *   bar_draw(canvas, row, "polyperf: 1,234 samples", "?:help q:quit");
 */
#ifndef TUI_BAR_H
#define TUI_BAR_H

#include "tui/canvas.h"

/* `left` (may come from anywhere) is cut where both have no room; `right` is left out where less
 * than a third would be left for `left`. Either may be NULL.
 */
void bar_draw(struct canvas *canvas, unsigned row, const char *left, const char *right);
/* The same in another ink than INK_BAR, for errors. */
void bar_draw_ink(struct canvas *canvas, unsigned row, enum ink ink, const char *left,
		  const char *right);

#endif
