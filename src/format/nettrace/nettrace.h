/* nettrace.h - the stream of events that a .NET process writes (EventPipe).
 *
 *   struct nettrace_reader *reader;
 *   struct nettrace_event event;
 *   int got = nettrace_open(&reader, file, NULL);
 *   while (got >= 0 && (got = nettrace_next(reader, &event)) > 0)
 *           clr_event_read(&event, nettrace_pointer_size(reader), &what);
 *   nettrace_free(reader);
 *
 * Versions 4 and 5 (.NET Core 3.0 and newer) and 6. Events come as the file has them: in the order
 * of their threads' buffers, not of time. A file whose end is missing gives what was whole; a block
 * that contradicts itself is passed over and told. Memory grows with the kinds of events and
 * the number of threads alone.
 * One thread a reader.
 *
 * Source: documentation of the NetTrace format in microsoft/perfview (src/TraceEvent/EventPipe).
 */
#ifndef FORMAT_NETTRACE_NETTRACE_H
#define FORMAT_NETTRACE_NETTRACE_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

struct nettrace_reader;

enum nettrace_problem_kind {
	NETTRACE_PROBLEM_NO_END,  /* the process was killed, or still writes */
	NETTRACE_PROBLEM_CUT,     /* the same, in the middle of a block */
	NETTRACE_PROBLEM_GARBAGE, /* bytes between blocks, or behind the end */
	NETTRACE_PROBLEM_CORRUPT, /* what contradicts itself */
	NETTRACE_PROBLEM_NEWER,   /* for later readers */
};

struct nettrace_problem {
	enum nettrace_problem_kind kind;
	uint64_t offset;
	uint64_t skipped_bytes;
	const char *what; /* a static sentence without a full stop */
};

/* Problems come in the order of their offsets and do not overlap. */
struct nettrace_options {
	void (*on_problem)(void *context, const struct nettrace_problem *problem);
	void *context;
};

enum nettrace_provider {
	NETTRACE_OTHER,
	NETTRACE_RUNTIME, /* Microsoft-Windows-DotNETRuntime */
	NETTRACE_RUNDOWN, /* ...Rundown: what was there when the stream ended */
	NETTRACE_PRIVATE, /* ...Private */
};

struct nettrace_event {
	enum nettrace_provider provider;
	uint32_t id; /* 0 where the file does not say of which kind it is */
	uint32_t version;
	uint64_t time_ns; /* CLOCK_MONOTONIC, as the file's own frequency says; 0: not told */
	uint64_t thread_id;
	struct bytes payload; /* borrowed from the file */
	uint64_t offset;      /* of the event in the file, for messages */
};

/* Whether the file starts like one, whatever its version. */
bool nettrace_is_magic(struct bytes start);

/* The file's bytes are borrowed; options may be NULL, and are copied. Returns 0, STATUS_NOT_FORMAT,
 * _UNSUPPORTED (also for the netperf files of .NET Core 2), _TRUNCATED, _CORRUPT or _NO_MEMORY.
 */
int nettrace_open(struct nettrace_reader **reader, struct bytes file,
		  const struct nettrace_options *options);
/* NULL is fine. */
void nettrace_free(struct nettrace_reader *reader);

/* The process that wrote it, as it sees itself; 0 where the file does not tell. */
uint32_t nettrace_pid(const struct nettrace_reader *reader);
/* Its pointers' size in bytes: 4 or 8. */
uint32_t nettrace_pointer_size(const struct nettrace_reader *reader);
/* Of the format: 4, 5 or 6. */
uint32_t nettrace_version(const struct nettrace_reader *reader);
/* When the stream began, on the clock of its events. */
uint64_t nettrace_start_ns(const struct nettrace_reader *reader);
/* True once its end has been read: the process ended well, or the session was stopped. What was
 * there at the end (the rundown) is complete then.
 */
bool nettrace_is_whole(const struct nettrace_reader *reader);

/* Events that the process had no room for, as far as it was read: their threads' numbers tell. */
uint64_t nettrace_lost_events(const struct nettrace_reader *reader);

/* Returns 1, 0 at the end, or STATUS_NO_MEMORY. */
int nettrace_next(struct nettrace_reader *reader, struct nettrace_event *event);

#endif
