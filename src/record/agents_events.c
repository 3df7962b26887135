#include "base/number.h"
#include "base/status.h"
#include "record/agents_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static void make_trap(struct perf_event_attr *attr)
{
	attr->sigtrap = 1;
	attr->sig_data = AGENT_SIGNAL_DATA;
	attr->remove_on_exec = 1; /* the next program has no handler */
	attr->inherit = 1;
	attr->inherit_thread = 1; /* nor, at first, has a child */
	attr->enable_on_exec = 0;
	attr->disabled = 1;
	/* A signal in the kernel would interrupt system calls. */
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
}

/* Before 5.18 a sample of a thread that blocks SIGTRAP kills its process. */
static bool is_kernel_good(void)
{
	struct utsname name;
	uint32_t major;
	uint32_t minor;
	if (uname(&name) != 0)
		return false;
	const char *rest = number_skip_u32(name.release, &major);
	return rest && *rest == '.' && number_skip_u32(rest + 1, &minor) &&
	       (major > 5 || (major == 5 && minor >= 18));
}

int agents_try(const char **reason)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.sample_period = 1000000 };
#if !defined(__x86_64__)
	*reason = "it is for x86-64 only";
	return STATUS_UNSUPPORTED;
#endif
	*reason = "it takes Linux 5.18";
	if (!is_kernel_good())
		return STATUS_UNSUPPORTED;
	make_trap(&attr);
	const int fd = os_perf_open(&attr, 0, -1);
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	*reason = strerror(errno); // NOLINT
	return errno == EACCES || errno == EPERM ? STATUS_DENIED : STATUS_UNSUPPORTED;
}

static bool add_id(struct agents *agents, uint64_t id, struct agents_id what)
{
	struct agents_id *slot = vector_push(&agents->ids);
	uint32_t *index = idmap_put(&agents->by_id, id);
	if (!slot || !index)
		return false;
	*slot = what;
	*index = (uint32_t)agents->ids.count;
	return true;
}

/* Once they are open: threads that come later inherit them, with their numbers. */
static bool know_event_ids(struct agents *agents)
{
	const struct events *events = agents->options.events;
	if (agents->has_event_ids)
		return true;
	for (size_t i = 0; i < events->list.count; i++) {
		const struct open_event *event = &events->list.items[i];
		for (size_t k = 0; !event->is_sideband && k < event->ids.count; k++) {
			const uint64_t id = event->ids.items[k];
			if (!add_id(agents, id,
				    (struct agents_id){ id, (uint32_t)i, false, false }))
				return false;
		}
	}
	agents->has_event_ids = true;
	return true;
}

const struct agents_id *agents_id(struct agents *agents, uint64_t id)
{
	if (!know_event_ids(agents))
		return NULL;
	const uint32_t index = idmap_get(&agents->by_id, id);
	return index ? &agents->ids.items[index - 1] : NULL;
}

/* Readers know its samples by the number of the recording's event; the events of the command
 * are on all CPUs, in order.
 */
static int open_on(struct agents *agents, struct agent *agent, uint32_t index, pid_t tid,
		   size_t cpu)
{
	struct events *events = agents->options.events;
	const struct open_event *event = &events->list.items[index];
	const struct cpu_rings *rings = &events->cpus.items[cpu];
	struct perf_event_attr attr = event->attr;
	uint64_t id;
	make_trap(&attr);
	if (!vector_reserve(&agent->fds, 1))
		return STATUS_NO_MEMORY;
	const int fd = os_perf_open(&attr, tid, rings->cpu);
	if (fd < 0)
		return STATUS_IO;
	/* Interrupts of counters come a few instructions late, those of clocks do not. */
	const struct agents_id what = { event->ids.items[cpu % event->ids.count], index, true,
					attr.type != PERF_TYPE_SOFTWARE || attr.precise_ip > 0 };
	if (os_perf_id(fd, &id) < 0 || os_perf_redirect(fd, rings->sample_fd) < 0 ||
	    !add_id(agents, id, what)) {
		close(fd);
		return STATUS_IO;
	}
	if (agents->options.walker)
		(void)walker_attach(agents->options.walker, fd);
	agent->fds.items[agent->fds.count++] = fd;
	return 0;
}

/* All CPUs or none, so that no sample is counted twice. */
static bool open_event(struct agents *agents, struct agent *agent, uint32_t index, pid_t tid)
{
	const struct events *events = agents->options.events;
	const size_t before = agent->fds.count;
	for (size_t i = 0; i < events->cpus.count; i++) {
		if (open_on(agents, agent, index, tid, i) == 0)
			continue;
		while (agent->fds.count > before)
			close(agent->fds.items[--agent->fds.count]);
		return false;
	}
	return true;
}

static bool can_trap(const struct open_event *event)
{
	return !event->is_sideband && event->ids.count && !event->attr.exclude_user &&
	       event->attr.type != PERF_TYPE_TRACEPOINT;
}

int agents_open_events(struct agents *agents, struct agent *agent)
{
	enum { EVENTS_MAX = 64 };
	const struct events *events = agents->options.events;
	struct proc_ids tids = { 0 };
	if (!know_event_ids(agents))
		return STATUS_NO_MEMORY;
	int result = proc_tasks(agent->pid, &tids);
	for (uint32_t i = 0; result == 0 && i < events->list.count && i < EVENTS_MAX; i++) {
		bool is_open = can_trap(&events->list.items[i]);
		for (size_t k = 0; is_open && k < tids.count; k++)
			is_open = open_event(agents, agent, i, tids.items[k]);
		if (is_open)
			agent->event_mask |= 1ull << i;
	}
	vector_clear(&tids);
	if (result == 0 && !agent->event_mask)
		result = STATUS_IO;
	return result;
}

void agents_enable(const struct agent *agent)
{
	for (size_t i = 0; i < agent->fds.count; i++)
		os_perf_enable(agent->fds.items[i]);
}

void agents_close_events(struct agents *agents, struct agent *agent)
{
	for (size_t i = 0; i < agent->fds.count; i++) {
		uint64_t lost;
		if (agents->options.events->support.lost &&
		    os_perf_lost(agent->fds.items[i], &lost) == 0)
			agents->lost_samples += lost;
		close(agent->fds.items[i]);
	}
	vector_clear(&agent->fds);
}
