#include "os/stream.h"

#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A name of a file descriptor, as /dev/stdout or bash's >(...), is written to even where a regular
 * file is behind it: a file put in the place of such a name is one that nobody reads.
 */
int os_stream_is_direct(const char *path)
{
	struct stat target;
	if (strcmp(path, "-") == 0)
		return 1;
	const bool is_named_fd = strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
	if (stat(path, &target) != 0 || (S_ISREG(target.st_mode) && !is_named_fd))
		return 0;
	if (!S_ISDIR(target.st_mode))
		return 1;
	errno = EISDIR;
	return STATUS_IO;
}

static mode_t shared_mode(void)
{
	const mode_t mask = umask(0);
	(void)umask(mask);
	return 0666 & ~mask;
}

int os_stream_open(struct os_stream *out, const char *path)
{
	*out = (struct os_stream){ .file = { .fd = -1 }, .fd = -1 };
	const int direct = os_stream_is_direct(path);
	if (direct < 0)
		return direct;
	if (direct) {
		out->fd = strcmp(path, "-") == 0 ? STDOUT_FILENO
						 : open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		return out->fd < 0 ? STATUS_IO : 0;
	}
	const int got = os_output_open(&out->file, path);
	if (got == 0)
		(void)fchmod(out->file.fd, shared_mode());
	return got;
}

int os_stream_write(struct os_stream *out, const void *data, size_t size)
{
	return out->fd >= 0 ? os_file_write(out->fd, data, size)
			    : os_output_write(&out->file, data, size);
}

int os_stream_commit(struct os_stream *out)
{
	return out->fd >= 0 ? 0 : os_output_commit(&out->file);
}

void os_stream_abandon(struct os_stream *out)
{
	const int why = errno;
	if (out->fd >= 0 && out->fd != STDOUT_FILENO)
		(void)close(out->fd);
	out->fd = -1;
	os_output_abandon(&out->file);
	errno = why;
}
