#include "cli/command.h"

#include "cli/help.h"
#include "cli/message.h"
#include "cli/option.h"
#include "cli/terminal.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct command *const commands[] = {
#define X(name) &cmd_##name,
	COMMAND_LIST(X)
#undef X
};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

const struct command *command_at(size_t index)
{
	return index < COMMAND_COUNT ? commands[index] : NULL;
}

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

enum { NAME_LIMIT = 32 };

/* Levenshtein's distance, one row of his table at a time; NAME_LIMIT for long words. */
static size_t distance(const char *a, const char *b)
{
	size_t row[NAME_LIMIT + 1];
	const size_t a_length = strlen(a);
	const size_t b_length = strlen(b);
	if (a_length >= NAME_LIMIT || b_length >= NAME_LIMIT)
		return NAME_LIMIT;
	for (size_t j = 0; j <= b_length; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		size_t diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
			const size_t inserted = row[j - 1] + 1;
			const size_t deleted = row[j] + 1;
			diagonal = row[j];
			row[j] = replaced < inserted ? replaced : inserted;
			if (deleted < row[j])
				row[j] = deleted;
		}
	}
	return row[b_length];
}

const struct command *command_nearest(const char *name)
{
	const struct command *nearest = NULL;
	/* A third of the letters may be wrong, and two in a short name. */
	size_t least = strlen(name) / 3 + 1;
	if (least < 3)
		least = 3;
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		const size_t d = distance(name, commands[i]->name);
		if (d < least && d < strlen(commands[i]->name)) {
			least = d;
			nearest = commands[i];
		}
	}
	return nearest;
}

int command_unknown(const char *name)
{
	const struct command *nearest = command_nearest(name);
	if (nearest)
		message_error("no command '%s'; did you mean '%s'?", name, nearest->name);
	else
		message_error("no command '%s'; see 'polyperf help'", name);
	return EXIT_USAGE;
}

/* argp keeps 24 bits of a key; commands count theirs from 256. */
enum { KEY_USAGE = 0x700000 };

const struct argp_option command_common_options[] = {
	{ "help", 'h', NULL, 0, "print this help", -1 },
	{ "usage", KEY_USAGE, NULL, OPTION_HIDDEN, "print the usage lines", -1 },
	{ 0 },
};

static _Noreturn void print_and_exit(const struct command *command,
				     void (*render)(struct sink *, const struct command *, size_t))
{
	struct sink out = { 0 };
	render(&out, command, terminal_width());
	fwrite(out.data, 1, out.size, stdout);
	sink_clear(&out);
	exit(terminal_flush() ? EXIT_OK : EXIT_INPUT);
}

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	const struct command *command = state->input;
	switch (key) {
	case 'h':
		print_and_exit(command, help_command);
	case KEY_USAGE:
		print_and_exit(command, help_usage);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

struct parse_state {
	const struct command *command;
	void *input;
};

/* Hands the command's own input to its parser, and the command to the common one. */
static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	const struct parse_state *both = state->input;
	if (key == ARGP_KEY_INIT) {
		state->child_inputs[0] = both->input;
		state->child_inputs[1] = (void *)(uintptr_t)both->command;
	}
	(void)arg;
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_no_arguments(int key, char *arg, struct argp_state *state)
{
	if (key == ARGP_KEY_ARG)
		argp_error(state, "takes no argument: %s", arg);
	return ARGP_ERR_UNKNOWN;
}

void command_parse(const struct command *command, int argc, char **argv, void *input)
{
	const struct argp own = { .options = command->options,
				  .parser = command->parse ? command->parse : parse_no_arguments };
	const struct argp common = { .options = command_common_options, .parser = parse_common };
	const struct argp_child children[] = { { .argp = &own }, { .argp = &common }, { 0 } };
	const struct argp both = { .parser = parse_own, .children = children };
	struct parse_state state = { .command = command, .input = input };

	argp_err_exit_status = EXIT_USAGE;
	const unsigned flags = ARGP_NO_HELP | (command->is_in_order ? ARGP_IN_ORDER : 0);
	if (argp_parse(&both, argc, argv, flags, NULL, &state) != 0)
		exit(EXIT_USAGE);
}
