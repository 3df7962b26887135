/* cmd_help.c - `polyperf help`; also the model of a command file. */
#include "base/sink.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/message.h"
#include "cli/pager.h"
#include "cli/terminal.h"

#include <stdio.h>

struct help_options {
	const char *command;
	bool is_man;
	bool is_completion;
};

enum { KEY_MAN = 256, KEY_COMPLETION };

static const struct argp_option options[] = {
	/* For the build, which makes the installed files from it. */
	{ "man", KEY_MAN, NULL, OPTION_HIDDEN, "print the man page's source", 0 },
	{ "completion", KEY_COMPLETION, NULL, OPTION_HIDDEN, "print the completion for bash", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct help_options *o = state->input;
	switch (key) {
	case KEY_MAN:
		o->is_man = true;
		return 0;
	case KEY_COMPLETION:
		o->is_completion = true;
		return 0;
	case ARGP_KEY_ARG:
		if (o->command)
			argp_error(state, "takes one command");
		o->command = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int print_help(const struct help_options *o, const struct command *command)
{
	struct sink out = { 0 };
	if (o->is_completion) {
		help_completion(&out);
	} else if (o->is_man) {
		help_man(&out, command);
	} else {
		pager_start();
		if (command)
			help_command(&out, command, terminal_width());
		else
			help_overview(&out, terminal_width());
	}
	if (sink_failed(&out))
		message_error("out of memory");
	const int status = sink_failed(&out) ? EXIT_INPUT : EXIT_OK;
	fwrite(out.data, 1, out.size, stdout);
	sink_clear(&out);
	return status;
}

static int run(int argc, char **argv)
{
	struct help_options o = { 0 };
	command_parse(&cmd_help, argc, argv, &o);
	const struct command *command = o.command ? command_find(o.command) : NULL;
	if (o.command && !command)
		return command_unknown(o.command);
	return print_help(&o, command);
}

const struct command cmd_help = {
	.name = "help",
	.summary = "tell what the commands do",
	.usages = (const char *const[]){ "[COMMAND]", NULL },
	.description = "Without COMMAND, lists the commands. With it, tells its options, gives "
		       "examples, and says what its exit status means. The same text is in the "
		       "man page `polyperf-COMMAND`.",
	.options = options,
	.examples =
	    (const struct command_example[]){
		{ "polyperf help record", "All about recording." },
		{ 0 },
	    },
	.parse = parse,
	.run = run,
};
