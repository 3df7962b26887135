#include "inject/store_files.h"

#include "base/status.h"
#include "os/random.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNFINISHED ".unfinished-"

enum { HEX_DIGITS = 16, NAME_ROOM = sizeof(((struct store_file *)0)->name) };

static bool is_trusted(int parent_fd, const struct stat *folder)
{
	struct stat parent;
	return folder->st_uid == 0 || folder->st_uid == geteuid() ||
	       (fstat(parent_fd, &parent) == 0 && parent.st_uid == folder->st_uid);
}

int store_folder_open(int parent_fd, const char *name, int *fd)
{
	struct stat folder;
	const int opened = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (opened < 0)
		return errno == ELOOP || errno == ENOTDIR ? STATUS_DENIED : STATUS_IO;
	if (fstat(opened, &folder) != 0 || !is_trusted(parent_fd, &folder)) {
		close(opened);
		return STATUS_DENIED;
	}
	*fd = opened;
	return 0;
}

static int make_one(int parent_fd, const char *name, mode_t mode, int *fd)
{
	if (mkdirat(parent_fd, name, mode) != 0 && errno != EEXIST)
		return STATUS_IO;
	return store_folder_open(parent_fd, name, fd);
}

int store_folder_make(int parent_fd, const char *path, mode_t mode, int *fd)
{
	char part[NAME_MAX + 1];
	int at_fd = parent_fd;
	int status = 0;
	while (status == 0 && *path) {
		const size_t size = strcspn(path, "/");
		int next_fd = -1;
		errno = ENAMETOOLONG;
		status = STATUS_IO;
		if (size < sizeof(part)) {
			memcpy(part, path, size);
			part[size] = '\0';
			status = make_one(at_fd, part, mode, &next_fd);
		}
		path += size + strspn(path + size, "/");
		const int error = errno;
		if (at_fd != parent_fd)
			close(at_fd);
		errno = error;
		at_fd = next_fd;
	}
	if (status == 0)
		*fd = at_fd;
	return status;
}

static void make_name(char name[NAME_ROOM])
{
	(void)snprintf(name, NAME_ROOM, UNFINISHED "%0*" PRIx64, HEX_DIGITS, os_random_u64());
}

bool store_is_unfinished(const char *name)
{
	const size_t prefix = strlen(UNFINISHED);
	return strncmp(name, UNFINISHED, prefix) == 0 &&
	       strspn(name + prefix, "0123456789abcdef") == HEX_DIGITS &&
	       strlen(name) == prefix + HEX_DIGITS;
}

int store_file_open(struct store_file *file, int folder_fd, mode_t mode, bool has_name)
{
	*file = (struct store_file){ .folder_fd = folder_fd, .fd = -1 };
	if (!has_name)
		file->fd = openat(folder_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
	if (file->fd < 0) {
		make_name(file->name);
		file->fd =
		    openat(folder_fd, file->name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode);
	}
	return file->fd < 0 ? STATUS_IO : 0;
}

void store_file_drop(struct store_file *file)
{
	const int error = errno;
	if (file->fd >= 0 && file->name[0])
		(void)unlinkat(file->folder_fd, file->name, 0);
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
	errno = error;
}

static bool have_equal_bytes(int a_fd, int b_fd)
{
	enum { CHUNK = 1 << 15 };
	char a[CHUNK];
	char b[CHUNK];
	for (off_t at = 0;;) {
		const ssize_t got = pread(a_fd, a, sizeof(a), at);
		if (got < 0 || pread(b_fd, b, sizeof(b), at) != got)
			return false;
		if (got == 0)
			return true;
		if (memcmp(a, b, (size_t)got) != 0)
			return false;
		at += got;
	}
}

static bool is_there(int fd, int folder_fd, const char *name)
{
	struct stat ours;
	struct stat theirs;
	const int there_fd =
	    openat(folder_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (there_fd < 0)
		return false;
	const bool is_equal = fstat(fd, &ours) == 0 && fstat(there_fd, &theirs) == 0 &&
			      S_ISREG(theirs.st_mode) && ours.st_size == theirs.st_size &&
			      have_equal_bytes(fd, there_fd);
	close(there_fd);
	return is_equal;
}

/* A file without a name gets one of no meaning first: only a rename replaces. */
static int give_name(struct store_file *file, int folder_fd)
{
	char self[64];
	make_name(file->name);
	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", file->fd);
	if (linkat(AT_FDCWD, self, folder_fd, file->name, AT_SYMLINK_FOLLOW) != 0 &&
	    linkat(file->fd, "", folder_fd, file->name, AT_EMPTY_PATH) != 0) {
		file->name[0] = '\0';
		return STATUS_IO;
	}
	file->folder_fd = folder_fd;
	return 0;
}

int store_file_publish(struct store_file *file, int folder_fd, const char *name, bool *is_new)
{
	*is_new = !is_there(file->fd, folder_fd, name);
	int status = 0;
	if (*is_new) {
		status = fsync(file->fd) ? STATUS_IO : 0;
		if (status == 0 && !file->name[0])
			status = give_name(file, folder_fd);
		if (status == 0 && renameat(file->folder_fd, file->name, folder_fd, name) != 0)
			status = STATUS_IO;
		if (status == 0) {
			file->name[0] = '\0';
			(void)fsync(folder_fd);
		}
	}
	store_file_drop(file);
	return status;
}

static bool are_one(int folder_fd, const char *name, int other_fd, const char *other)
{
	struct stat a;
	struct stat b;
	return fstatat(folder_fd, name, &a, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstatat(other_fd, other, &b, AT_SYMLINK_NOFOLLOW) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

/* Puts what has the name `unfinished` at `name`, or removes it. */
static int replace(int folder_fd, const char *unfinished, const char *name)
{
	if (renameat(folder_fd, unfinished, folder_fd, name) == 0)
		return 0;
	const int error = errno;
	(void)unlinkat(folder_fd, unfinished, 0);
	errno = error;
	return STATUS_IO;
}

int store_second_name(int folder_fd, const char *name, int other_fd, const char *other,
		      bool *is_new)
{
	char unfinished[NAME_ROOM];
	*is_new = !are_one(folder_fd, name, other_fd, other);
	if (!*is_new || linkat(folder_fd, name, other_fd, other, 0) == 0)
		return 0;
	if (errno != EEXIST)
		return STATUS_IO;
	make_name(unfinished);
	if (linkat(folder_fd, name, other_fd, unfinished, 0) != 0)
		return STATUS_IO;
	return replace(other_fd, unfinished, other);
}

int store_link(int folder_fd, const char *name, const char *target)
{
	char unfinished[NAME_ROOM];
	if (symlinkat(target, folder_fd, name) == 0)
		return 0;
	if (errno != EEXIST)
		return STATUS_IO;
	make_name(unfinished);
	if (symlinkat(target, folder_fd, unfinished) != 0)
		return STATUS_IO;
	return replace(folder_fd, unfinished, name);
}
