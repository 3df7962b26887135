#include "record/collector.h"

#include "base/status.h"
#include "record/collector_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

const char *collector_copy(struct collector *c, const char *text)
{
	const char *copy = arena_copy(&c->arena, text, strlen(text));
	return copy ? copy : "";
}

void collector_add_note(struct collector *c, const char *format, ...)
{
	char *text = NULL;
	va_list args;
	va_start(args, format);
	const int size = vasprintf(&text, format, args);
	va_end(args);
	if (size < 0)
		return;
	for (size_t i = 0; i < c->notes.count; i++) {
		if (strcmp(c->notes.items[i], text) == 0) {
			free(text);
			return;
		}
	}
	enum { NOTE_LIMIT = 1000 }; /* a hostile tree of processes has no end of them */
	const char **note = c->notes.count < NOTE_LIMIT ? vector_push(&c->notes) : NULL;
	if (note)
		*note = collector_copy(c, text);
	free(text);
}

uint64_t collector_boot_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Every dump and map is held open; the command was forked before and keeps its limit. */
static void raise_file_limit(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

static uint32_t open_directory(struct collector *c, const char *path)
{
	const int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? COLLECTOR_NONE : collector_add_directory(c, fd);
}

static void open_directories(struct collector *c)
{
	c->tmp_directory = open_directory(c, "/tmp");
	c->start_directory = open_directory(c, ".");
	c->private_directory = COLLECTOR_NONE;
	if (c->options.private_dir)
		c->private_directory = open_directory(c, c->options.private_dir->path);
	if (c->private_directory != COLLECTOR_NONE)
		c->directories.items[c->private_directory].is_private = true;
	/* .NET puts its maps under $TMPDIR. */
	const char *tmpdir = getenv("TMPDIR");
	c->tmpdir_directory = COLLECTOR_NONE;
	if (tmpdir && *tmpdir == '/')
		c->tmpdir_directory = open_directory(c, tmpdir);
	const uint32_t watched[] = { c->tmp_directory, c->private_directory, c->tmpdir_directory };
	for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++)
		if (watched[i] != COLLECTOR_NONE)
			collector_watch_directory(c, watched[i]);
}

static int start_thread(struct collector *c)
{
	sigset_t all;
	sigset_t before;
	sigfillset(&all);
	/* Signals are for the thread that knows what to do with them. */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	const int error = pthread_create(&c->thread, NULL, collector_loop, c);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error) {
		errno = error;
		return STATUS_IO;
	}
	c->is_running = true;
	return 0;
}

int collector_new(struct collector **made, const struct collector_options *options)
{
	struct collector *c = calloc(1, sizeof(*c));
	if (!c)
		return STATUS_NO_MEMORY;
	c->options = *options;
	c->start_clock = os_clock_pair();
	c->start_boot_ns = collector_boot_ns();
	pthread_mutex_init(&c->work, NULL);
	pthread_mutex_init(&c->lock, NULL);
	raise_file_limit();
	c->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	c->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int got = c->wake_fd < 0 ? STATUS_IO : collector_process_table(c);
	if (got == 0) {
		open_directories(c);
		got = start_thread(c);
	}
	if (got < 0) {
		const int saved_errno = errno;
		collector_free(c);
		errno = saved_errno;
		return got;
	}
	*made = c;
	return 0;
}

static void wake(struct collector *c)
{
	const uint64_t one = 1;
	(void)!write(c->wake_fd, &one, sizeof(one));
}

/* The thread that drains the rings must not wait for us: it only ever waits for the
 * exchange of two queues.
 */
static void send(struct collector *c, struct message message, const char *path)
{
	pthread_mutex_lock(&c->lock);
	const bool was_empty = c->incoming.messages.count == 0;
	message.path_off = c->incoming.paths.size;
	if (path)
		sink_cstr(&c->incoming.paths, path);
	struct message *slot =
	    sink_failed(&c->incoming.paths) ? NULL : vector_push(&c->incoming.messages);
	if (slot)
		*slot = message;
	pthread_mutex_unlock(&c->lock);
	if (was_empty)
		wake(c);
}

void collector_process(struct collector *c, pid_t pid, uint64_t time_mono_ns)
{
	send(c, (struct message){ MESSAGE_PROCESS, .pid = pid, .time_ns = time_mono_ns }, NULL);
}

void collector_exec(struct collector *c, pid_t pid, uint64_t time_mono_ns)
{
	send(c, (struct message){ MESSAGE_EXEC, .pid = pid, .time_ns = time_mono_ns }, NULL);
}

void collector_exit(struct collector *c, pid_t pid, uint64_t time_mono_ns)
{
	send(c, (struct message){ MESSAGE_EXIT, .pid = pid, .time_ns = time_mono_ns }, NULL);
}

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* A jitdump is marked by one page of it mapped executable. Libraries are longer, or
 * can be told by their names.
 */
static bool may_be_dump(const struct collector_mapping *mapping)
{
	enum { MARKER_LIMIT = 64 << 10 }; /* the largest page that Linux knows */
	const char *path = mapping->path;
	if (!path || path[0] != '/' || mapping->length > MARKER_LIMIT)
		return false;
	if (starts_with(path, "//anon") || starts_with(path, "/memfd:") ||
	    starts_with(path, "/SYSV") || starts_with(path, "/dev/"))
		return false;
	const char *name = strrchr(path, '/') + 1;
	const char *extension = strstr(name, ".so");
	return !extension || (extension[3] && extension[3] != '.');
}

void collector_mapping(struct collector *c, pid_t pid, const struct collector_mapping *mapping)
{
	if (!may_be_dump(mapping))
		return;
	const struct message message = {
		.kind = MESSAGE_MAPPING,
		.pid = pid,
		.start_avma = mapping->start_avma,
		.length = mapping->length,
	};
	send(c, message, mapping->path);
}

void collector_map_file(struct collector *c, pid_t pid, const char *path)
{
	send(c, (struct message){ MESSAGE_MAP, .pid = pid }, path);
}

static void stop_thread(struct collector *c)
{
	if (!c->is_running)
		return;
	pthread_mutex_lock(&c->lock);
	c->is_stopping = true;
	pthread_mutex_unlock(&c->lock);
	wake(c);
	pthread_join(c->thread, NULL);
	c->is_running = false;
}

/* The newest process that was not said to have ended and indeed runs; 0 where all ended. */
static pid_t find_survivor(struct collector *c)
{
	c->totals.survivor_count = 0;
	pid_t last = 0;
	for (size_t i = 0; i < c->processes.count; i++) {
		const struct process *process = &c->processes.items[i];
		if (process->end_ns || !collector_is_alive(process->pid))
			continue;
		last = process->pid;
		c->totals.survivor_count++;
	}
	return last;
}

/* Helpers of a runtime (erl_child_setup) end a moment after it: not worth a word. */
static void wait_for_survivors(struct collector *c)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	pid_t survivor = find_survivor(c);
	for (int i = 0; i < 30 && survivor; i++) {
		(void)nanosleep(&pause, NULL);
		survivor = find_survivor(c);
	}
	if (survivor && c->options.private_dir)
		collector_add_note(c,
				   "process %d still runs and may use %s, which is left there: "
				   "remove it when it has ended",
				   survivor, c->options.private_dir->root);
}

int collector_finish(struct collector *c, struct bundle_writer *writer,
		     const struct collector_about *about)
{
	stop_thread(c);
	collector_scan_private(c);
	collector_link_maps(c);
	if (!c->options.attached)
		wait_for_survivors(c);
	const int got = collector_write_members(c, writer, about);
	/* What the user switched on is the user's. */
	const bool is_ours = about->runtimes && runtimes_count(about->runtimes) > 0;
	if (got == 0 && is_ours && !c->options.keep && !c->options.attached)
		collector_remove_files(c);
	return got;
}

int collector_look(struct collector *c, struct bundle_writer *writer,
		   const struct collector_about *about)
{
	pthread_mutex_lock(&c->work);
	collector_catch_up(c);
	collector_scan_private(c);
	collector_link_maps(c);
	c->totals = (struct collector_totals){ 0 };
	for (size_t i = 0; i < c->maps.count; i++)
		follow_forget(&c->maps.items[i].follow, about->since_ns);
	c->is_looking = true;
	c->leaves_code = about->without_code;
	const int got = collector_write_members(c, writer, about);
	c->is_looking = false;
	pthread_mutex_unlock(&c->work);
	return got;
}

static void close_queue(struct queue *queue)
{
	vector_clear(&queue->messages);
	sink_clear(&queue->paths);
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void collector_free(struct collector *c)
{
	if (!c)
		return;
	stop_thread(c);
	for (size_t i = 0; i < c->maps.count; i++) {
		follow_clear(&c->maps.items[i].follow);
		map_code_clear(&c->maps.items[i].code, NULL);
	}
	map_code_room_free(c->code_room);
	for (size_t i = 0; i < c->dumps.count; i++)
		close_fd(c->dumps.items[i].fd);
	for (size_t i = 0; i < c->processes.count; i++)
		close_fd(c->processes.items[i].root_fd);
	for (size_t i = 0; i < c->directories.count; i++)
		close_fd(c->directories.items[i].fd);
	close_fd(c->inotify_fd);
	close_fd(c->wake_fd);
	close_queue(&c->incoming);
	close_queue(&c->current);
	vector_clear(&c->maps);
	vector_clear(&c->dumps);
	vector_clear(&c->processes);
	vector_clear(&c->directories);
	vector_clear(&c->notes);
	free(c->process_slots);
	arena_clear(&c->arena);
	pthread_mutex_destroy(&c->lock);
	pthread_mutex_destroy(&c->work);
	free(c);
}

struct collector_totals collector_totals(const struct collector *c)
{
	return c->totals;
}

size_t collector_note_count(const struct collector *c)
{
	return c->notes.count;
}

const char *collector_note(const struct collector *c, size_t index)
{
	return c->notes.items[index];
}
