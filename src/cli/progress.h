/* progress.h - a bar on the terminal while long work is done: how much, and how long yet.
 *
 *   options.progress = progress_bar();
 *   ...
 *   progress_stop();                         before anything else goes to the terminal
 *
 * Drawn on standard error, and only where that is a terminal, after half a second of work of which
 * there is more to come; erased when the part that is shown ends, and before every message. One
 * thread.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "base/progress.h"

/* NULL where nothing is to be shown: no terminal, or --quiet. */
struct progress *progress_bar(void);

/* Takes the bar off the screen; it comes back with the next step. */
void progress_erase(void);

/* Takes it off for good: somebody else writes to the terminal from now on. */
void progress_stop(void);

/* The same, unless standard output is a file: what goes into a pipe may end on the terminal. */
void progress_stop_for_output(void);

#endif
