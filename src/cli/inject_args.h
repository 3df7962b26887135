/* inject_args.h - how commands inject: the options of `inject`, and of `record --inject`.
 *
 *   static const struct argp_option options[] = { INJECT_ARGS_OPTIONS, ..., { 0 } };
 *   status = inject_args_run(&args, input);
 */
#ifndef CLI_INJECT_ARGS_H
#define CLI_INJECT_ARGS_H

#include "cli/load_args.h"
#include "inject/inject.h"

enum inject_args_key {
	INJECT_ARGS_BUILDID_DIR = 640,
	INJECT_ARGS_ALL,
	INJECT_ARGS_HUMAN_NAMES,
};

struct inject_args {
	struct load_args load;
	struct inject_options options; /* output NULL: made of the input's name */
	bool uses_cache;               /* options.cache_dir NULL: perf's */
};

/* Opens load.options.input, injects, and says what was written. Returns an exit status. */
int inject_args_run(struct inject_args *args);

#endif
