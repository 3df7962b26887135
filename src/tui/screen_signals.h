/* screen_signals.h - gives the terminal back whatever ends or stops the program.
 *
 * Handlers only write bytes that were made before, set the terminal's mode and set flags: they may
 * run at any moment, also in the middle of ncurses.
 */
#ifndef TUI_SCREEN_SIGNALS_H
#define TUI_SCREEN_SIGNALS_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

struct screen_bytes {
	char data[256];
	size_t size;
};

struct screen_signal_setup {
	bool keeps_signals;
	struct screen_bytes leave; /* what ends the picture, and what begins it again */
	struct screen_bytes enter;
	struct termios outside; /* modes of standard input */
	struct termios inside;
	int errors_from; /* what was kept of standard error, and where it goes; -1: nothing */
	int errors_to;
};

/* The bytes that give the terminal back, and take it again, as ncurses would write them. */
void screen_sequences(int last_row, struct screen_bytes *to_leave, struct screen_bytes *to_enter);

/* 0, or STATUS_IO. Once at a time. */
int screen_signals_start(const struct screen_signal_setup *setup);
void screen_signals_stop(void);

/* Readable when one of these is true. Each forgets what it tells. */
int screen_signals_descriptor(void);
bool screen_signals_resized(void);
bool screen_signals_continued(void);
/* This one does not. */
int screen_signals_end(void);

/* Copies what was written to standard error since it was kept. */
void screen_signals_put_errors(int from, int to);

#endif
