#include "cli/help.h"
#include "cli/option.h"

#include <ctype.h>
#include <string.h>

/* Text with roff's special characters defused. `words in backquotes` become bold. */
static void put_text(struct sink *out, const char *text, size_t size)
{
	bool at_line_start = true;
	bool is_bold = false;
	for (size_t i = 0; i < size; i++) {
		const char c = text[i];
		if (at_line_start && (c == '.' || c == '\''))
			sink_text(out, "\\&");
		if (c == '\\')
			sink_text(out, "\\(rs");
		else if (c == '-')
			sink_text(out, "\\-");
		else if (c == '\'')
			sink_text(out, "\\(aq");
		else if (c == '~')
			sink_text(out, "\\(ti");
		else if (c == '^')
			sink_text(out, "\\(ha");
		else if (c == '`')
			sink_text(out, (is_bold = !is_bold) ? "\\fB" : "\\fR");
		else
			sink_u8(out, (uint8_t)c);
		at_line_start = c == '\n';
	}
}

static void put_cstr(struct sink *out, const char *text)
{
	put_text(out, text, strlen(text));
}

static void put_heading(struct sink *out, const char *title)
{
	sink_text(out, ".SH \"");
	const size_t length = strlen(title);
	for (size_t i = 0; i < length && title[i] != ':'; i++)
		sink_u8(out, (uint8_t)toupper((unsigned char)title[i]));
	sink_text(out, "\"\n");
}

static void put_paragraphs(struct sink *out, const char *text)
{
	bool is_first = true;
	while (*text) {
		const char *end = strstr(text, "\n\n");
		const size_t length = end ? (size_t)(end - text) : strlen(text);
		if (!is_first)
			sink_text(out, ".PP\n");
		if (*text == ' ')
			sink_text(out, ".nf\n");
		put_text(out, text, length);
		sink_text(out, *text == ' ' ? "\n.fi\n" : "\n");
		is_first = false;
		text += length + (end ? 2 : 0);
	}
}

static void put_spelling(struct sink *out, const struct argp_option *o)
{
	const char letter = option_letter(o);
	sink_text(out, "\\fB");
	if (letter)
		sink_printf(out, "\\-%c\\fR", letter);
	if (letter && !o->name && o->arg)
		sink_printf(out, " \\fI%s\\fR", o->arg);
	if (letter && o->name)
		sink_text(out, ", \\fB");
	if (o->name) {
		sink_text(out, "\\-\\-");
		put_cstr(out, o->name);
		sink_text(out, "\\fR");
	}
	if (o->name && o->arg)
		sink_printf(out, o->flags & OPTION_ARG_OPTIONAL ? "[=\\fI%s\\fR]" : "=\\fI%s\\fR",
			    o->arg);
	for (const struct argp_option *alias = o + 1; option_is_alias(alias); alias++) {
		if (option_letter(alias))
			sink_printf(out, ", \\fB\\-%c\\fR", option_letter(alias));
		if (alias->name) {
			sink_text(out, ", \\fB\\-\\-");
			put_cstr(out, alias->name);
			sink_text(out, "\\fR");
		}
	}
	sink_text(out, "\n");
}

static void put_options(struct sink *out, const struct argp_option *options)
{
	for (; options && !option_is_end(options); options++) {
		if (option_is_header(options)) {
			sink_text(out, ".SS \"");
			const size_t length = strlen(options->doc);
			const bool has_colon = length && options->doc[length - 1] == ':';
			put_text(out, options->doc, length - has_colon);
			sink_text(out, "\"\n");
		} else if (option_is_listed(options)) {
			sink_text(out, ".TP\n");
			put_spelling(out, options);
			put_cstr(out, options->doc ? options->doc : "");
			sink_text(out, "\n");
		}
	}
}

static void put_exits(struct sink *out, const struct command_exit *exits,
		      const struct command_exit *replaced_by)
{
	for (; exits && exits->meaning; exits++) {
		if (help_has_exit(replaced_by, exits->status))
			continue;
		sink_printf(out, ".TP\n\\fB%d\\fR\n", exits->status);
		put_cstr(out, exits->meaning);
		sink_text(out, "\n");
	}
}

static void put_title(struct sink *out, const char *name, const char *summary)
{
	/* No date: the page of one version is the same file wherever it is made. */
	sink_text(out, ".TH \"");
	for (const char *c = name; *c; c++)
		sink_u8(out, (uint8_t)toupper((unsigned char)*c));
	sink_printf(out, "\" \"1\" \"\" \"polyperf %s\" \"polyperf manual\"\n", POLYPERF_VERSION);
	sink_text(out, ".nh\n.ad l\n");
	sink_printf(out, ".SH \"NAME\"\n");
	put_cstr(out, name);
	sink_text(out, " \\- ");
	put_cstr(out, summary);
	sink_text(out, "\n");
}

static void put_see_also(struct sink *out, const struct command *command)
{
	sink_text(out, ".SH \"SEE ALSO\"\n");
	if (command)
		sink_text(out, "\\fBpolyperf\\fR(1)");
	const struct command *other;
	bool is_first = !command;
	for (size_t i = 0; (other = command_at(i)); i++) {
		if (other == command)
			continue;
		sink_printf(out, "%s\\fBpolyperf\\-%s\\fR(1)", is_first ? "" : ",\n", other->name);
		is_first = false;
	}
	sink_text(out, ",\n\\fBperf\\fR(1)\n");
}

static void man_overview(struct sink *out)
{
	put_title(out, "polyperf", "profile programs whose code is made at run time");
	sink_text(out, ".SH \"SYNOPSIS\"\n\\fBpolyperf\\fR [\\fB\\-\\-no\\-pager\\fR] "
		       "\\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIARG\\fR...]\n"
		       ".br\n\\fBpolyperf\\fR \\fB\\-\\-version\\fR\n");
	put_heading(out, "Description");
	put_paragraphs(out,
		       "polyperf records where a program spends its time and names the code "
		       "that JIT compilers and interpreters made while it ran: right in address "
		       "and in time. Its recordings are perf.data files with a zip archive "
		       "behind them, which `perf` opens as well.");
	put_heading(out, "Commands");
	const struct command *command;
	for (size_t i = 0; (command = command_at(i)); i++) {
		sink_printf(out, ".TP\n\\fBpolyperf\\-%s\\fR(1)\n", command->name);
		put_cstr(out, command->summary);
		sink_text(out, "\n");
	}
	put_heading(out, "Exit status");
	put_exits(out, help_common_exits, NULL);
	put_heading(out, "Environment");
	sink_text(out, ".TP\n\\fBPOLYPERF_PAGER\\fR, \\fBPAGER\\fR\n"
		       "The program that long output on a terminal goes through; "
		       "\\fBless\\fR if neither is set, none if it is empty or \\fBcat\\fR.\n"
		       ".TP\n\\fBCOLUMNS\\fR\nHow wide output may be.\n");
	put_see_also(out, NULL);
}

static void man_command(struct sink *out, const struct command *command)
{
	struct sink name = { 0 };
	sink_printf(&name, "polyperf-%s", command->name);
	sink_u8(&name, '\0');
	put_title(out, sink_failed(&name) ? "" : (const char *)name.data, command->summary);
	sink_clear(&name);

	put_heading(out, "Synopsis");
	for (size_t i = 0; command->usages[i]; i++) {
		sink_printf(out, "%s\\fBpolyperf %s\\fR ", i ? ".br\n" : "", command->name);
		put_cstr(out, command->usages[i]);
		sink_text(out, "\n");
	}
	put_heading(out, "Description");
	put_paragraphs(out, command->description);
	const char *needs = help_needs(command->needs);
	if (needs) {
		sink_text(out, ".PP\n");
		put_paragraphs(out, needs);
	}
	put_heading(out, "Options");
	put_options(out, command->options);
	put_options(out, command_common_options);
	for (const struct command_section *s = command->sections; s && s->title; s++) {
		put_heading(out, s->title);
		put_paragraphs(out, s->text);
	}
	if (command->examples)
		put_heading(out, "Examples");
	for (const struct command_example *e = command->examples; e && e->command; e++) {
		sink_text(out, ".TP\n\\fB");
		put_cstr(out, e->command);
		sink_text(out, "\\fR\n");
		put_cstr(out, e->what);
		sink_text(out, "\n");
	}
	put_heading(out, "Exit status");
	put_exits(out, help_common_exits, command->extra_exits);
	put_exits(out, command->extra_exits, NULL);
	put_see_also(out, command);
}

void help_man(struct sink *out, const struct command *command)
{
	if (command)
		man_command(out, command);
	else
		man_overview(out);
}
