#include "os/memory.h"

#include <sys/uio.h>

bool os_memory_read(pid_t pid, uint64_t avma, void *to, size_t size)
{
	const struct iovec local = { .iov_base = to, .iov_len = size };
	const struct iovec remote = { .iov_base = (void *)(uintptr_t)avma, .iov_len = size };
	return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}
