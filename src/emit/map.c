/* The perf map: a line a load, each written by one call to the end of the file. */
#include "emit/emit_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_SIZE = 4096 };

/* A file of this name is ours to add to if this process's other runtimes write it, and a leftover
 * of an earlier process with our id if it is older than we are.
 */
static int open_existing(const char *path)
{
	const int fd =
	    open(path, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    st.st_nlink == 1) {
		if (!ppjit_is_older_than_process((int64_t)st.st_mtime))
			return fd;
		/* Never emptied in place: somebody may be reading it. */
		(void)unlink(path);
	}
	(void)close(fd);
	return -1;
}

int ppjit_map_open(struct polyperf_jit *jit)
{
	struct ppjit_map *map = &jit->map;
	char name[32];
	(void)snprintf(name, sizeof(name), "perf-%u.map", (unsigned)jit->pid);
	ppjit_join(map->path, jit->map_directory, name);
	map->fd = open_existing(map->path);
	if (map->fd < 0)
		map->fd = open(map->path,
			       O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct stat st;
	if (map->fd < 0 || fstat(map->fd, &st) != 0)
		return errno == ENOSPC ? POLYPERF_JIT_NO_SPACE : POLYPERF_JIT_FAILED;
	map->device = st.st_dev;
	map->inode = st.st_ino;
	return 0;
}

int ppjit_map_inherit(struct polyperf_jit *jit)
{
	struct ppjit_map *map = &jit->map;
	const int from = ppjit_is_own_fd(map->fd, map->device, map->inode) ? map->fd : -1;
	const int got = ppjit_map_open(jit);
	char part[LINE_SIZE];
	off_t at = 0;
	ssize_t size;
	while (got == 0 && (size = pread(from, part, sizeof(part), at)) > 0) {
		if (write(map->fd, part, (size_t)size) != size)
			break;
		at += size;
	}
	if (from >= 0)
		(void)close(from);
	return got;
}

void ppjit_map_close(struct polyperf_jit *jit)
{
	if (ppjit_is_own_fd(jit->map.fd, jit->map.device, jit->map.inode))
		(void)close(jit->map.fd);
	jit->map.fd = -1;
}

/* A line that is not whole is taken back, where nobody has written behind it. */
static void take_back(int fd, off_t written)
{
	struct stat st;
	if (written > 0 && fstat(fd, &st) == 0 && st.st_size >= written &&
	    ftruncate(fd, st.st_size - written) != 0) {
		/* Its reader finds a line that is cut. */
	}
}

static int write_line(struct ppjit_map *map, const char *line, size_t size)
{
	struct stat st;
	if (map->fd < 0 || fstat(map->fd, &st) != 0 || st.st_dev != map->device ||
	    st.st_ino != map->inode)
		return POLYPERF_JIT_FAILED;
	if ((uint64_t)st.st_size + size > ppjit_file_size_limit())
		return POLYPERF_JIT_NO_SPACE;
	ssize_t got;
	do
		got = write(map->fd, line, size);
	while (got < 0 && errno == EINTR);
	if (got == (ssize_t)size)
		return 0;
	take_back(map->fd, (off_t)got);
	return got >= 0 || errno == ENOSPC || errno == EDQUOT ? POLYPERF_JIT_NO_SPACE
							      : POLYPERF_JIT_FAILED;
}

int ppjit_map_write(struct polyperf_jit *jit, const char *name, size_t name_size, uint64_t address,
		    uint64_t size)
{
	char line[LINE_SIZE];
	int at = snprintf(line, sizeof(line), "%llx %llx ", (unsigned long long)address,
			  (unsigned long long)size);
	const size_t room = sizeof(line) - (size_t)at - 1;
	if (name_size > room)
		name_size = room;
	for (size_t i = 0; i < name_size; i++) {
		/* A newline in a name would forge a line. */
		const unsigned char byte = (unsigned char)name[i];
		const bool is_control = byte < 0x20 || byte == 0x7f;
		line[at] = name[i];
		if (is_control)
			line[at] = '?';
		at++;
	}
	line[at++] = '\n';
	return write_line(&jit->map, line, (size_t)at);
}
