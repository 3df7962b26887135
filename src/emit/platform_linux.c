#include "emit/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <polyperf/jit.h>

/* Newer than Debian 12's oldest headers elsewhere; the kernel says EINVAL if it lacks them. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

static const uint64_t SECOND_NS = UINT64_C(1000000000);

bool ppjit_clock(int32_t clock, int *system_clock)
{
	static const int clocks[] = {
		[POLYPERF_JIT_CLOCK_DEFAULT] = CLOCK_MONOTONIC,
		[POLYPERF_JIT_CLOCK_MONOTONIC] = CLOCK_MONOTONIC,
		[POLYPERF_JIT_CLOCK_MONOTONIC_RAW] = CLOCK_MONOTONIC_RAW,
		[POLYPERF_JIT_CLOCK_BOOTTIME] = CLOCK_BOOTTIME,
		[POLYPERF_JIT_CLOCK_REALTIME] = CLOCK_REALTIME,
	};
	if (clock < 0 || (size_t)clock >= sizeof(clocks) / sizeof(clocks[0]))
		return false;
	*system_clock = clocks[clock];
	return true;
}

uint64_t ppjit_now_ns(int system_clock)
{
	struct timespec t = { 0 };
	(void)clock_gettime((clockid_t)system_clock, &t);
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

uint64_t ppjit_coarse_ns(void)
{
	return ppjit_now_ns(CLOCK_MONOTONIC_COARSE);
}

uint32_t ppjit_thread_id(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

/* Field 22 of /proc/self/stat; the name in field 2 may hold anything but ends at the last ')'. */
static uint64_t start_ticks(void)
{
	char text[1024];
	const int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	const ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		(void)close(fd);
	text[got > 0 ? got : 0] = 0;
	const char *at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	uint64_t ticks = 0;
	for (at = at ? at + 1 : ""; *at >= '0' && *at <= '9'; at++)
		ticks = ticks * 10 + (uint64_t)(*at - '0');
	return ticks;
}

bool ppjit_is_older_than_process(int64_t realtime_s)
{
	const uint64_t ticks = start_ticks();
	const long per_second = sysconf(_SC_CLK_TCK);
	if (!ticks || per_second <= 0)
		return true;
	const uint64_t up_s = ppjit_now_ns(CLOCK_BOOTTIME) / SECOND_NS;
	const uint64_t age_s = up_s - ticks / (uint64_t)per_second;
	const uint64_t now_s = ppjit_now_ns(CLOCK_REALTIME) / SECOND_NS;
	return realtime_s + 1 < (int64_t)(now_s - age_s);
}

/* Zeros, written in large pieces: the page cache then has large folios, which are mapped at once
 * instead of page by page. Twice as fast as to let the pages fault in.
 */
static int write_zeros(int fd, uint64_t from, uint64_t size)
{
	enum { PIECE = 64 << 10, PIECES = 16 };
	static const uint8_t zeros[PIECE]; /* of .bss, so nothing but a name */
	struct iovec pieces[PIECES];
	for (int i = 0; i < PIECES; i++)
		pieces[i] =
		    (struct iovec){ .iov_base = (void *)(uintptr_t)zeros, .iov_len = PIECE };
	while (size) {
		uint64_t count = size / PIECE;
		count = count > PIECES ? PIECES : count;
		const ssize_t got = count ? pwritev(fd, pieces, (int)count, (off_t)from)
					  : pwrite(fd, zeros, (size_t)size, (off_t)from);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? errno : ENOSPC;
		from += (uint64_t)got;
		size -= (uint64_t)got;
	}
	return 0;
}

int ppjit_allocate(int fd, uint64_t from, uint64_t size)
{
	int tries = 100;
	while (fallocate(fd, 0, (off_t)from, (off_t)size) != 0) {
		if (errno == EOPNOTSUPP || errno == ENOSYS)
			break;
		if (errno != EINTR || !--tries)
			return errno;
	}
	return write_zeros(fd, from, size);
}

void ppjit_keep_in_place(int fd)
{
	/* On a file system that writes each change to a new place, a page of ours that was
	 * written back would need space anew, and the lack of it would be a SIGBUS.
	 */
	int flags = 0;
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 && !(flags & FS_NOCOW_FL)) {
		flags |= FS_NOCOW_FL;
		(void)ioctl(fd, FS_IOC_SETFLAGS, &flags);
	}
}

void ppjit_populate(uint8_t *data, size_t size)
{
	if (madvise(data, size, MADV_POPULATE_WRITE) == 0)
		return;
	/* The space is allocated and nobody else's yet, so that a write to each page is safe. */
	for (size_t at = 0; at < size; at += 4096)
		*(volatile uint8_t *)(data + at) = 0;
}

uint32_t *ppjit_wiped_on_fork(size_t size)
{
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return NULL;
	if (madvise(page, size, MADV_WIPEONFORK) == 0)
		return page;
	(void)munmap(page, size);
	return NULL;
}

/* The kernel reads 8 bytes here before it finds the first argument wrong: EFAULT or EINVAL. */
static bool is_word_readable(uintptr_t address)
{
	return syscall(SYS_rt_sigprocmask, -1, address & ~(uintptr_t)7, NULL, 8) == 0 ||
	       errno != EFAULT;
}

size_t ppjit_readable(const uint8_t *data, size_t size)
{
	enum { PAGE = 4096 }; /* the smallest there is: larger pages are asked more often */
	const uintptr_t start = (uintptr_t)data;
	const uintptr_t end = start + size;
	for (uintptr_t at = start; at < end; at = (at & ~(uintptr_t)(PAGE - 1)) + PAGE)
		if (!is_word_readable(at))
			return (size_t)(at - start);
	return size;
}

size_t ppjit_copy(uint8_t *to, const uint8_t *from, size_t size, uint32_t pid)
{
	const struct iovec local = { .iov_base = to, .iov_len = size };
	/* One page a piece, for the kernel copies whole pieces or nothing of them. */
	const struct iovec remote = { .iov_base = (void *)(uintptr_t)from, .iov_len = size };
	const ssize_t got = process_vm_readv((pid_t)pid, &local, 1, &remote, 1, 0);
	if (got >= 0)
		return (size_t)got;
	if (errno != ENOSYS && errno != EPERM)
		return 0;
	size = ppjit_readable(from, size);
	memcpy(to, from, size);
	return size;
}

uint32_t *ppjit_control_memory(int *fd)
{
	const size_t size = 4096;
	*fd = memfd_create("polyperf-jit", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd < 0)
		return NULL;
	/* Sealed against shrinking: else a reader beyond its end would kill this process. */
	void *page = MAP_FAILED;
	if (ftruncate(*fd, (off_t)size) == 0 &&
	    fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (page != MAP_FAILED)
		return page;
	(void)close(*fd);
	*fd = -1;
	return NULL;
}

const char *ppjit_environment(const char *name)
{
	return secure_getenv(name);
}
