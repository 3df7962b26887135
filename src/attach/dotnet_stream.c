#include "attach/dotnet_stream.h"

#include "base/status.h"
#include "os/clock.h"
#include "os/file.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { CHUNK_BYTES = 64 << 10 };

struct dotnet_stream {
	int connection_fd;
	int events_fd;
	int quit_fd; /* readable: the thread shall end */
	int done_fd; /* readable: it has */
	uint64_t limit_bytes;
	pthread_t thread;
	bool is_running;
	bool is_whole;
	bool is_cut;
	int error; /* of writing */
	_Atomic uint64_t bytes;
	uint8_t chunk[CHUNK_BYTES];
};

static void keep(struct dotnet_stream *stream, size_t size)
{
	const uint64_t before = atomic_load_explicit(&stream->bytes, memory_order_relaxed);
	atomic_store_explicit(&stream->bytes, before + size, memory_order_relaxed);
	if (stream->is_cut || stream->error)
		return;
	if (size > stream->limit_bytes - before)
		stream->is_cut = true;
	else if (os_file_write(stream->events_fd, stream->chunk, size) < 0)
		stream->error = errno;
}

/* False at the end. */
static bool take(struct dotnet_stream *stream)
{
	const ssize_t got = read(stream->connection_fd, stream->chunk, sizeof(stream->chunk));
	if (got > 0)
		keep(stream, (size_t)got);
	/* A process that was killed leaves ECONNRESET, if anything. */
	stream->is_whole = got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN);
	return !stream->is_whole;
}

static void *run(void *argument)
{
	struct dotnet_stream *stream = argument;
	const uint64_t one = 1;
	(void)pthread_setname_np(pthread_self(), "polyperf-events");
	for (;;) {
		struct pollfd both[] = { { .fd = stream->connection_fd, .events = POLLIN },
					 { .fd = stream->quit_fd, .events = POLLIN } };
		if (poll(both, 2, -1) < 0 && errno != EINTR)
			break;
		if (both[1].revents)
			break;
		if (both[0].revents && !take(stream))
			break;
	}
	(void)!write(stream->done_fd, &one, sizeof(one));
	return NULL;
}

static int start_thread(struct dotnet_stream *stream)
{
	sigset_t all;
	sigset_t before;
	sigfillset(&all);
	/* Signals are for the thread that knows what to do with them. */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	const int error = pthread_create(&stream->thread, NULL, run, stream);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	stream->is_running = error == 0;
	errno = error;
	return error ? STATUS_IO : 0;
}

int dotnet_stream_start(struct dotnet_stream **made, int connection_fd, int events_fd,
			uint64_t limit_bytes)
{
	struct dotnet_stream *stream = calloc(1, sizeof(*stream));
	*made = NULL;
	if (!stream) {
		close(connection_fd);
		return STATUS_NO_MEMORY;
	}
	stream->connection_fd = connection_fd;
	stream->events_fd = events_fd;
	stream->limit_bytes = limit_bytes;
	stream->quit_fd = eventfd(0, EFD_CLOEXEC);
	stream->done_fd = eventfd(0, EFD_CLOEXEC);
	const bool is_made = stream->quit_fd >= 0 && stream->done_fd >= 0;
	const int result = is_made ? start_thread(stream) : STATUS_IO;
	if (result < 0) {
		const int error = errno;
		dotnet_stream_free(stream);
		errno = error;
		return result;
	}
	*made = stream;
	return 0;
}

static void end_thread(struct dotnet_stream *stream)
{
	const uint64_t one = 1;
	if (!stream->is_running)
		return;
	(void)!write(stream->quit_fd, &one, sizeof(one));
	pthread_join(stream->thread, NULL);
	stream->is_running = false;
}

enum dotnet_stream_end dotnet_stream_wait(struct dotnet_stream *stream, uint64_t deadline_ns,
					  int cancel_fd, int *error)
{
	struct pollfd both[] = { { .fd = stream->done_fd, .events = POLLIN },
				 { .fd = cancel_fd, .events = POLLIN } };
	for (;;) {
		const uint64_t now_ns = os_clock_mono_ns();
		const uint64_t left_ms =
		    now_ns < deadline_ns ? (deadline_ns - now_ns) / 1000000 + 1 : 0;
		const int got = poll(both, 2, left_ms > INT_MAX ? INT_MAX : (int)left_ms);
		if (got >= 0 || errno != EINTR)
			break;
	}
	end_thread(stream);
	*error = stream->error;
	if (stream->error)
		return DOTNET_STREAM_FULL;
	if (stream->is_cut)
		return DOTNET_STREAM_CUT;
	return stream->is_whole ? DOTNET_STREAM_WHOLE : DOTNET_STREAM_LATE;
}

uint64_t dotnet_stream_bytes(const struct dotnet_stream *stream)
{
	return atomic_load_explicit(&stream->bytes, memory_order_relaxed);
}

void dotnet_stream_free(struct dotnet_stream *stream)
{
	if (!stream)
		return;
	end_thread(stream);
	close(stream->connection_fd);
	if (stream->quit_fd >= 0)
		close(stream->quit_fd);
	if (stream->done_fd >= 0)
		close(stream->done_fd);
	free(stream);
}
