#include "record/events.h"

#include "base/status.h"
#include "format/frames/reader.h"
#include "record/refusal.h"
#include "record/rings.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

/* Threads times CPUs times events: the soft limit is made for programs of old. */
static void raise_file_limit(void)
{
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

static bool is_absent(int error)
{
	return error == ENOENT || error == ENXIO || error == EOPNOTSUPP || error == ENODEV;
}

/* Opens on one CPU and keeps the descriptor. Returns 0, or STATUS_IO with errno. */
static int open_on_cpu(struct open_event *event, pid_t tid, const struct cpu_rings *rings)
{
	struct perf_event_attr attr = event->attr;
	if (event->has_watch)
		attr.ksymbol = attr.bpf_event = 0;
	if (!vector_reserve(&event->fds, 1) || !vector_reserve(&event->ids, 1))
		return STATUS_NO_MEMORY;
	const int fd = os_perf_open(&attr, tid, rings->cpu);
	if (fd < 0)
		return STATUS_IO;
	uint64_t id;
	const int ring_fd = event->is_sideband ? rings->sideband_fd : rings->sample_fd;
	if (os_perf_id(fd, &id) < 0 || os_perf_redirect(fd, ring_fd) < 0) {
		const int saved = errno;
		close(fd);
		errno = saved;
		return STATUS_IO;
	}
	event->fds.items[event->fds.count++] = fd;
	event->ids.items[event->ids.count++] = id;
	/* Children inherit it. */
	if (event->walker && walker_attach(event->walker, fd) < 0)
		event->walker = NULL;
	return 0;
}

/* Returns 0 also where the thread is gone, or the event's PMU is not on some CPUs. */
static int open_for_thread(struct events *events, struct open_event *event, pid_t tid)
{
	bool any = false;
	for (size_t i = 0; i < events->cpus.count; i++) {
		const int result = open_on_cpu(event, tid, &events->cpus.items[i]);
		if (result == STATUS_IO && errno == ESRCH)
			return 0;
		if (result == STATUS_IO && errno == ENODEV)
			continue;
		if (result)
			return result;
		any = true;
	}
	if (!any)
		errno = ENODEV;
	return any ? 0 : STATUS_IO;
}

/* A trial on the first thread and CPU: finds the attr that works, or none. */
static int settle(struct events *events, struct open_event *event, pid_t tid,
		  const struct attr_wants *wants, const struct say *say)
{
	for (;;) {
		const int fd = os_perf_open(&event->attr, tid, events->cpus.items[0].cpu);
		if (fd >= 0) {
			close(fd);
			return 0;
		}
		if (errno == ESRCH || errno == ENODEV)
			return 0; /* for open_for_thread() to judge, over all CPUs */
		if (errno == EACCES || errno == EPERM)
			return STATUS_IO;
		if (event->event.is_precision_best && event->attr.precise_ip) {
			event->attr.precise_ip--;
			continue;
		}
		if (!event_has_fallback(&event->event) || !is_absent(errno))
			return STATUS_IO;
		event->event = event_cpu_clock(&event->event);
		const bool on_exec = event->attr.enable_on_exec;
		event->attr = attr_for_samples(&events->support, &event->event, wants);
		event->attr.enable_on_exec = on_exec;
		say_note(say, "no hardware counter for cycles here: sampling %s",
			 event->event.name);
	}
}

/* All modes of the CPU are left out by what the name, the user and the kernel exclude. */
static bool is_empty(const struct open_event *event)
{
	return !event->is_sideband && event->attr.exclude_user && event->attr.exclude_kernel;
}

static struct open_event *add_event(struct events *events)
{
	return vector_push(&events->list);
}

static int prepare(struct events *events, const struct events_target *target,
		   const struct events_plan *plan)
{
	for (size_t i = 0; i < plan->events->count; i++) {
		struct open_event *event = add_event(events);
		if (!event)
			return STATUS_NO_MEMORY;
		event->event = plan->events->items[i];
		event->attr = attr_for_samples(&events->support, &event->event, &plan->wants);
		event->attr.enable_on_exec = target->on_exec && !plan->delay_ns;
		event->walker = plan->walker;
	}
	struct open_event *sideband = add_event(events);
	if (!sideband)
		return STATUS_NO_MEMORY;
	sideband->is_sideband = true;
	memcpy(sideband->event.name, "dummy", sizeof("dummy"));
	sideband->attr = attr_for_sideband(&events->support, &plan->wants);
	sideband->attr.enable_on_exec = target->on_exec;
	sideband->attr.disabled = target->on_exec;
	return 0;
}

static void close_event(struct open_event *event)
{
	for (size_t i = 0; i < event->fds.count; i++)
		close(event->fds.items[i]);
	vector_clear(&event->fds);
	vector_clear(&event->ids);
}

/* Where this user may not watch all of a CPU, threads tell of the programs that they load. */
static int watch_programs(struct events *events)
{
	struct open_event *sideband = &events->list.items[events->list.count - 1];
	if (!sideband->attr.bpf_event || !sideband->attr.ksymbol || sideband->attr.exclude_kernel)
		return 0;
	struct open_event watch = { .attr = attr_for_programs(&sideband->attr),
				    .is_sideband = true };
	int result = 0;
	for (size_t i = 0; result == 0 && i < events->cpus.count; i++)
		result = open_on_cpu(&watch, -1, &events->cpus.items[i]);
	if (result < 0) {
		close_event(&watch);
		return result == STATUS_NO_MEMORY ? result : 0;
	}
	/* Its records carry ids of the sideband: for readers they are one event. */
	memcpy(&sideband->fds, &watch.fds, sizeof(sideband->fds));
	memcpy(&sideband->ids, &watch.ids, sizeof(sideband->ids));
	sideband->has_watch = true;
	return 0;
}

static int open_frames_on_cpu(struct events *events, struct cpu_rings *rings, struct walker *walker)
{
	struct open_event *frames = &events->frames;
	const int result = open_on_cpu(frames, -1, rings);
	if (result)
		return result;
	rings->frames_id = frames->ids.items[frames->ids.count - 1];
	return walker_set_ring(walker, rings->cpu, frames->fds.items[frames->fds.count - 1]);
}

/* Whatever is watched: what the walk writes goes through an event of the CPU that it runs on. A
 * recording without it is a recording still.
 */
static int open_frames(struct events *events, struct walker *walker, const struct say *say)
{
	int result = 0;
	events->frames.attr = attr_for_frames(&events->support);
	memcpy(events->frames.event.name, FRAMES_EVENT_NAME, sizeof(FRAMES_EVENT_NAME));
	for (size_t i = 0; result == 0 && i < events->cpus.count; i++)
		result = open_frames_on_cpu(events, &events->cpus.items[i], walker);
	events->has_frames = result == 0;
	if (result == 0 || result == STATUS_NO_MEMORY)
		return result;
	say_warning(say, "interpreters are not walked: %s: %s", FRAMES_EVENT_NAME, strerror(errno));
	close_event(&events->frames);
	for (size_t i = 0; i < events->cpus.count; i++)
		events->cpus.items[i].frames_id = 0;
	for (size_t i = 0; i < events->list.count; i++)
		events->list.items[i].walker = NULL;
	return 0;
}

/* What agents tell is written by ourselves: a number is all that it takes, which nobody else has.
 * With the walk there, too, its own do.
 */
static int open_frames_number(struct events *events)
{
	struct open_event *frames = &events->frames;
	if (events->has_frames)
		return 0;
	frames->attr = attr_for_frames(&events->support);
	frames->attr.exclude_kernel = frames->attr.exclude_hv = 1;
	memcpy(frames->event.name, FRAMES_EVENT_NAME, sizeof(FRAMES_EVENT_NAME));
	if (!vector_reserve(&frames->fds, 1) || !vector_reserve(&frames->ids, 1))
		return STATUS_NO_MEMORY;
	const int fd = os_perf_open(&frames->attr, 0, -1);
	if (fd < 0)
		return STATUS_IO;
	frames->fds.items[frames->fds.count++] = fd;
	if (os_perf_id(fd, &frames->ids.items[0]) < 0)
		return STATUS_IO;
	frames->ids.count = 1;
	events->has_frames = true;
	return 0;
}

/* Samples before sideband: a thread whose birth the sideband told of has both. */
static int open_everywhere(struct events *events, pid_t tid, struct refusal *refusal)
{
	for (size_t i = 0; i < events->list.count; i++) {
		struct open_event *event = &events->list.items[i];
		const int result = open_for_thread(events, event, tid);
		if (result) {
			refusal->what = event->event.name;
			return result;
		}
	}
	return 0;
}

static int refuse(const struct say *say, int result, const struct refusal *refusal)
{
	const int error = errno;
	if (result == STATUS_IO)
		refusal_explain(say, error, refusal);
	else
		say_error(say, "%s", status_text(result));
	return result;
}

int events_open(struct events *events, const struct events_target *target,
		const struct events_plan *plan, const struct say *say)
{
	*events = (struct events){ 0 };
	struct refusal refusal = { .what = "sampling", .system_wide = target->system_wide };
	raise_file_limit();
	int result = attr_probe(&events->support);
	if (result)
		return refuse(say, result, &refusal);
	if (!events->support.kernel && !plan->wants.user_only)
		refusal_note_kernel(say);
	const struct rings_want want = { plan->ring_bytes,
					 plan->wants.stacks == RECORD_STACKS_DWARF };
	result = rings_open(events, &want, say);
	if (result)
		return result;
	result = prepare(events, target, plan);
	if (result == 0 && plan->walker)
		result = open_frames(events, plan->walker, say);
	if (result == 0 && plan->has_agents) {
		refusal.what = FRAMES_EVENT_NAME;
		result = open_frames_number(events);
	}
	const pid_t everyone = -1;
	const struct proc_ids all = { .items = (pid_t *)&everyone, .count = 1 };
	const struct proc_ids *tids = target->system_wide ? &all : target->tids;
	for (size_t i = 0; result == 0 && i < events->list.count; i++) {
		struct open_event *event = &events->list.items[i];
		if (is_empty(event)) {
			say_error(say, "%s samples the kernel only, which is left out here",
				  event->event.name);
			return STATUS_DENIED;
		}
		refusal.what = event->event.name;
		refusal.pid = target->on_exec || target->system_wide ? 0 : tids->items[0];
		result = settle(events, event, tids->items[0], &plan->wants, say);
	}
	if (result == 0 && !target->system_wide)
		result = watch_programs(events);
	for (size_t i = 0; result == 0 && i < tids->count; i++)
		result = open_everywhere(events, tids->items[i], &refusal);
	return result ? refuse(say, result, &refusal) : 0;
}

int events_add_threads(struct events *events, const struct proc_ids *tids)
{
	struct refusal refusal = { 0 };
	int result = 0;
	for (size_t i = 0; result == 0 && i < tids->count; i++)
		result = open_everywhere(events, tids->items[i], &refusal);
	return result;
}

void events_start(struct events *events)
{
	for (size_t i = 0; i < events->list.count; i++) {
		const struct open_event *event = &events->list.items[i];
		for (size_t k = 0; !event->is_sideband && k < event->fds.count; k++)
			os_perf_enable(event->fds.items[k]);
	}
}

void events_stop(struct events *events)
{
	/* Threads times CPUs of calls. */
	if (events->is_stopped)
		return;
	events->is_stopped = true;
	for (size_t i = 0; i < events->list.count; i++) {
		const struct open_event *event = &events->list.items[i];
		for (size_t k = 0; k < event->fds.count; k++)
			os_perf_disable(event->fds.items[k]);
	}
}

static uint64_t lost_of(const struct open_event *event)
{
	uint64_t total = 0;
	for (size_t i = 0; i < event->fds.count; i++) {
		uint64_t lost;
		if (os_perf_lost(event->fds.items[i], &lost) == 0)
			total += lost;
	}
	return total;
}

uint64_t events_lost(const struct events *events)
{
	if (!events->support.lost)
		return 0;
	uint64_t total = lost_of(&events->frames);
	for (size_t i = 0; i < events->list.count; i++)
		total += lost_of(&events->list.items[i]);
	return total;
}

void events_close(struct events *events)
{
	for (size_t i = 0; i < events->list.count; i++)
		close_event(&events->list.items[i]);
	close_event(&events->frames);
	vector_clear(&events->list);
	rings_close(events);
}
