#include "record/collector_internal.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	ACTIVE_TICK_MS = 10, /* bounds how long lines that come in bursts stay undated */
	IDLE_TICK_MS = 100,
	/* A flood of lines may take a twentieth of a CPU, not more: then we look every ms. */
	WINDOW_NS = 100 * 1000 * 1000,
	WINDOW_WAKES = 500,
	PAUSE_NS = 1000 * 1000,
};

/* The time between a line and our seeing it is what makes its interval wide. */
static void hurry(void)
{
	const struct sched_param param = { .sched_priority = 1 };
	(void)prctl(PR_SET_TIMERSLACK, 1);
	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param) == 0)
		return;
	(void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), -20);
}

static void check_all(struct collector *c, uint64_t now_ns)
{
	for (size_t i = 0; i < c->maps.count; i++)
		collector_check_map(c, &c->maps.items[i], now_ns);
}

/* Events were lost, or there are none: looks for what they would have told of. */
static void search_maps(struct collector *c)
{
	for (size_t i = 0; i < c->processes.count; i++) {
		const struct process process = c->processes.items[i];
		if (process.end_ns)
			continue;
		collector_open_map(c, process.maps_directory, process_number(&process));
		if (c->private_directory != COLLECTOR_NONE)
			collector_open_map(c, c->private_directory, process_number(&process));
		if (process.told_directory != COLLECTOR_NONE)
			collector_open_map(c, process.told_directory, process_number(&process));
	}
}

static void on_event(struct collector *c, const struct inotify_event *event, uint64_t now_ns)
{
	if (event->mask & IN_Q_OVERFLOW) {
		c->has_lost_events = true;
		return;
	}
	if (event->len) {
		const uint32_t number = collector_map_number(event->name);
		for (size_t i = 0; number && i < c->directories.count; i++)
			if (c->directories.items[i].watch == event->wd)
				collector_open_map(c, (uint32_t)i, number);
		return;
	}
	for (size_t i = 0; i < c->maps.count; i++) {
		struct map *map = &c->maps.items[i];
		if (map->watch != event->wd)
			continue;
		if (event->mask & IN_IGNORED)
			map->watch = -1;
		else
			collector_check_map(c, map, now_ns);
	}
}

static void read_events(struct collector *c)
{
	_Alignas(struct inotify_event) char buffer[16384];
	for (;;) {
		const ssize_t got = read(c->inotify_fd, buffer, sizeof(buffer));
		if (got <= 0)
			break;
		const uint64_t now_ns = os_clock_mono_ns();
		for (ssize_t at = 0; at < got;) {
			const struct inotify_event *event =
			    (const struct inotify_event *)(const void *)(buffer + at);
			on_event(c, event, now_ns);
			at += (ssize_t)sizeof(*event) + event->len;
		}
	}
	if (c->has_lost_events) {
		c->has_lost_events = false;
		search_maps(c);
		check_all(c, os_clock_mono_ns());
	}
}

static void pause_in_a_flood(struct collector *c)
{
	const uint64_t now_ns = os_clock_mono_ns();
	if (now_ns - c->window_ns > WINDOW_NS) {
		c->window_ns = now_ns;
		c->window_wakes = 0;
	}
	if (++c->window_wakes <= WINDOW_WAKES)
		return;
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	(void)nanosleep(&pause, NULL);
}

static void on_process(struct collector *c, const struct message *message)
{
	const uint32_t index = collector_add_process(c, message->pid, message->time_ns);
	if (index == COLLECTOR_NONE)
		return;
	collector_see_process(c, index);
	const struct process process = c->processes.items[index];
	/* One that is there already: of an earlier process of this number, or, where the
	 * process ran before we did, its own.
	 */
	collector_open_map(c, process.maps_directory, process_number(&process));
}

static void on_message(struct collector *c, const struct message *message)
{
	uint32_t index;
	switch (message->kind) {
	case MESSAGE_PROCESS:
	case MESSAGE_EXEC:
		on_process(c, message);
		return;
	case MESSAGE_EXIT:
		index = collector_find_process(c, message->pid);
		if (index != COLLECTOR_NONE && c->processes.items[index].end_ns == 0)
			c->processes.items[index].end_ns = message->time_ns ? message->time_ns : 1;
		return;
	case MESSAGE_MAP:
		collector_open_told_map(c, message,
					(const char *)c->current.paths.data + message->path_off);
		return;
	case MESSAGE_MAPPING:
		collector_open_dump(c, message,
				    (const char *)c->current.paths.data + message->path_off);
		return;
	}
}

/* Returns true if there is an end to come to. */
static bool take_messages(struct collector *c)
{
	uint64_t count;
	(void)!read(c->wake_fd, &count, sizeof(count));
	pthread_mutex_lock(&c->lock);
	const struct queue taken = c->incoming;
	c->incoming = c->current;
	c->current = taken;
	const bool is_stopping = c->is_stopping;
	pthread_mutex_unlock(&c->lock);
	for (size_t i = 0; i < c->current.messages.count; i++) {
		on_message(c, &c->current.messages.items[i]);
		/* Lines do not wait until all messages are read. */
		struct pollfd events = { .fd = c->inotify_fd, .events = POLLIN };
		if (c->inotify_fd >= 0 && i % 16 == 15 && poll(&events, 1, 0) > 0)
			read_events(c);
	}
	c->current.messages.count = 0;
	sink_reset(&c->current.paths);
	return is_stopping;
}

static int tick_ms(const struct collector *c, uint64_t now_ns)
{
	bool is_active = c->inotify_fd < 0;
	bool is_idle = c->maps.count > 0;
	for (size_t i = 0; i < c->maps.count && !is_active; i++) {
		const struct map *map = &c->maps.items[i];
		is_active = map->active_until_ns > now_ns || map->watch < 0;
	}
	for (size_t i = 0; i < c->dumps.count && !is_idle; i++)
		is_idle = c->dumps.items[i].pending_until_ns != 0;
	return is_active ? ACTIVE_TICK_MS : is_idle ? IDLE_TICK_MS : -1;
}

void collector_catch_up(struct collector *c)
{
	const uint64_t now_ns = os_clock_mono_ns();
	if (c->inotify_fd >= 0)
		read_events(c);
	/* That it is to stop is told by what sees the end of the thread. */
	(void)take_messages(c);
	if (c->inotify_fd < 0)
		search_maps(c);
	check_all(c, now_ns);
	collector_retry_dumps(c, now_ns);
}

void *collector_loop(void *argument)
{
	struct collector *c = argument;
	(void)pthread_setname_np(pthread_self(), "polyperf-maps");
	hurry();
	uint64_t last_tick_ns = os_clock_mono_ns();
	bool is_stopping = false;
	while (!is_stopping) {
		/* A negative fd is passed over by poll(). */
		struct pollfd fds[] = { { .fd = c->inotify_fd, .events = POLLIN },
					{ .fd = c->wake_fd, .events = POLLIN } };
		pthread_mutex_lock(&c->work);
		const int tick = tick_ms(c, last_tick_ns);
		const int wait_ms = c->busy_codes ? 0 : tick;
		pthread_mutex_unlock(&c->work);
		(void)poll(fds, 2, wait_ms);
		pthread_mutex_lock(&c->work);
		if (fds[0].revents) {
			read_events(c);
			pause_in_a_flood(c);
		}
		if (fds[1].revents)
			is_stopping = take_messages(c);
		const uint64_t now_ns = os_clock_mono_ns();
		if (tick < 0 || now_ns - last_tick_ns >= (uint64_t)tick * 1000000) {
			if (c->inotify_fd < 0)
				search_maps(c);
			check_all(c, now_ns);
			collector_retry_dumps(c, now_ns);
			last_tick_ns = now_ns;
		}
		(void)collector_read_more_code(c);
		pthread_mutex_unlock(&c->work);
	}
	/* Processes that ended with the recording wrote their maps just now. */
	if (c->inotify_fd >= 0)
		read_events(c);
	search_maps(c);
	check_all(c, os_clock_mono_ns());
	collector_retry_dumps(c, UINT64_MAX);
	while (collector_read_more_code(c))
		;
	return NULL;
}
