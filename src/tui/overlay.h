/* overlay.h - boxes over what is shown: help, and a list to choose from.
 *
 *   static const struct help_line help[] = { { "q", "leave" }, { NULL, "Moving" }, { 0 } };
 *   struct overlay overlay = { .title = "Keys", .help = help };
 *   overlay_draw(&overlay, canvas, &area);
 *   if (overlay_key(&overlay, key) != OVERLAY_STAYS) ...        closed
 *
 *   struct overlay menu = { .title = "Sort by", .items = names, .item_count = 7, .at.chosen = 2 };
 *   if (overlay_key(&menu, key) == OVERLAY_CHOSEN)
 *           use(menu.at.chosen);
 *
 * Scrolls where it has no room. Texts of items may come from anywhere. Not tied to ncurses.
 */
#ifndef TUI_OVERLAY_H
#define TUI_OVERLAY_H

#include "tui/canvas.h"
#include "tui/scroll.h"

/* `key` NULL: a heading, `what` too: the end. */
struct help_line {
	const char *key;
	const char *what;
};

enum overlay_outcome { OVERLAY_STAYS, OVERLAY_CHOSEN, OVERLAY_CLOSED };

struct overlay {
	const char *title;
	const struct help_line *help; /* either this */
	const char *const *items;     /* or these, one of which can be chosen with Enter */
	size_t item_count;
	struct scroll at; /* at.chosen is the item under the cursor */
};

void overlay_draw(struct overlay *overlay, struct canvas *canvas, const struct area *area);
/* Escape, q and ? close it, any other key that does not move closes help as well. An item is also
 * chosen by the letter or digit that it begins with, where it is the only such one.
 */
enum overlay_outcome overlay_key(struct overlay *overlay, int32_t key);

#endif
