#include "os/perf_event.h"

#include "base/status.h"
#include "os/proc.h"

#include <linux/capability.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int os_perf_open(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	/* The kernel writes the size it knows into an attr that is too big for it. */
	struct perf_event_attr copy = *attr;
	const long fd =
	    syscall(SYS_perf_event_open, &copy, pid, cpu, -1, (unsigned long)PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? STATUS_IO : (int)fd;
}

static int control(int fd, unsigned long request, void *argument)
{
	return ioctl(fd, request, argument) < 0 ? STATUS_IO : 0;
}

int os_perf_redirect(int fd, int ring_fd)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring_fd) < 0 ? STATUS_IO : 0;
}

int os_perf_enable(int fd)
{
	return control(fd, PERF_EVENT_IOC_ENABLE, NULL);
}

int os_perf_disable(int fd)
{
	return control(fd, PERF_EVENT_IOC_DISABLE, NULL);
}

int os_perf_id(int fd, uint64_t *id)
{
	return control(fd, PERF_EVENT_IOC_ID, id);
}

int os_perf_lost(int fd, uint64_t *lost)
{
	uint64_t words[3]; /* value, id, lost */
	if (read(fd, words, sizeof(words)) != (ssize_t)sizeof(words))
		return STATUS_IO;
	*lost = words[2];
	return 0;
}

static bool has_capability(unsigned capability)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };
	if (syscall(SYS_capget, &header, data) != 0)
		return false;
	return data[capability / 32].effective & (1u << capability % 32);
}

struct os_perf_limits os_perf_limits(void)
{
	const bool is_admin = has_capability(CAP_SYS_ADMIN);
	struct os_perf_limits limits = {
		.paranoid = (int)proc_number("/proc/sys/kernel/perf_event_paranoid", 2),
		.max_sample_rate =
		    (uint64_t)proc_number("/proc/sys/kernel/perf_event_max_sample_rate", 100000),
		.mlock_bytes =
		    1024 * (uint64_t)proc_number("/proc/sys/kernel/perf_event_mlock_kb", 516),
		.is_privileged = is_admin || has_capability(CAP_PERFMON),
	};
	limits.can_lock = limits.paranoid < 0 || has_capability(CAP_IPC_LOCK);
	return limits;
}
