#include "cli/help.h"
#include "cli/option.h"

#include <string.h>

static void put_words(struct sink *out, const struct argp_option *options)
{
	for (; options && !option_is_end(options); options++) {
		if (option_is_header(options) || (options->flags & OPTION_HIDDEN))
			continue;
		if (option_letter(options))
			sink_printf(out, " -%c", option_letter(options));
		if (options->name)
			sink_printf(out, " --%s", options->name);
	}
}

/* Options that take their value as the next word, as a pattern of `case`. */
static void put_valued(struct sink *out, const struct argp_option *options)
{
	bool is_valued = false;
	for (; options && !option_is_end(options); options++) {
		if (option_is_header(options))
			continue;
		if (!(options->flags & OPTION_ALIAS))
			is_valued = options->arg && !(options->flags & OPTION_ARG_OPTIONAL);
		if (!is_valued || (options->flags & OPTION_HIDDEN))
			continue;
		if (option_letter(options))
			sink_printf(out, " -%c", option_letter(options));
		if (options->name)
			sink_printf(out, " --%s", options->name);
	}
}

static void put_command(struct sink *out, const struct command *command)
{
	sink_printf(out, "\t%s)\n\t\toptions='", command->name);
	put_words(out, command->options);
	put_words(out, command_common_options);
	sink_text(out, "'\n\t\tvalued='");
	put_valued(out, command->options);
	sink_printf(out, " '\n\t\tin_order=%d\n\t\t;;\n", command->is_in_order);
}

static const char script_start[] = "_polyperf()\n"
				   "{\n"
				   "\tlocal current=${COMP_WORDS[COMP_CWORD]} command at=1\n"
				   "\tlocal options='' valued='' in_order=0 commands='";

static const char script_first_word[] =
    "'\n"
    "\tCOMPREPLY=()\n"
    "\t[ \"${COMP_WORDS[1]}\" = --no-pager ] && at=2\n"
    "\tif [ \"$COMP_CWORD\" -le \"$at\" ]; then\n"
    "\t\tCOMPREPLY=($(compgen -W \"$commands --version --help --no-pager\" -- \"$current\"))\n"
    "\t\treturn\n"
    "\tfi\n"
    "\tcommand=${COMP_WORDS[at]}\n"
    "\tcase $command in\n";

static const char script_end[] =
    "\t*) return ;;\n"
    "\tesac\n"
    "\tif [ \"$in_order\" = 1 ] && _polyperf_other \"$((at + 1))\"; then\n"
    "\t\treturn\n"
    "\telif [[ $current == -* ]]; then\n"
    "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
    "\telif [ \"$command\" = help ]; then\n"
    "\t\tCOMPREPLY=($(compgen -W \"$commands\" -- \"$current\"))\n"
    "\telse\n"
    "\t\tCOMPREPLY=($(compgen -f -- \"$current\"))\n"
    "\tfi\n"
    "}\n"
    "# Behind the first argument of such a command another program's line begins.\n"
    "_polyperf_other()\n"
    "{\n"
    "\tlocal i word\n"
    "\tfor ((i = $1; i < COMP_CWORD; i++)); do\n"
    "\t\tword=${COMP_WORDS[i]}\n"
    "\t\tif [[ $valued == *\" $word \"* ]]; then\n"
    "\t\t\t((i++))\n"
    "\t\t\tcontinue\n"
    "\t\telif [[ $word == -- ]]; then\n"
    "\t\t\t((i++))\n"
    "\t\telif [[ $word == -* ]]; then\n"
    "\t\t\tcontinue\n"
    "\t\tfi\n"
    "\t\tif declare -F _command_offset >/dev/null; then\n"
    "\t\t\t_command_offset \"$i\"\n"
    "\t\telse\n"
    "\t\t\tCOMPREPLY=($(compgen -c -- \"$current\") $(compgen -f -- \"$current\"))\n"
    "\t\tfi\n"
    "\t\treturn 0\n"
    "\tdone\n"
    "\treturn 1\n"
    "}\n"
    "complete -o filenames -o bashdefault -F _polyperf polyperf\n";

void help_completion(struct sink *out)
{
	const struct command *command;
	sink_text(out, "# bash completion of polyperf, made by `polyperf help --completion`.\n"
		       "# shellcheck shell=bash disable=SC2207\n");
	sink_text(out, script_start);
	for (size_t i = 0; (command = command_at(i)); i++)
		sink_printf(out, "%s%s", i ? " " : "", command->name);
	sink_text(out, script_first_word);
	for (size_t i = 0; (command = command_at(i)); i++)
		put_command(out, command);
	sink_text(out, script_end);
}
