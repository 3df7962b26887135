#include "attach/hotspot.h"

#include "base/status.h"
#include "os/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A process of its own takes on the JVM's user and current directories; in it, as after any fork
 * of a program with threads, only async-signal-safe calls are made.
 */
struct knocker {
	const struct attach_target *target;
	int tmp_fd; /* the JVM's /tmp */
	int cwd_fd; /* -1: not to be had */
	int pipe_fd;
	uint64_t deadline_ns;
	struct sockaddr_un address; /* of the socket, relative to /tmp */
	char file[32];              /* ".attach_pid7" */
	const char *request;
	size_t request_size;
};

static const uint64_t look_again_ns = 10000000;
/* A JVM that was just stopped, or that loads its classes, may have missed it. */
static const uint64_t knock_again_ns = 5000000000;

static _Noreturn void give_up(const struct knocker *k, enum hotspot_stage stage, int error)
{
	const struct hotspot_failure failure = { stage, error };
	(void)!write(k->pipe_fd, &failure, sizeof(failure));
	_exit(0);
}

static void take_on_user(const struct knocker *k)
{
	if (geteuid() != 0 || (k->target->uid == 0 && k->target->gid == getegid()))
		return;
	/* Raw calls: glibc's would wait for threads that this process no longer has. */
	if (syscall(SYS_setgroups, 0, NULL) != 0 ||
	    syscall(SYS_setresgid, k->target->gid, k->target->gid, k->target->gid) != 0 ||
	    syscall(SYS_setresuid, k->target->uid, k->target->uid, k->target->uid) != 0)
		give_up(k, HOTSPOT_BECOME, errno);
}

/* -1 with ENOENT or ECONNREFUSED where nobody listens. */
static int connect_to_jvm(const struct knocker *k)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		give_up(k, HOTSPOT_CONNECT, errno);
	if (connect(fd, (const struct sockaddr *)&k->address, sizeof(k->address)) == 0)
		return fd;
	const int error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* Anyone could have put a socket there. */
static void check_peer(const struct knocker *k, int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
		give_up(k, HOTSPOT_CONNECT, errno);
	if (peer.pid != k->target->pid)
		give_up(k, HOTSPOT_CONNECT, 0);
}

static bool make_file_in(const struct knocker *k, int directory)
{
	struct stat st;
	const int fd =
	    openat(directory, k->file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0) {
		close(fd);
		return true;
	}
	/* Left by another that knocked. */
	return errno == EEXIST && fstatat(directory, k->file, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st.st_mode) && st.st_uid == geteuid();
}

static void remove_file(const struct knocker *k, int directory)
{
	const int error = errno;
	(void)unlinkat(directory, k->file, 0);
	errno = error;
}

static void signal_jvm(const struct knocker *k)
{
	const int got = k->target->pid_fd >= 0 ? (int)syscall(SYS_pidfd_send_signal,
							      k->target->pid_fd, SIGQUIT, NULL, 0)
					       : kill(k->target->pid, SIGQUIT);
	if (got != 0) {
		remove_file(k, k->tmp_fd);
		give_up(k, HOTSPOT_KNOCK, errno);
	}
}

static int knock(const struct knocker *k)
{
	int directory = k->tmp_fd;
	if (!make_file_in(k, directory)) {
		directory = k->cwd_fd;
		if (directory < 0 || !make_file_in(k, directory))
			give_up(k, HOTSPOT_KNOCK, errno);
	}
	const uint64_t start_ns = os_clock_mono_ns();
	bool has_repeated = false;
	signal_jvm(k);
	int fd;
	for (;;) {
		fd = connect_to_jvm(k);
		const uint64_t now_ns = os_clock_mono_ns();
		const int error = errno;
		if (fd >= 0)
			break;
		if ((error != ENOENT && error != ECONNREFUSED) || now_ns > k->deadline_ns) {
			remove_file(k, directory);
			give_up(k,
				error == ENOENT || error == ECONNREFUSED ? HOTSPOT_WAIT
									 : HOTSPOT_CONNECT,
				error);
		}
		if (!has_repeated && now_ns - start_ns > knock_again_ns) {
			has_repeated = true;
			signal_jvm(k);
		}
		const struct timespec pause = { 0, (long)look_again_ns };
		(void)nanosleep(&pause, NULL);
	}
	remove_file(k, directory);
	return fd;
}

static void wait_for(const struct knocker *k, int fd, short events)
{
	struct pollfd one = { .fd = fd, .events = events };
	const uint64_t now_ns = os_clock_mono_ns();
	const uint64_t left_ms = now_ns < k->deadline_ns ? (k->deadline_ns - now_ns) / 1000000 : 0;
	const int got = poll(&one, 1, left_ms > INT_MAX ? INT_MAX : (int)left_ms);
	if (got == 0 || (got < 0 && errno != EINTR))
		give_up(k, HOTSPOT_TALK, got == 0 ? ETIMEDOUT : errno);
}

static void send_request(const struct knocker *k, int fd)
{
	for (size_t sent = 0; sent < k->request_size;) {
		wait_for(k, fd, POLLOUT);
		const ssize_t got = send(fd, k->request + sent, k->request_size - sent,
					 MSG_NOSIGNAL | MSG_DONTWAIT);
		if (got > 0)
			sent += (size_t)got;
		else if (errno != EINTR && errno != EAGAIN)
			give_up(k, HOTSPOT_TALK, errno);
	}
}

static void write_all(int fd, const void *data, size_t size)
{
	for (const char *at = data; size > 0;) {
		const ssize_t got = write(fd, at, size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return;
		at += got;
		size -= (size_t)got;
	}
}

/* Hands the whole answer on, behind what says that it is one. */
static void pass_answer(const struct knocker *k, int fd)
{
	static char answer[HOTSPOT_ANSWER_LIMIT];
	const struct hotspot_failure none = { HOTSPOT_DONE, 0 };
	size_t size = 0;
	while (size < sizeof(answer)) {
		wait_for(k, fd, POLLIN);
		const ssize_t got = read(fd, answer + size, sizeof(answer) - size);
		/* Reset: the JVM has closed before it read all that we sent. */
		if (got == 0 || (got < 0 && errno == ECONNRESET))
			break;
		if (got < 0 && errno != EINTR)
			give_up(k, HOTSPOT_TALK, errno);
		size += got > 0 ? (size_t)got : 0;
	}
	write_all(k->pipe_fd, &none, sizeof(none));
	write_all(k->pipe_fd, answer, size);
}

static _Noreturn void run(const struct knocker *k)
{
	take_on_user(k);
	if (fchdir(k->tmp_fd) != 0)
		give_up(k, HOTSPOT_KNOCK, errno);
	int fd = connect_to_jvm(k);
	if (fd < 0 && (errno == ENOENT || errno == ECONNREFUSED))
		fd = knock(k);
	if (fd < 0)
		give_up(k, HOTSPOT_CONNECT, errno);
	check_peer(k, fd);
	send_request(k, fd);
	pass_answer(k, fd);
	_exit(0);
}

/* --- in the caller --- */

/* Reads all that the child has to say; false if the caller was told to give up. */
static bool listen_to(int pipe_fd, int cancel_fd, struct sink *heard)
{
	struct pollfd both[] = { { .fd = pipe_fd, .events = POLLIN },
				 { .fd = cancel_fd, .events = POLLIN } };
	for (;;) {
		uint8_t chunk[4096];
		if (poll(both, 2, -1) < 0 && errno != EINTR)
			return false;
		if (both[1].revents)
			return false;
		if (!both[0].revents)
			continue;
		const ssize_t got = read(pipe_fd, chunk, sizeof(chunk));
		if (got == 0)
			return true;
		if (got > 0)
			sink_put(heard, chunk, (size_t)got);
	}
}

static void read_outcome(const struct sink *heard, struct sink *answer,
			 struct hotspot_failure *failure)
{
	const size_t head = sizeof(*failure);
	*failure = (struct hotspot_failure){ HOTSPOT_TALK, 0 };
	if (sink_failed(heard) || heard->size < head)
		return;
	memcpy(failure, heard->data, head);
	sink_put(answer, heard->data + head, heard->size - head);
}

static int ask(struct knocker *k, const struct hotspot_call *call, struct sink *answer,
	       struct hotspot_failure *failure)
{
	int ends[2];
	struct sink heard = { .limit = HOTSPOT_ANSWER_LIMIT + 4096 };
	*failure = (struct hotspot_failure){ HOTSPOT_FORK, 0 };
	if (pipe2(ends, O_CLOEXEC) != 0) {
		failure->error = errno;
		return STATUS_IO;
	}
	k->pipe_fd = ends[1];
	const pid_t child = fork();
	if (child == 0)
		run(k);
	failure->error = errno;
	close(ends[1]);
	if (child > 0 && listen_to(ends[0], call->cancel_fd, &heard)) {
		read_outcome(&heard, answer, failure);
	} else if (child > 0) {
		*failure = (struct hotspot_failure){ HOTSPOT_CANCELLED, 0 };
		kill(child, SIGKILL);
		(void)unlinkat(k->tmp_fd, k->file, 0);
	}
	close(ends[0]);
	sink_clear(&heard);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return failure->stage == HOTSPOT_DONE ? 0 : STATUS_IO;
}

static int put_request(struct sink *request, const struct hotspot_call *call)
{
	sink_cstr(request, "1");
	for (size_t i = 0; i < HOTSPOT_WORDS; i++) {
		const char *word = call->words[i] ? call->words[i] : "";
		if (strlen(word) >= HOTSPOT_WORD_SIZE)
			return STATUS_TOO_BIG;
		sink_cstr(request, word);
	}
	return sink_failed(request) ? STATUS_NO_MEMORY : 0;
}

int hotspot_call(const struct hotspot_call *call, struct sink *answer,
		 struct hotspot_failure *failure)
{
	const struct attach_target *target = call->target;
	struct sink request = { 0 };
	char cwd[64];
	struct knocker k = { .target = target,
			     .address = { .sun_family = AF_UNIX },
			     .deadline_ns = os_clock_mono_ns() + call->timeout_ns };
	*failure = (struct hotspot_failure){ HOTSPOT_KNOCK, 0 };
	(void)snprintf(k.file, sizeof(k.file), ".attach_pid%d", target->own_pid);
	(void)snprintf(k.address.sun_path, sizeof(k.address.sun_path), ".java_pid%d",
		       target->own_pid);
	(void)snprintf(cwd, sizeof(cwd), "/proc/%d/cwd", target->pid);
	int result = put_request(&request, call);
	k.request = (const char *)request.data;
	k.request_size = request.size;
	k.tmp_fd = result == 0 ? attach_target_open_dir(target, "/tmp") : -1;
	k.cwd_fd = result == 0 ? open(cwd, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	if (result == 0 && k.tmp_fd < 0) {
		failure->error = errno;
		result = STATUS_IO;
	}
	if (result == 0)
		result = ask(&k, call, answer, failure);
	if (k.tmp_fd >= 0)
		close(k.tmp_fd);
	if (k.cwd_fd >= 0)
		close(k.cwd_fd);
	sink_clear(&request);
	return result;
}

/* --- answers --- */

static bool read_long(struct cursor *c, long *number)
{
	bool is_negative = false;
	size_t digits = 0;
	*number = 0;
	if (cursor_left(c) && *c->pos == '-') {
		is_negative = true;
		c->pos++;
	}
	for (; cursor_left(c) && *c->pos >= '0' && *c->pos <= '9' && digits < 10; digits++)
		*number = *number * 10 + (cursor_u8(c) - '0');
	if (is_negative)
		*number = -*number;
	return digits > 0 && (!cursor_left(c) || *c->pos == '\n' || *c->pos == '\r');
}

static void skip_line_end(struct cursor *c)
{
	while (cursor_left(c) && (*c->pos == '\r' || *c->pos == '\n'))
		c->pos++;
}

bool hotspot_read_answer(struct bytes answer, struct hotspot_answer *read)
{
	static const char RETURNED[] = "return code: ";
	struct cursor c = cursor_over(answer);
	long completed;
	*read = (struct hotspot_answer){ .text = "" };
	if (!read_long(&c, &completed))
		return false;
	skip_line_end(&c);
	struct cursor rest = c;
	/* "return code: 0" since JDK 9, "0" before. */
	const size_t mark = sizeof(RETURNED) - 1;
	if (cursor_left(&rest) >= mark && memcmp(rest.pos, RETURNED, mark) == 0)
		rest.pos += mark;
	read->was_loaded = completed == 0 && read_long(&rest, &read->returned);
	if (read->was_loaded)
		return true;
	read->returned = 0;
	read->text = (const char *)c.pos;
	read->text_size = cursor_left(&c);
	return true;
}
