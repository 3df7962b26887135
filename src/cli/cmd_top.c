/* cmd_top.c - `polyperf top`: what is hot now. */
#include "base/status.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/parse.h"
#include "cli/record_args.h"
#include "cli/terminal.h"
#include "cli/top_run.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct command_args {
	struct record_args record;
	struct top_args top;
};

enum {
	KEY_WINDOW = 256,
	KEY_OVER,
	KEY_CHILDREN,
	KEY_SORT,
	KEY_FILTER,
	KEY_ROWS,
	KEY_PERCENT_LIMIT,
	KEY_STDIO,
	KEY_ITERATIONS,
	KEY_FORMAT,
	KEY_RAW_NAMES,
	KEY_NATIVE_FRAMES,
};

static const struct argp_option options[] = {
	{ .doc = "What to look at:" },
	RECORD_ARGS_WHOM,
	{ .doc = "When to take a sample:" },
	RECORD_ARGS_WHEN,
	{ .doc = "What the table is made of:" },
	{ "interval", 'd', "SECONDS", 0,
	  "make it anew so often; default 2; less often where that took more than a tenth of a CPU",
	  0 },
	{ "window", KEY_WINDOW, "SECONDS", 0, "the last seconds; default 10", 0 },
	{ "over", KEY_OVER, "last|decaying|all", 0,
	  "count the window's samples alike (the default); let them count half when they are as "
	  "old as the window, and less and less then; or all since the start",
	  0 },
	{ "children", KEY_CHILDREN, NULL, 0,
	  "with a column for the time of a function and those that it called", 0 },
	{ .doc = "Which rows:" },
	{ "sort", 's', "COLUMN", 0,
	  "`overhead` (the default), `total`, `samples`, `symbol`, `runtime`, `object` or "
	  "`process`",
	  0 },
	{ "filter", KEY_FILTER, "WORDS", 0,
	  "rows with each of these words in their process, runtime, object or symbol; "
	  "`runtime:WORD` and the like looks there alone, `!WORD` shows rows without it",
	  0 },
	{ "percent-limit", KEY_PERCENT_LIMIT, "N", 0, "with at least N percent", 0 },
	{ "rows", 'r', "N", 0, "as plain text: at most N; default 40, 0 is all", 0 },
	{ .doc = "How to show it:" },
	{ "stdio", KEY_STDIO, NULL, 0,
	  "print a table after each interval, as where standard output is no terminal", 0 },
	{ "iterations", 'n', "N", 0, "end after N intervals", 0 },
	{ "format", KEY_FORMAT, "text|json", 0,
	  "`json`: an object in a line for each interval, with all rows", 0 },
	{ .doc = "Runtimes:" },
	RECORD_ARGS_RUNTIMES,
	{ "raw-names", KEY_RAW_NAMES, NULL, 0, "names as the runtimes wrote them", 0 },
	{ "native-frames", KEY_NATIVE_FRAMES, NULL, 0,
	  "the C functions of interpreters, too, where what they run is known", 0 },
	{ .doc = "Messages:" },
	{ "output", 'o', "FILE", 0,
	  "what the command writes; default: standard error, and nowhere where the screen is used",
	  0 },
	{ "verbose", 'v', NULL, 0, "list the variables that were set for the command", 0 },
	{ "quiet", 'q', NULL, 0, "only warnings and errors", 0 },
	{ 0 },
};

static void check(struct command_args *a, struct argp_state *state)
{
	struct record_options *o = &a->record.options;
	record_args_finish(&a->record, state);
	if (o->command && (o->pid_count || o->system_wide))
		argp_error(state, "a command excludes -p and -a");
	if (!o->command && !o->pid_count && !o->system_wide) {
		if (geteuid() != 0)
			argp_error(state, "say what to look at: a command, -p PID, or -a");
		o->system_wide = true;
	}
	if (a->top.print.rows.sort == LIVE_SORT_TOTAL)
		a->top.live.with_callers = true;
	if (o->event_count > 1 || (o->event_count && strchr(o->events[0], ',')))
		argp_error(state, "-e takes one event here");
}

static void parse_over(struct command_args *a, const char *arg, struct argp_state *state)
{
	static const char *const names[LIVE_WINDOW_COUNT] = { "last", "decaying", "all" };
	for (int i = 0; i < LIVE_WINDOW_COUNT; i++) {
		if (strcmp(arg, names[i]) == 0) {
			a->top.print.window = (enum live_window)i;
			return;
		}
	}
	argp_error(state, "--over takes last, decaying or all: %s", arg);
}

static void parse_interval(struct command_args *a, const char *arg, struct argp_state *state)
{
	enum { LEAST_NS = 100 * 1000 * 1000 };
	if (!parse_duration_ns(arg, &a->top.live.interval_ns) || a->top.live.interval_ns < LEAST_NS)
		argp_error(state, "-d takes a time from 0.1 on: %s", arg);
}

static void parse_window(struct command_args *a, const char *arg, struct argp_state *state)
{
	uint64_t window_ns;
	if (!parse_duration_ns(arg, &window_ns) || window_ns == 0)
		argp_error(state, "--window takes a time such as 30 or 2m: %s", arg);
	a->top.live.window_seconds = (double)window_ns / 1e9;
}

static error_t parse_shown(struct command_args *a, int key, char *arg, struct argp_state *state)
{
	uint32_t number;
	switch (key) {
	case 's':
		if (!live_sort_parse(arg, &a->top.print.rows.sort))
			argp_error(state, "--sort: there is no column '%s'", arg);
		return 0;
	case KEY_PERCENT_LIMIT:
		if (!parse_percent(arg, &a->top.print.rows.least_percent))
			argp_error(state, "--percent-limit takes a number from 0 to 100: %s", arg);
		return 0;
	case 'r':
		if (!parse_u32(arg, &number))
			argp_error(state, "-r takes a number: %s", arg);
		a->top.print.limit = number;
		return 0;
	case 'n':
		if (!parse_u32(arg, &number) || !number)
			argp_error(state, "-n takes a number of intervals: %s", arg);
		a->top.iterations = number;
		return 0;
	case KEY_FORMAT:
		a->top.is_json = strcmp(arg, "json") == 0;
		if (!a->top.is_json && strcmp(arg, "text") != 0)
			argp_error(state, "--format takes text or json: %s", arg);
		a->top.is_plain |= a->top.is_json;
		return 0;
	default:
		return record_args_parse(&a->record, key, arg, state);
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct command_args *a = state->input;
	switch (key) {
	case 'd':
		parse_interval(a, arg, state);
		return 0;
	case KEY_WINDOW:
		parse_window(a, arg, state);
		return 0;
	case KEY_OVER:
		parse_over(a, arg, state);
		return 0;
	case KEY_CHILDREN:
		a->top.live.with_callers = true;
		return 0;
	case KEY_FILTER:
		a->top.print.rows.filter = arg;
		return 0;
	case KEY_STDIO:
		a->top.is_plain = true;
		return 0;
	case KEY_RAW_NAMES:
		a->top.live.raw_names = true;
		return 0;
	case KEY_NATIVE_FRAMES:
		a->top.live.native_frames = true;
		return 0;
	case 'o':
		a->top.command_output = arg;
		return 0;
	case ARGP_KEY_ARGS:
		a->record.options.command = (const char *const *)state->argv + state->next;
		return 0;
	case ARGP_KEY_END:
		check(a, state);
		return 0;
	default:
		return parse_shown(a, key, arg, state);
	}
}

static int run(int argc, char **argv)
{
	enum { INTERVAL_NS = 2000000000, ROWS = 40 };
	struct command_args a = {
		.record.options = { .note = record_args_note },
		.top = { .live = { .interval_ns = INTERVAL_NS, .window_seconds = 10 },
			 .print = { .limit = ROWS } },
	};
	command_parse(&cmd_top, argc, argv, &a);
	a.record.options.note_context = &a.record;
	a.top.live.record = a.record.options;
	if (a.top.is_json)
		a.top.print.limit = 0;
	const int status = top_run(&a.top);
	record_args_clear(&a.record);
	return status;
}

const struct command cmd_top = {
	.name = "top",
	.summary = "show what is hot now, as it changes",
	.usages =
	    (const char *const[]){
		"[OPTION...] [--] COMMAND [ARG...]",
		"[OPTION...] -p PID[,PID]",
		"[OPTION...] [-a]",
		NULL,
	    },
	.description =
	    "Samples as `polyperf record` does, and shows every two seconds which functions had "
	    "the time of the last ten, with their runtimes, tiers and source lines: of a command, "
	    "of running processes, or (the default where you are root) of the whole machine. "
	    "Nothing is written to a file, and memory stays bounded however long it runs.\n\n"
	    "Runtimes are told to say where their code is as by `record`: a command through its "
	    "environment, with -p those that can be asked while they run (Java, .NET). With -a "
	    "names of compiled code are there for processes that tell of it already.\n\n"
	    "It ends with the command, or with the last of the processes, after a last table.",
	.options = options,
	.examples =
	    (const struct command_example[]){
		{ "polyperf top", "The whole machine." },
		{ "polyperf top -- node app.js", "A program from its start." },
		{ "polyperf top -p 4242 --children", "A server, with callers' times." },
		{ "polyperf top --stdio -n 1 -d 5 -p 4242",
		  "One table of five seconds, for a script." },
		{ 0 },
	    },
	.needs = COMMAND_NEEDS_PERF_EVENTS,
	.is_in_order = true,
	.parse = parse,
	.run = run,
};
