#include "cli/command.h"
#include "cli/help.h"
#include "cli/message.h"
#include "cli/pager.h"
#include "cli/terminal.h"
#include "os/file.h"

#include <stdio.h>
#include <string.h>

static int run_command(const struct command *command, int argc, char **argv)
{
	/* argp and getopt name the program in their messages by argv[0]. */
	char name[64];
	(void)snprintf(name, sizeof(name), "polyperf %s", command->name);
	argv[0] = name;
	const int status = command->run(argc, argv);
	const bool is_written = terminal_flush();
	pager_finish();
	return is_written ? status : EXIT_INPUT;
}

static int usage_error(void)
{
	struct sink out = { 0 };
	help_overview(&out, terminal_width());
	fwrite(out.data, 1, out.size, stderr);
	sink_clear(&out);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	os_file_guard();
	int at = 1;
	for (; at < argc && strcmp(argv[at], "--no-pager") == 0; at++)
		pager_disable();
	if (at == argc)
		return usage_error();
	const char *word = argv[at];
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
		printf("polyperf %s\n", POLYPERF_VERSION);
		return terminal_flush() ? EXIT_OK : EXIT_INPUT;
	}
	/* `polyperf --help` has no command: help takes its place. */
	char *help[] = { NULL, NULL };
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return run_command(&cmd_help, 1, help);
	if (word[0] == '-') {
		message_error("no option '%s' before a command; see 'polyperf help'", word);
		return EXIT_USAGE;
	}
	const struct command *command = command_find(word);
	if (!command)
		return command_unknown(word);
	return run_command(command, argc - at, argv + at);
}
