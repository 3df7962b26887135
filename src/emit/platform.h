/* platform.h - what src/emit asks of the system; one file for Linux, one for macOS.
 *
 * Nothing here allocates, prints or changes errno for the caller of the library (who is
 * shielded in the public calls). Results are 0 or an errno value unless told otherwise.
 */
#ifndef EMIT_PLATFORM_H
#define EMIT_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maps enum polyperf_jit_clock to what ppjit_now_ns() takes; false: this system lacks it. */
bool ppjit_clock(int32_t clock, int *system_clock);
uint64_t ppjit_now_ns(int system_clock);

/* A clock of some ms resolution that costs next to nothing; its origin is nobody's business. */
uint64_t ppjit_coarse_ns(void);

/* The calling thread, in its own PID namespace. Slow; callers keep it. */
uint32_t ppjit_thread_id(void);

/* Has this process's id been free since before `seconds_ago`? True if not known. */
bool ppjit_is_older_than_process(int64_t realtime_s);

/* Gives the file real space up to `size`, so that no later touch of a mapping can fail. */
int ppjit_allocate(int fd, uint64_t from, uint64_t size);

/* A new, empty file: asks its file system to change it in place. Best effort. */
void ppjit_keep_in_place(int fd);

/* Makes mapped pages of a file present and writable. Best effort. */
void ppjit_populate(uint8_t *data, size_t size);

/* Memory that is wiped in forked children, or NULL where the system has none. */
uint32_t *ppjit_wiped_on_fork(size_t size);

/* How many bytes at `data` can be read: `size`, or less where reading on would fault. */
size_t ppjit_readable(const uint8_t *data, size_t size);

/* Copies by way of the kernel, which faults for us. Returns what could be copied. */
size_t ppjit_copy(uint8_t *to, const uint8_t *from, size_t size, uint32_t pid);

/* A mapped word that others can reach through /proc, and its descriptor. NULL: none here. */
uint32_t *ppjit_control_memory(int *fd);

/* The value of an environment variable, or NULL; NULL always in set-user-id programs. */
const char *ppjit_environment(const char *name);

/* A thread-local variable that a signal handler may touch first. */
#if defined(__APPLE__)
#define PPJIT_THREAD_LOCAL _Thread_local
#else
#define PPJIT_THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))
#endif

#endif
