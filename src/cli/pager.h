/* pager.h - long output on a terminal goes through $POLYPERF_PAGER, $PAGER or less.
 *
 *   pager_start();
 *   printf(...);
 *   pager_finish();      main() does it too, at the end of every command
 *
 * Where standard output is no terminal, or the pager is "" or "cat", nothing
 * happens and output is plain. Call from the main thread, before the first line
 * of output. A signal that ends the program waits for the reader to leave the
 * pager, so that the shell does not take the terminal from under it.
 */
#ifndef CLI_PAGER_H
#define CLI_PAGER_H

#include <stdbool.h>

void pager_disable(void); /* --no-pager */
bool pager_is_disabled(void);
void pager_start(void);
void pager_finish(void);
bool pager_is_running(void);

#endif
