#include "os/proc.h"

#include "base/status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int status_of_errno(void)
{
	switch (errno) {
	case ENOENT:
	case ESRCH:
	case ENOTDIR:
		return STATUS_NOT_FOUND;
	case EACCES:
	case EPERM:
		return STATUS_DENIED;
	default:
		return STATUS_IO;
	}
}

static int read_to_end(struct sink *out, int fd)
{
	enum { CHUNK = 16384 };
	for (;;) {
		uint8_t chunk[CHUNK];
		const ssize_t got = read(fd, chunk, sizeof(chunk));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return status_of_errno();
		if (got == 0)
			return 0;
		sink_put(out, chunk, (size_t)got);
		if (sink_failed(out))
			return out->limit && out->size + (size_t)got > out->limit
				   ? STATUS_TOO_BIG
				   : STATUS_NO_MEMORY;
	}
}

int proc_read(struct sink *out, const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return status_of_errno();
	const int result = read_to_end(out, fd);
	close(fd);
	return result;
}

void proc_line(const char *path, char *line, size_t size)
{
	line[0] = '\0';
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	const ssize_t got = read(fd, line, size - 1);
	close(fd);
	line[got > 0 ? got : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
}

long proc_number(const char *path, long missing)
{
	char line[32];
	proc_line(path, line, sizeof(line));
	const bool is_negative = line[0] == '-';
	const char *digit = line + is_negative;
	if (*digit < '0' || *digit > '9')
		return missing;
	long number = 0;
	for (; *digit >= '0' && *digit <= '9' && number < 100000000000000000; digit++)
		number = 10 * number + (*digit - '0');
	return is_negative ? -number : number;
}

static int compare_ids(const void *a, const void *b)
{
	const pid_t x = *(const pid_t *)a;
	const pid_t y = *(const pid_t *)b;
	return (x > y) - (x < y);
}

/* The decimal number that all of `name` is, or 0. */
static pid_t id_of_name(const char *name)
{
	pid_t id = 0;
	for (; *name >= '0' && *name <= '9' && id < 100000000; name++)
		id = 10 * id + (*name - '0');
	return *name ? 0 : id;
}

static int list_ids(const char *path, struct proc_ids *ids)
{
	DIR *directory = opendir(path);
	if (!directory)
		return status_of_errno();
	const size_t before = ids->count;
	int result = 0;
	for (const struct dirent *entry; (entry = readdir(directory));) {
		const pid_t id = id_of_name(entry->d_name);
		if (id <= 0)
			continue;
		pid_t *slot = vector_push(ids);
		if (!slot) {
			result = STATUS_NO_MEMORY;
			break;
		}
		*slot = id;
	}
	closedir(directory);
	if (ids->count > before)
		qsort(ids->items + before, ids->count - before, sizeof(*ids->items), compare_ids);
	return result;
}

int proc_processes(struct proc_ids *pids)
{
	return list_ids("/proc", pids);
}

int proc_tasks(pid_t pid, struct proc_ids *tids)
{
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return list_ids(path, tids);
}

int proc_comm(pid_t pid, pid_t tid, char comm[PROC_COMM_SIZE])
{
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return status_of_errno();
	/* One more than a name can be long, for the newline behind it. A name may hold others. */
	char line[PROC_COMM_SIZE + 1];
	ssize_t got = read(fd, line, PROC_COMM_SIZE);
	close(fd);
	if (got <= 0)
		return STATUS_NOT_FOUND;
	if (line[got - 1] == '\n')
		got--;
	if (got > PROC_COMM_SIZE - 1)
		got = PROC_COMM_SIZE - 1;
	memcpy(comm, line, (size_t)got);
	comm[got] = '\0';
	return 0;
}

/* The number behind `key` at a line's start. Names in status are escaped: no line of
 * it can be forged by a process.
 */
static pid_t status_field(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	if (!at)
		return 0;
	at += strlen(key);
	while (*at == '\t' || *at == ' ')
		at++;
	pid_t value = 0;
	for (; *at >= '0' && *at <= '9' && value < 100000000; at++)
		value = 10 * value + (*at - '0');
	return value;
}

int proc_parents(pid_t tid, struct proc_parents *parents)
{
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/%d/status", tid);
	struct sink text = { .limit = 1 << 16 };
	int result = proc_read(&text, path);
	sink_u8(&text, 0);
	if (result == 0 && sink_failed(&text))
		result = STATUS_NO_MEMORY;
	if (result == 0) {
		parents->pid = status_field((const char *)text.data, "\nTgid:");
		parents->parent_pid = status_field((const char *)text.data, "\nPPid:");
		result = parents->pid ? 0 : STATUS_NOT_FOUND;
	}
	sink_clear(&text);
	return result;
}

int proc_namespaces(pid_t pid, pid_t tid, uint64_t links[PROC_NAMESPACE_COUNT][2])
{
	static const char *const names[PROC_NAMESPACE_COUNT] = {
		"net", "uts", "ipc", "pid", "user", "mnt", "cgroup",
	};
	int result = STATUS_NOT_FOUND;
	for (size_t i = 0; i < PROC_NAMESPACE_COUNT; i++) {
		char path[80];
		(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/ns/%s", pid, tid, names[i]);
		struct stat link;
		if (stat(path, &link) == 0) {
			links[i][0] = link.st_dev;
			links[i][1] = link.st_ino;
			result = 0;
		} else {
			links[i][0] = links[i][1] = 0;
		}
	}
	return result;
}
