#include "os/file.h"

#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int os_output_open(struct os_output *out, const char *path)
{
	*out = (struct os_output){ .fd = -1 };
	out->path = strdup(path);
	if (!out->path || asprintf(&out->temporary, "%s.XXXXXX", path) < 0) {
		free(out->path);
		*out = (struct os_output){ .fd = -1 };
		return STATUS_NO_MEMORY;
	}
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

int os_output_commit(struct os_output *out)
{
	int result = fsync(out->fd) ? STATUS_IO : 0;
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
	unlink(out->temporary);
	free(out->path);
	free(out->temporary);
	*out = (struct os_output){ .fd = -1 };
}
