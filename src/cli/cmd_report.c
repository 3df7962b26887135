/* cmd_report.c - `polyperf report`: where the time went, as a table. */
#include "base/status.h"
#include "cli/browse.h"
#include "cli/command.h"
#include "cli/load_args.h"
#include "cli/message.h"
#include "cli/page_functions.h"
#include "cli/page_run.h"
#include "cli/pager.h"
#include "cli/parse.h"
#include "cli/terminal.h"
#include "report/columns.h"
#include "report/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON };
static const char *const formats[] = { "text", "csv", "json", NULL };

enum {
	KEY_CHILDREN = 256,
	KEY_BY_VERSION,
	KEY_BY_TIER,
	KEY_DSO,
	KEY_SYMBOL,
	KEY_PERCENT_LIMIT,
	KEY_FORMAT,
	KEY_EVENT,
	KEY_HTML,
	KEY_FUNCTIONS,
	KEY_STDIO,
};

struct report_args {
	struct load_args load;
	struct report_options report;
	const char *event;
	const char *html; /* the page's file; NULL: no page */
	uint32_t functions;
	int format;
	bool is_plain; /* no browser */
};

static const struct argp_option options[] = {
	LOAD_ARGS_OPTIONS,
	{ "event", KEY_EVENT, "NAME", 0, "of this event, where the recording has several", 0 },
	{ .doc = "Which rows:" },
	{ "dso", KEY_DSO, "PATTERN[,...]", 0,
	  "of objects whose name matches; * and ? as in a shell", 0 },
	{ "symbol", KEY_SYMBOL, "PATTERN[,...]", 0, "of functions whose name matches", 0 },
	{ "percent-limit", KEY_PERCENT_LIMIT, "N", 0, "with at least N percent; default 0", 0 },
	{ .doc = "How to sum up:" },
	{ "sort", 's', "KEY[,KEY]", 0,
	  "one row for equal keys: `symbol`, `dso`, `runtime`, `tier`, `trust`, `comm`, `pid`, "
	  "`tid`, `version`, `srcline`; default symbol,dso,runtime",
	  0 },
	{ "by-tier", KEY_BY_TIER, NULL, 0, "a row for each tier that a function was compiled in",
	  0 },
	{ "by-version", KEY_BY_VERSION, NULL, 0, "a row for each time that it was compiled", 0 },
	{ "children", KEY_CHILDREN, NULL, 0, "count a function also while those that it called ran",
	  0 },
	{ "call-graph", 'g', "callers|callees", OPTION_ARG_OPTIONAL,
	  "under each row a tree of who called it (the default) or what it called", 0 },
	{ .doc = "How to print:" },
	{ "stdio", KEY_STDIO, NULL, 0,
	  "print the table also where a browser could be: on a terminal, in text", 0 },
	{ "format", KEY_FORMAT, "text|csv|json", 0, "default text", 0 },
	{ "html", KEY_HTML, "FILE", OPTION_ARG_OPTIONAL,
	  "write a page for a browser instead: flame graphs, tables, a timeline; default "
	  "`polyperf.html`, `-` is standard output",
	  0 },
	{ "functions", KEY_FUNCTIONS, "N", 0,
	  "of the page: how many functions it shows by instruction and line, those with most "
	  "samples; default 30",
	  0 },
	LOAD_ARGS_NAMES,
	{ 0 },
};

static void parse_tree(struct report_options *report, const char *arg, struct argp_state *state)
{
	if (!arg || strcmp(arg, "callers") == 0)
		report->tree = REPORT_TREE_CALLERS;
	else if (strcmp(arg, "callees") == 0)
		report->tree = REPORT_TREE_CALLEES;
	else
		argp_error(state, "-g takes callers or callees");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report_args *a = state->input;
	switch (key) {
	case 's':
		if (report_keys_parse(arg, &a->report.keys) < 0)
			argp_error(state, "--sort: no such key in '%s'", arg);
		return 0;
	case 'g':
		parse_tree(&a->report, arg, state);
		return 0;
	case KEY_CHILDREN:
		a->report.children = true;
		return 0;
	case KEY_BY_VERSION:
		a->report.keys |= REPORT_VERSION | REPORT_TIER;
		return 0;
	case KEY_BY_TIER:
		a->report.keys |= REPORT_TIER;
		return 0;
	case KEY_DSO:
		a->report.objects = arg;
		return 0;
	case KEY_SYMBOL:
		a->report.symbols = arg;
		return 0;
	case KEY_PERCENT_LIMIT:
		if (!parse_percent(arg, &a->report.percent_limit))
			argp_error(state, "--percent-limit takes a number from 0 to 100: %s", arg);
		return 0;
	case KEY_FORMAT:
		a->format = parse_word(arg, formats);
		if (a->format < 0)
			argp_error(state, "--format takes text, csv or json");
		return 0;
	case KEY_STDIO:
		a->is_plain = true;
		return 0;
	case KEY_EVENT:
		a->event = arg;
		return 0;
	case KEY_HTML:
		a->html = arg ? arg : "polyperf.html";
		return 0;
	case KEY_FUNCTIONS:
		a->functions = page_functions_parse(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		/* argp takes an optional value only when it is joined: -gcallees. */
		if (a->report.tree != REPORT_TREE_NONE &&
		    (strcmp(arg, "callers") == 0 || strcmp(arg, "callees") == 0)) {
			parse_tree(&a->report, arg, state);
			return 0;
		}
		return load_args_parse(&a->load, key, arg, state);
	default:
		return load_args_parse(&a->load, key, arg, state);
	}
}

/* One event's table, appended to `out`. */
static int put_event(struct sink *out, const struct report_args *a, const struct profile *profile,
		     uint32_t event, const struct load_early *early)
{
	struct report_groups groups = { 0 };
	struct report_tree_nodes tree = { 0 };
	struct report_summary summary = { .early_max_ns = early->max_ns };
	_Static_assert(sizeof(summary.early_buckets) == sizeof(early->buckets), "same buckets");
	memcpy(summary.early_buckets, early->buckets, sizeof(summary.early_buckets));
	const struct report_view view = {
		.profile = profile,
		.event = event,
		.options = &a->report,
		.groups = &groups,
		.tree = a->report.tree == REPORT_TREE_NONE ? NULL : &tree,
		.summary = &summary,
	};
	int got = report_groups_build(&groups, profile, event, &a->report);
	if (got == 0)
		got = report_summary_build(&summary, profile, event);
	if (got == 0 && view.tree)
		got = report_tree_build(&tree, &groups, profile, event, &a->report);
	if (got == 0 && a->format == FORMAT_CSV)
		report_write_csv(out, &view);
	else if (got == 0 && a->format == FORMAT_JSON)
		report_write_json(out, &view);
	else if (got == 0)
		report_write_text(out, &view, terminal_is_there() ? (unsigned)terminal_width() : 0);
	report_groups_clear(&groups);
	report_tree_clear(&tree);
	report_summary_clear(&summary);
	return got;
}

static bool has_samples(const struct profile *profile, uint32_t event)
{
	for (size_t i = 0; i < profile->rows.count; i++)
		if (profile->rows.items[i].event == event)
			return true;
	return false;
}

/* Events that only carry mappings and such (perf's `dummy`) have no table, unless
 * one is asked for, or there is no other.
 */
static bool is_wanted(const struct report_args *a, const struct profile *profile, uint32_t event)
{
	if (a->event)
		return strcmp(a->event, profile_text(profile, profile->events.items[event])) == 0;
	return has_samples(profile, event) || (!profile->rows.count && event == 0);
}

static int put_report(struct sink *out, const struct report_args *a, const struct profile *profile,
		      const struct load *load)
{
	size_t shown = 0;
	int got = 0;
	if (a->format == FORMAT_JSON)
		sink_text(out, "{\"events\":[");
	for (uint32_t event = 0; got == 0 && event < profile->events.count; event++) {
		/* A CSV table has one header, so it has one event. */
		if (!is_wanted(a, profile, event) || (shown && a->format == FORMAT_CSV))
			continue;
		if (shown++)
			sink_text(out, a->format == FORMAT_JSON ? ",\n" : "\n");
		got = put_event(out, a, profile, event, load_early(load));
	}
	if (a->format == FORMAT_JSON)
		sink_text(out, "]}\n");
	if (got == 0 && !shown) {
		message_error("the recording has no event %s", a->event ? a->event : "at all");
		return STATUS_NOT_FOUND;
	}
	return got;
}

/* Opens the browser; false where the table is to be printed. */
static bool is_browsed(struct report_args *a, struct load *load, const struct profile *profile,
		       int *status)
{
	struct browse_args browse_args = { &a->load, load, profile, 0, &a->report };
	if (a->is_plain || a->format != FORMAT_TEXT || !profile->rows.count ||
	    !browse_is_possible())
		return false;
	while (browse_args.event < profile->events.count &&
	       !is_wanted(a, profile, browse_args.event))
		browse_args.event++;
	if (browse_args.event == profile->events.count)
		return false;
	*status = browse(&browse_args);
	return *status >= 0;
}

/* Returns 0, or a negative status; what went wrong was printed. */
static int print(const struct report_args *a, const struct profile *profile,
		 const struct load *load)
{
	struct sink out = { 0 };
	int got = put_report(&out, a, profile, load);
	if (got == 0 && sink_failed(&out))
		got = STATUS_NO_MEMORY;
	if (got == STATUS_NO_MEMORY)
		message_error("%s", status_text(got));
	if (got == 0) {
		if (a->format == FORMAT_TEXT)
			pager_start();
		fwrite(out.data, 1, out.size, stdout);
	}
	sink_clear(&out);
	return got;
}

static int report(struct report_args *a)
{
	a->load.options.lines = a->report.keys & REPORT_SRCLINE;
	struct load *load = load_args_open(&a->load);
	if (!load)
		return EXIT_INPUT;
	struct profile profile = { 0 };
	int status = EXIT_INPUT;
	const int got = load_profile(load, &profile);
	if (got == STATUS_NO_MEMORY)
		message_error("%s", status_text(got));
	if (got == 0 && !is_browsed(a, load, &profile, &status))
		status = print(a, &profile, load) < 0 ? EXIT_INPUT : EXIT_OK;
	profile_clear(&profile);
	load_close(load);
	return status;
}

static int run(int argc, char **argv)
{
	struct report_args a = { .report = { .keys = 0 }, .functions = PAGE_FUNCTIONS_DEFAULT };
	command_parse(&cmd_report, argc, argv, &a);
	const unsigned splits = REPORT_VERSION | REPORT_TIER;
	if (!(a.report.keys & ~splits))
		a.report.keys |= REPORT_DEFAULT_KEYS;
	const int status =
	    a.html ? page_run(&(struct page_args){ &a.load, a.functions }, a.html) : report(&a);
	load_args_clear(&a.load);
	return status;
}

const struct command cmd_report = {
	.name = "report",
	.summary = "show where the time of a recording went",
	.usages = (const char *const[]){ "[OPTION...] [FILE]", NULL },
	.description =
	    "Reads a recording made by `polyperf record` or `perf record` and prints a table of "
	    "functions, those with most samples first. JIT-compiled code is named by the jitdumps "
	    "and perf maps in the recording, beside it, or where perf would look for them.\n\n"
	    "The first line says how far the names can be trusted: `exact` names were announced "
	    "before the sample and still held; `early` ones were announced after it; `untimed` "
	    "ones "
	    "come from a map without times; `ambiguous` ones had several owners; of `stale` ones "
	    "the "
	    "code had ended; the rest is `unknown`, and the lines at the end say why.\n\n"
	    "Of stacks that were dumped (`record -g dwarf`) the next line says how many are whole, "
	    "and "
	    "why others are not; the last lines say where. `script -F +reason` tells it of "
	    "each.\n\n"
	    "A function is one row however often it was compiled.\n\n"
	    "On a terminal it opens a browser: a table with callers and callees under each row, "
	    "search, zoom, annotated functions; ? tells its keys. `--stdio` or `polyperf "
	    "--no-pager report` print the table, as they do into a file or a pipe.",
	.options = options,
	.examples =
	    (const struct command_example[]){
		{ "polyperf report", "The recording in perf.data." },
		{ "polyperf report -g --percent-limit 1", "With callers, without small rows." },
		{ "polyperf report --sort comm,runtime",
		  "Which runtimes each program spent time in." },
		{ "polyperf report --html", "A page for a browser, in one file to pass on." },
		{ "polyperf report --format csv -i app.data", "For a spreadsheet or a script." },
		{ 0 },
	    },
	.parse = parse,
	.run = run,
};
