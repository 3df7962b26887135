#include "os/file.h"

#include "base/status.h"
#include "os/random.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file without a name goes with the process, however that ends. Where the file system knows of
 * none, or /proc, by which it gets its name, is not there, it has a name of its own meanwhile.
 */
static int open_unnamed(const char *path)
{
	if (access("/proc/self/fd", X_OK))
		return -1;
	char *copy = strdup(path);
	const int fd = copy ? open(dirname(copy), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
	free(copy);
	return fd;
}

int os_output_open(struct os_output *out, const char *path)
{
	*out = (struct os_output){ .fd = -1 };
	out->path = strdup(path);
	if (!out->path || asprintf(&out->temporary, "%s.XXXXXX", path) < 0) {
		free(out->path);
		*out = (struct os_output){ .fd = -1 };
		return STATUS_NO_MEMORY;
	}
	/* What is in the way of a name is told now, not when all is written. */
	struct stat there;
	const bool can_be_named = lstat(out->temporary, &there) && errno == ENOENT;
	out->fd = can_be_named ? open_unnamed(path) : -1;
	out->is_unnamed = out->fd >= 0;
	if (out->fd < 0)
		out->fd = mkostemp(out->temporary, O_CLOEXEC);
	if (out->fd < 0) {
		const int saved = errno;
		free(out->path);
		free(out->temporary);
		*out = (struct os_output){ .fd = -1 };
		errno = saved;
		return STATUS_IO;
	}
	return 0;
}

int os_output_write_at(struct os_output *out, uint64_t offset, const void *data, size_t size)
{
	const uint8_t *at = data;
	while (size) {
		const ssize_t wrote = pwrite(out->fd, at, size, (off_t)offset);
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0)
			return STATUS_IO;
		at += wrote;
		offset += (uint64_t)wrote;
		size -= (size_t)wrote;
	}
	if (offset > out->size)
		out->size = offset;
	return 0;
}

int os_output_write(struct os_output *out, const void *data, size_t size)
{
	return os_output_write_at(out, out->size, data, size);
}

/* The rename is on disk only when the directory is. */
static void sync_directory(const char *path)
{
	char *copy = strdup(path);
	if (!copy)
		return;
	const int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	free(copy);
}

/* No link takes the place of a file: it gets a name beside that first. */
static int give_name(struct os_output *out)
{
	enum { ATTEMPTS = 100 };
	char from[64];
	(void)snprintf(from, sizeof(from), "/proc/self/fd/%d", out->fd);
	char *suffix = out->temporary + strlen(out->temporary) - strlen("XXXXXX");
	for (int i = 0; i < ATTEMPTS; i++) {
		const unsigned random = (unsigned)(os_random_u64() & 0xffffff);
		(void)snprintf(suffix, sizeof("XXXXXX"), "%06x", random);
		if (linkat(AT_FDCWD, from, AT_FDCWD, out->temporary, AT_SYMLINK_FOLLOW) == 0) {
			out->is_unnamed = false;
			return 0;
		}
		if (errno != EEXIST)
			break;
	}
	return STATUS_IO;
}

int os_output_commit(struct os_output *out)
{
	int result = fsync(out->fd) ? STATUS_IO : 0;
	if (result == 0 && out->is_unnamed)
		result = give_name(out);
	if (result == 0 && rename(out->temporary, out->path))
		result = STATUS_IO;
	if (result) {
		const int saved = errno;
		os_output_abandon(out);
		errno = saved;
		return result;
	}
	sync_directory(out->path);
	close(out->fd);
	free(out->path);
	free(out->temporary);
	*out = (struct os_output){ .fd = -1 };
	return 0;
}

void os_output_abandon(struct os_output *out)
{
	if (!out->temporary)
		return;
	close(out->fd);
	if (!out->is_unnamed)
		unlink(out->temporary);
	free(out->path);
	free(out->temporary);
	*out = (struct os_output){ .fd = -1 };
}
