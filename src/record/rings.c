#include "record/rings.h"

#include "base/status.h"
#include "os/machine.h"
#include "record/refusal.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	KB = 1024,
	MB = 1024 * KB,
	RING_MIN = 32 * KB,
	RING_PLAIN = 4 * MB,  /* seconds of samples with frame pointers */
	RING_LARGE = 16 * MB, /* 4,999 Hz of 8 KB stacks fill it in 0.4 s */
	RING_LIMIT = 1024 * MB,
	SIDEBAND_MIN = 64 * KB,
	SIDEBAND_PLAIN = 512 * KB,
};

/* All CPUs together: large machines have smaller rings, but more readers' turns. */
static const uint64_t total_bytes = 512 * (uint64_t)MB;

static size_t power_of_two_below(uint64_t size)
{
	size_t power = RING_MIN;
	while (power < RING_LIMIT && 2 * (uint64_t)power <= size)
		power *= 2;
	return power;
}

struct rings_sizes rings_sizes(const struct os_perf_limits *limits, uint64_t rlimit_bytes,
			       size_t cpu_count, const struct rings_want *want)
{
	struct rings_sizes sizes = { want->sample_bytes, SIDEBAND_PLAIN };
	uint64_t best = want->large_samples ? RING_LARGE : RING_PLAIN;
	if (best > total_bytes / cpu_count)
		best = total_bytes / cpu_count;
	if (!limits->can_lock) {
		/* What every user has, and a part of what this one may lock besides; each
		 * ring has one page more than its size.
		 */
		const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
		const uint64_t own = limits->mlock_bytes + rlimit_bytes / 4 * 3 / cpu_count;
		sizes.sideband_bytes = power_of_two_below(own / 4);
		if (sizes.sideband_bytes > SIDEBAND_PLAIN)
			sizes.sideband_bytes = SIDEBAND_PLAIN;
		const uint64_t used = sizes.sideband_bytes + 2 * page;
		const uint64_t left = own > used ? own - used : 0;
		if (best > left)
			best = left;
	}
	if (!sizes.sample_bytes)
		sizes.sample_bytes = power_of_two_below(best);
	else
		sizes.sample_bytes = power_of_two_below(sizes.sample_bytes);
	return sizes;
}

static int open_ring(const struct attr_support *support, int cpu, size_t size, uint32_t watermark,
		     int *fd, struct perf_ring *ring)
{
	const struct perf_event_attr attr = attr_for_ring(support, watermark);
	*fd = os_perf_open(&attr, 0, cpu);
	if (*fd < 0)
		return STATUS_IO;
	return perf_ring_map(ring, *fd, size);
}

static int open_cpu(struct events *events, int cpu, const struct rings_sizes *sizes)
{
	struct cpu_rings *rings = vector_push(&events->cpus);
	if (!rings)
		return STATUS_NO_MEMORY;
	*rings = (struct cpu_rings){ .cpu = cpu, .sample_fd = -1, .sideband_fd = -1 };
	int result =
	    open_ring(&events->support, cpu, sizes->sample_bytes, (uint32_t)sizes->sample_bytes / 4,
		      &rings->sample_fd, &rings->samples);
	/* The sideband wakes the reader with its first byte. */
	if (result == 0)
		result = open_ring(&events->support, cpu, sizes->sideband_bytes, 1,
				   &rings->sideband_fd, &rings->sideband);
	return result;
}

static int open_all(struct events *events, const struct machine_cpus *cpus,
		    const struct rings_sizes *sizes)
{
	int result = 0;
	for (size_t i = 0; result == 0 && i < cpus->count; i++) {
		result = open_cpu(events, cpus->items[i], sizes);
		/* Gone since the list was read: nothing runs there. */
		if (result == STATUS_IO && errno == ENODEV) {
			events->cpus.count--;
			result = 0;
		}
	}
	return result;
}

static void explain(const struct say *say, int result)
{
	if (result == STATUS_IO && errno == EPERM) {
		say_error(say, "this user may not lock enough memory for the kernel's rings "
			       "(kernel.perf_event_mlock_kb)");
		say_try(say, "sudo sysctl kernel.perf_event_mlock_kb=4096");
	} else if (result == STATUS_IO) {
		refusal_explain(say, errno, &(struct refusal){ .what = "the rings" });
	} else {
		say_error(say, "%s", status_text(result));
	}
}

int rings_open(struct events *events, const struct rings_want *want, const struct say *say)
{
	struct machine_cpus cpus = { 0 };
	int result = machine_online_cpus(&cpus);
	if (result == 0 && cpus.count == 0)
		result = STATUS_NOT_FOUND;
	if (result) {
		say_error(say, "cannot tell which CPUs there are");
		vector_clear(&cpus);
		return result;
	}
	const struct os_perf_limits limits = os_perf_limits();
	struct rlimit lock = { 0 };
	if (getrlimit(RLIMIT_MEMLOCK, &lock) != 0 || lock.rlim_cur > RING_LIMIT)
		lock.rlim_cur = lock.rlim_cur > RING_LIMIT ? RING_LIMIT : 0;
	struct rings_sizes sizes = rings_sizes(&limits, lock.rlim_cur, cpus.count, want);
	for (;;) {
		result = open_all(events, &cpus, &sizes);
		/* Someone else's rings count too: make do with less. */
		if (result != STATUS_IO || (errno != EPERM && errno != ENOMEM) ||
		    sizes.sample_bytes <= RING_MIN)
			break;
		rings_close(events);
		sizes.sample_bytes /= 2;
		if (sizes.sideband_bytes > SIDEBAND_MIN)
			sizes.sideband_bytes /= 2;
	}
	if (result)
		explain(say, result);
	else if (want->sample_bytes > sizes.sample_bytes)
		say_warning(say, "rings of %zu KB a CPU are all that this user gets",
			    sizes.sample_bytes / KB);
	vector_clear(&cpus);
	return result;
}

void rings_close(struct events *events)
{
	for (size_t i = 0; i < events->cpus.count; i++) {
		struct cpu_rings *rings = &events->cpus.items[i];
		perf_ring_unmap(&rings->samples);
		perf_ring_unmap(&rings->sideband);
		if (rings->sample_fd >= 0)
			close(rings->sample_fd);
		if (rings->sideband_fd >= 0)
			close(rings->sideband_fd);
	}
	vector_clear(&events->cpus);
}
