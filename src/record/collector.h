/* collector.h - gathers what the runtimes say while a recording runs.
 *
 *   struct collector *collector;
 *   collector_new(&collector, &(struct collector_options){ .private_dir = &dir });
 *   collector_process(collector, pid, time);        as events come in ...
 *   collector_mapping(collector, pid, &mapping);
 *   collector_exit(collector, pid, time);
 *   collector_finish(collector, writer, &about);    ... and into the recording
 *   collector_free(collector);
 *
 * A thread of its own follows the perf map of every process it is told of, and
 * notes when each line appeared (format/perfmap/times.h); it holds jitdumps open
 * from the moment they are mapped, so that neither an unlink, an exec, the death
 * of the process nor another mount namespace takes them away. Of processes that write a
 * map only it reads the code that each line speaks of (map_code.h). Facts of a process
 * that die with it (NSpid, root, executable) are read at first sight.
 *
 * collector_process(), _exec(), _mapping(), _map_file() and _exit() are called by the thread
 * that drains the rings; they only put a message into a queue and return. All
 * others are called by one thread, after the last of those. Members written:
 * docs/formats/recording.md.
 */
#ifndef RECORD_COLLECTOR_H
#define RECORD_COLLECTOR_H

#include "bundle/bundle.h"
#include "record/private_dir.h"
#include "record/runtimes.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct collector;

/* In the private directory: the events of a .NET process that runs already, whose PID is ours. */
#define COLLECTOR_EVENTS_NAME "attached-%d.nettrace"
/* Of a process's events; the rest is left out, and told of. */
#define COLLECTOR_EVENTS_LIMIT ((uint64_t)1 << 30)

struct collector_options {
	const struct private_dir *private_dir; /* may be NULL; borrowed until collector_free() */
	bool keep;                             /* leave the files of runtimes where they are */
	bool no_code;                          /* do not read the code that perf maps speak of */
	bool sources;                          /* keep the source files that jitdumps name */
	bool attached; /* we did not start the processes (-p, -a): remove nothing of theirs */
};

/* Starts the thread, takes the first clock pair. Returns 0, STATUS_IO or _NO_MEMORY. */
int collector_new(struct collector **collector, const struct collector_options *options);

/* Stops the thread if it still runs, closes all files. */
void collector_free(struct collector *collector);

/* A process that is new to the recording: forked, or found running. Threads (tid
 * other than pid) are passed over by the caller.
 */
void collector_process(struct collector *collector, pid_t pid, uint64_t time_mono_ns);

/* The process runs another program now (a COMM record with the exec bit). */
void collector_exec(struct collector *collector, pid_t pid, uint64_t time_mono_ns);

void collector_exit(struct collector *collector, pid_t pid, uint64_t time_mono_ns);

/* An executable mapping of a file, from an MMAP or MMAP2 record. Anonymous ones
 * and those of the kernel may be passed too and cost nothing.
 */
struct collector_mapping {
	uint64_t start_avma;
	uint64_t length;
	const char *path; /* as in the record; copied */
};

void collector_mapping(struct collector *collector, pid_t pid,
		       const struct collector_mapping *mapping);

/* A perf map that the process writes, as it sees it, where it is not in one of the places that all
 * are looked for in.
 */
void collector_map_file(struct collector *collector, pid_t pid, const char *path);

/* What about.json says beyond what the collector knows itself. Any may be NULL. */
struct collector_about {
	const char *const *command; /* ends with NULL */
	const struct runtimes *runtimes;
	const char *const *notes; /* of the recorder: sentences without a full stop */
	size_t note_count;
	bool without_kernel; /* no sample is in the kernel: its symbols are not needed */
	bool without_code;   /* nor the code that maps speak of */
	uint64_t since_ns;   /* files of processes that ended before are left out */
};

/* Stops the thread after a last look at everything, writes all members into the
 * recording, and then removes the files that the recorded processes left behind
 * (unless `keep` or `attached`): nothing older than the recording, nothing of
 * another owner or process. Returns 0 or the first STATUS of the writer.
 */
int collector_finish(struct collector *collector, struct bundle_writer *writer,
		     const struct collector_about *about);

/* What there is now, as collector_finish() would write it, while the collector goes on; nothing is
 * removed. By the thread that drains the rings, as often as it
 * likes; the writer is one of bundle_writer_open_list().
 */
int collector_look(struct collector *collector, struct bundle_writer *writer,
		   const struct collector_about *about);

/* For the summary on the terminal; valid from collector_finish() to collector_free(). */
struct collector_totals {
	size_t process_count;
	size_t map_count;
	size_t dump_count;
	size_t events_count; /* streams of .NET's events */
	uint64_t map_bytes;
	uint64_t dump_bytes;
	uint64_t events_bytes;
	uint64_t code_lines; /* of maps, whose code was read from the process */
	uint64_t code_bytes;
	size_t source_count;
	uint64_t source_bytes;
	size_t source_left_out_count; /* files beyond what a recording should hold */
	size_t removed_count;
	/* Processes that we started, directly or not, and that still run: they may still use
	 * the private directory, and break without it.
	 */
	size_t survivor_count;
};

struct collector_totals collector_totals(const struct collector *collector);

/* About what could not be had: "the map of process 7 was refused: perf-7.map is a link".
 * Sentences without a full stop.
 */
size_t collector_note_count(const struct collector *collector);
const char *collector_note(const struct collector *collector, size_t index);

#endif
