#include "os/file.h"

#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SLOT_COUNT = 4096, SPOOL_CHUNK = 1 << 20 };

/* Mapped ranges, for the SIGBUS handler: written by one thread, read by the handler. */
static struct {
	_Atomic(uintptr_t) start;
	_Atomic(size_t) size;
	atomic_bool shrank;
} slots[SLOT_COUNT];

static size_t page_size;
static struct sigaction previous_action;

/* A page behind the end of a file that was cut short becomes a page of zeros. */
static void on_sigbus(int number, siginfo_t *info, void *context)
{
	(void)context;
	const uintptr_t at = (uintptr_t)info->si_addr;
	for (int i = 0; i < SLOT_COUNT; i++) {
		const uintptr_t start = atomic_load(&slots[i].start);
		if (!start || at < start || at - start >= atomic_load(&slots[i].size))
			continue;
		void *page = (void *)(at & ~(uintptr_t)(page_size - 1));
		if (mmap(page, page_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			 0) == MAP_FAILED)
			break;
		atomic_store(&slots[i].shrank, true);
		return;
	}
	sigaction(number, &previous_action, NULL);
}

void os_file_guard(void)
{
	page_size = (size_t)sysconf(_SC_PAGESIZE);
	struct sigaction action = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO };
	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, &previous_action);
}

static int take_slot(struct bytes mapped)
{
	for (int i = 0; i < SLOT_COUNT; i++) {
		if (atomic_load(&slots[i].start))
			continue;
		atomic_store(&slots[i].shrank, false);
		atomic_store(&slots[i].size, mapped.size);
		atomic_store(&slots[i].start, (uintptr_t)mapped.data);
		return i;
	}
	return -1;
}

static int status_of_errno(void)
{
	switch (errno) {
	case ENOENT:
	case ENOTDIR:
	case ESRCH:
		return STATUS_NOT_FOUND;
	case ELOOP:
	case EACCES:
	case EPERM:
		return STATUS_DENIED;
	case ENOMEM:
		return STATUS_NO_MEMORY;
	default:
		return STATUS_IO;
	}
}

/* Without a name /tmp's openness does no harm. */
int os_file_unnamed(void)
{
	const char *dir = getenv("TMPDIR");
	if (!dir || !*dir)
		dir = "/tmp";
	const int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return fd >= 0 ? fd : open("/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

int os_file_read_at(int fd, void *data, size_t size, uint64_t offset)
{
	uint8_t *at = data;
	while (size) {
		const ssize_t got = pread(fd, at, size, (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return STATUS_IO;
		at += got;
		offset += (uint64_t)got;
		size -= (size_t)got;
	}
	return 0;
}

int os_file_write(int fd, const void *data, size_t size)
{
	const uint8_t *at = data;
	while (size) {
		const ssize_t wrote = write(fd, at, size);
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0)
			return status_of_errno();
		at += wrote;
		size -= (size_t)wrote;
	}
	return 0;
}

/* What a pipe holds, copied to an unnamed file that replaces `*fd`. */
static int spool(int *fd)
{
	uint8_t *chunk = malloc(SPOOL_CHUNK);
	const int copy = os_file_unnamed();
	int result = !chunk ? STATUS_NO_MEMORY : copy < 0 ? status_of_errno() : 0;
	while (result == 0) {
		const ssize_t got = read(*fd, chunk, SPOOL_CHUNK);
		if (got == 0)
			break;
		if (got < 0 && errno != EINTR)
			result = status_of_errno();
		else if (got > 0)
			result = os_file_write(copy, chunk, (size_t)got);
	}
	free(chunk);
	if (*fd != STDIN_FILENO)
		close(*fd);
	*fd = copy;
	return result;
}

static bool is_trusted(const struct stat *st, uid_t owner_uid)
{
	return S_ISREG(st->st_mode) &&
	       (st->st_uid == 0 || st->st_uid == geteuid() || st->st_uid == owner_uid);
}

static int map_fd(struct os_file *file, int fd, const struct stat *st)
{
	file->inode = st->st_ino;
	file->owner = st->st_uid;
	file->mtime_ns = (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
	file->slot = -1;
	file->bytes = (struct bytes){ .data = (const uint8_t *)"", .size = 0 };
	if (st->st_size == 0)
		return 0;
	if ((uint64_t)st->st_size > SIZE_MAX)
		return STATUS_TOO_BIG;
	const size_t size = (size_t)st->st_size;
	void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return status_of_errno();
	file->bytes = (struct bytes){ .data = data, .size = size };
	file->slot = take_slot(file->bytes);
	if (file->slot < 0) {
		munmap(data, size);
		return STATUS_TOO_BIG;
	}
	return 0;
}

static int open_and_map(struct os_file *file, const char *path, enum os_file_flags flags,
			uid_t owner_uid)
{
	*file = (struct os_file){ .slot = -1 };
	const bool is_plain = flags == OS_FILE_PLAIN;
	const bool untrusted = flags == OS_FILE_UNTRUSTED;
	/* O_NONBLOCK: a FIFO somebody left in /tmp must not hang us. */
	const int how =
	    O_RDONLY | O_CLOEXEC | (untrusted ? O_NOFOLLOW : 0) | (is_plain ? 0 : O_NONBLOCK);
	int fd = is_plain && strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, how);
	if (fd < 0)
		return status_of_errno();
	struct stat st;
	int result = fstat(fd, &st) ? status_of_errno() : 0;
	if (result == 0 && S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		result = STATUS_IO;
	}
	if (result == 0 &&
	    ((untrusted && !is_trusted(&st, owner_uid)) || (!is_plain && !S_ISREG(st.st_mode))))
		result = STATUS_DENIED;
	/* /proc files are regular and claim to be empty. */
	const bool has_size = S_ISREG(st.st_mode) && st.st_size > 0;
	if (result == 0 && !has_size && is_plain) {
		result = spool(&fd);
		if (result == 0 && fstat(fd, &st))
			result = status_of_errno();
	}
	if (result == 0)
		result = map_fd(file, fd, &st);
	if (fd >= 0 && fd != STDIN_FILENO) {
		const int saved = errno;
		close(fd);
		errno = saved;
	}
	return result;
}

int os_file_open(struct os_file *file, const char *path, enum os_file_flags flags)
{
	return open_and_map(file, path, flags, 0);
}

int os_file_open_owned(struct os_file *file, const char *path, uid_t owner_uid)
{
	return open_and_map(file, path, OS_FILE_UNTRUSTED, owner_uid);
}

int os_file_open_fd(struct os_file *file, int fd)
{
	struct stat st;
	*file = (struct os_file){ .slot = -1 };
	if (fstat(fd, &st))
		return status_of_errno();
	return S_ISREG(st.st_mode) ? map_fd(file, fd, &st) : STATUS_DENIED;
}

bool os_file_shrank(const struct os_file *file)
{
	return file->slot >= 0 && atomic_load(&slots[file->slot].shrank);
}

void os_file_close(struct os_file *file)
{
	if (file->slot >= 0) {
		atomic_store(&slots[file->slot].start, 0);
		munmap((void *)(uintptr_t)file->bytes.data, file->bytes.size);
	}
	*file = (struct os_file){ .slot = -1 };
}
