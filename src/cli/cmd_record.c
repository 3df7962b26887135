/* cmd_record.c - `polyperf record`: options to a recording. */
#include "cli/command.h"
#include "cli/inject_args.h"
#include "cli/message.h"
#include "cli/parse.h"
#include "cli/record_args.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct command_args {
	struct record_args record;
	bool injects;
	const char *injected; /* where to; NULL: a name made of the output's */
};

enum {
	KEY_DURATION = 256,
	KEY_KEEP,
	KEY_NO_CODE,
	KEY_SOURCES,
	KEY_INJECT,
};

static const struct argp_option options[] = {
	{ .doc = "What to record:" },
	RECORD_ARGS_WHOM,
	{ .doc = "When to take a sample:" },
	RECORD_ARGS_WHEN,
	{ "delay", 'D', "MS", 0, "start to sample so many milliseconds after the command", 0 },
	{ "duration", KEY_DURATION, "SECONDS", 0,
	  "stop after this time of sampling, and end the command", 0 },
	{ .doc = "What to take with each sample:" },
	{ "call-graph", 'g', "HOW", OPTION_ARG_OPTIONAL,
	  "the callers: `fp` by frame pointers, the default; `dwarf[,BYTES]` by copies of the "
	  "stack "
	  "(default 8192 bytes, at most 65528; reports say how many were too short); `no`",
	  0 },
	{ .doc = "Where it goes:" },
	{ "output", 'o', "FILE", 0,
	  "default `perf.data`; replaced when the new one is whole; `-` is standard output", 0 },
	{ "compress", 'z', NULL, 0, "compress the samples (zstd)", 0 },
	{ "mmap-bytes", 'm', "SIZE", 0,
	  "of the ring of each CPU, such as 16M; larger ones lose less; default 4M, with "
	  "`-g dwarf` 16M, or what the user may have",
	  0 },
	{ "inject", KEY_INJECT, "FILE", OPTION_ARG_OPTIONAL,
	  "write a second file, for stock perf, as `polyperf inject` does; default "
	  "`perf.injected.data` for `perf.data`",
	  0 },
	{ .doc = "Runtimes:" },
	RECORD_ARGS_RUNTIMES,
	{ "keep", KEY_KEEP, NULL, 0,
	  "keep the files that runtimes wrote, also beside the recording", 0 },
	{ "no-code", KEY_NO_CODE, NULL, 0,
	  "do not copy the code of processes that write a perf map alone: its names can be "
	  "reported, and its instructions not shown",
	  0 },
	{ "sources", KEY_SOURCES, NULL, 0,
	  "copy the source files that the runtimes name into the recording, so that `annotate` "
	  "shows them elsewhere and later; think of it before you give the recording to others",
	  0 },
	{ .doc = "Messages:" },
	{ "verbose", 'v', NULL, 0, "list the variables that were set for the command", 0 },
	{ "quiet", 'q', NULL, 0, "only warnings and errors", 0 },
	{ 0 },
};

static bool starts_mode(const char *word)
{
	return strcmp(word, "fp") == 0 || strcmp(word, "no") == 0 || strcmp(word, "dwarf") == 0 ||
	       strncmp(word, "dwarf,", 6) == 0;
}

static void parse_stacks(struct record_options *o, const char *how, struct argp_state *state)
{
	/* "-g dwarf" in two words: argp gives optional values only in one. */
	const char *next = state->next < state->argc ? state->argv[state->next] : NULL;
	if (!how && next && !state->quoted && starts_mode(next)) {
		how = next;
		state->next++;
	}
	if (!how || strcmp(how, "fp") == 0) {
		o->stacks = RECORD_STACKS_FP;
	} else if (strcmp(how, "no") == 0) {
		o->stacks = RECORD_STACKS_NONE;
	} else if (starts_mode(how)) {
		uint64_t bytes = RECORD_DEFAULT_STACK_BYTES;
		if (how[5] && (!parse_size_bytes(how + 6, &bytes) || bytes == 0 || bytes % 8 ||
			       bytes > RECORD_STACK_BYTES_LIMIT))
			argp_error(state,
				   "-g dwarf: the bytes of stack are a multiple of 8 up to %d",
				   RECORD_STACK_BYTES_LIMIT);
		o->stacks = RECORD_STACKS_DWARF;
		o->stack_bytes = (uint32_t)bytes;
	} else {
		argp_error(state, "-g takes fp, dwarf[,BYTES] or no: %s", how);
	}
}

/* A plain number counts milliseconds, as in perf. */
static bool parse_delay(const char *text, uint64_t *ns)
{
	uint64_t ms;
	if (!parse_u64(text, &ms))
		return parse_duration_ns(text, ns);
	*ns = ms * 1000000;
	return ms < UINT64_MAX / 1000000;
}

static void check(struct command_args *a, struct argp_state *state)
{
	struct record_options *o = &a->record.options;
	record_args_finish(&a->record, state);
	if (!o->command && !o->pid_count && !o->system_wide)
		argp_error(state, "say what to record: a command, -p PID, or -a");
	if (a->injects && o->output && strcmp(o->output, "-") == 0)
		argp_error(state, "--inject needs the recording in a file: not with -o -");
}

static error_t parse_switch(struct command_args *a, int key, char *arg, struct argp_state *state)
{
	struct record_options *o = &a->record.options;
	switch (key) {
	case 'z':
		o->compress = true;
		return 0;
	case KEY_KEEP:
		o->keep = true;
		return 0;
	case KEY_NO_CODE:
		o->no_code = true;
		return 0;
	case KEY_SOURCES:
		o->sources = true;
		return 0;
	default:
		return record_args_parse(&a->record, key, arg, state);
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct command_args *a = state->input;
	struct record_options *o = &a->record.options;
	uint64_t bytes;
	switch (key) {
	case 'g':
		parse_stacks(o, arg, state);
		return 0;
	case 'o':
		if (strcmp(arg, "-") == 0 && isatty(STDOUT_FILENO))
			argp_error(state, "-o -: standard output is a terminal");
		o->output = arg;
		return 0;
	case 'm':
		if (!parse_size_bytes(arg, &bytes) || bytes < 4096 || bytes > (1u << 30))
			argp_error(state, "-m takes a size from 4K to 1G: %s", arg);
		o->ring_bytes = (size_t)bytes;
		return 0;
	case 'D':
		if (!parse_delay(arg, &o->delay_ns))
			argp_error(state, "-D takes milliseconds, or a time such as 2s: %s", arg);
		return 0;
	case KEY_DURATION:
		if (!parse_duration_ns(arg, &o->duration_ns) || o->duration_ns == 0)
			argp_error(state, "--duration takes a time such as 10 or 1.5s: %s", arg);
		return 0;
	case KEY_INJECT:
		a->injects = true;
		a->injected = arg;
		return 0;
	case ARGP_KEY_ARGS:
		o->command = (const char *const *)state->argv + state->next;
		return 0;
	case ARGP_KEY_END:
		check(a, state);
		return 0;
	default:
		return parse_switch(a, key, arg, state);
	}
}

static void print_summary(const struct record_options *o, const struct record_result *result)
{
	char lost[48] = "";
	char files[64] = "";
	const char *output = o->output ? o->output : "perf.data";
	const bool is_small = result->file_bytes < 1 << 20;
	const double size = (double)result->file_bytes / (is_small ? 1 << 10 : 1 << 20);
	if (result->lost_count)
		(void)snprintf(lost, sizeof(lost), " (%" PRIu64 " lost)", result->lost_count);
	if (result->runtime_file_count)
		(void)snprintf(files, sizeof(files), ", with %zu %s of runtimes",
			       result->runtime_file_count,
			       result->runtime_file_count == 1 ? "file" : "files");
	message_note("%" PRIu64 " %s%s, %.1f %s in %s%s", result->sample_count,
		     result->sample_count == 1 ? "sample" : "samples", lost, size,
		     is_small ? "KB" : "MB", output, files);
}

/* The command's own status is ours, as if it had been started without us. */
static int exit_status(const struct record_result *result)
{
	const int status = result->command_status;
	if (!result->has_command_status || result->is_cut)
		return EXIT_OK;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* "polyperf" and the rest of the command line as it was given. */
static const char **whole_command_line(int argc, char **argv)
{
	const char **line = calloc((size_t)argc + 2, sizeof(*line));
	if (!line)
		return NULL;
	line[0] = "polyperf";
	line[1] = "record";
	for (int i = 1; i < argc; i++)
		line[i + 1] = argv[i];
	return line;
}

static int inject(const struct command_args *a)
{
	struct inject_args args = { .load.options.input = a->record.options.output
							      ? a->record.options.output
							      : "perf.data",
				    .options.output = a->injected };
	return inject_args_run(&args);
}

static int run(int argc, char **argv)
{
	struct command_args a = { .record.options = { .note = record_args_note } };
	struct record_options *o = &a.record.options;
	const char **line = whole_command_line(argc, argv);
	command_parse(&cmd_record, argc, argv, &a);
	o->note_context = &a.record;
	o->command_line = line;
	struct record_result result;
	const int got = record_run(o, &result);
	int status = EXIT_INPUT;
	if (got == 0) {
		print_summary(o, &result);
		const int injected = a.injects ? inject(&a) : EXIT_OK;
		status = injected == EXIT_OK ? exit_status(&result) : injected;
	} else if (result.exec_failure) {
		status = result.exec_failure;
	}
	record_args_clear(&a.record);
	free(line);
	return status;
}

const struct command cmd_record = {
	.name = "record",
	.summary = "run a command or watch processes, and sample their time",
	.usages =
	    (const char *const[]){
		"[OPTION...] [--] COMMAND [ARG...]",
		"[OPTION...] -p PID[,PID]",
		"[OPTION...] -a [-- COMMAND [ARG...]]",
		NULL,
	    },
	.description =
	    "Samples the command with all its threads and children until it ends, and writes a "
	    "recording that `polyperf report` reads, and so do `perf report` and `perf script`. "
	    "Runtimes that compile at run time (node, deno, bun, Java, .NET, mono, PHP, Erlang, "
	    "Python, LuaJIT, Ruby, ...) are told through their environment to say where their code "
	    "is; what they say goes into the recording, which can be copied to another machine. "
	    "What "
	    "Python, PHP, Ruby, Perl and LuaJIT interpret is read at each sample, where that is "
	    "allowed.\n\n"
	    "Ctrl-C, SIGTERM and SIGHUP end the recording, which is whole then too. With -p or -a "
	    "a "
	    "command only tells for how long to record.",
	.options = options,
	.examples =
	    (const struct command_example[]){
		{ "polyperf record -- node app.js", "A program from its start." },
		{ "polyperf record -F 4999 -g dwarf -o deep.data -- mono app.exe",
		  "More samples, and callers where there are no frame pointers." },
		{ "polyperf record -p 4242 --duration 10", "Ten seconds of a running server." },
		{ "polyperf record -a -- sleep 5", "Five seconds of the whole machine." },
		{ 0 },
	    },
	.extra_exits =
	    (const struct command_exit[]){
		{ 126, "the command cannot be executed" },
		{ 127, "the command was not found" },
		{ 0 },
	    },
	.sections =
	    (const struct command_section[]){
		{ "Command's exit status", "Where the recording succeeds, the command's exit "
					   "status is passed on; 128 and the "
					   "signal's number if a signal ended it." },
		{ 0 },
	    },
	.needs = COMMAND_NEEDS_PERF_EVENTS,
	.is_in_order = true,
	.parse = parse,
	.run = run,
};
