/* browse.h - `polyperf report` on a terminal: the browser, fed from the load. */
#ifndef CLI_BROWSE_H
#define CLI_BROWSE_H

#include "cli/load_args.h"
#include "report/groups.h"

struct browse_args {
	struct load_args *load_args;
	struct load *load;
	const struct profile *profile; /* of that load */
	uint32_t event;
	const struct report_options *report;
};

/* Can there be a browser: are standard input and output a terminal that is good for it, and
 * does nobody want to have plain text (--no-pager)?
 */
bool browse_is_possible(void);

/* Returns an exit_status, or -1 where the terminal did not do after all. Code and lines are read
 * when they are asked for, by opening the recording again with other options.
 */
int browse(const struct browse_args *args);

#endif
