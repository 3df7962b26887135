/* top_screen.h - `polyperf top` on the whole terminal. */
#ifndef CLI_TOP_SCREEN_H
#define CLI_TOP_SCREEN_H

#include "cli/top_run.h"

/* As top_run(). */
int top_screen(struct top_args *args);

/* What the command's own status makes of ours. */
int top_exit_status(const struct top_args *args, const struct record_result *result);

#endif
