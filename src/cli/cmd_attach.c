/* cmd_attach.c - `polyperf attach`: a running process tells of its code, or stops to. */
#include "attach/attach.h"
#include "base/status.h"
#include "base/vector.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/parse.h"

#include <string.h>

struct attach_args {
	struct attach_options options;
	VECTOR(pid_t) pids;
	bool is_stop;
};

enum { KEY_STOP = 256, KEY_DIR, KEY_MAP, KEY_INTERPRETED, KEY_TIMEOUT };

static const struct argp_option options[] = {
	{ .doc = "What to do:" },
	{ "stop", KEY_STOP, NULL, 0, "end what an earlier `polyperf attach` began", 0 },
	{ "interpreted", KEY_INTERPRETED, NULL, 0,
	  "tell of all methods of a JVM, as they may be interpreted: of use to recordings with "
	  "`-g dwarf`",
	  0 },
	{ .doc = "Where it goes:" },
	{ "dir", KEY_DIR, "DIR", 0,
	  "where the process makes its dump, as it sees its files; default `/tmp`, or what "
	  "its `$DOTNET_PerfMapJitDumpPath` says",
	  0 },
	{ "map", KEY_MAP, NULL, 0, "also write a perf map, for tools that read nothing else", 0 },
	{ .doc = "How long to wait:" },
	{ "timeout", KEY_TIMEOUT, "SECONDS", 0, "for the process to answer; default a minute", 0 },
	{ "quiet", 'q', NULL, 0, "only warnings and errors", 0 },
	{ 0 },
};

static bool add_pid(void *context, const char *item)
{
	struct attach_args *a = context;
	pid_t pid;
	if (!parse_pid(item, &pid))
		return false;
	pid_t *slot = vector_push(&a->pids);
	if (slot)
		*slot = pid;
	return slot != NULL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct attach_args *a = state->input;
	switch (key) {
	case KEY_STOP:
		a->is_stop = true;
		return 0;
	case KEY_DIR:
		if (arg[0] != '/')
			argp_error(state, "--dir takes a path from the root: %s", arg);
		a->options.directory = arg;
		return 0;
	case KEY_MAP:
		a->options.map = true;
		return 0;
	case KEY_INTERPRETED:
		a->options.interpreted = true;
		return 0;
	case KEY_TIMEOUT:
		if (!parse_duration_ns(arg, &a->options.timeout_ns) || !a->options.timeout_ns)
			argp_error(state, "--timeout takes a time such as 10 or 1.5s: %s", arg);
		return 0;
	case 'q':
		message_quiet();
		return 0;
	case ARGP_KEY_ARG:
		if (!parse_list(arg, add_pid, a))
			argp_error(state, "a process id is a number: %s", arg);
		return 0;
	case ARGP_KEY_END:
		if (!a->pids.count)
			argp_error(state, "say which process: polyperf attach PID");
		if (a->is_stop &&
		    (a->options.directory || a->options.map || a->options.interpreted))
			argp_error(state, "--stop takes none of --dir, --map and --interpreted");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int stop(const struct attach_options *wants, struct attach_report *report)
{
	const int result = attach_stop_process(wants, report);
	if (result == 0 && *report->dump && *report->map)
		message_note("process %d (%s) writes no more to %s and %s, which stay", wants->pid,
			     report->runtime, report->dump, report->map);
	else if (result == 0 && (*report->dump || *report->map))
		message_note("process %d (%s) writes no more to %s, which stays", wants->pid,
			     report->runtime, *report->dump ? report->dump : report->map);
	else if (result == 0)
		message_note("process %d (%s) tells no more of its code", wants->pid,
			     report->runtime);
	return result;
}

static int start(const struct attach_options *wants, struct attach_report *report)
{
	struct attachment *attachment;
	const int result = attach_start(&attachment, wants, report);
	if (result < 0)
		return result;
	/* It goes on by itself: the folder of the dump is not one of ours. */
	attach_free(attachment);
	const char *dump = *report->dump ? report->dump : "a jitdump";
	message_note("process %d (%s) %s of its code in %s%s%s", wants->pid, report->runtime,
		     report->was_running ? "tells already" : "tells from now on",
		     *report->dump || !*report->map ? dump : report->map,
		     *report->dump && *report->map ? " and " : "",
		     *report->dump ? report->map : "");
	if (strcmp(report->runtime, "dotnet") == 0 && !report->was_running && *report->map &&
	    !wants->map)
		message_note("its dump may end early, as those of .NET 10 do: the map does not");
	if (!report->was_running)
		message_note("'polyperf attach --stop %d' ends it", wants->pid);
	return 0;
}

static int run(int argc, char **argv)
{
	struct attach_args a = { .options = { .cancel_fd = -1 } };
	int status = EXIT_OK;
	command_parse(&cmd_attach, argc, argv, &a);
	for (size_t i = 0; i < a.pids.count; i++) {
		struct attach_report report;
		a.options.pid = a.pids.items[i];
		if ((a.is_stop ? stop : start)(&a.options, &report) >= 0)
			continue;
		status = EXIT_INPUT;
		message_error("%s", report.reason);
		if (*report.remedy)
			message_try("%s", report.remedy);
	}
	vector_clear(&a.pids);
	return status;
}

const struct command cmd_attach = {
	.name = "attach",
	.summary = "make a running JVM or .NET process tell of its code, or stop it",
	.usages = (const char *const[]){ "[OPTION...] PID...", "--stop PID...", NULL },
	.description =
	    "Asks processes that run already, by what their runtime offers its own tools. From "
	    "then on "
	    "each writes a jitdump, `jit-PID.dump`, of its compiled methods: those it has already, "
	    "and those to come. Any recorder finds it: `polyperf record -p PID` (which does all "
	    "this by itself, and ends it with the recording), `perf record -p PID`, samply.\n"
	    "\n"
	    "JVMs (JDK 8 to 25) are made to load an agent, which tells names, instructions, source "
	    "lines and inlined calls. `--stop` switches it off again; the library stays in the "
	    "process, and does nothing.\n"
	    "\n"
	    "Processes of .NET (8 and newer) have it built in: names, tiers and instructions, also "
	    "of "
	    "precompiled methods that have run. Source lines are in recordings of `polyperf record "
	    "-p`.\n"
	    "\n"
	    "Works on processes in containers, and as root on those of other users. A process of "
	    "another kind is left alone.",
	.options = options,
	.examples =
	    (const struct command_example[]){
		{ "polyperf attach 4242", "Process 4242 tells of its code from now on." },
		{ "polyperf attach --stop 4242", "It does so no longer." },
		{ 0 },
	    },
	.sections =
	    (const struct command_section[]){
		{ "What the process notices",
		  "A JVM: a thread that waits for tools, and the work of telling of each "
		  "compilation: "
		  "some 4 % of "
		  "the CPU time while most is compiled, 1 % later. A JVM of JDK 21 or newer prints "
		  "a "
		  "warning on its standard error that an agent was loaded, unless it was started "
		  "with "
		  "`-XX:+EnableDynamicAgentLoading`; where that is switched off, only "
		  "`java -agentpath:...` helps. .NET: some 50 ms for what it has already, then a "
		  "write for each method that it compiles." },
		{ 0 },
	    },
	.parse = parse,
	.run = run,
};
