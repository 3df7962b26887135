/* memory.h - the memory of other processes. */
#ifndef OS_MEMORY_H
#define OS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Copies all of it or returns false: the process is gone, not ours to read, or has nothing
 * there. Any thread.
 */
bool os_memory_read(pid_t pid, uint64_t avma, void *to, size_t size);

#endif
