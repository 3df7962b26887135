/* prompt.h - a line that a person types: "/fib_" and "Write to: ".
 *
 *   struct prompt prompt = { .label = "Filter: " };
 *   prompt_set(&prompt, table_filter_text);       what is there to begin with
 *   ... draw: prompt_draw(&prompt, canvas, &area), screen_cursor(screen, row, column)
 *   switch (prompt_key(&prompt, key)) {
 *   case PROMPT_CHANGED: table_filter(&table, prompt_text(&prompt)); break;
 *   case PROMPT_DONE: ...
 *   case PROMPT_GIVEN_UP: ...
 *   }
 *   prompt_clear(&prompt);
 *
 * Takes at most 4095 bytes. Not tied to ncurses. One thread.
 */
#ifndef TUI_PROMPT_H
#define TUI_PROMPT_H

#include "tui/canvas.h"

enum prompt_outcome {
	PROMPT_SAME,    /* the key changed nothing (the cursor perhaps) */
	PROMPT_CHANGED, /* the text is another */
	PROMPT_DONE,    /* Enter */
	PROMPT_GIVEN_UP /* Escape, or a backspace before the first character */
};

struct prompt {
	const char *label;
	struct sink text; /* valid UTF-8, with a NUL behind it that does not count */
	size_t at;        /* the cursor, in bytes */
};

void prompt_set(struct prompt *prompt, const char *text);
enum prompt_outcome prompt_key(struct prompt *prompt, int32_t key);
/* Returns the column of the cursor on the canvas. */
unsigned prompt_draw(struct prompt *prompt, struct canvas *canvas, const struct area *area);
const char *prompt_text(const struct prompt *prompt);
void prompt_clear(struct prompt *prompt);

#endif
