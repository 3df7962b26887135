/* cmd_annotate.c - `polyperf annotate`: where in a function the time went. */
#include "cli/annotate_run.h"
#include "cli/command.h"
#include "cli/parse.h"
#include "cli/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	KEY_EVENT = 256,
	KEY_DSO,
	KEY_TOP,
	KEY_VIEW,
	KEY_ASM,
	KEY_SOURCE,
	KEY_VERSION,
	KEY_ALL_VERSIONS,
	KEY_BY_VERSION,
	KEY_CONTEXT,
	KEY_PERCENT_LIMIT,
	KEY_RAW_BYTES,
	KEY_SYNTAX,
	KEY_SOURCE_PATH,
	KEY_FORMAT,
	KEY_COLOR,
};

enum { CONTEXT_DEFAULT = 3, CONTEXT_MOST = 100000 };

static const struct argp_option options[] = {
	LOAD_ARGS_OPTIONS,
	{ "event", KEY_EVENT, "NAME", 0, "of this event; default: the first that has samples", 0 },
	{ .doc = "Which function:" },
	{ "dso", KEY_DSO, "PATTERN[,...]", 0,
	  "of objects whose name matches; * and ? as in a shell", 0 },
	{ "top", KEY_TOP, "N", 0, "without an argument: the N with most samples; default 1", 0 },
	{ "version", KEY_VERSION, "N", 0,
	  "the Nth time that it was compiled; default: the one with most samples", 0 },
	{ "all-versions", KEY_ALL_VERSIONS, NULL, 0, "all of them, one after the other", 0 },
	{ .doc = "What to show:" },
	{ "view", KEY_VIEW, "mixed|asm|source|versions", 0,
	  "instructions below their source lines (the default), instructions alone, source lines "
	  "alone, or source lines with a column a version",
	  0 },
	{ "asm", KEY_ASM, NULL, 0, "the same as --view asm", 0 },
	{ "source", KEY_SOURCE, NULL, 0, "the same as --view source", 0 },
	{ "by-version", KEY_BY_VERSION, NULL, 0, "the same as --view versions", 0 },
	{ "context", KEY_CONTEXT, "N", 0,
	  "lines around those that have samples, where not all are shown; default 3", 0 },
	{ "percent-limit", KEY_PERCENT_LIMIT, "N", 0,
	  "only lines and instructions with at least N percent of the samples shown; default 0",
	  0 },
	{ "raw-bytes", KEY_RAW_BYTES, NULL, 0, "with the bytes of instructions", 0 },
	{ "syntax", KEY_SYNTAX, "intel|att", 0, "how x86 instructions are written; default intel",
	  0 },
	{ "source-path", KEY_SOURCE_PATH, "[OLD=]FOLDER", 0,
	  "look for sources below this folder; with OLD, for those whose path begins with it; may "
	  "be given several times",
	  0 },
	{ .doc = "How to print:" },
	{ "output", 'o', "FILE", 0, "write to this file", 0 },
	{ "format", KEY_FORMAT, "text|json|html", 0,
	  "default: as the output file's name ends, else text", 0 },
	{ "color", KEY_COLOR, "auto|always|never", 0,
	  "default auto: on terminals, unless $NO_COLOR is set", 0 },
	LOAD_ARGS_NAMES,
	{ 0 },
};

/* Options besides those of the document's own structs. */
struct command_args {
	struct annotate_args run;
	int format; /* -1: not said */
	int color;
};

enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

static int word_of(const char *option, const char *arg, const char *const *words,
		   struct argp_state *state)
{
	const int word = parse_word(arg, words);
	if (word < 0)
		argp_error(state, "--%s: there is no '%s'", option, arg);
	return word;
}

static void parse_count(const char *option, const char *arg, unsigned most, uint32_t *value,
			struct argp_state *state)
{
	if (!parse_u32(arg, value) || *value > most)
		argp_error(state, "--%s takes a number up to %u: %s", option, most, arg);
}

static error_t parse_shown(struct command_args *c, int key, char *arg, struct argp_state *state)
{
	static const char *const views[] = { "mixed", "asm", "source", "versions", NULL };
	struct annotate_options *o = &c->run.options;
	switch (key) {
	case KEY_VIEW:
		o->view = (enum annotate_view)word_of("view", arg, views, state);
		return 0;
	case KEY_ASM:
		o->view = ANNOTATE_ASM;
		return 0;
	case KEY_SOURCE:
		o->view = ANNOTATE_SOURCE;
		return 0;
	case KEY_BY_VERSION:
		o->view = ANNOTATE_VERSIONS;
		return 0;
	case KEY_VERSION:
		parse_count("version", arg, UINT32_MAX, &o->version, state);
		if (!o->version)
			argp_error(state, "--version: the first is 1");
		return 0;
	case KEY_ALL_VERSIONS:
		o->all_versions = true;
		return 0;
	case KEY_CONTEXT:
		parse_count("context", arg, CONTEXT_MOST, &o->context, state);
		return 0;
	case KEY_PERCENT_LIMIT:
		if (!parse_percent(arg, &o->percent_limit))
			argp_error(state, "--percent-limit takes a number from 0 to 100: %s", arg);
		return 0;
	case KEY_RAW_BYTES:
		o->raw_bytes = true;
		return 0;
	default:
		return load_args_parse(&c->run.load, key, arg, state);
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const formats[] = { "text", "json", "html", NULL };
	static const char *const colors[] = { "auto", "always", "never", NULL };
	static const char *const syntaxes[] = { "intel", "att", NULL };
	struct command_args *c = state->input;
	const char **path;
	switch (key) {
	case KEY_EVENT:
		c->run.event = arg;
		return 0;
	case KEY_DSO:
		c->run.query.objects = arg;
		return 0;
	case KEY_TOP:
		parse_count("top", arg, 10000, &c->run.query.top, state);
		return 0;
	case KEY_SYNTAX:
		c->run.att = word_of("syntax", arg, syntaxes, state) == 1;
		return 0;
	case KEY_SOURCE_PATH:
		path = vector_push(&c->run.source_paths);
		if (!path)
			argp_error(state, "out of memory");
		else
			*path = arg;
		return 0;
	case 'o':
		c->run.output = arg;
		return 0;
	case KEY_FORMAT:
		c->format = word_of("format", arg, formats, state);
		return 0;
	case KEY_COLOR:
		c->color = word_of("color", arg, colors, state);
		return 0;
	case ARGP_KEY_ARG:
		if (c->run.query.text)
			return load_args_parse(&c->run.load, key, arg, state);
		c->run.query.text = arg;
		return 0;
	default:
		return parse_shown(c, key, arg, state);
	}
}

static enum annotate_format format_of(const struct command_args *c)
{
	if (c->format >= 0)
		return (enum annotate_format)c->format;
	const char *end = c->run.output ? strrchr(c->run.output, '.') : NULL;
	if (end && strcmp(end, ".json") == 0)
		return ANNOTATE_JSON;
	if (end && (strcmp(end, ".html") == 0 || strcmp(end, ".htm") == 0))
		return ANNOTATE_HTML;
	return ANNOTATE_TEXT;
}

static bool is_coloured(const struct command_args *c)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");
	if (c->color != COLOR_AUTO)
		return c->color == COLOR_ALWAYS;
	return !c->run.output && terminal_is_there() && !(no_color && *no_color) &&
	       !(term && strcmp(term, "dumb") == 0);
}

/* The first of these that is set decides, as in setlocale(3). */
static bool is_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);
		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

/* Other commands take a recording as their only argument, so this one does, too. */
static bool is_recording(const char *path)
{
	char magic[8] = "";
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	const size_t size = fread(magic, 1, sizeof(magic), file);
	(void)fclose(file);
	return size == sizeof(magic) && memcmp(magic, "PERFILE2", sizeof(magic)) == 0;
}

static int run(int argc, char **argv)
{
	struct command_args c = { .format = -1, .run = { .options.context = CONTEXT_DEFAULT } };
	command_parse(&cmd_annotate, argc, argv, &c);
	if (c.run.query.text && !c.run.load.options.input && is_recording(c.run.query.text)) {
		c.run.load.options.input = c.run.query.text;
		c.run.query.text = NULL;
	}
	c.run.format = format_of(&c);
	c.run.style.colour = is_coloured(&c);
	c.run.style.ascii = !is_utf8();
	const int status = annotate_run(&c.run);
	load_args_clear(&c.run.load);
	vector_clear(&c.run.source_paths);
	return status;
}

const struct command cmd_annotate = {
	.name = "annotate",
	.summary = "show the samples of a function by instruction and source line",
	.usages = (const char *const[]){ "[OPTION...] [SYMBOL] [FILE]",
					 "[OPTION...] SOURCE[:LINE] [FILE]", NULL },
	.description =
	    "Prints a function's instructions with the samples of each, under the source lines "
	    "that they were made from. The samples are those that ran its own code; they sum up to "
	    "what `polyperf report --no-inline` says of it. Without SYMBOL it is the function with "
	    "most samples.\n\n"
	    "SYMBOL is a name as `polyperf report` prints it; where there is none, a name without "
	    "its parameters, a pattern with * or ?, or a part of a name will do if only one "
	    "function is meant, else those that are meant are listed. SOURCE is a source file, as "
	    "much of its path's end as tells it from others: its lines are shown with the samples "
	    "of all functions, and with LINE the instructions of that line.\n\n"
	    "JIT-compiled code is shown as it was when it ran. A function that was compiled "
	    "several times has versions; a table lists them with tier and time. Percents are of "
	    "the version shown, samples in functions that were inlined are at the instructions "
	    "where they were inlined. Interpreted functions have source lines only.",
	.options = options,
	.sections =
	    (const struct command_section[]){
		{ "Environment",
		  "`NO_COLOR`, if set, turns colours off. `LC_ALL`, `LC_CTYPE` or `LANG` say "
		  "whether jumps can be drawn with lines or must be drawn in ASCII." },
		{ 0 },
	    },
	.examples =
	    (const struct command_example[]){
		{ "polyperf annotate", "The hottest function." },
		{ "polyperf annotate fib --by-version",
		  "Its lines in all versions, side by side." },
		{ "polyperf annotate app.js:12",
		  "What line 12 was compiled to, and what it cost." },
		{ "polyperf annotate --top 10 -o hot.html", "Ten functions, for a browser." },
		{ 0 },
	    },
	.parse = parse,
	.run = run,
};
