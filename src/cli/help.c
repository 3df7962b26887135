#include "cli/help.h"

#include "cli/option.h"

#include <string.h>

enum {
	OPTION_INDENT = 2,
	DOC_COLUMN = 28,
	NAME_COLUMN = 12,
};

const struct command_exit help_common_exits[] = {
	{ EXIT_OK, "success" },
	{ EXIT_INPUT, "the input, or the system, did not allow it" },
	{ EXIT_USAGE, "the command line makes no sense" },
	{ 0, NULL },
};

const char *help_needs(unsigned needs)
{
	if (needs & COMMAND_NEEDS_PERF_EVENTS)
		return "Needs access to perf_event_open(2). `polyperf doctor` says what this "
		       "machine allows, and how to allow more.";
	return NULL;
}

static void put_spaces(struct sink *out, size_t count)
{
	sink_printf(out, "%*s", (int)count, "");
}

void help_wrap(struct sink *out, const char *text, size_t at, size_t indent, size_t width)
{
	bool is_first = true;
	while (*text) {
		text += strspn(text, " \n");
		const size_t length = strcspn(text, " \n");
		if (!length)
			return;
		if (!is_first && at + 1 + length > width) {
			sink_text(out, "\n");
			put_spaces(out, indent);
			at = indent;
			is_first = true;
		}
		if (!is_first) {
			sink_text(out, " ");
			at++;
		}
		sink_put(out, text, length);
		at += length;
		text += length;
		is_first = false;
	}
}

/* Paragraphs are wrapped; those whose lines start with a blank are kept. */
static void put_paragraphs(struct sink *out, const char *text, size_t width)
{
	while (*text) {
		const char *end = strstr(text, "\n\n");
		const size_t length = end ? (size_t)(end - text) : strlen(text);
		if (*text == ' ') {
			sink_put(out, text, length);
		} else {
			struct sink one = { 0 };
			sink_put(&one, text, length);
			sink_u8(&one, '\0');
			help_wrap(out, sink_failed(&one) ? "" : (const char *)one.data, 0, 0,
				  width);
			sink_clear(&one);
		}
		sink_text(out, "\n\n");
		text += length + (end ? 2 : 0);
	}
}

static void put_name(struct sink *out, const struct argp_option *o)
{
	const bool is_optional = o->flags & OPTION_ARG_OPTIONAL;
	sink_printf(out, "--%s", o->name);
	if (o->arg)
		sink_printf(out, is_optional ? "[=%s]" : "=%s", o->arg);
}

/* "-F, --freq=HZ", then the aliases that follow in the table. */
static void put_spelling(struct sink *out, const struct argp_option *o)
{
	const char letter = option_letter(o);
	if (letter)
		sink_printf(out, "-%c", letter);
	if (letter && !o->name && o->arg)
		sink_printf(out, o->flags & OPTION_ARG_OPTIONAL ? "[%s]" : " %s", o->arg);
	sink_text(out, letter && o->name ? ", " : letter ? "" : "    ");
	if (o->name)
		put_name(out, o);
	for (const struct argp_option *alias = o + 1; option_is_alias(alias); alias++) {
		if (option_letter(alias))
			sink_printf(out, ", -%c", option_letter(alias));
		if (alias->name)
			sink_printf(out, ", --%s", alias->name);
	}
}

/* `text` at `column` behind what the current line holds already; below it if too long. */
static void put_at_column(struct sink *out, size_t at, size_t column, const char *text,
			  size_t width)
{
	if (at + 2 > column) {
		sink_text(out, "\n");
		at = 0;
	}
	put_spaces(out, column - at);
	help_wrap(out, text, column, column, width);
	sink_text(out, "\n");
}

static void put_options(struct sink *out, const struct argp_option *options, size_t width)
{
	for (; options && !option_is_end(options); options++) {
		if (option_is_header(options)) {
			sink_printf(out, "\n%s\n", options->doc);
		} else if (option_is_listed(options)) {
			const size_t start = out->size;
			put_spaces(out, OPTION_INDENT);
			put_spelling(out, options);
			put_at_column(out, out->size - start, DOC_COLUMN,
				      options->doc ? options->doc : "", width);
		}
	}
}

void help_usage(struct sink *out, const struct command *command, size_t width)
{
	for (size_t i = 0; command->usages[i]; i++) {
		const size_t start = out->size;
		sink_printf(out, "%s polyperf %s%s", i ? "   or:" : "usage:", command->name,
			    command->usages[i][0] ? " " : "");
		help_wrap(out, command->usages[i], out->size - start, 16, width);
		sink_text(out, "\n");
	}
}

bool help_has_exit(const struct command_exit *exits, int status)
{
	for (; exits && exits->meaning; exits++)
		if (exits->status == status)
			return true;
	return false;
}

static void put_exits(struct sink *out, const struct command_exit *exits,
		      const struct command_exit *replaced_by, size_t width)
{
	for (; exits && exits->meaning; exits++) {
		if (help_has_exit(replaced_by, exits->status))
			continue;
		const size_t start = out->size;
		sink_printf(out, "  %d", exits->status);
		put_at_column(out, out->size - start, 7, exits->meaning, width);
	}
}

static void put_examples(struct sink *out, const struct command_example *example, size_t width)
{
	if (!example || !example->command)
		return;
	sink_text(out, "\nExamples:\n");
	for (; example->command; example++) {
		sink_printf(out, "  %s\n      ", example->command);
		help_wrap(out, example->what, 6, 6, width);
		sink_text(out, "\n");
	}
}

void help_command(struct sink *out, const struct command *command, size_t width)
{
	help_usage(out, command, width);
	sink_text(out, "\n");
	put_paragraphs(out, command->description, width);
	const char *needs = help_needs(command->needs);
	if (needs)
		put_paragraphs(out, needs, width);
	/* A group's heading brings the empty line before it. */
	if (command->options && option_is_header(command->options))
		out->size -= out->size ? 1 : 0;
	put_options(out, command->options, width);
	put_options(out, command_common_options, width);
	for (const struct command_section *s = command->sections; s && s->title; s++) {
		sink_printf(out, "\n%s:\n", s->title);
		put_paragraphs(out, s->text, width);
		out->size -= out->size ? 1 : 0;
	}
	put_examples(out, command->examples, width);
	sink_text(out, "\nExit status:\n");
	put_exits(out, help_common_exits, command->extra_exits, width);
	put_exits(out, command->extra_exits, NULL, width);
}

void help_overview(struct sink *out, size_t width)
{
	sink_text(out, "usage: polyperf COMMAND [OPTION...] [ARG...]\n\n");
	put_paragraphs(out,
		       "A profiler for programs whose code is made at run time: JIT-compiled and "
		       "interpreted languages.",
		       width);
	const struct command *command;
	for (size_t i = 0; (command = command_at(i)); i++) {
		const size_t start = out->size;
		sink_printf(out, "  %s", command->name);
		put_at_column(out, out->size - start, NAME_COLUMN, command->summary, width);
	}
	sink_text(out, "\n");
	put_paragraphs(out,
		       "`polyperf help COMMAND` or `polyperf COMMAND --help` tells more; "
		       "`polyperf --version` tells the version, `polyperf --no-pager COMMAND` "
		       "writes straight to the terminal.",
		       width);
	out->size -= out->size ? 1 : 0;
}
