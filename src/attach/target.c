#include "attach/target.h"

#include "base/number.h"
#include "base/sink.h"
#include "base/status.h"
#include "os/proc.h"
#include "os/proc_maps.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PROC_LIMIT = 64 << 20 };

static bool read_number(const char **text, unsigned base, uint64_t *number)
{
	*text += strspn(*text, " \t");
	const char *at = *text;
	*number = 0;
	for (; isxdigit((unsigned char)*at); at++) {
		const unsigned digit = isdigit((unsigned char)*at)
					   ? (unsigned)(*at - '0')
					   : (unsigned)((*at | 32) - 'a' + 10);
		if (digit >= base)
			break;
		*number = *number * base + digit;
	}
	const bool found = at != *text;
	*text = at;
	return found;
}

/* The numbers of one line; the last of them, and the second. */
static bool read_line(const char *text, const char *key, unsigned base, uint64_t *second,
		      uint64_t *last)
{
	const char *line = strstr(text, key);
	uint64_t number;
	int count = 0;
	if (!line)
		return false;
	line += strlen(key);
	while (read_number(&line, base, &number)) {
		if (++count == 2)
			*second = number;
		*last = number;
	}
	return count > 0;
}

bool attach_target_read_status(struct attach_target *target, const char *text)
{
	uint64_t effective = UINT64_MAX;
	uint64_t last;
	uint64_t unused;
	if (!read_line(text, "\nUid:", 10, &effective, &last) || effective == UINT64_MAX)
		return false;
	target->uid = (uid_t)effective;
	effective = UINT64_MAX;
	if (!read_line(text, "\nGid:", 10, &effective, &last) || effective == UINT64_MAX)
		return false;
	target->gid = (gid_t)effective;
	if (!read_line(text, "\nSigCgt:", 16, &unused, &target->caught))
		return false;
	target->is_halted = strstr(text, "\nState:\tT") || strstr(text, "\nState:\tt");
	/* Missing before Linux 4.1. */
	target->own_pid = target->pid;
	if (read_line(text, "\nNSpid:", 10, &unused, &last) && last && last <= INT_MAX)
		target->own_pid = (pid_t)last;
	return true;
}

/* A process in a changed root sees its files without that. */
static const char *without_root(const struct attach_target *target, const char *path)
{
	char link[64];
	char root[PATH_MAX];
	(void)snprintf(link, sizeof(link), "/proc/%d/root", target->pid);
	const ssize_t size = readlink(link, root, sizeof(root));
	if (size <= 1 || size >= (ssize_t)sizeof(root) || strncmp(path, root, (size_t)size) != 0 ||
	    path[size] != '/')
		return path;
	return path + size;
}

static void keep_path(const struct attach_target *target, const char *path, char into[PATH_MAX])
{
	static const char DELETED[] = " (deleted)";
	const char *seen = without_root(target, path);
	size_t size = strlen(seen);
	const size_t mark = sizeof(DELETED) - 1;
	if (size > mark && strcmp(seen + size - mark, DELETED) == 0)
		size -= mark;
	if (size >= PATH_MAX)
		return;
	memcpy(into, seen, size);
	into[size] = 0;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* perf knows dumps by this name; those of other names are taken for none. */
static bool is_dump_name(const char *name)
{
	return begins(name, "jit-") && strstr(name, ".dump") != NULL;
}

static void look_at_mapping(struct attach_target *target, const struct proc_mapping *map)
{
	const char *slash = strrchr(map->path, '/');
	const char *name = slash ? slash + 1 : map->path;
	if (!slash || !(map->prot & PROT_EXEC))
		return;
	if (strcmp(name, "libjvm.so") == 0 || begins(name, "libjvm.so "))
		target->has_jvm = true;
	else if (strcmp(name, "libcoreclr.so") == 0 || begins(name, "libcoreclr.so "))
		target->has_coreclr = true;
	else if (begins(name, "libj9vm"))
		target->has_openj9 = true;
	else if (begins(name, "libpolyperf-jvmti"))
		keep_path(target, map->path, target->agent);
	else if (is_dump_name(name))
		keep_path(target, map->path, target->dump);
}

static int read_maps(struct attach_target *target)
{
	char path[64];
	struct sink text = { .limit = PROC_LIMIT };
	(void)snprintf(path, sizeof(path), "/proc/%d/maps", target->pid);
	const int result = proc_read(&text, path);
	struct proc_maps maps;
	struct proc_mapping map;
	target->has_jvm = false;
	target->has_openj9 = false;
	target->has_coreclr = false;
	target->agent[0] = 0;
	target->dump[0] = 0;
	if (result == 0) {
		proc_maps_open(&maps, sink_bytes(&text));
		while (proc_maps_next(&maps, &map))
			look_at_mapping(target, &map);
	}
	sink_clear(&text);
	return result;
}

int attach_target_refresh(struct attach_target *target)
{
	char path[64];
	struct sink text = { .limit = PROC_LIMIT };
	(void)snprintf(path, sizeof(path), "/proc/%d/status", target->pid);
	int result = proc_read(&text, path);
	sink_u8(&text, 0);
	if (result == 0 && sink_failed(&text))
		result = STATUS_NO_MEMORY;
	if (result == 0 && !attach_target_read_status(target, (const char *)text.data))
		result = STATUS_IO;
	sink_clear(&text);
	return result < 0 ? result : read_maps(target);
}

int attach_target_open(struct attach_target *target, pid_t pid)
{
	*target = (struct attach_target){ .pid = pid };
	target->pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (target->pid_fd < 0 && errno == ESRCH)
		return STATUS_NOT_FOUND;
	const int result = attach_target_refresh(target);
	if (result < 0)
		attach_target_close(target);
	return result;
}

void attach_target_close(struct attach_target *target)
{
	if (target->pid_fd >= 0)
		close(target->pid_fd);
	target->pid_fd = -1;
}

bool attach_target_catches(const struct attach_target *target, int number)
{
	return target->caught >> (number - 1) & 1;
}

bool attach_target_getenv(const struct attach_target *target, const char *name, char *value,
			  size_t size)
{
	char path[64];
	struct sink text = { .limit = 4 << 20 };
	const size_t name_size = strlen(name);
	bool found = false;
	(void)snprintf(path, sizeof(path), "/proc/%d/environ", target->pid);
	(void)proc_read(&text, path);
	sink_u8(&text, 0);
	const char *at = (const char *)text.data;
	const char *end = at + (sink_failed(&text) ? 0 : text.size);
	for (; at < end && !found; at += strlen(at) + 1) {
		if (strncmp(at, name, name_size) != 0 || at[name_size] != '=')
			continue;
		found = strlen(at + name_size + 1) < size;
		if (!found)
			break;
		(void)snprintf(value, size, "%s", at + name_size + 1);
	}
	sink_clear(&text);
	return found;
}

uint64_t attach_target_start_ticks(const struct attach_target *target)
{
	enum { STATE = 2, START = 22 }; /* counted from 1, the name being 2 */
	char path[64];
	char line[1024];
	uint64_t ticks = 0;
	(void)snprintf(path, sizeof(path), "/proc/%d/stat", target->pid);
	proc_line(path, line, sizeof(line));
	const char *field = strrchr(line, ')'); /* names hold blanks and brackets, too */
	for (int i = STATE; field && i < START; i++)
		field = strchr(field + 1, ' ');
	if (field)
		(void)number_read((struct bytes){ (const uint8_t *)field + 1, strlen(field + 1) },
				  10, &ticks);
	return ticks;
}

/* Follows no link that leads out of the process's root. */
static int open_in_root(const struct attach_target *target, const char *path, uint64_t flags)
{
	char root_path[64];
	struct open_how how = { .flags = O_PATH | O_CLOEXEC | flags,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	(void)snprintf(root_path, sizeof(root_path), "/proc/%d/root", target->pid);
	const int root = open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	/* Before Linux 5.6: one step, and no link at all. */
	if (fd < 0 && errno == ENOSYS && !strchr(path + 1, '/'))
		fd = openat(root, path + 1, O_PATH | O_NOFOLLOW | O_CLOEXEC | (int)flags);
	const int saved = errno;
	close(root);
	errno = saved;
	return fd;
}

int attach_target_open_dir(const struct attach_target *target, const char *path)
{
	return open_in_root(target, path, O_DIRECTORY);
}

bool attach_target_sees(const struct attach_target *target, const char *path)
{
	struct stat here;
	struct stat there;
	const int fd = path[0] == '/' ? open_in_root(target, path, 0) : -1;
	const bool is_same = fd >= 0 && stat(path, &here) == 0 && fstat(fd, &there) == 0 &&
			     here.st_dev == there.st_dev && here.st_ino == there.st_ino;
	if (fd >= 0)
		close(fd);
	return is_same;
}
