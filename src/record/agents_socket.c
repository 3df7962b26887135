#include "base/status.h"
#include "record/agents_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { GUESTS_MAX = 256 };

int agents_listen(struct agents *agents)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int length =
	    snprintf(agents->path, sizeof(agents->path), "%s/agents", agents->options.directory);
	if (length < 0 || (size_t)length >= sizeof(agents->path) ||
	    (size_t)length >= sizeof(address.sun_path))
		return STATUS_TOO_BIG;
	memcpy(address.sun_path, agents->path, (size_t)length + 1);
	agents->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	agents->socket_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct epoll_event event = { .events = EPOLLIN, .data.fd = agents->socket_fd };
	/* Root's children may become other users; the directory keeps out whom it must. */
	if (agents->epoll_fd < 0 || agents->socket_fd < 0 ||
	    bind(agents->socket_fd, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
	    chmod(agents->path, geteuid() == 0 ? 0666 : 0600) != 0 ||
	    listen(agents->socket_fd, 128) != 0 ||
	    epoll_ctl(agents->epoll_fd, EPOLL_CTL_ADD, agents->socket_fd, &event) != 0)
		return STATUS_IO;
	return 0;
}

int agents_fd(const struct agents *agents)
{
	return agents->epoll_fd;
}

static struct guest *guest_of(struct agents *agents, int fd)
{
	for (size_t i = 0; i < agents->guests.count; i++)
		if (agents->guests.items[i].fd == fd)
			return &agents->guests.items[i];
	return NULL;
}

static void leave(struct agents *agents, struct guest *guest)
{
	/* Without another word: it shall take no sample. */
	if (guest->agent)
		agents_end(agents, &agents->list.items[guest->agent - 1]);
	close(guest->fd);
	*guest = agents->guests.items[--agents->guests.count];
}

static void welcome(struct agents *agents)
{
	int fd;
	while ((fd = accept4(agents->socket_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		/* Those that say nothing do not keep the others out. */
		if (agents->guests.count >= GUESTS_MAX)
			leave(agents, &agents->guests.items[0]);
		struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };
		struct guest *slot = vector_push(&agents->guests);
		if (!slot || epoll_ctl(agents->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
			agents->guests.count -= slot != NULL;
			close(fd);
			continue;
		}
		*slot = (struct guest){ .fd = fd };
	}
}

static void answer(int fd, const struct agent_answer *with, int ring_fd)
{
	union {
		struct cmsghdr head;
		uint8_t bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec iov = { (void *)(uintptr_t)with, sizeof(*with) };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };
	if (ring_fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		struct cmsghdr *head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(head), &ring_fd, sizeof(ring_fd));
	}
	/* Who is gone meanwhile takes nothing. */
	(void)sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* A process in a PID namespace of its own does not know its number here, and its threads' not. */
static bool is_who_it_says(int fd, const struct agent_hello *hello)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0 &&
	       (uint32_t)peer.pid == hello->pid;
}

/* It must have our clock, too. */
static bool has_our_clock(pid_t pid)
{
	char path[64];
	struct stat theirs;
	struct stat ours;
	(void)snprintf(path, sizeof(path), "/proc/%d/ns/time", (int)pid);
	/* A kernel without such namespaces has one clock. */
	return stat("/proc/self/ns/time", &ours) != 0 ||
	       (stat(path, &theirs) == 0 && theirs.st_ino == ours.st_ino &&
		theirs.st_dev == ours.st_dev);
}

static void hear_hello(struct agents *agents, struct guest *guest, uint64_t now_ns)
{
	struct agent_hello hello;
	struct agent_answer reply = { .magic = AGENT_MAGIC, .verdict = AGENT_NO };
	int ring_fd = -1;
	const ssize_t got = recv(guest->fd, &hello, sizeof(hello), MSG_DONTWAIT | MSG_TRUNC);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got == (ssize_t)sizeof(hello) && hello.magic == AGENT_MAGIC &&
	    hello.version == AGENT_VERSION && is_who_it_says(guest->fd, &hello) &&
	    has_our_clock((pid_t)hello.pid) &&
	    agents_take(agents, &hello, now_ns, &reply, &ring_fd) == 0) {
		reply.verdict = AGENT_GO;
		guest->agent = (uint32_t)agents->list.count;
	}
	answer(guest->fd, &reply, ring_fd);
	if (ring_fd >= 0)
		close(ring_fd);
	if (!guest->agent)
		leave(agents, guest);
}

static void hear_ready(struct agents *agents, struct guest *guest)
{
	struct agent *agent = &agents->list.items[guest->agent - 1];
	const struct agent_answer reply = { .magic = AGENT_MAGIC, .verdict = AGENT_STARTED };
	struct agent_ready ready;
	const ssize_t got = recv(guest->fd, &ready, sizeof(ready), MSG_DONTWAIT | MSG_TRUNC);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got == (ssize_t)sizeof(ready) && ready.magic == AGENT_MAGIC &&
	    ready.pid == (uint32_t)agent->pid && !agent->ended_ns) {
		agents_begin(agents, agent);
		answer(guest->fd, &reply, -1);
		guest->agent = 0;
	}
	leave(agents, guest);
}

static void hear(struct agents *agents, int fd, uint64_t now_ns)
{
	struct guest *guest = guest_of(agents, fd);
	if (guest && guest->agent)
		hear_ready(agents, guest);
	else if (guest)
		hear_hello(agents, guest, now_ns);
}

void agents_serve(struct agents *agents, uint64_t now_ns)
{
	struct epoll_event events[16];
	const int count =
	    epoll_wait(agents->epoll_fd, events, sizeof(events) / sizeof(events[0]), 0);
	for (int i = 0; i < count; i++)
		if (events[i].data.fd != agents->socket_fd)
			hear(agents, events[i].data.fd, now_ns);
	welcome(agents);
}
