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

void help_completion(struct sink *out)
{
	const struct command *command;
	sink_text(out, "# bash completion of polyperf, made by `polyperf help --completion`.\n"
		       "# shellcheck shell=bash disable=SC2207\n"
		       "_polyperf()\n{\n"
		       "\tlocal current=${COMP_WORDS[COMP_CWORD]} command='' at=1\n"
		       "\tlocal options='' valued='' in_order=0 commands='");
	for (size_t i = 0; (command = command_at(i)); i++)
		sink_printf(out, "%s%s", i ? " " : "", command->name);
	sink_text(out, "'\n"
		       "\tCOMPREPLY=()\n"
		       "\t[ \"${COMP_WORDS[1]}\" = --no-pager ] && at=2\n"
		       "\tif [ \"$COMP_CWORD\" -le \"$at\" ]; then\n"
		       "\t\tCOMPREPLY=($(compgen -W \"$commands --version --help --no-pager\" -- "
		       "\"$current\"))\n"
		       "\t\treturn\n"
		       "\tfi\n"
		       "\tcommand=${COMP_WORDS[at]}\n"
		       "\tcase $command in\n");
	for (size_t i = 0; (command = command_at(i)); i++)
		put_command(out, command);
	sink_text(
	    out,
	    "\t*) return ;;\n\tesac\n"
	    "\t# Behind the first argument of such a command another program's line begins.\n"
	    "\tlocal i word\n"
	    "\tif [ \"$in_order\" = 1 ]; then\n"
	    "\t\tfor ((i = at + 1; i < COMP_CWORD; i++)); do\n"
	    "\t\t\tword=${COMP_WORDS[i]}\n"
	    "\t\t\tif [[ $valued == *\" $word \"* ]]; then\n"
	    "\t\t\t\t((i++))\n"
	    "\t\t\telif [[ $word == -- || $word != -* ]]; then\n"
	    "\t\t\t\t[ \"$word\" = -- ] && ((i++))\n"
	    "\t\t\t\tif declare -F _command_offset >/dev/null; then\n"
	    "\t\t\t\t\t_command_offset \"$i\"\n"
	    "\t\t\t\telse\n"
	    "\t\t\t\t\tCOMPREPLY=($(compgen -c -- \"$current\") $(compgen -f -- \"$current\"))\n"
	    "\t\t\t\tfi\n"
	    "\t\t\t\treturn\n"
	    "\t\t\tfi\n"
	    "\t\tdone\n"
	    "\tfi\n"
	    "\tif [ \"$command\" = help ]; then\n"
	    "\t\tCOMPREPLY=($(compgen -W \"$commands\" -- \"$current\"))\n"
	    "\telif [[ $current == -* ]]; then\n"
	    "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
	    "\telse\n"
	    "\t\tCOMPREPLY=($(compgen -f -- \"$current\"))\n"
	    "\tfi\n"
	    "}\n"
	    "complete -o filenames -o bashdefault -F _polyperf polyperf\n");
}
