#include "attach/place.h"

#include "base/status.h"
#include "os/file.h"
#include "os/random.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file there must be loadable as a library, and a dump's first page mapped as code. */
static bool is_mappable(int directory)
{
	const int fd = openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno == EOPNOTSUPP; /* cannot tell without leaving a file */
	void *page = MAP_FAILED;
	if (ftruncate(fd, 1) == 0)
		page = mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (page != MAP_FAILED)
		munmap(page, 1);
	close(fd);
	return page != MAP_FAILED;
}

/* Ours to give only as root; else the process is of our own user. */
static int give_to(int fd, const struct attach_target *target)
{
	if (geteuid() != 0)
		return 0;
	return fchown(fd, target->uid, target->gid);
}

static int make_in(struct attach_place *place, const struct attach_target *target,
		   const char *parent)
{
	char name[32];
	const int parent_fd = attach_target_open_dir(target, parent);
	if (parent_fd < 0)
		return errno == EACCES ? STATUS_DENIED : STATUS_IO;
	(void)snprintf(name, sizeof(name), "polyperf-%016llx", (unsigned long long)os_random_u64());
	int fd = -1;
	if (mkdirat(parent_fd, name, 0700) == 0) {
		fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 || !is_mappable(fd) || give_to(fd, target) != 0) {
			if (fd >= 0)
				close(fd);
			fd = -1;
			(void)unlinkat(parent_fd, name, AT_REMOVEDIR);
		}
	}
	if (fd < 0) {
		close(parent_fd);
		return STATUS_IO;
	}
	*place = (struct attach_place){ .parent_fd = parent_fd, .fd = fd };
	(void)snprintf(place->path, sizeof(place->path), "%s/%s", parent, name);
	return 0;
}

int attach_place_make(struct attach_place *place, const struct attach_target *target)
{
	static const char *const PARENTS[] = { "/tmp", "/var/tmp", "/dev/shm" };
	*place = (struct attach_place)ATTACH_NO_PLACE;
	int result = STATUS_IO;
	for (size_t i = 0; i < sizeof(PARENTS) / sizeof(PARENTS[0]) && result < 0; i++)
		result = make_in(place, target, PARENTS[i]);
	return result;
}

int attach_place_copy(const struct attach_place *place, const struct attach_target *target,
		      const char *file, const char *name)
{
	struct os_file from;
	int result = os_file_open(&from, file, OS_FILE_REGULAR);
	if (result < 0)
		return result;
	const int fd =
	    openat(place->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0500);
	result = fd < 0 ? STATUS_IO : os_file_write(fd, from.bytes.data, from.bytes.size);
	if (result == 0 && give_to(fd, target) != 0)
		result = STATUS_IO;
	if (fd >= 0 && close(fd) != 0)
		result = STATUS_IO;
	os_file_close(&from);
	return result;
}

void attach_place_remove(struct attach_place *place)
{
	const char *name = strrchr(place->path, '/');
	DIR *stream = place->fd >= 0 ? fdopendir(place->fd) : NULL;
	const struct dirent *entry;
	while (stream && (entry = readdir(stream)))
		(void)unlinkat(dirfd(stream), entry->d_name, 0);
	if (stream)
		closedir(stream);
	else if (place->fd >= 0)
		close(place->fd);
	if (place->parent_fd >= 0) {
		if (name)
			(void)unlinkat(place->parent_fd, name + 1, AT_REMOVEDIR);
		close(place->parent_fd);
	}
	*place = (struct attach_place)ATTACH_NO_PLACE;
}
