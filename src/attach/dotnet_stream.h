/* dotnet_stream.h - takes the events of a .NET process off its socket, into a file.
 *
 *   struct dotnet_stream *stream;
 *   dotnet_stream_start(&stream, connection_fd, events_fd);
 *   ... the session is told to stop, and writes what there is at its end ...
 *   whole = dotnet_stream_wait(stream, &wait);
 *   dotnet_stream_free(stream);
 *
 * Has a thread of its own: a process whose events nobody takes would drop them. When the file
 * cannot be written, or reaches its limit, the rest is taken and thrown away.
 */
#ifndef ATTACH_DOTNET_STREAM_H
#define ATTACH_DOTNET_STREAM_H

#include <stdbool.h>
#include <stdint.h>

struct dotnet_stream;

/* Takes over the connection; the file is borrowed until dotnet_stream_free(). Returns 0,
 * STATUS_IO (errno) or _NO_MEMORY: then the connection is closed.
 */
int dotnet_stream_start(struct dotnet_stream **made, int connection_fd, int events_fd,
			uint64_t limit_bytes);

enum dotnet_stream_end {
	DOTNET_STREAM_WHOLE, /* the process has closed it */
	DOTNET_STREAM_LATE,  /* it had not by the deadline, or before it was cancelled */
	DOTNET_STREAM_CUT,   /* the limit was reached */
	DOTNET_STREAM_FULL,  /* the file could not be written: *error says why */
};

/* Waits for the end of the events, and puts one to them. */
enum dotnet_stream_end dotnet_stream_wait(struct dotnet_stream *stream, uint64_t deadline_ns,
					  int cancel_fd, int *error);

/* What came until now. Any thread. */
uint64_t dotnet_stream_bytes(const struct dotnet_stream *stream);

/* Closes the connection, by which the process ends the session by itself. NULL is no error. */
void dotnet_stream_free(struct dotnet_stream *stream);

#endif
