/* record_args.h - the options of commands that sample: record and top.
 *
 *   static const struct argp_option options[] = { RECORD_ARGS_WHOM, ... };
 *   default:
 *           return record_args_parse(&a->record, key, arg, state);
 *   ... at ARGP_KEY_END: record_args_finish(&a->record, state);
 *   record_args_clear(&a->record);
 */
#ifndef CLI_RECORD_ARGS_H
#define CLI_RECORD_ARGS_H

#include "base/vector.h"
#include "cli/command.h"
#include "record/session.h"

struct record_args {
	struct record_options options;
	VECTOR(const char *) events;
	VECTOR(const char *) runtimes_off;
	VECTOR(pid_t) pids;
	char off_names[16][32];
	bool is_verbose;
};

enum {
	RECORD_ARGS_USER_ONLY = 1024,
	RECORD_ARGS_NO_AUTO,
	RECORD_ARGS_RUNTIME,
	RECORD_ARGS_INTERPRETERS,
};

/* -p, -a; -e, -F, -c, --user-only; --interpreters, --no-auto, --runtime; -v, -q. */
error_t record_args_parse(struct record_args *args, int key, char *arg, struct argp_state *state);

/* What was collected, into the options; refuses what excludes each other. */
void record_args_finish(struct record_args *args, struct argp_state *state);
void record_args_clear(struct record_args *args);

/* As record_options.note, with the args as context. */
void record_args_note(void *context, enum record_note_kind kind, const char *text);

#define RECORD_ARGS_WHOM                                                                   \
	{ "pid", 'p', "PID[,PID]", 0, "these running processes, and what they start", 0 }, \
	{                                                                                  \
		"all-cpus", 'a', NULL, 0, "everything on this machine", 0                  \
	}

#define RECORD_ARGS_WHEN                                                                               \
	{ "event",                                                                                     \
	  'e',                                                                                         \
	  "EVENT[,EVENT]",                                                                             \
	  0,                                                                                           \
	  "by what to sample, by perf's names: `cycles`, `instructions`, `cache-misses`, "             \
	  "`branch-misses`, `cpu-clock`, `task-clock`, `page-faults`, `context-switches`, "            \
	  "`L1-dcache-load-misses`, `r1a8`, `cpu/event=0x3c/`, ...; `:u` and `:k` behind a name "      \
	  "take "                                                                                      \
	  "user space or the kernel only; may be repeated; default `cycles`, and where the "           \
	  "machine "                                                                                   \
	  "has no counter for it `cpu-clock`",                                                         \
	  0 },                                                                                         \
	    { "freq", 'F', "HZ", 0, "samples a second; `max` is as many as allowed; default 999", 0 }, \
	    { "count", 'c', "N", 0, "a sample every N events, instead of -F", 0 },                     \
	{                                                                                              \
		"user-only", RECORD_ARGS_USER_ONLY, NULL, 0, "leave the kernel out", 0                 \
	}

#define RECORD_ARGS_RUNTIMES                                                                         \
	{ "interpreters",                                                                            \
	  RECORD_ARGS_INTERPRETERS,                                                                  \
	  "HOW",                                                                                     \
	  0,                                                                                         \
	  "read at each sample which functions and lines Python, PHP, Ruby, Perl and LuaJIT run: "   \
	  "`walk` "                                                                                  \
	  "has the kernel do it, or fails; `agent` has a library in each Python of the command "     \
	  "do "                                                                                      \
	  "it, for which no privilege is needed, or fails; `auto`, the default, walks where this "   \
	  "user may load BPF programs, and else takes the agent; `off` does not",                    \
	  0 },                                                                                       \
	    { "no-auto", RECORD_ARGS_NO_AUTO, NULL, 0, "do not switch the runtimes' JIT symbols on", \
	      0 },                                                                                   \
	{                                                                                            \
		"runtime", RECORD_ARGS_RUNTIME, "NAME=off", 0, "leave this one alone", 0             \
	}

#endif
