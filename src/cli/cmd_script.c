/* cmd_script.c - `polyperf script`: the samples one by one. */
#include "base/status.h"
#include "cli/command.h"
#include "cli/load_args.h"
#include "cli/message.h"
#include "cli/pager.h"
#include "report/script.h"

#include <stdio.h>
#include <unistd.h>

enum { KEY_NS = 256, BUFFER_SIZE = 256 * 1024 };

struct script_args {
	struct load_args load;
	struct script script;
	bool no_chains;
};

static const struct argp_option options[] = {
	LOAD_ARGS_OPTIONS,
	{ .doc = "What to print:" },
	{ "fields", 'F', "FIELD[,FIELD]", 0,
	  "`comm`, `pid`, `tid`, `cpu`, `time`, `period`, `event`, `ip`, `sym`, `symoff`, `dso`, "
	  "`srcline`, `trust`, `reason`; +FIELD and -FIELD change the default, which is all but "
	  "the "
	  "last three and pid",
	  0 },
	{ "hide-call-graph", 'G', NULL, 0, "one line a sample, without its callers", 0 },
	{ "ns", KEY_NS, NULL, 0, "times with nanoseconds", 0 },
	LOAD_ARGS_NAMES,
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct script_args *a = state->input;
	switch (key) {
	case 'F':
		if (script_fields_parse(arg, &a->script.fields) < 0)
			argp_error(state, "-F: no such field in '%s'", arg);
		return 0;
	case 'G':
		a->no_chains = true;
		return 0;
	case KEY_NS:
		a->script.in_ns = true;
		return 0;
	default:
		return load_args_parse(&a->load, key, arg, state);
	}
}

struct printer {
	struct script *script;
	struct sink out;
};

static int flush(struct sink *out)
{
	const size_t wrote = fwrite(out->data, 1, out->size, stdout);
	const bool is_whole = wrote == out->size;
	sink_reset(out);
	return is_whole ? 0 : STATUS_IO;
}

static int print(void *context, const struct profile *profile, const struct load_sample *sample)
{
	struct printer *printer = context;
	const struct script_sample line = {
		.thread = sample->thread,
		.event = sample->event,
		.stack = sample->stack,
		.cpu = sample->cpu,
		.time_ns = sample->time_ns,
		.period = sample->period,
		.has_cpu = sample->has_cpu,
	};
	if (!script_put(printer->script, profile, &line, &printer->out))
		return STATUS_NO_MEMORY;
	return printer->out.size >= BUFFER_SIZE ? flush(&printer->out) : 0;
}

static int script(struct script_args *a)
{
	a->load.options.in_order = true;
	a->load.options.lines = a->script.fields & SCRIPT_SRCLINE;
	struct load *load = load_args_open(&a->load);
	if (!load)
		return EXIT_INPUT;
	struct profile profile = { 0 };
	struct printer printer = { .script = &a->script };
	a->script.is_single = a->no_chains || !load_has_chains(load);
	pager_start();
	int got = load_samples(load, &profile, print, &printer);
	if (got == 0)
		got = flush(&printer.out);
	if (got == STATUS_NO_MEMORY)
		message_error("%s", status_text(got));
	sink_clear(&printer.out);
	script_clear(&a->script);
	profile_clear(&profile);
	load_close(load);
	return got < 0 ? EXIT_INPUT : EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct script_args a = { .script = { .fields = SCRIPT_DEFAULT_FIELDS } };
	command_parse(&cmd_script, argc, argv, &a);
	const int status = script(&a);
	load_args_clear(&a.load);
	return status;
}

const struct command cmd_script = {
	.name = "script",
	.summary = "print the samples of a recording one by one",
	.usages = (const char *const[]){ "[OPTION...] [FILE]", NULL },
	.description =
	    "Prints every sample in the order of time, with its callers, in the shape of `perf "
	    "script`, so that scripts made for its output work. Unlike perf it names JIT-compiled "
	    "code by address and time, without an injected copy of the recording.\n\n"
	    "The field `trust` says how far a name can be trusted (see `polyperf-report`), "
	    "`reason` "
	    "says why it is not exact or unknown, and at the outermost frame of a dumped stack "
	    "that "
	    "is not whole why it ends there.",
	.options = options,
	.examples =
	    (const struct command_example[]){
		{ "polyperf script | stackcollapse-perf.pl | flamegraph.pl > flame.svg",
		  "A flame graph." },
		{ "polyperf script -G -F time,tid,ip,sym,trust --ns", "Where each sample was." },
		{ 0 },
	    },
	.parse = parse,
	.run = run,
};
