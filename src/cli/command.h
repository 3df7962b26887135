/* command.h - what a subcommand is: one struct feeds its help, its man page, its
 * completion and its parser.
 *
 * To add one, write cmd_NAME.c, add NAME to COMMAND_LIST and the file to
 * CMakeLists.txt. A command file is an options table, a parse function, a run
 * function and the struct (cmd_help.c is the model):
 *
 *   struct lint_options { bool quiet; };
 *   static const struct argp_option options[] = {
 *           { .doc = "What to print:" },
 *           { "quiet", 'q', NULL, 0, "say nothing, only set the exit status", 0 },
 *           { 0 },
 *   };
 *   static error_t parse(int key, char *arg, struct argp_state *state)
 *   {
 *           struct lint_options *o = state->input;
 *           ...
 *   }
 *   static int run(int argc, char **argv)
 *   {
 *           struct lint_options o = { 0 };
 *           command_parse(&cmd_lint, argc, argv, &o);
 *           return lint(&o) < 0 ? EXIT_INPUT : EXIT_OK;
 *   }
 *   const struct command cmd_lint = { .name = "lint", ... .options = options,
 *                                     .parse = parse, .run = run };
 *
 * Texts are plain ASCII. `words in backquotes` are commands or options (bold in
 * the man page). Paragraphs are separated by an empty line; a paragraph whose
 * lines start with a blank is kept as it is.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

enum exit_status {
	EXIT_OK = 0,
	EXIT_INPUT = 1, /* the input, or the system, did not allow it */
	EXIT_USAGE = 2, /* the command line makes no sense */
};

/* What must be there besides the files on the command line; told in help and man page. */
enum command_needs {
	COMMAND_NEEDS_NOTHING = 0,
	COMMAND_NEEDS_PERF_EVENTS = 1 << 0, /* perf_event_open(2) */
};

struct command_example {
	const char *command; /* "polyperf record -- node app.js" */
	const char *what;    /* one sentence */
};

struct command_exit {
	int status;
	const char *meaning;
};

struct command_section {
	const char *title; /* "Environment" */
	const char *text;
};

struct command {
	const char *name;
	const char *summary; /* one line in lower case without a full stop */
	/* What follows the name, one string a way of calling it, ended by NULL. */
	const char *const *usages;
	const char *description;
	const struct argp_option *options;      /* NULL: none but --help */
	const struct command_section *sections; /* ended by { 0 }; may be NULL */
	const struct command_example *examples; /* ended by { 0 }; may be NULL */
	const struct command_exit
	    *extra_exits; /* besides, or instead of, the common 0, 1, 2; ended by { 0 } */
	unsigned needs;   /* enum command_needs */
	bool is_in_order; /* options end at the first argument, as before a command to run */
	argp_parser_t parse;
	int (*run)(int argc, char **argv); /* argv[0] is "polyperf NAME"; returns an exit_status */
};

/* In the order in which help lists them. */
#define COMMAND_LIST(X) \
	X(record)       \
	X(report)       \
	X(open)         \
	X(annotate) X(top) X(diff) X(script) X(export) X(inject) X(attach) X(lint) X(doctor) X(help)

#define X(name) extern const struct command cmd_##name;
COMMAND_LIST(X)
#undef X

/* Calls command->parse for each option and argument, with `input` in state->input.
 * `--help` is answered here. A wrong command line ends the process with EXIT_USAGE;
 * so does argp_error(state, ...), which parse functions use for it.
 */
void command_parse(const struct command *command, int argc, char **argv, void *input);

/* The command at `index` of COMMAND_LIST, or NULL past its end. */
const struct command *command_at(size_t index);

/* NULL if there is none of that name. */
const struct command *command_find(const char *name);

/* The command whose name is nearest to a misspelt one, or NULL if none is near. */
const struct command *command_nearest(const char *name);

/* Says that there is no such command, and which one may be meant. Returns EXIT_USAGE. */
int command_unknown(const char *name);

#endif
