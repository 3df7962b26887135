/* attach.h - makes a process that runs already tell of its code, and ends that again: JVMs, .NET.
 *
 *   struct attachment *attachment;
 *   struct attach_report report;
 *   int got = attach_start(&attachment, &(struct attach_options){ .pid = pid }, &report);
 *   if (got == STATUS_UNSUPPORTED)
 *           nobody there to ask;
 *   else if (got < 0)
 *           tell(report.reason, report.remedy);
 *   ...
 *   attach_stop(attachment, &report);       the dump is whole now
 *   attach_free(attachment);
 *
 * Each runtime has its own door, and a row in attach.c: how to know it, how to begin, how to
 * end. A process that may be none of theirs is never signalled: what a JVM takes for a knock kills
 * others. Works on processes of other users (as root) and in containers: files are named as the
 * process sees them, and made with its rights.
 *
 * Blocks for as long as the runtime takes, mostly some milliseconds, at most the timeout. Any
 * one thread; forks for a JVM, and has a thread for the events of a .NET process.
 */
#ifndef ATTACH_ATTACH_H
#define ATTACH_ATTACH_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct attachment;

/* What a .NET process streams of its methods, into a file of the caller's. */
struct attach_events {
	int fd;               /* borrowed until attach_free() */
	const char *config;   /* as in DOTNET_EventPipeConfig */
	uint64_t limit_bytes; /* of the file */
	/* May be NULL; called at the end, once, where the process takes its time to list what
	 * methods it has.
	 */
	void (*on_slow_end)(void *context, pid_t pid);
	void *context;
};

struct attach_options {
	pid_t pid;
	/* Where the dump shall go. Of ours: made by us for this, used if the process sees it
	 * too, else a folder is made where it does. Else: as the process sees it; NULL: /tmp.
	 */
	const char *directory;
	bool is_our_directory;
	bool map;            /* a perf map as well */
	bool interpreted;    /* methods that are interpreted, too: for samples with dumped stacks */
	uint64_t timeout_ns; /* 0: a minute */
	int cancel_fd;       /* readable: give up; -1: none */
	const struct attach_events *events; /* NULL: none; of use to .NET alone */
};

struct attach_report {
	const char *runtime; /* "java", "dotnet"; the name that --runtime takes */
	char reason[512];    /* a sentence without a full stop; "" on success */
	char remedy[256];    /* the command that would help, or "" */
	char dump[PATH_MAX]; /* as the process sees it; "" where it was not found */
	char map[PATH_MAX];  /* the perf map that it writes, too; "" where it is not known */
	bool was_running;    /* it told already: nothing was changed */
};

/* The name of the runtime that could be asked there; NULL: none. */
const char *attach_runtime_of(pid_t pid);

/* Returns 0, or STATUS_UNSUPPORTED (no runtime of ours), _NOT_FOUND (no process), _DENIED, _IO,
 * _TOO_BIG (a path), _NO_MEMORY, with the reason. *made is NULL unless the result is 0.
 */
int attach_start(struct attachment **made, const struct attach_options *options,
		 struct attach_report *report);

/* Ends what attach_start() began. Where the runtime told before, only the events end. A process
 * that is gone is no error, nor is NULL. STATUS_IO also where the events are not whole.
 */
int attach_stop(struct attachment *attachment, struct attach_report *report);

/* Removes what was put in the process's sight, its dump included, and frees. */
void attach_free(struct attachment *attachment);

/* The same, without an attachment: what an earlier polyperf began. The dump stays. */
int attach_stop_process(const struct attach_options *options, struct attach_report *report);

#endif
