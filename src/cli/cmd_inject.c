/* cmd_inject.c - `polyperf inject`: a recording for stock perf. */
#include "cli/command.h"
#include "cli/inject_args.h"
#include "cli/message.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct argp_option options[] = {
	LOAD_ARGS_INPUT,
	{ .doc = "What to write:" },
	{ "output", 'o', "FILE", 0,
	  "default: `perf.injected.data` for `perf.data`; `-` is standard output, in pipe format",
	  0 },
	{ "buildid-dir", INJECT_ARGS_BUILDID_DIR, "DIR", OPTION_ARG_OPTIONAL,
	  "put the images into this build-id cache, default perf's own, instead of FILE.d", 0 },
	{ "all", INJECT_ARGS_ALL, NULL, 0,
	  "also code that no sample hit; always so where samples carry pieces of stack", 0 },
	{ "human-names", INJECT_ARGS_HUMAN_NAMES, NULL, 0,
	  "name functions as people write them, not as the runtimes do", 0 },
	LOAD_ARGS_QUIET,
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct inject_args *a = state->input;
	switch (key) {
	case 'o':
		if (strcmp(arg, "-") == 0 && isatty(STDOUT_FILENO))
			argp_error(state, "-o -: standard output is a terminal");
		a->options.output = arg;
		return 0;
	case INJECT_ARGS_BUILDID_DIR:
		a->uses_cache = true;
		a->options.cache_dir = arg;
		return 0;
	case INJECT_ARGS_ALL:
		a->options.all = true;
		return 0;
	case INJECT_ARGS_HUMAN_NAMES:
		a->options.human_names = true;
		return 0;
	default:
		return load_args_parse(&a->load, key, arg, state);
	}
}

static int run(int argc, char **argv)
{
	struct inject_args a = { 0 };
	command_parse(&cmd_inject, argc, argv, &a);
	const int status = inject_args_run(&a);
	load_args_clear(&a.load);
	return status;
}

const struct command cmd_inject = {
	.name = "inject",
	.summary = "write a recording that stock perf names JIT-compiled code in",
	.usages = (const char *const[]){ "[OPTION...] [FILE]", NULL },
	.description =
	    "Reads a recording of `polyperf record` or `perf record` and writes another one in "
	    "which `perf report`, `perf script`, `perf annotate` and every other reader of "
	    "perf.data find code that was made at run time: by address and time as `polyperf "
	    "report` does, with source lines and machine code as far as the runtimes told them.\n\n"
	    "All code of a process lies in one ELF file, its image, below FILE.d. An image is "
	    "known by its build id, so that a build-id cache (--buildid-dir, which `perf archive` "
	    "carries along) or a debuginfod server can give it to another machine.",
	.options = options,
	.examples =
	    (const struct command_example[]){
		{ "polyperf inject && perf report -i perf.injected.data",
		  "After `polyperf record`." },
		{ "polyperf inject -i - -o - < app.data | perf report -i -", "In a pipe." },
		{ "polyperf inject --buildid-dir -o out.data && perf archive out.data",
		  "To look at it on another machine." },
		{ 0 },
	    },
	.parse = parse,
	.run = run,
};
