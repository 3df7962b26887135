#include "record/private_dir.h"

#include "base/sink.h"
#include "base/status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static char *join(const char *parent, const char *name)
{
	struct sink out = { 0 };
	sink_printf(&out, "%s/%s", parent, name);
	sink_u8(&out, 0);
	if (!sink_failed(&out))
		return (char *)out.data;
	sink_clear(&out);
	return NULL;
}

/* Writers of jitdumps map a page of theirs executable; a noexec mount refuses that. */
bool private_dir_is_mappable(const char *directory)
{
	const int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno == EOPNOTSUPP; /* cannot tell without leaving a file */
	bool mapped = false;
	if (ftruncate(fd, 1) == 0) {
		void *page = mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		mapped = page != MAP_FAILED;
		if (mapped)
			munmap(page, 1);
	}
	close(fd);
	return mapped;
}

/* /run/user is memory, and a small part of it: dumps of hundreds of MB go elsewhere. */
static bool has_room(const char *directory)
{
	enum { WANTED_BYTES = 256 << 20 };
	struct statvfs fs;
	return statvfs(directory, &fs) == 0 && fs.f_bavail * fs.f_frsize >= WANTED_BYTES;
}

bool private_dir_needs_no_quoting(const char *path)
{
	return path[strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				 "/._+-")] == 0;
}

static int make_under(const char *parent, char **path)
{
	if (!parent || parent[0] != '/' || !private_dir_needs_no_quoting(parent) ||
	    access(parent, W_OK | X_OK) != 0 || !private_dir_is_mappable(parent))
		return STATUS_IO;
	char *template = join(parent, "polyperf-XXXXXX");
	if (!template)
		return STATUS_NO_MEMORY;
	if (!mkdtemp(template)) {
		free(template);
		return STATUS_IO;
	}
	*path = template;
	return 0;
}

/* A world-writable directory whose name cannot be listed, only told. */
static int open_to_others(struct private_dir *dir)
{
	uint64_t secret[2];
	if (getrandom(secret, sizeof(secret), 0) != (ssize_t)sizeof(secret))
		return STATUS_IO;
	char name[40];
	(void)snprintf(name, sizeof(name), "%016llx%016llx", (unsigned long long)secret[0],
		       (unsigned long long)secret[1]);
	char *path = join(dir->root, name);
	if (!path)
		return STATUS_NO_MEMORY;
	/* The umask cuts mkdir()'s mode, hence chmod(). */
	if (mkdir(path, 0700) != 0 || chmod(path, 01777) != 0 || chmod(dir->root, 0711) != 0) {
		free(path);
		return STATUS_IO;
	}
	dir->path = path;
	return 0;
}

int private_dir_make(struct private_dir *dir)
{
	*dir = (struct private_dir){ 0 };
	const bool is_root = geteuid() == 0;
	const char *runtime_dir = is_root ? NULL : getenv("XDG_RUNTIME_DIR");
	if (runtime_dir && !has_room(runtime_dir))
		runtime_dir = NULL;
	const char *const parents[] = { runtime_dir, getenv("TMPDIR"), "/tmp", "/var/tmp" };
	int got = STATUS_IO;
	for (size_t i = 0; got == STATUS_IO && i < sizeof(parents) / sizeof(parents[0]); i++)
		got = make_under(parents[i], &dir->root);
	if (got == 0 && is_root)
		got = open_to_others(dir);
	else if (got == 0 && !(dir->path = strdup(dir->root)))
		got = STATUS_NO_MEMORY;
	if (got < 0)
		private_dir_remove(dir);
	return got;
}

/* Takes over `fd`. Depth is bounded: nothing of ours nests, and others may play tricks. */
static void empty_directory(int fd, int depth)
{
	DIR *stream = fdopendir(fd);
	if (!stream) {
		close(fd);
		return;
	}
	const struct dirent *entry;
	while ((entry = readdir(stream))) {
		const char *name = entry->d_name;
		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			continue;
		if (unlinkat(fd, name, 0) == 0 || depth == 0)
			continue;
		const int inner = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (inner >= 0) {
			empty_directory(inner, depth - 1);
			(void)unlinkat(fd, name, AT_REMOVEDIR);
		}
	}
	closedir(stream);
}

void private_dir_remove(struct private_dir *dir)
{
	if (dir->root) {
		const int fd = open(dir->root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0)
			empty_directory(fd, 16);
		(void)rmdir(dir->root);
	}
	private_dir_keep(dir);
}

void private_dir_keep(struct private_dir *dir)
{
	free(dir->path);
	free(dir->root);
	*dir = (struct private_dir){ 0 };
}
