/* cmd_diff.c - `polyperf diff`: what became slower between two recordings, and what is noise. */
#include "base/status.h"
#include "cli/command.h"
#include "cli/load_args.h"
#include "cli/message.h"
#include "cli/page_diff.h"
#include "cli/pager.h"
#include "cli/parse.h"
#include "cli/terminal.h"
#include "diff/write.h"
#include "export/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON };
static const char *const formats[] = { "text", "csv", "json", NULL };

enum {
	KEY_BY = 256,
	KEY_CHILDREN,
	KEY_EVENT,
	KEY_FORMAT,
	KEY_PERCENT_LIMIT,
	KEY_TOP,
	KEY_CHANGED,
	KEY_DSO,
	KEY_SYMBOL,
	KEY_HTML,
};

struct diff_args {
	struct load_args load;
	struct diff_options diff;
	struct diff_choice choice;
	const char *event;
	const char *html; /* the page's file; NULL: no page */
	int format;
	VECTOR(const char *) files[DIFF_SIDES];
	/* How many arguments stand behind `--`: argp moves them together. */
	size_t after_count;
	bool has_dashes;
};

static const struct argp_option options[] = {
	{ .doc = "What to read:" },
	LOAD_ARGS_FILES,
	{ .doc = "Which samples:" },
	LOAD_ARGS_THREADS,
	{ "event", KEY_EVENT, "NAME", 0,
	  "of this event; default: that with most samples which all recordings have", 0 },
	{ .doc = "How to compare:" },
	{ "by", KEY_BY, "UNIT", 0,
	  "`share` of all samples (the default); `total`: the time or the events themselves; "
	  "`second`: those by second of the recording; `cpu-second`: by second of processor time, "
	  "where cpu-clock or task-clock was recorded too",
	  0 },
	{ "children", KEY_CHILDREN, NULL, 0, "count a function also while those that it called ran",
	  0 },
	{ .doc = "Which rows:" },
	{ "changed", KEY_CHANGED, NULL, 0, "only what changed by more than noise", 0 },
	{ "percent-limit", KEY_PERCENT_LIMIT, "N", 0,
	  "with at least N percent on one of the sides; default 0", 0 },
	{ "top", KEY_TOP, "N", 0, "the first N", 0 },
	{ "dso", KEY_DSO, "PATTERN[,...]", 0,
	  "of objects whose name matches; * and ? as in a shell", 0 },
	{ "symbol", KEY_SYMBOL, "PATTERN[,...]", 0, "of functions whose name matches", 0 },
	{ .doc = "How to print:" },
	{ "sort", 's', "KEY", 0,
	  "by `change`, what is beyond noise first (the default), `before`, `after`, `ratio` or "
	  "`symbol`",
	  0 },
	{ "format", KEY_FORMAT, "text|csv|json", 0, "default text", 0 },
	{ "html", KEY_HTML, "FILE", OPTION_ARG_OPTIONAL,
	  "write a page for a browser instead, with all rows, by share; default `polyperf.html`, "
	  "`-` is standard output",
	  0 },
	LOAD_ARGS_FRAMES,
	LOAD_ARGS_QUIET,
	{ 0 },
};

static void add_file(struct diff_args *a, unsigned side, const char *path, struct argp_state *state)
{
	const char **slot = vector_push(&a->files[side]);
	if (slot)
		*slot = path;
	else
		argp_error(state, "out of memory");
}

/* "a.data,b.data", unless there is a file of that name. */
static void add_list(struct diff_args *a, unsigned side, char *list, struct argp_state *state)
{
	if (access(list, F_OK) == 0) {
		add_file(a, side, list, state);
		return;
	}
	for (char *path = strsep(&list, ","); path; path = strsep(&list, ","))
		add_file(a, side, path, state);
}

/* Without `--` between them two arguments are the two sides; recordings that are not named are
 * those of `perf record`, which keeps the one before.
 */
static void choose_sides(struct diff_args *a, struct argp_state *state)
{
	static char old[] = "perf.data.old";
	static char new[] = "perf.data";
	const size_t count = a->files[DIFF_BEFORE].count;
	if (a->has_dashes) {
		if (!a->after_count || a->after_count >= count)
			argp_error(state, "there is no recording on one side of `--`");
		for (size_t i = count - a->after_count; i < count; i++)
			add_file(a, DIFF_AFTER, a->files[DIFF_BEFORE].items[i], state);
		a->files[DIFF_BEFORE].count = count - a->after_count;
		return;
	}
	if (count > DIFF_SIDES) {
		argp_error(state, "which recordings are before, which after? Put -- between them");
		return;
	}
	/* They were put there as they came, and are in memory that may be written. */
	char *before = count > 0 ? (char *)a->files[DIFF_BEFORE].items[0] : old;
	char *after = count > 1 ? (char *)a->files[DIFF_BEFORE].items[1] : new;
	a->files[DIFF_BEFORE].count = 0;
	add_list(a, DIFF_BEFORE, before, state);
	add_list(a, DIFF_AFTER, after, state);
}

static void parse_words(struct diff_args *a, int key, const char *arg, struct argp_state *state)
{
	const int found = key == KEY_BY ? diff_by_find(arg) : diff_sort_find(arg);
	if (found < 0 && key == KEY_BY)
		argp_error(state, "--by takes share, total, second or cpu-second");
	else if (found < 0)
		argp_error(state, "--sort takes change, before, after, ratio or symbol");
	else if (key == KEY_BY)
		a->diff.by = (enum diff_by)found;
	else
		a->choice.sort = (enum diff_sort)found;
}

static error_t parse_row_option(struct diff_args *a, int key, char *arg, struct argp_state *state)
{
	uint64_t top = 0;
	switch (key) {
	case KEY_CHANGED:
		a->choice.changed = true;
		return 0;
	case KEY_PERCENT_LIMIT:
		if (!parse_percent(arg, &a->choice.percent_limit))
			argp_error(state, "--percent-limit takes a number from 0 to 100: %s", arg);
		return 0;
	case KEY_TOP:
		if (!parse_u64(arg, &top) || !top)
			argp_error(state, "--top takes a number of rows: %s", arg);
		a->choice.top = top;
		return 0;
	case KEY_DSO:
		a->choice.objects = arg;
		return 0;
	case KEY_SYMBOL:
		a->choice.symbols = arg;
		return 0;
	default:
		return load_args_parse(&a->load, key, arg, state);
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct diff_args *a = state->input;
	switch (key) {
	case KEY_BY:
	case 's':
		parse_words(a, key, arg, state);
		return 0;
	case KEY_CHILDREN:
		a->diff.children = true;
		return 0;
	case KEY_EVENT:
		a->event = arg;
		return 0;
	case KEY_HTML:
		a->html = arg ? arg : "polyperf.html";
		return 0;
	case KEY_FORMAT:
		a->format = parse_word(arg, formats);
		if (a->format < 0)
			argp_error(state, "--format takes text, csv or json");
		return 0;
	case ARGP_KEY_ARG:
		add_file(a, DIFF_BEFORE, arg, state);
		return 0;
	case ARGP_KEY_END:
		choose_sides(a, state);
		return 0;
	default:
		return parse_row_option(a, key, arg, state);
	}
}

/* The recordings, read one after the other; the one that failed is behind them. */
struct readings {
	struct profile *profiles;
	struct diff_recording *recordings;
	size_t count;
};

static const char *path_of(const struct diff_args *a, size_t index)
{
	const size_t before = a->files[DIFF_BEFORE].count;
	return index < before ? a->files[DIFF_BEFORE].items[index]
			      : a->files[DIFF_AFTER].items[index - before];
}

static int read_recording(struct diff_args *a, size_t index, struct profile *profile)
{
	a->load.options.input = path_of(a, index);
	struct load *load = load_args_open(&a->load);
	if (!load)
		return STATUS_NOT_FOUND;
	const int got = load_profile(load, profile);
	if (got < 0)
		message_file(a->load.options.input, got);
	load_close(load);
	return got;
}

static int read_all(struct diff_args *a, struct readings *r)
{
	const size_t count = a->files[DIFF_BEFORE].count + a->files[DIFF_AFTER].count;
	r->profiles = calloc(count + 1, sizeof(*r->profiles));
	r->recordings = calloc(count, sizeof(*r->recordings));
	if (!r->profiles || !r->recordings) {
		message_error("%s", status_text(STATUS_NO_MEMORY));
		return STATUS_NO_MEMORY;
	}
	for (; r->count < count; r->count++) {
		const int got = read_recording(a, r->count, &r->profiles[r->count]);
		if (got < 0)
			return got;
		r->recordings[r->count] = (struct diff_recording){
			.profile = &r->profiles[r->count],
			.side = r->count < a->files[DIFF_BEFORE].count ? DIFF_BEFORE : DIFF_AFTER,
		};
	}
	return 0;
}

static void clear_readings(struct readings *r)
{
	for (size_t i = 0; r->profiles && i <= r->count; i++)
		profile_clear(&r->profiles[i]);
	free(r->profiles);
	free(r->recordings);
}

static const char *event_name(const struct profile *p, uint32_t event)
{
	return profile_text(p, p->events.items[event]);
}

static uint64_t samples_of(const struct profile *p, const char *event)
{
	uint64_t count = 0;
	for (size_t i = 0; i < p->rows.count; i++)
		if (strcmp(event_name(p, p->rows.items[i].event), event) == 0)
			count += p->rows.items[i].count;
	return count;
}

/* The name of the event with most samples: of those that all recordings have where `is_common`,
 * else of the first recording alone. NULL where there is none.
 */
static const char *busiest_event(const struct readings *r, size_t first, bool is_common)
{
	const struct profile *p = &r->profiles[first];
	const char *best = NULL;
	uint64_t most = 0;
	for (uint32_t event = 0; event < p->events.count; event++) {
		const char *name = event_name(p, event);
		uint64_t fewest = samples_of(p, name);
		for (size_t i = 0; is_common && i < r->count; i++) {
			const uint64_t count = samples_of(&r->profiles[i], name);
			fewest = count < fewest ? count : fewest;
		}
		if (fewest > most) {
			most = fewest;
			best = name;
		}
	}
	return best;
}

/* False where the recording has no samples of an event of that name. */
static bool set_event(const struct readings *r, size_t index, const char *name)
{
	const struct profile *p = &r->profiles[index];
	for (size_t i = 0; name && i < p->rows.count; i++) {
		if (strcmp(event_name(p, p->rows.items[i].event), name) != 0)
			continue;
		r->recordings[index].event = p->rows.items[i].event;
		return true;
	}
	return false;
}

/* Fills the recordings' events. */
static bool choose_events(const struct diff_args *a, const struct readings *r)
{
	const char *name = a->event ? a->event : busiest_event(r, 0, true);
	for (size_t i = 0; i < r->count; i++) {
		const char *own = name ? name : busiest_event(r, i, false);
		if (set_event(r, i, own))
			continue;
		if (a->event)
			message_error("%s: no samples of event %s", path_of(a, i), a->event);
		else
			message_error("%s: no samples", path_of(a, i));
		return false;
	}
	for (size_t i = 1; !name && i < r->count; i++)
		message_warning("%s has samples of %s, %s of %s: what they count is not the same",
				path_of(a, 0), event_name(&r->profiles[0], r->recordings[0].event),
				path_of(a, i), event_name(&r->profiles[i], r->recordings[i].event));
	return true;
}

static void put_diff(const struct diff_args *a, const struct readings *r, const struct diff *diff,
		     struct sink *out)
{
	const size_t after = a->files[DIFF_BEFORE].count;
	const struct diff_view view = {
		.diff = diff,
		.events = { event_name(&r->profiles[0], r->recordings[0].event),
			    event_name(&r->profiles[after], r->recordings[after].event) },
		.is_time = export_is_time(&r->profiles[0], r->recordings[0].event) &&
			   export_is_time(&r->profiles[after], r->recordings[after].event),
	};
	if (a->format == FORMAT_CSV)
		diff_write_csv(out, &view);
	else if (a->format == FORMAT_JSON)
		diff_write_json(out, &view);
	else
		diff_write_text(out, &view, terminal_is_there() ? (unsigned)terminal_width() : 0);
}

static int compare(const struct diff_args *a, const struct readings *r)
{
	struct diff diff = { 0 };
	struct sink out = { 0 };
	int got = diff_build(&diff, r->recordings, r->count, &a->diff);
	if (got == 0) {
		diff_choose(&diff, &a->choice);
		put_diff(a, r, &diff, &out);
		got = sink_failed(&out) ? STATUS_NO_MEMORY : 0;
	}
	if (got == STATUS_NOT_FOUND)
		message_error("--by cpu-second: a recording has no samples of cpu-clock or "
			      "task-clock");
	else if (got < 0)
		message_error("%s", status_text(got));
	if (got == 0) {
		if (a->format == FORMAT_TEXT)
			pager_start();
		fwrite(out.data, 1, out.size, stdout);
	}
	sink_clear(&out);
	diff_clear(&diff);
	return got < 0 ? EXIT_INPUT : EXIT_OK;
}

static int write_html(struct diff_args *a)
{
	const struct page_diff page = {
		.load = &a->load,
		.paths = { a->files[DIFF_BEFORE].items, a->files[DIFF_AFTER].items },
		.counts = { a->files[DIFF_BEFORE].count, a->files[DIFF_AFTER].count },
	};
	return page_diff_run(&page, a->html);
}

static int run(int argc, char **argv)
{
	struct diff_args a = { .load.has_others = true };
	struct readings readings = { 0 };
	for (int i = 1; i < argc && !a.has_dashes; i++) {
		a.has_dashes = strcmp(argv[i], "--") == 0;
		a.after_count = (size_t)(argc - i - 1);
	}
	command_parse(&cmd_diff, argc, argv, &a);
	int status = EXIT_INPUT;
	if (a.html)
		status = write_html(&a);
	else if (read_all(&a, &readings) == 0 && choose_events(&a, &readings))
		status = compare(&a, &readings);
	clear_readings(&readings);
	load_args_clear(&a.load);
	vector_clear(&a.files[DIFF_BEFORE]);
	vector_clear(&a.files[DIFF_AFTER]);
	return status;
}

const struct command cmd_diff = {
	.name = "diff",
	.summary = "show what changed between two recordings, and what of it is noise",
	.usages = (const char *const[]){ "[OPTION...] [BEFORE [AFTER]]",
					 "[OPTION...] BEFORE... -- AFTER...", NULL },
	.description =
	    "Compares two recordings, function by function. The default is perf.data.old with "
	    "perf.data, which `perf record` leaves behind. Each side may be several recordings, "
	    "joined by commas or with `--` between the sides: then runs of one side tell how far "
	    "a change must go to be more than chance.\n\n"
	    "Functions are found again by names without what differs from run to run or build to "
	    "build: numbers of lambdas and hidden classes, lines and columns, process ids, "
	    "suffixes of clones.\n\n"
	    "Noise is how far a share may move by the chance of sampling, so wide that in 19 of 20 "
	    "comparisons of equal programs no function at all is beyond it. The verdict is `more`, "
	    "`less`, `appeared` or `vanished` for what is beyond, else `noise`. By share, what "
	    "becomes less makes all others more: --by total shows which one it was.",
	.options = options,
	.examples =
	    (const struct command_example[]){
		{ "polyperf diff old.data new.data", "Changes beyond noise come first." },
		{ "polyperf diff --html=diff.html old.data new.data",
		  "Both as one flame graph, red where there is more." },
		{ "polyperf diff --by total --changed old.data new.data",
		  "What takes more or less time, not a larger or smaller part." },
		{ "polyperf diff old1.data old2.data old3.data -- new1.data new2.data new3.data",
		  "Three runs a side, against what differs from run to run." },
		{ 0 },
	    },
	.parse = parse,
	.run = run,
};
