/* stream.h - where a command puts what it made, written from its start to its end.
 *
 *   struct os_stream out;
 *   int got = os_stream_open(&out, path);
 *   if (got == 0)
 *           got = os_stream_write(&out, data, size);
 *   if (got == 0)
 *           got = os_stream_commit(&out);
 *   os_stream_abandon(&out);
 *
 * A regular file is replaced as a whole, at the commit (os_output in file.h), and may be read by
 * whom the umask lets; "-" is standard output; a pipe, a terminal or a device is written to as it
 * stands, so that `-o /dev/stdout` does not take its place. One thread: the umask is the process's.
 */
#ifndef OS_STREAM_H
#define OS_STREAM_H

#include "os/file.h"

struct os_stream {
	struct os_output file; /* where it is a regular file */
	int fd;                /* where it is not; else -1 */
};

/* Each returns 0 or STATUS_IO (errno), _NO_MEMORY. */
int os_stream_open(struct os_stream *out, const char *path);
int os_stream_write(struct os_stream *out, const void *data, size_t size);
int os_stream_commit(struct os_stream *out);
void os_stream_abandon(struct os_stream *out); /* harmless after the commit, or a failed open */

/* 1: the path is of something that is written to as it stands; 0: a file is to be made or
 * replaced; STATUS_IO: a directory.
 */
int os_stream_is_direct(const char *path);

#endif
