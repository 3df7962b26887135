/* terminal.h - where output goes: a person's terminal or a pipe.
 *
 * pager_start() before the first line of a long output, pager_finish() after the
 * last; both do nothing where standard output is no terminal.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* True if standard output is a terminal, also one behind our own pager. */
bool terminal_is_there(void);

/* Columns of standard output: $COLUMNS, the terminal's own width, else 80. */
size_t terminal_width(void);

#endif
