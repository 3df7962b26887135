#include "record/preload.h"

#include "base/status.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_file(int directory, const struct preload *preload)
{
	/* Readable for other users: children of root may become one of them. */
	const int fd = openat(directory, preload->name,
			      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return false;
	const struct bytes content = preload->content;
	const bool written =
	    fchmod(fd, 0644) == 0 && write(fd, content.data, content.size) == (ssize_t)content.size;
	return close(fd) == 0 && written;
}

int preload_write_all(const char *path)
{
	const int directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		return STATUS_IO;
	bool written = true;
	for (size_t i = 0; i < PRELOAD_COUNT && written; i++)
		written = write_file(directory, &PRELOADS[i]);
	close(directory);
	return written ? 0 : STATUS_IO;
}
