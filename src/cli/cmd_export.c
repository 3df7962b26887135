/* cmd_export.c - `polyperf export`: a recording in the formats of other tools. */
#include "base/status.h"
#include "cli/command.h"
#include "cli/export_about.h"
#include "cli/load_args.h"
#include "cli/message.h"
#include "cli/output_file.h"
#include "cli/page_functions.h"
#include "cli/page_run.h"
#include "export/export.h"
#include "export/samples.h"
#include "load/events.h"
#include "os/stream.h"
#include "profile/weight.h"

#include <string.h>
#include <unistd.h>

enum {
	KEY_FORMAT = 256,
	KEY_EVENT,
	KEY_TITLE,
	KEY_KINDS,
	KEY_WEIGHT,
	KEY_THREADS,
	KEY_REVERSE,
	KEY_ICICLE,
	KEY_EXPERIMENTAL
};

struct export_args {
	struct load_args load;
	struct export_options options;
	const struct export_format *format;
	const char *output; /* NULL or "-": standard output */
	const char *event;
	unsigned choices; /* enum export_choice: those that were made */
	bool is_experimental;
};

static const struct {
	int key;
	enum export_choice choice;
	const char *option;
} choices[] = {
	{ KEY_TITLE, EXPORT_TITLE, "--title" },       { KEY_KINDS, EXPORT_KINDS, "--kinds" },
	{ KEY_WEIGHT, EXPORT_WEIGHT, "--weight" },    { KEY_THREADS, EXPORT_THREADS, "--threads" },
	{ KEY_REVERSE, EXPORT_REVERSE, "--reverse" }, { KEY_ICICLE, EXPORT_ICICLE, "--icicle" },
};

static const struct argp_option options[] = {
	LOAD_ARGS_OPTIONS,
	{ "event", KEY_EVENT, "NAME", 0, "of this event, where the recording has several", 0 },
	{ .doc = "What to write:" },
	{ "output", 'o', "FILE", 0,
	  "the file; the way its name ends tells the format; `-` is standard output", 0 },
	{ "format", KEY_FORMAT, "NAME", 0, "the format, whatever the name of the file", 0 },
	{ "title", KEY_TITLE, "TEXT", 0, "what stands above a picture", 0 },
	{ "kinds", KEY_KINDS, NULL, 0,
	  "folded: end names with what the code is: _[j] JIT-compiled, _[i] inlined, _[k] kernel, "
	  "_[0] interpreted",
	  0 },
	{ "weight", KEY_WEIGHT, NULL, 0,
	  "folded, svg: by the event's unit, nanoseconds or cycles, not by samples", 0 },
	{ "threads", KEY_THREADS, NULL, 0, "folded, svg: tell threads of one name apart", 0 },
	{ "reverse", KEY_REVERSE, NULL, 0, "folded, svg: from functions to those that called them",
	  0 },
	{ "icicle", KEY_ICICLE, NULL, 0, "svg: from the top down", 0 },
	{ "experimental", KEY_EXPERIMENTAL, NULL, 0, "allow formats that may still change", 0 },
	LOAD_ARGS_NAMES,
	{ 0 },
};

/* When all options are known. */
static void check_format(struct export_args *a, struct argp_state *state)
{
	if (!a->format && a->output)
		a->format = export_format_of_path(a->output);
	if (!a->format)
		argp_error(state,
			   a->output ? "the name %s tells no format: give --format"
				     : "give -o FILE, or --format",
			   a->output);
	else if (a->format->is_experimental && !a->is_experimental)
		argp_error(state, "%s may still change: it takes --experimental", a->format->name);
	for (size_t i = 0; a->format && i < sizeof(choices) / sizeof(choices[0]); i++)
		if (a->choices & choices[i].choice & ~a->format->choices)
			argp_error(state, "%s says nothing to %s", choices[i].option,
				   a->format->name);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct export_args *a = state->input;
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		if (choices[i].key == key)
			a->choices |= choices[i].choice;
	switch (key) {
	case 'o':
		a->output = arg;
		return 0;
	case KEY_FORMAT:
		a->format = export_format_find(arg);
		if (!a->format)
			argp_error(state, "--format: there is no format %s", arg);
		return 0;
	case KEY_EVENT:
		a->event = arg;
		return 0;
	case KEY_TITLE:
		a->options.title = arg;
		return 0;
	case KEY_KINDS:
		a->options.kinds = true;
		return 0;
	case KEY_WEIGHT:
		a->options.weigh = true;
		return 0;
	case KEY_THREADS:
		a->options.threads = true;
		return 0;
	case KEY_REVERSE:
		a->options.reverse = true;
		return 0;
	case KEY_ICICLE:
		a->options.icicle = true;
		return 0;
	case KEY_EXPERIMENTAL:
		a->is_experimental = true;
		return 0;
	case ARGP_KEY_END:
		check_format(a, state);
		return 0;
	default:
		return load_args_parse(&a->load, key, arg, state);
	}
}

/* The samples one by one: into rows, and beside them where the format takes them. */
struct gathering {
	struct profile *profile;
	struct export_samples *samples;
	struct profile_falls *falls; /* NULL: nobody asks for events */
};

static int gather(void *context, const struct profile *profile, const struct load_sample *sample)
{
	struct gathering *gathering = context;
	const struct profile_row row = { .thread = sample->thread,
					 .event = sample->event,
					 .stack = sample->stack,
					 .count = 1,
					 .weight = weight_sum(0, sample->period) };
	if (profile_add(gathering->profile, &row) == INTERN_NONE)
		return STATUS_NO_MEMORY;
	if (gathering->falls && profile_falls_see(gathering->falls, profile, sample->thread,
						  sample->stack, sample->time_ns) < 0)
		return STATUS_NO_MEMORY;
	return export_samples_add(gathering->samples,
				  &(struct export_sample){
				      .time_ns = sample->has_time ? sample->time_ns : 0,
				      .period = weight_sum(0, sample->period),
				      .thread = sample->thread,
				      .stack = sample->stack,
				      .event = sample->event,
				      .cpu = sample->has_cpu ? sample->cpu : EXPORT_NO_CPU,
				  });
}

static int read_samples(const struct export_args *a, struct load *load, struct profile *profile,
			struct gathering *gathering)
{
	if (!a->format->takes_samples)
		return load_profile(load, profile);
	int got = export_samples_open(&gathering->samples);
	if (got == 0 && a->format->takes_events && !(gathering->falls = profile_falls_new()))
		got = STATUS_NO_MEMORY;
	if (got == 0)
		got = load_samples(load, profile, gather, gathering);
	return got == 0 ? export_samples_end(gathering->samples) : got;
}

/* What was told of code, and what the samples show of it. */
static int read_events(const struct export_args *a, struct load *load, struct profile *profile,
		       struct profile_falls *falls, struct profile_events *events)
{
	if (!a->format->takes_events)
		return 0;
	const int got = load_code_events(load, profile, events);
	return got == 0 ? profile_falls_take(falls, profile, events) : got;
}

/* The event to write. Those that are left out are told of. */
static int choose_event(const struct export_args *a, const struct profile *profile, uint32_t *event)
{
	size_t others = 0;
	*event = EXPORT_ALL_EVENTS;
	for (size_t i = 0; i < profile->rows.count; i++) {
		const uint32_t id = profile->rows.items[i].event;
		const char *name = profile_text(profile, profile->events.items[id]);
		if (a->event ? strcmp(a->event, name) == 0 : id < *event)
			*event = id;
	}
	if (*event == EXPORT_ALL_EVENTS) {
		message_error(a->event ? "no samples of event %s" : "no samples", a->event);
		return STATUS_NOT_FOUND;
	}
	if (a->event)
		return 0;
	if (a->format->has_events) {
		*event = EXPORT_ALL_EVENTS;
		return 0;
	}
	for (size_t i = 0; i < profile->rows.count && !others; i++)
		others = profile->rows.items[i].event != *event;
	if (others)
		message_note("of event %s alone: %s holds one; --event chooses another",
			     profile_text(profile, profile->events.items[*event]), a->format->name);
	return 0;
}

static int write_piece(void *context, const void *data, size_t size)
{
	return os_stream_write(context, data, size);
}

static int write_output(const struct export_args *a, const struct export_view *view)
{
	const char *path = a->output ? a->output : "-";
	struct os_stream stream;
	struct export_out out = { .write = write_piece, .context = &stream };
	int got = os_stream_open(&stream, path);
	if (got == 0)
		got = export_run(a->format, &out, view);
	if (got == 0)
		got = os_stream_commit(&stream);
	export_out_clear(&out);
	os_stream_abandon(&stream);
	if (got < 0)
		message_file(output_file_name(path), got);
	return got;
}

static int export_load(const struct export_args *a, struct load *load)
{
	struct profile profile = { 0 };
	struct gathering gathering = { .profile = &profile };
	struct profile_events events = { 0 };
	struct export_about about = { 0 };
	struct export_view view = { .profile = &profile, .options = &a->options, .about = &about };
	int got = read_samples(a, load, &profile, &gathering);
	if (got == 0)
		got = read_events(a, load, &profile, gathering.falls, &events);
	if (got == 0)
		got = export_about_fill(&about, load, &profile);
	if (got < 0)
		message_error("%s", status_text(got));
	if (got == 0)
		got = choose_event(a, &profile, &view.event);
	view.samples = gathering.samples;
	view.events = a->format->takes_events ? &events : NULL;
	if (got == 0)
		got = write_output(a, &view);
	export_samples_close(gathering.samples);
	profile_falls_free(gathering.falls);
	profile_events_clear(&events);
	export_about_clear(&about);
	profile_clear(&profile);
	return got;
}

static int run(int argc, char **argv)
{
	struct export_args a = { .options = { .title = "" } };
	command_parse(&cmd_export, argc, argv, &a);
	int status = EXIT_INPUT;
	if (a.format->is_binary && (!a.output || strcmp(a.output, "-") == 0) &&
	    isatty(STDOUT_FILENO)) {
		message_error("%s is not for a terminal: give -o FILE", a.format->name);
		load_args_clear(&a.load);
		return EXIT_USAGE;
	}
	if (a.format->is_page) {
		const struct page_args page = { &a.load, PAGE_FUNCTIONS_DEFAULT };
		status = page_run(&page, a.output ? a.output : "-");
		load_args_clear(&a.load);
		return status;
	}
	a.load.options.lines = true;
	a.load.options.in_order = a.format->takes_samples;
	a.load.options.code_events = a.format->takes_events;
	struct load *load = load_args_open(&a.load);
	if (load && export_load(&a, load) == 0)
		status = EXIT_OK;
	load_close(load);
	load_args_clear(&a.load);
	return status;
}

const struct command cmd_export = {
	.name = "export",
	.summary = "write a recording in the formats of other tools",
	.usages = (const char *const[]){ "[OPTION...] -o FILE [FILE]", NULL },
	.description =
	    "Writes the samples of a recording, named as `polyperf report` names them, to a file "
	    "that other tools read. The way its name ends tells the format:\n\n"
	    "  .html               the page of `polyperf report --html`, for a browser\n"
	    "  .folded .collapsed  one line a stack, for flamegraph.pl, inferno, speedscope\n"
	    "  .svg                a flame graph for browsers, with zoom and search\n"
	    "  .pb.gz .pprof       functions, lines, addresses and mappings, for pprof\n"
	    "  .jfr                samples in the order of time, for jfr, JDK Mission Control\n"
	    "  .otlp               OpenTelemetry's profiles, v1development: --experimental\n"
	    "  .speedscope.json    samples by thread, in the order of time, for speedscope\n"
	    "  .firefox.json.gz    the same, and code events, for the Firefox Profiler\n"
	    "  .trace.json         calls over time, for DevTools, Perfetto, speedscope\n"
	    "  .callgrind          functions, lines and calls, for KCachegrind\n\n"
	    "docs/export.md tells what each format holds.",
	.options = options,
	.examples =
	    (const struct command_example[]){
		{ "polyperf export -o app.folded", "For flamegraph.pl." },
		{ "polyperf export -o app.pb.gz",
		  "For pprof: pprof -symbolize=none -http=: app.pb.gz" },
		{ "polyperf export -o app.speedscope.json", "For https://www.speedscope.app." },
		{ "polyperf export -o app.firefox.json.gz", "For https://profiler.firefox.com." },
		{ 0 },
	    },
	.parse = parse,
	.run = run,
};
