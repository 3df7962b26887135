/* session.h - a recording, from the options to the finished file.
 *
 *   struct record_options options = {
 *           .output = "perf.data", .command = argv, .note = print_note };
 *   struct record_result result;
 *   int got = record_run(&options, &result);
 *
 * Starts the command (or attaches), drains the kernel's rings into a temporary
 * file beside `output`, adds what the runtimes wrote, and renames it when it is
 * whole: a failure leaves the old file as it was. The file is described in
 * docs/formats/recording.md.
 *
 * Prints nothing: what the user should know comes through `note`, on the calling
 * thread. While it runs, SIGINT, SIGTERM and SIGHUP end the recording (they are
 * blocked in the calling thread, and handed on to the command where the terminal
 * did not do that); one recording at a time in a process.
 */
#ifndef RECORD_SESSION_H
#define RECORD_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum record_stacks {
	RECORD_STACKS_FP,    /* the kernel follows frame pointers */
	RECORD_STACKS_DWARF, /* registers and `stack_bytes` of stack, unwound later */
	RECORD_STACKS_NONE,
};

/* Frames of interpreters, read at each sample (docs/interpreters.md). */
enum record_interpreters {
	/* The walk where this user may, else agents in Pythons, else what runtimes do themselves.
	 */
	RECORD_INTERPRETERS_AUTO,
	RECORD_INTERPRETERS_WALK,  /* or no recording at all */
	RECORD_INTERPRETERS_AGENT, /* agents, or no recording at all */
	/* Both, each with stacks of its own for the samples of Pythons: to hold one against the
	 * other. Readers take either.
	 */
	RECORD_INTERPRETERS_BOTH,
	RECORD_INTERPRETERS_OFF,
};

enum record_note_kind {
	RECORD_NOTE,         /* done on the caller's behalf */
	RECORD_NOTE_WARNING, /* the result stands, but something is missing in it */
	RECORD_NOTE_ERROR,   /* why record_run() is going to fail */
	RECORD_NOTE_TRY,     /* the command that lifts what the note before told of */
	RECORD_NOTE_DETAIL,  /* for those who ask: one variable that was set */
};

enum {
	RECORD_DEFAULT_FREQUENCY_HZ = 999, /* not 1000: must not march in step with timers */
	RECORD_DEFAULT_STACK_BYTES = 8192,
	RECORD_STACK_BYTES_LIMIT = 65528, /* the kernel's */
};

/* For frequency_hz: as many as kernel.perf_event_max_sample_rate allows. */
#define RECORD_FREQUENCY_MAX UINT64_MAX

/* What was sampled since the last time. Valid during the call. */
struct bundle;
struct record_interval {
	/* A recording for load/load.h, whose zip is the bundle. It has all that is known of
	 * processes, and the samples of this interval.
	 */
	const char *path;
	struct bundle *bundle;
	uint64_t from_ns; /* CLOCK_MONOTONIC, as the samples' times */
	uint64_t to_ns;
	uint64_t sample_count;
	uint64_t lost_count;
	uint64_t throttle_count;
	const char *event;      /* the first one */
	uint64_t frequency_hz;  /* 0: it has a period */
	uint64_t restart_count; /* how often what is known of processes was collected anew */
	bool is_last;
	/* Puts the samples of earlier intervals into the file, too, those that began at `from_ns`
	 * or later, as far as they are kept. Returns 0 or a negative status.
	 */
	int (*widen)(void *context, uint64_t from_ns);
	void *widen_context;
};

enum record_answer { RECORD_GO_ON, RECORD_TAKE_NOW, RECORD_END };

/* A session that is looked at while it runs, and leaves no file. The callee may change what
 * it likes between calls.
 */
struct record_intervals {
	uint64_t interval_ns; /* from the end of the last take() */
	uint64_t keep_ns;     /* how long samples and code of ended processes are kept */
	bool wants_code;      /* in the bundle: the code that perf maps speak of */
	/* Non-zero: no more. */
	int (*take)(void *context, const struct record_interval *interval);
	/* Called when one of the descriptors is readable. */
	enum record_answer (*ready)(void *context);
	const int *fds;
	size_t fd_count;
	void *context;
};

/* All zero is the default of each. Everything is borrowed while record_run() runs. */
struct record_options {
	const char *output; /* NULL: "perf.data" */

	/* What to record; a command beside pids or system_wide only tells for how long. */
	const char *const *command; /* ends with NULL */
	char *const *environment;   /* of the command; NULL: ours */
	/* Where both of its outputs go, and then it has no input; 0: they are ours. */
	int command_output_fd;
	const pid_t *pids;
	size_t pid_count;
	bool system_wide;

	const char *const *events; /* each a list as event_parse() takes it; none: cycles */
	size_t event_count;
	uint64_t frequency_hz;
	uint64_t period; /* events between samples; instead of frequency_hz */
	enum record_stacks stacks;
	uint32_t stack_bytes;
	bool user_only;
	uint64_t delay_ns;    /* from the start of the command to the first sample */
	uint64_t duration_ns; /* of sampling; 0: until the command or the user ends it */
	size_t ring_bytes;    /* of each CPU's ring; 0: as large as is allowed and useful */
	bool compress;        /* zstd */

	/* Switching on what runtimes tell: record/runtimes.h. */
	bool no_auto;
	const char *const *runtimes_off;
	size_t runtimes_off_count;
	bool sources; /* keep the source files that jitdumps name */
	bool keep;    /* leave the runtimes' files where they are */
	bool no_code; /* do not read the code that perf maps speak of */

	enum record_interpreters interpreters;

	const char *const *command_line; /* of the recorder, for the file; ends with NULL */

	/* Instead of `output`; NULL: a recording is written. */
	struct record_intervals *intervals;

	/* May be NULL. `text` is one sentence or one command, without a full stop. */
	void (*note)(void *context, enum record_note_kind kind, const char *text);
	void *note_context;
};

struct record_result {
	uint64_t sample_count;
	uint64_t lost_count; /* samples and other records that found no room */
	uint64_t throttle_count;
	uint64_t file_bytes;
	size_t process_count;      /* of which the collector was told */
	size_t runtime_file_count; /* dumps and maps in the recording */
	uint64_t frames_count;     /* records of interpreters' frames, of which most are stacks */
	bool has_command_status;
	int command_status;   /* as wait(2) gives it; also where the recording failed */
	bool was_interrupted; /* a signal asked for the end */
	bool is_cut;          /* the duration was over first: how the command ended is our doing */
	/* The command could not be started (then nothing was recorded): 127 or 126, as a
	 * shell has it. Else 0.
	 */
	int exec_failure;
};

/* Returns 0, or a negative status after a note of kind RECORD_NOTE_ERROR. */
int record_run(const struct record_options *options, struct record_result *result);

#endif
