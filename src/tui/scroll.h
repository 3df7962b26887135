/* scroll.h - a cursor in a list that is longer than the screen. */
#ifndef TUI_SCROLL_H
#define TUI_SCROLL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scroll {
	size_t chosen; /* under the cursor */
	size_t first;  /* on top of the screen */
	size_t page;   /* how many had room at the last drawing */
};

/* Moves the cursor: up, down, j, k, pages, Ctrl-F, Ctrl-B, Ctrl-D, Ctrl-U, home, end, g, G. True
 * where the key is one of these.
 */
bool scroll_key(struct scroll *scroll, size_t count, int32_t key);

/* Before drawing: puts the cursor inside of the list, and the list where the cursor is seen. */
void scroll_fit(struct scroll *scroll, size_t count, size_t page);

/* Puts the cursor on one; where that is not on the screen, into its middle. */
void scroll_to(struct scroll *scroll, size_t count, size_t chosen);

#endif
