/* nettrace.h - the stream of events that a .NET process writes (EventPipe).
 *
 *   struct nettrace_reader *reader;
 *   struct nettrace_event event;
 *   int got = nettrace_open(&reader, file);
 *   while (got >= 0 && (got = nettrace_next(reader, &event)) > 0)
 *           clr_event_read(&event, &what);
 *   nettrace_free(reader);
 *
 * Format versions 4 (.NET Core 3.0 and newer). Events come as the file has them: in the order of
 * their threads' buffers, not of time. A file whose end is missing gives what was whole; a block
 * that contradicts itself is passed over and told.
 *
 * Source: documentation of the NetTrace format in microsoft/perfview (src/TraceEvent/EventPipe).
 */
#ifndef NETTRACE_NETTRACE_H
#define NETTRACE_NETTRACE_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

struct nettrace_reader;

struct nettrace_problem {
	uint64_t offset;
	uint64_t skipped_bytes;
	const char *what; /* a static sentence without a full stop */
};

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
	uint32_t id;
	uint32_t version;
	uint64_t time_ns; /* CLOCK_MONOTONIC, as the file's own frequency says; 0: not told */
	uint64_t thread_id;
	struct bytes payload; /* borrowed from the file */
	uint64_t offset;      /* of the event's block in the file, for messages */
};

/* The file's bytes are borrowed. Returns 0, STATUS_NOT_FORMAT, _UNSUPPORTED, _TRUNCATED or
 * _NO_MEMORY.
 */
int nettrace_open(struct nettrace_reader **reader, struct bytes file,
		  const struct nettrace_options *options);
void nettrace_free(struct nettrace_reader *reader);

/* The process that wrote it, as it sees itself. */
uint32_t nettrace_pid(const struct nettrace_reader *reader);
/* Its pointers' size in bytes. */
uint32_t nettrace_pointer_size(const struct nettrace_reader *reader);

/* Returns 1, 0 at the end, or STATUS_NO_MEMORY. */
int nettrace_next(struct nettrace_reader *reader, struct nettrace_event *event);

#endif
