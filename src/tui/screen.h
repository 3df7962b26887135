/* screen.h - the whole terminal, as a program with keys uses it.
 *
 *   struct screen *screen;
 *   if (screen_open(&screen, &(struct screen_options){ 0 }) < 0)
 *           ...                               no terminal that could: print plainly
 *   for (;;) {
 *           struct canvas *canvas = screen_canvas(screen);
 *           canvas_erase(canvas);
 *           table_draw(&table, canvas, &area);             table.h: rows to choose from
 *           pane_draw(&pane, canvas, &area);               pane.h: text to scroll through
 *           screen_show(screen);
 *           const int32_t key = screen_key(screen, 1000);  keys.h
 *           if (key == 'q')
 *                   break;
 *           table_key(&table, key);
 *   }
 *   screen_close(screen);
 *
 * What widgets there are: table.h, pane.h, prompt.h (a line to type), overlay.h (help, and a list
 * to choose from), bar.h (a line of status and keys). They hold state and draw into canvases
 * (canvas.h); only screen.c knows ncurses.
 *
 * The terminal is given back as it was by screen_close(), by exit(), while the program is
 * stopped (Ctrl-Z), and before a signal ends it: SIGINT, SIGTERM, SIGHUP, SIGQUIT at any time,
 * also while the program is busy, and SIGSEGV and its like. With keeps_signals the first four
 * only make screen_key() return KEY_IS_END. Handlers that were there are put back by
 * screen_close(). One screen a process; one thread. Nothing else may write to the terminal while it
 * is open; standard error can be kept until the end (keeps_errors).
 */
#ifndef TUI_SCREEN_H
#define TUI_SCREEN_H

#include "tui/canvas.h"
#include "tui/keys.h"

struct screen;

struct screen_options {
	bool is_monochrome; /* as $NO_COLOR says, or --color */
	bool keeps_signals; /* signals that end the program become KEY_IS_END */
	/* What is written to standard error while the screen is open appears after it was closed:
	 * libraries must not write into the picture. Only where it is the terminal.
	 */
	bool keeps_errors;
};

/* Is there a terminal that a screen could be on: standard input and output are terminals, and
 * $TERM is none that can only print lines?
 */
bool screen_is_possible(void);

/* Takes standard input and output. Sets the locale's LC_CTYPE. STATUS_UNSUPPORTED: a terminal
 * that nobody knows, or that cannot place its cursor; STATUS_NO_MEMORY.
 */
int screen_open(struct screen **screen, const struct screen_options *options);
void screen_close(struct screen *screen);

/* Of the size that the terminal has. Valid up to the next screen_key(), which may change its
 * size, and keeps its contents otherwise. At least 1 x 1.
 */
struct canvas *screen_canvas(struct screen *screen);
void screen_show(struct screen *screen);

/* The next screen_show() draws all, whatever the terminal seems to show (Ctrl-L). */
void screen_repair(struct screen *screen);

/* Where the cursor is seen after the next screen_show(); it is not seen unless this is called. */
void screen_cursor(struct screen *screen, unsigned row, unsigned column);

/* The next key, or KEY_IS_NONE after so many milliseconds; a negative time waits for ever, 0 not at
 * all. After KEY_IS_RESIZED and KEY_IS_REDRAW draw again. KEY_IS_END also means that the terminal
 * is gone: it comes again and again.
 */
int32_t screen_key(struct screen *screen, int timeout_ms);

/* For a program that waits for more than keys: readable when screen_key() has something to say
 * (then call it with 0 until KEY_IS_NONE). Another is readable after signals of the screen.
 */
void screen_descriptors(const struct screen *screen, int descriptors[2]);

/* The signal behind KEY_IS_END; 0: the terminal is gone. */
int screen_end_signal(const struct screen *screen);

/* False where the locale can only say ASCII. */
bool screen_is_utf8(const struct screen *screen);

/* Rings, or flashes. */
void screen_beep(struct screen *screen);

#endif
