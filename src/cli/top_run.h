/* top_run.h - what `polyperf top` does with its options. */
#ifndef CLI_TOP_RUN_H
#define CLI_TOP_RUN_H

#include "top/live.h"
#include "top/print.h"

struct top_args {
	struct live_options live;
	struct live_print_options print;
	uint64_t iterations; /* 0: until it is ended */
	bool is_json;
	bool is_plain;              /* no screen, whatever standard output is */
	const char *command_output; /* a file for what the command writes; NULL: not said */
};

/* Returns an exit_status, or the command's own; what went wrong was printed. */
int top_run(struct top_args *args);

#endif
