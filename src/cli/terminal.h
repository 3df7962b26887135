/* terminal.h - where output goes: a person's terminal, a file or a pipe. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* True if standard output is a terminal, also one behind our own pager. */
bool terminal_is_there(void);

/* Columns of standard output: $COLUMNS, the terminal's own width, else 80. */
size_t terminal_width(void);

/* Writes out what standard output holds. Says so, and returns false, when it could not. */
bool terminal_flush(void);

#endif
