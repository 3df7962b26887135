#include "emit/platform.h"

#include <polyperf/jit.h>

#include <errno.h>
#include <fcntl.h>
#include <mach/mach.h>
#include <mach/mach_time.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

bool ppjit_clock(int32_t clock, int *system_clock)
{
	/* CLOCK_UPTIME_RAW is mach_absolute_time() in ns: what samply's samples are stamped with.
	 */
	static const clockid_t clocks[] = {
		[POLYPERF_JIT_CLOCK_DEFAULT] = CLOCK_UPTIME_RAW,
		[POLYPERF_JIT_CLOCK_MONOTONIC] = CLOCK_MONOTONIC,
		[POLYPERF_JIT_CLOCK_MONOTONIC_RAW] = CLOCK_MONOTONIC_RAW,
		[POLYPERF_JIT_CLOCK_BOOTTIME] = CLOCK_MONOTONIC,
		[POLYPERF_JIT_CLOCK_REALTIME] = CLOCK_REALTIME,
	};
	if (clock < 0 || (size_t)clock >= sizeof(clocks) / sizeof(clocks[0]))
		return false;
	*system_clock = (int)clocks[clock];
	return true;
}

uint64_t ppjit_now_ns(int system_clock)
{
	return clock_gettime_nsec_np((clockid_t)system_clock);
}

uint64_t ppjit_coarse_ns(void)
{
	return clock_gettime_nsec_np(CLOCK_UPTIME_RAW_APPROX);
}

uint32_t ppjit_thread_id(void)
{
	uint64_t id = 0;
	(void)pthread_threadid_np(NULL, &id);
	return (uint32_t)id;
}

bool ppjit_is_older_than_process(int64_t realtime_s)
{
	(void)realtime_s;
	return true;
}

int ppjit_allocate(int fd, uint64_t from, uint64_t size)
{
	fstore_t store = {
		.fst_flags = F_ALLOCATEALL,
		.fst_posmode = F_PEOFPOSMODE,
		.fst_length = (off_t)size,
	};
	if (fcntl(fd, F_PREALLOCATE, &store) != 0 && errno != ENOTSUP)
		return errno;
	return ftruncate(fd, (off_t)(from + size)) == 0 ? 0 : errno;
}

void ppjit_keep_in_place(int fd)
{
	(void)fd;
}

void ppjit_populate(uint8_t *data, size_t size)
{
	for (size_t at = 0; at < size; at += 4096)
		*(volatile uint8_t *)(data + at) = 0;
}

uint32_t *ppjit_wiped_on_fork(size_t size)
{
	(void)size;
	return NULL; /* pthread_atfork() alone tells */
}

size_t ppjit_readable(const uint8_t *data, size_t size)
{
	/* vm_read_overwrite() says so of each page's first byte that we need. */
	const uintptr_t start = (uintptr_t)data;
	const uintptr_t page = (uintptr_t)vm_page_size;
	for (uintptr_t at = start; at < start + size; at = (at & ~(page - 1)) + page) {
		uint8_t byte;
		vm_size_t got = 0;
		if (vm_read_overwrite(mach_task_self(), at, 1, (vm_address_t)&byte, &got) !=
			KERN_SUCCESS ||
		    got != 1)
			return (size_t)(at - start);
	}
	return size;
}

size_t ppjit_copy(uint8_t *to, const uint8_t *from, size_t size, uint32_t pid)
{
	(void)pid;
	vm_size_t got = 0;
	if (vm_read_overwrite(mach_task_self(), (vm_address_t)from, size, (vm_address_t)to, &got) !=
	    KERN_SUCCESS)
		return 0;
	return got;
}

uint32_t *ppjit_control_memory(int *fd)
{
	*fd = -1;
	return NULL;
}

const char *ppjit_environment(const char *name)
{
	return issetugid() ? NULL : getenv(name);
}
