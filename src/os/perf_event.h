/* perf_event.h - the kernel's sampling events: opening, switching, counting.
 *
 *   int fd = os_perf_open(&attr, pid, cpu);
 *   if (fd >= 0)
 *           os_perf_redirect(fd, ring_owner_fd);
 *   os_perf_enable(fd);
 *
 * Descriptors are closed on exec. struct perf_event_attr comes from
 * linux/perf_event.h; attr.size must be set. Any thread.
 */
#ifndef OS_PERF_EVENT_H
#define OS_PERF_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* pid 0 is the caller, -1 every process; cpu -1 is any. Returns the descriptor or
 * STATUS_IO with errno as the kernel set it.
 */
int os_perf_open(const struct perf_event_attr *attr, pid_t pid, int cpu);

/* Records of `fd` go to the ring that is mapped from `ring_fd`. Each returns 0 or STATUS_IO. */
int os_perf_redirect(int fd, int ring_fd);
int os_perf_enable(int fd);
int os_perf_disable(int fd);
int os_perf_id(int fd, uint64_t *id);

/* Samples and records that found no room, with attr.read_format exactly PERF_FORMAT_ID |
 * PERF_FORMAT_LOST. Children that inherited the event are counted in.
 */
int os_perf_lost(int fd, uint64_t *lost);

/* What the administrator allows; values that cannot be read have the kernel's default. */
struct os_perf_limits {
	int paranoid;             /* kernel.perf_event_paranoid */
	uint64_t max_sample_rate; /* kernel.perf_event_max_sample_rate, Hz */
	uint64_t mlock_bytes;     /* kernel.perf_event_mlock_kb: of rings, a CPU and user */
	bool is_privileged;       /* we may watch the kernel and others whatever paranoid says */
	bool can_lock;            /* mlock_bytes does not bind us */
};

struct os_perf_limits os_perf_limits(void);

#endif
