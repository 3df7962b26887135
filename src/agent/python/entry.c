/* How the agent comes to a program: loaded before it, and again in each child by fork(). */
#include "agent/python/agent.h"
#include "agent/python/kernel.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

extern void *dlsym(void *handle, const char *name) __attribute__((weak));
extern char *getenv(const char *name) __attribute__((weak));
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
			     void *object) __attribute__((weak));

enum { RING_BYTES = AGENT_DATA_OFF + AGENT_DATA_BYTES, PATIENCE_S = 5 };

/* Kept: programs change their environment. */
static struct sockaddr_un recorder;
static uint32_t runtime_id;
static void *ring_map;

static bool is_failure(long result)
{
	return result < 0 && result > -4096;
}

static int connect_to_recorder(void)
{
	const long fd = KERNEL(socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, 0, 0, 0);
	if (fd < 0)
		return -1;
	/* A recorder that hangs is not waited for. */
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	KERNEL(setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience), 0);
	KERNEL(setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience), 0);
	if (KERNEL(connect, fd, &recorder, sizeof(recorder), 0, 0, 0) < 0) {
		KERNEL(close, fd, 0, 0, 0, 0, 0);
		return -1;
	}
	return (int)fd;
}

static bool say_hello(int fd, uint32_t pid)
{
	const struct agent_hello hello = {
		.magic = AGENT_MAGIC, .version = AGENT_VERSION, .pid = pid, .runtime = runtime_id
	};
	return KERNEL(sendto, fd, &hello, sizeof(hello), MSG_NOSIGNAL, 0, 0) == (long)sizeof(hello);
}

/* Returns false where nothing came, or no answer. */
static bool hear(int fd, struct agent_answer *answer, int *ring_fd)
{
	union {
		struct cmsghdr head;
		uint8_t bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { answer, sizeof(*answer) };
	struct msghdr message = { .msg_iov = &iov,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	long got;
	memset(&control, 0, sizeof(control));
	do
		got = KERNEL(recvmsg, fd, &message, MSG_CMSG_CLOEXEC, 0, 0, 0);
	while (got == -4); /* EINTR */
	const struct cmsghdr *head = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS)
		memcpy(ring_fd, CMSG_DATA(head), sizeof(*ring_fd));
	return got == (long)sizeof(*answer) && answer->magic == AGENT_MAGIC;
}

/* Children get a ring of their own. */
static bool map_ring(int ring_fd)
{
	const long got =
	    KERNEL(mmap, 0, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, ring_fd, 0);
	if (is_failure(got))
		return false;
	ring_map = (void *)got;
	KERNEL(madvise, ring_map, RING_BYTES, MADV_DONTFORK, 0, 0, 0);
	return true;
}

/* Once the ring is mapped; waits until the events are on, so that no sample is missed. */
static void begin_with(int fd, const struct agent_answer *answer, uint32_t pid)
{
	const struct agent_ready ready = { .magic = AGENT_MAGIC, .pid = pid };
	struct agent_answer started;
	int none = -1;
	runtime_id = answer->runtime.id;
	walk_use(ring_map, &answer->runtime, pid);
	if (KERNEL(sendto, fd, &ready, sizeof(ready), MSG_NOSIGNAL, 0, 0) == (long)sizeof(ready))
		hear(fd, &started, &none);
	if (none >= 0)
		KERNEL(close, none, 0, 0, 0, 0, 0);
}

/* False where nothing will come of it: the handler is not needed. */
static bool announce(void)
{
	struct agent_answer answer = { .verdict = AGENT_NO };
	int ring_fd = -1;
	bool is_refused = true;
	const uint32_t pid = (uint32_t)KERNEL(getpid, 0, 0, 0, 0, 0, 0);
	const int fd = connect_to_recorder();
	if (fd < 0)
		return false;
	if (say_hello(fd, pid)) {
		const bool is_heard = hear(fd, &answer, &ring_fd);
		is_refused = is_heard && answer.verdict == AGENT_NO;
		if (is_heard && answer.verdict == AGENT_GO && ring_fd >= 0 && map_ring(ring_fd))
			begin_with(fd, &answer, pid);
	}
	if (ring_fd >= 0)
		KERNEL(close, ring_fd, 0, 0, 0, 0, 0);
	KERNEL(close, fd, 0, 0, 0, 0, 0);
	return !is_refused;
}

/* Events do not come with fork(), and what was mapped stayed behind. The handler did come; it
 * is kept where the recorder is gone, for it does no harm.
 */
static void in_child(void)
{
	const bool was_used = ring_map != NULL;
	walk_use(NULL, NULL, 0);
	ring_map = NULL;
	if (was_used)
		announce();
}

/* CPython exports these, be it in the program or in a library. */
static bool is_python(void)
{
	return dlsym && dlsym(RTLD_DEFAULT, "_PyRuntime") && dlsym(RTLD_DEFAULT, "PyCode_Type") &&
	       dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault");
}

static bool find_recorder(void)
{
	const char *path = getenv ? getenv(AGENT_VARIABLE) : NULL;
	size_t size = 0;
	while (path && path[size] && size < sizeof(recorder.sun_path))
		size++;
	if (!size || size == sizeof(recorder.sun_path))
		return false;
	recorder.sun_family = AF_UNIX;
	memcpy(recorder.sun_path, path, size);
	return true;
}

__attribute__((constructor)) static void begin(void)
{
	if (!find_recorder() || !is_python() || !walk_prepare() || !trap_take())
		return;
	if (!announce()) {
		trap_give_back();
		return;
	}
	if (__register_atfork)
		__register_atfork(NULL, NULL, in_child, &recorder);
}
