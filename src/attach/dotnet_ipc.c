#include "attach/dotnet_ipc.h"

#include "base/bytes.h"
#include "base/number.h"
#include "base/status.h"
#include "os/clock.h"
#include "os/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static const char MAGIC[14] = "DOTNET_IPC_V1";

enum { SOCKET_NAME_SIZE = 96 };

/* --- where it listens --- */

void dotnet_ipc_directory(const struct attach_target *target, char directory[PATH_MAX])
{
	if (!attach_target_getenv(target, "TMPDIR", directory, PATH_MAX) || directory[0] != '/')
		(void)snprintf(directory, PATH_MAX, "/tmp");
}

/* Links are not followed, and what another user put there is none. */
static int open_socket(const struct attach_target *target, int directory, const char *name)
{
	struct stat st;
	const int fd = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode) &&
	    (st.st_uid == target->uid || st.st_uid == 0))
		return fd;
	close(fd);
	errno = ENOENT;
	return -1;
}

/* A runtime in a time namespace of its own counts from another start: then the process that
 * listens tells which it is.
 */
static bool is_listened_to(const struct attach_target *target, int door)
{
	struct dotnet_failure failure;
	struct sink answer = { .limit = DOTNET_MESSAGE_LIMIT };
	const struct dotnet_call call = {
		.target = target,
		.door_fd = door,
		.set = DOTNET_PROCESS,
		.command = DOTNET_PROCESS_INFO_2,
		.deadline_ns = os_clock_mono_ns() + 1000000000,
		.cancel_fd = -1,
	};
	(void)dotnet_ipc_call(&call, &answer, &failure);
	sink_clear(&answer);
	return failure.stage != DOTNET_CONNECT && failure.stage != DOTNET_PEER;
}

static int search(const struct attach_target *target, int directory)
{
	enum { TRIES = 64 }; /* sockets of dead processes with the same PID */
	char start[32];
	const int length = snprintf(start, sizeof(start), "dotnet-diagnostic-%d-", target->own_pid);
	const int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int found = -1;
	int tries = 0;
	if (!stream) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while (found < 0 && tries < TRIES && (entry = readdir(stream))) {
		const char *name = entry->d_name;
		if (strncmp(name, start, (size_t)length) != 0 || !strstr(name, "-socket"))
			continue;
		tries++;
		found = open_socket(target, dirfd(stream), name);
		if (found >= 0 && !is_listened_to(target, found)) {
			close(found);
			found = -1;
		}
	}
	closedir(stream);
	errno = ENOENT;
	return found;
}

int dotnet_ipc_find(const struct attach_target *target)
{
	char path[PATH_MAX];
	char name[SOCKET_NAME_SIZE];
	dotnet_ipc_directory(target, path);
	const int directory = attach_target_open_dir(target, path);
	if (directory < 0)
		return -1;
	(void)snprintf(name, sizeof(name), "dotnet-diagnostic-%d-%llu-socket", target->own_pid,
		       (unsigned long long)attach_target_start_ticks(target));
	int door = open_socket(target, directory, name);
	if (door < 0 && errno == ENOENT)
		door = search(target, directory);
	const int error = errno;
	close(directory);
	errno = error;
	return door;
}

/* --- talking --- */

static int fail(struct dotnet_failure *failure, enum dotnet_stage stage, int error)
{
	*failure = (struct dotnet_failure){ .stage = stage, .error = error };
	return STATUS_IO;
}

/* Returns 0, or what failed. */
static int wait_for(const struct dotnet_call *call, int fd, short events,
		    struct dotnet_failure *failure)
{
	enum { SLOW_MS = 2000 };
	struct pollfd both[] = { { .fd = fd, .events = events },
				 { .fd = call->cancel_fd, .events = POLLIN } };
	for (bool is_patient = !call->on_slow;;) {
		const uint64_t now_ns = os_clock_mono_ns();
		const uint64_t left_ms =
		    now_ns < call->deadline_ns ? (call->deadline_ns - now_ns) / 1000000 + 1 : 0;
		const bool is_short = !is_patient && left_ms > SLOW_MS;
		const int wait_ms = left_ms > INT_MAX ? INT_MAX : (int)left_ms;
		const int got = poll(both, 2, is_short ? SLOW_MS : wait_ms);
		if (got < 0 && errno == EINTR)
			continue;
		if (got == 0 && is_short) {
			call->on_slow(call->context);
			is_patient = true;
			continue;
		}
		if (got < 0)
			return fail(failure, DOTNET_TALK, errno);
		if (both[1].revents)
			return fail(failure, DOTNET_CANCELLED, 0);
		if (got == 0)
			return fail(failure, DOTNET_TALK, ETIMEDOUT);
		return 0;
	}
}

/* Through its descriptor: neither length nor links of the path matter, nor who sees it. */
static int connect_to_door(const struct dotnet_call *call, struct dotnet_failure *failure)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct ucred peer;
	socklen_t size = sizeof(peer);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d",
		       call->door_fd);
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int got = fd < 0 ? -1 : connect(fd, (const struct sockaddr *)&address, sizeof(address));
	/* As many as may wait there do: Unix sockets do not say when that ends. */
	for (int error = 0; got != 0 && fd >= 0 && errno == EAGAIN;) {
		struct pollfd none = { .fd = call->cancel_fd, .events = POLLIN };
		error = os_clock_mono_ns() > call->deadline_ns ? ETIMEDOUT : 0;
		if (poll(&none, 1, 10) > 0 || error) {
			errno = error ? error : ECANCELED;
			break;
		}
		got = connect(fd, (const struct sockaddr *)&address, sizeof(address));
	}
	if (got != 0) {
		(void)fail(failure, errno == ECANCELED ? DOTNET_CANCELLED : DOTNET_CONNECT, errno);
	} else if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
		   peer.pid != call->target->pid) {
		(void)fail(failure, DOTNET_PEER, 0);
		got = -1;
	}
	if (got == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int send_all(const struct dotnet_call *call, int fd, struct bytes message,
		    struct dotnet_failure *failure)
{
	for (size_t sent = 0; sent < message.size;) {
		const int result = wait_for(call, fd, POLLOUT, failure);
		if (result < 0)
			return result;
		const ssize_t got =
		    send(fd, message.data + sent, message.size - sent, MSG_NOSIGNAL);
		if (got > 0)
			sent += (size_t)got;
		else if (errno != EINTR && errno != EAGAIN)
			return fail(failure, DOTNET_TALK, errno);
	}
	return 0;
}

/* Takes just what was asked for: what follows may be the events. */
static int receive(const struct dotnet_call *call, int fd, struct sink *into, size_t size,
		   struct dotnet_failure *failure)
{
	uint8_t *at = sink_reserve(into, size);
	if (!at)
		return STATUS_NO_MEMORY;
	while (size > 0) {
		const int result = wait_for(call, fd, POLLIN, failure);
		if (result < 0)
			return result;
		const ssize_t got = read(fd, at, size);
		if (got == 0)
			return fail(failure, DOTNET_TALK, ECONNRESET);
		if (got < 0 && errno != EINTR && errno != EAGAIN)
			return fail(failure, DOTNET_TALK, errno);
		at += got > 0 ? got : 0;
		size -= got > 0 ? (size_t)got : 0;
	}
	return 0;
}

static int read_answer(const struct dotnet_call *call, int fd, struct sink *answer,
		       struct dotnet_failure *failure)
{
	struct sink head = { .limit = DOTNET_HEADER_SIZE };
	struct dotnet_header header = { 0 };
	int result = receive(call, fd, &head, DOTNET_HEADER_SIZE, failure);
	if (result == 0 &&
	    (!dotnet_ipc_read_header(sink_bytes(&head), &header) || header.set != DOTNET_ANSWER))
		result = fail(failure, DOTNET_GARBAGE, 0);
	sink_clear(&head);
	if (result == 0)
		result = receive(call, fd, answer, header.size - DOTNET_HEADER_SIZE, failure);
	if (result < 0 || header.command == DOTNET_ANSWER_OK)
		return result;
	struct cursor c = cursor_over(sink_bytes(answer));
	const uint32_t code = cursor_u32(&c);
	result = fail(failure, cursor_failed(&c) ? DOTNET_GARBAGE : DOTNET_REFUSED, 0);
	failure->code = code;
	return result;
}

int dotnet_ipc_call(const struct dotnet_call *call, struct sink *answer,
		    struct dotnet_failure *failure)
{
	*failure = (struct dotnet_failure){ DOTNET_DONE, 0, 0 };
	if (call->payload.size > DOTNET_MESSAGE_LIMIT - DOTNET_HEADER_SIZE)
		return STATUS_TOO_BIG;
	struct sink message = { 0 };
	sink_put(&message, MAGIC, sizeof(MAGIC));
	sink_u16(&message, (uint16_t)(DOTNET_HEADER_SIZE + call->payload.size));
	sink_u8(&message, call->set);
	sink_u8(&message, call->command);
	sink_u16(&message, 0);
	sink_put(&message, call->payload.data, call->payload.size);
	const int fd = sink_failed(&message) ? -1 : connect_to_door(call, failure);
	int result = sink_failed(&message) ? STATUS_NO_MEMORY : STATUS_IO;
	if (fd >= 0)
		result = send_all(call, fd, sink_bytes(&message), failure);
	if (fd >= 0 && result == 0)
		result = read_answer(call, fd, answer, failure);
	if (result == 0 && call->kept_fd)
		*call->kept_fd = fd;
	else if (fd >= 0)
		close(fd);
	sink_clear(&message);
	return result;
}

/* --- what is said --- */

bool dotnet_ipc_read_header(struct bytes message, struct dotnet_header *header)
{
	struct cursor c = cursor_over(message);
	const struct bytes magic = cursor_take(&c, sizeof(MAGIC));
	header->size = cursor_u16(&c);
	header->set = cursor_u8(&c);
	header->command = cursor_u8(&c);
	(void)cursor_u16(&c);
	return !cursor_failed(&c) && memcmp(magic.data, MAGIC, sizeof(MAGIC)) == 0 &&
	       header->size >= DOTNET_HEADER_SIZE;
}

/* UTF-16 units, the last of which is NUL, unless there are none. */
static struct bytes take_text(struct cursor *c)
{
	const uint32_t count = cursor_u32(c);
	if (!cursor_can_hold(c, count, 2))
		cursor_fail(c);
	return cursor_take(c, cursor_failed(c) ? 0 : (size_t)count * 2);
}

bool dotnet_ipc_read_info(struct bytes payload, struct dotnet_info *info)
{
	struct cursor c = cursor_over(payload);
	uint64_t major = 0;
	*info = (struct dotnet_info){ .pid = cursor_u64(&c) };
	(void)cursor_take(&c, 16); /* a cookie */
	for (int i = 0; i < 4; i++)
		(void)take_text(&c); /* command line, system, architecture, assembly */
	const struct bytes version = take_text(&c);
	if (cursor_failed(&c))
		return false;
	const size_t most = sizeof(info->version) - 1;
	for (size_t i = 0; i < most && i * 2 + 1 < version.size; i++) {
		const unsigned unit = version.data[i * 2] | (unsigned)version.data[i * 2 + 1] << 8;
		info->version[i] = (char)(unit == 0 || (unit > ' ' && unit < 0x7f) ? unit : '?');
		if (unit == 0)
			break;
	}
	const struct bytes text = { (const uint8_t *)info->version, strlen(info->version) };
	if (number_read(text, 10, &major) && major < 1000)
		info->major = (unsigned)major;
	return true;
}

/* One character of UTF-8; false of bytes that are none. */
static bool take_character(const uint8_t **at, uint32_t *character)
{
	static const uint32_t LEAST[] = { 0, 0x80, 0x800, 0x10000 };
	const uint8_t first = **at;
	const unsigned more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
	if ((first >= 0x80 && first < 0xc2) || first > 0xf4)
		return false;
	uint32_t value = more ? first & (0x3fu >> more) : first;
	(*at)++;
	for (unsigned i = 0; i < more; i++, (*at)++) {
		if ((**at & 0xc0) != 0x80)
			return false;
		value = value << 6 | (**at & 0x3f);
	}
	*character = value;
	return value >= LEAST[more] && value <= 0x10ffff && (value < 0xd800 || value > 0xdfff);
}

bool dotnet_ipc_put_text(struct sink *payload, const char *text)
{
	const size_t at_count = payload->size;
	uint32_t count = 0;
	sink_u32(payload, 0);
	if (!*text)
		return true;
	for (const uint8_t *at = (const uint8_t *)text; *at;) {
		uint32_t character;
		if (!take_character(&at, &character))
			return false;
		if (character >= 0x10000) {
			sink_u16(payload, (uint16_t)(0xd800 + ((character - 0x10000) >> 10)));
			count++;
			character = 0xdc00 + (character & 0x3ff);
		}
		sink_u16(payload, (uint16_t)character);
		count++;
	}
	sink_u16(payload, 0);
	sink_patch_u32(payload, at_count, count + 1);
	return true;
}

/* "Name:0xKEYWORDS:LEVEL"; true with what follows. */
static bool put_provider(struct sink *payload, const char **config)
{
	char name[128];
	uint64_t keywords;
	uint32_t level;
	const size_t size = strcspn(*config, ":");
	const char *at = *config + size;
	if (size == 0 || size >= sizeof(name) || strncmp(at, ":0x", 3) != 0)
		return false;
	memcpy(name, *config, size);
	name[size] = 0;
	at += 3;
	const size_t digits =
	    number_read((struct bytes){ (const uint8_t *)at, strlen(at) }, 16, &keywords);
	if (!digits || at[digits] != ':')
		return false;
	at = number_skip_u32(at + digits + 1, &level);
	if (!at || (*at && *at != ','))
		return false;
	sink_u64(payload, keywords);
	sink_u32(payload, level);
	*config = *at ? at + 1 : at;
	return dotnet_ipc_put_text(payload, name) && dotnet_ipc_put_text(payload, "");
}

bool dotnet_ipc_put_collect(struct sink *payload, const char *config, unsigned major,
			    uint8_t *command)
{
	enum { BUFFER_MB = 64, NETTRACE = 1 };
	/* Loader, Jit, NGen and the maps of IL, of what is there when the session ends. */
	static const uint64_t rundown_keywords = 0x80020138;
	const bool is_new = major >= 9;
	*command = is_new ? DOTNET_EVENTS_COLLECT_4 : DOTNET_EVENTS_COLLECT_2;
	sink_u32(payload, BUFFER_MB);
	sink_u32(payload, NETTRACE);
	if (is_new) {
		sink_u64(payload, rundown_keywords);
		sink_u8(payload, 0); /* no stacks: nobody reads them, and walking them costs */
	} else {
		sink_u8(payload, 1);
	}
	const size_t at_count = payload->size;
	uint32_t count = 0;
	sink_u32(payload, 0);
	for (; *config; count++)
		if (!put_provider(payload, &config))
			return false;
	if (payload->size >= at_count + 4)
		sink_patch_u32(payload, at_count, count);
	return count > 0;
}
