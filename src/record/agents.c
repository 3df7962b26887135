#include "record/agents.h"

#include "base/status.h"
#include "os/clock.h"
#include "record/agents_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPEN_MAX = 4096 }; /* that live at once */

/* The kernel's walk counts from 1: both can be in one recording. */
#define FIRST_ID 0x80000000u

/* What a process told last is read a little after its end. */
static const uint64_t last_words_ns = 1000000000;

int agents_new(struct agents **made, const struct agents_options *options)
{
	struct agents *agents = calloc(1, sizeof(*agents));
	if (!agents)
		return STATUS_NO_MEMORY;
	agents->options = *options;
	agents->epoll_fd = agents->socket_fd = -1;
	const int result = agents_listen(agents);
	if (result < 0) {
		const int saved = errno;
		agents_free(agents);
		errno = saved;
		return result;
	}
	*made = agents;
	return 0;
}

void agents_end(struct agents *agents, struct agent *agent)
{
	agents_close_events(agents, agent);
	if (!agent->ended_ns)
		agent->ended_ns = os_clock_mono_ns();
}

void agents_free(struct agents *agents)
{
	if (!agents)
		return;
	for (size_t i = 0; i < agents->list.count; i++) {
		agents_close_events(agents, &agents->list.items[i]);
		agents_close_ring(agents, &agents->list.items[i]);
	}
	for (size_t i = 0; i < agents->guests.count; i++)
		close(agents->guests.items[i].fd);
	if (agents->socket_fd >= 0) {
		close(agents->socket_fd);
		(void)unlink(agents->path);
	}
	if (agents->epoll_fd >= 0)
		close(agents->epoll_fd);
	vector_clear(&agents->guests);
	vector_clear(&agents->list);
	vector_clear(&agents->ids);
	vector_clear(&agents->told);
	idmap_clear(&agents->by_pid);
	idmap_clear(&agents->hellos);
	idmap_clear(&agents->by_id);
	free(agents);
}

void agents_close_silent(struct agents *agents, uint64_t now_ns)
{
	bool is_first = true;
	for (size_t i = agents->open_from; i < agents->list.count; i++) {
		struct agent *agent = &agents->list.items[i];
		if (agent->ring && agent->ended_ns && now_ns > agent->ended_ns + last_words_ns)
			agents_close_ring(agents, agent);
		is_first &= !agent->ring;
		if (is_first)
			agents->open_from = i + 1;
	}
}

static void tell(struct agents *agents, const struct interp_found *found, pid_t pid)
{
	for (size_t i = 0; i < agents->told.count; i++)
		if (agents->told.items[i].refusal == found->refusal &&
		    strcmp(agents->told.items[i].version, found->version) == 0)
			return;
	struct interp_found *slot = vector_push(&agents->told);
	if (slot)
		*slot = *found;
	if (found->refusal)
		say_note(agents->options.say,
			 "Python %s (process %d): its functions are not read: %s", found->version,
			 pid, found->refusal);
	else
		say_note(agents->options.say,
			 "Python %s (process %d): its functions are read at each sample in user "
			 "space, by an agent in it: that takes no privilege",
			 found->version, pid);
}

static int describe(struct agents *agents, pid_t pid, struct walk_runtime *runtime)
{
	struct interp_process process;
	const int result = interp_process_open(&process, NULL, pid);
	for (size_t i = 0; result == 0 && i < process.found_count; i++) {
		if (process.found[i].runtime.language != WALK_PYTHON)
			continue;
		tell(agents, &process.found[i], pid);
		*runtime = process.found[i].runtime;
		return process.found[i].refusal ? STATUS_UNSUPPORTED : 0;
	}
	return result ? result : STATUS_NOT_FOUND;
}

/* A copy by fork() has everything where its parent has it. */
static bool copy_runtime(const struct agents *agents, uint32_t id, struct walk_runtime *runtime)
{
	if (id < FIRST_ID || id - FIRST_ID >= agents->list.count)
		return false;
	*runtime = agents->list.items[id - FIRST_ID].runtime;
	return true;
}

static int fill(struct agents *agents, struct agent *agent, const struct agent_hello *hello,
		int *ring_fd)
{
	int result = 0;
	if (!copy_runtime(agents, hello->runtime, &agent->runtime))
		result = describe(agents, agent->pid, &agent->runtime);
	agent->runtime.id = FIRST_ID + (uint32_t)agents->list.count - 1;
	if (result == 0)
		result = agents_open_events(agents, agent);
	if (result == 0)
		*ring_fd = agents_make_ring(agents, agent);
	return result == 0 && *ring_fd < 0 ? *ring_fd : result;
}

/* What hinders one will hinder others. */
static void tell_failure(struct agents *agents, pid_t pid, int result, int error)
{
	if (result != STATUS_IO || agents->was_failure_said)
		return;
	agents->was_failure_said = true;
	say_warning(agents->options.say,
		    "functions of Python (process %d) are not read: its events or its ring: %s",
		    pid,
		    strerror(error)); // NOLINT
}

int agents_take(struct agents *agents, const struct agent_hello *hello, uint64_t now_ns,
		struct agent_answer *answer, int *ring_fd)
{
	const pid_t pid = (pid_t)hello->pid;
	uint32_t *is_there = idmap_put(&agents->hellos, (uint64_t)pid);
	if (is_there)
		*is_there = 1;
	agents_close_silent(agents, now_ns);
	if (agents->options.events->is_stopped || agents->open_count >= OPEN_MAX)
		return STATUS_UNSUPPORTED;
	struct agent *agent = vector_push(&agents->list);
	uint32_t *last = idmap_put(&agents->by_pid, (uint64_t)pid);
	if (!agent || !last) {
		agents->list.count -= agent != NULL;
		return STATUS_NO_MEMORY;
	}
	*agent = (struct agent){
		.pid = pid, .before = *last, .from_ns = AGENTS_ALWAYS, .to_ns = AGENTS_ALWAYS
	};
	const int result = fill(agents, agent, hello, ring_fd);
	if (result < 0) {
		tell_failure(agents, pid, result, errno);
		agents_close_events(agents, agent);
		agents_close_ring(agents, agent);
		agents->list.count--;
		return result;
	}
	*last = (uint32_t)agents->list.count;
	answer->runtime = agent->runtime;
	return 0;
}

/* It waits for us: it takes no sample between the two. */
void agents_begin(struct agents *agents, struct agent *agent)
{
	agent->from_ns = os_clock_mono_ns();
	if (agents->has_started)
		agents_enable(agent);
}

bool agents_are_there(const struct agents *agents)
{
	return agents->open_count > 0;
}

bool agents_have(const struct agents *agents, pid_t pid)
{
	return idmap_get(&agents->hellos, (uint64_t)pid);
}

void agents_start(struct agents *agents)
{
	agents->has_started = true;
	for (size_t i = 0; i < agents->list.count; i++)
		if (agents->list.items[i].from_ns != AGENTS_ALWAYS)
			agents_enable(&agents->list.items[i]);
}

void agents_stop(struct agents *agents)
{
	for (size_t i = 0; i < agents->list.count; i++)
		for (size_t k = 0; k < agents->list.items[i].fds.count; k++)
			os_perf_disable(agents->list.items[i].fds.items[k]);
}

uint64_t agents_lost(const struct agents *agents)
{
	uint64_t total = agents->lost_samples;
	for (size_t i = 0; i < agents->list.count; i++) {
		const struct agent *agent = &agents->list.items[i];
		for (size_t k = 0; k < agent->fds.count; k++) {
			uint64_t lost;
			if (agents->options.events->support.lost &&
			    os_perf_lost(agent->fds.items[k], &lost) == 0)
				total += lost;
		}
	}
	return total;
}

static struct agent *at(const struct agents *agents, uint32_t index)
{
	return index ? &agents->list.items[index - 1] : NULL;
}

/* The number means another program from now on. */
void agents_exec(struct agents *agents, pid_t pid, uint64_t time_ns)
{
	struct agent *agent = at(agents, idmap_get(&agents->by_pid, (uint64_t)pid));
	for (; agent; agent = at(agents, agent->before)) {
		/* Its successor may have said hello before we heard of this. */
		if (agent->from_ns >= time_ns || agent->to_ns <= time_ns)
			continue;
		agent->to_ns = time_ns;
		agents_end(agents, agent);
	}
}

void agents_fork(struct agents *agents, pid_t pid, uint64_t time_ns)
{
	agents_exec(agents, pid, time_ns);
}

void agents_exit(struct agents *agents, pid_t pid)
{
	struct agent *agent = at(agents, idmap_get(&agents->by_pid, (uint64_t)pid));
	struct proc_ids tids = { 0 };
	/* The leader may end before its other threads do. */
	const bool has_threads = agent && proc_tasks(pid, &tids) == 0 && tids.count > 1;
	vector_clear(&tids);
	if (agent && !has_threads)
		agents_end(agents, agent);
}

bool agents_covers(const struct agents *agents, pid_t pid, uint32_t event, uint64_t time_ns)
{
	const struct agent *agent = at(agents, idmap_get(&agents->by_pid, (uint64_t)pid));
	while (agent && agent->from_ns > time_ns)
		agent = at(agents, agent->before);
	return agent && time_ns < agent->to_ns && (agent->event_mask >> event & 1);
}
