/* A dump that goes to a pipe or socket: whole records wait in memory for a slow reader. */
#include "emit/emit_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* macOS: SO_NOSIGPIPE is set instead */
#endif

enum { CLOSE_PATIENCE_MS = 100 };

/* Twice as large as what may wait, so that a record is never in two pieces: what waits is moved
 * to the front when the end is reached.
 */
static uint8_t *map_buffer(size_t size)
{
	void *buffer =
	    mmap(NULL, size * 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return buffer == MAP_FAILED ? NULL : buffer;
}

static void send_header(struct polyperf_jit *jit)
{
	struct ppjit_stream *stream = &jit->stream;
	ppjit_put_header(jit, stream->buffer, ppjit_now_ns(jit->clock));
	stream->count = JITDUMP_HEADER_SIZE;
}

int ppjit_stream_open(struct polyperf_jit *jit)
{
	struct ppjit_stream *stream = &jit->stream;
	const int flags = fcntl(stream->fd, F_GETFL);
	struct stat st;
	if (flags < 0 || fstat(stream->fd, &st) != 0)
		return POLYPERF_JIT_FAILED;
	(void)fcntl(stream->fd, F_SETFL, flags | O_NONBLOCK);
	stream->is_socket = S_ISSOCK(st.st_mode);
	stream->device = st.st_dev;
	stream->inode = st.st_ino;
#ifdef SO_NOSIGPIPE
	const int on = 1;
	if (stream->is_socket)
		(void)setsockopt(stream->fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof(on));
#endif
	stream->head = 0;
	stream->is_broken = false;
	stream->buffer = map_buffer(PPJIT_STREAM_SIZE);
	if (!stream->buffer)
		return POLYPERF_JIT_NO_MEMORY;
	send_header(jit);
	atomic_fetch_add(&jit->file_count, 1);
	return 0;
}

/* A pipe whose reader has gone would raise SIGPIPE, which is not ours to raise. */
static bool has_reader(const struct ppjit_stream *stream)
{
	struct pollfd ask = { .fd = stream->fd, .events = POLLOUT };
	return poll(&ask, 1, 0) >= 0 && !(ask.revents & (POLLERR | POLLNVAL));
}

static ssize_t send_some(const struct ppjit_stream *stream)
{
	const uint8_t *from = stream->buffer + stream->head;
	if (stream->is_socket)
		return send(stream->fd, from, stream->count, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (!has_reader(stream)) {
		errno = EPIPE;
		return -1;
	}
	return write(stream->fd, from, stream->count);
}

/* Gives the descriptor what it takes. */
static void drain(struct ppjit_stream *stream)
{
	while (stream->count && !stream->is_broken) {
		if (!ppjit_is_own_fd(stream->fd, stream->device, stream->inode)) {
			stream->is_broken = true;
			return;
		}
		const ssize_t got = send_some(stream);
		if (got > 0) {
			stream->head += (size_t)got;
			stream->count -= (size_t)got;
		} else if (got < 0 && errno == EINTR) {
			continue;
		} else {
			stream->is_broken = got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
			return;
		}
	}
	if (!stream->count)
		stream->head = 0;
}

int ppjit_stream_reserve(struct polyperf_jit *jit, size_t size, struct ppjit_span *span)
{
	struct ppjit_stream *stream = &jit->stream;
	if (size > PPJIT_STREAM_SIZE)
		return POLYPERF_JIT_TOO_BIG;
	if (stream->count + size > PPJIT_STREAM_SIZE)
		drain(stream);
	if (stream->is_broken)
		return POLYPERF_JIT_FAILED;
	if (stream->count + size > PPJIT_STREAM_SIZE)
		return POLYPERF_JIT_NO_SPACE;
	if (stream->head + stream->count + size > 2 * (size_t)PPJIT_STREAM_SIZE) {
		memmove(stream->buffer, stream->buffer + stream->head, stream->count);
		stream->head = 0;
	}
	const uint64_t now = ppjit_now_ns(jit->clock);
	if (now > jit->last_time_ns)
		jit->last_time_ns = now;
	*span = (struct ppjit_span){
		.at = stream->buffer + stream->head + stream->count,
		.size = size,
		.time_ns = jit->last_time_ns,
	};
	ppjit_put_u64(span->at + 8, span->time_ns);
	return 0;
}

void ppjit_stream_commit(struct polyperf_jit *jit, const struct ppjit_span *span)
{
	jit->stream.count += span->size;
	drain(&jit->stream);
}

void ppjit_stream_close(struct polyperf_jit *jit)
{
	struct ppjit_stream *stream = &jit->stream;
	if (!stream->buffer)
		return;
	const struct timespec pause = { .tv_nsec = 1000000 };
	for (int i = 0; i < CLOSE_PATIENCE_MS; i++) {
		drain(stream);
		if (!stream->count || stream->is_broken)
			break;
		(void)nanosleep(&pause, NULL);
	}
	ppjit_stream_abandon(jit);
}

void ppjit_stream_abandon(struct polyperf_jit *jit)
{
	(void)munmap(jit->stream.buffer, (size_t)PPJIT_STREAM_SIZE * 2);
	jit->stream.buffer = NULL;
}
