#include "base/hash.h"
#include "base/number.h"
#include "base/status.h"
#include "os/proc.h"
#include "record/collector_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t slot_of(const struct collector *c, pid_t pid)
{
	size_t at = hash_mix((uint64_t)pid, 0) & (c->process_slot_count - 1);
	while (c->process_slots[at] && c->processes.items[c->process_slots[at] - 1].pid != pid)
		at = (at + 1) & (c->process_slot_count - 1);
	return at;
}

uint32_t collector_find_process(const struct collector *c, pid_t pid)
{
	const uint32_t slot = c->process_slots[slot_of(c, pid)];
	return slot ? slot - 1 : COLLECTOR_NONE;
}

static bool grow_table(struct collector *c)
{
	const size_t count = c->process_slot_count ? c->process_slot_count * 2 : 256;
	uint32_t *slots = calloc(count, sizeof(*slots));
	if (!slots)
		return false;
	free(c->process_slots);
	c->process_slots = slots;
	c->process_slot_count = count;
	/* In the order of time: the newest of a PID stays. */
	for (size_t i = 0; i < c->processes.count; i++)
		slots[slot_of(c, c->processes.items[i].pid)] = (uint32_t)i + 1;
	return true;
}

/* The inode of a link such as ns/pid -> "pid:[4026531836]"; 0 where it cannot be read. */
static uint64_t namespace_of(int directory, const char *name)
{
	struct stat st;
	return fstatat(directory, name, &st, 0) == 0 ? (uint64_t)st.st_ino : 0;
}

int collector_process_table(struct collector *c)
{
	const int self = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (self >= 0) {
		c->own_pid_namespace = namespace_of(self, "ns/pid");
		c->own_mount_namespace = namespace_of(self, "ns/mnt");
		close(self);
	}
	return grow_table(c) ? 0 : STATUS_NO_MEMORY;
}

uint32_t collector_add_process(struct collector *c, pid_t pid, uint64_t time_ns)
{
	const uint32_t known = collector_find_process(c, pid);
	if (known != COLLECTOR_NONE && c->processes.items[known].end_ns == 0)
		return known;
	if (c->processes.count * 2 >= c->process_slot_count && !grow_table(c))
		return COLLECTOR_NONE;
	struct process *process = vector_push(&c->processes);
	if (!process)
		return COLLECTOR_NONE;
	*process = (struct process){
		.pid = pid,
		.start_ns = time_ns,
		.root_fd = -1,
		.is_plain = true,
		.maps_directory = c->tmp_directory,
		.told_directory = COLLECTOR_NONE,
		.current_directory = COLLECTOR_NONE,
		.executable = "",
	};
	c->process_changes++;
	const uint32_t index = (uint32_t)c->processes.count - 1;
	c->process_slots[slot_of(c, pid)] = index + 1;
	return index;
}

/* "NSpid:\t4242\t7\t1": the PID in each namespace, from ours inward. */
static void read_numbers(int directory, struct process *process)
{
	char text[4096];
	const int fd = openat(directory, "status", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	const ssize_t got = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[got > 0 ? got : 0] = 0;
	/* The name of the process comes first; the kernel writes newlines in it as \n. */
	const char *line = strstr(text, "\nNSpid:");
	if (!line)
		return;
	line += strlen("\nNSpid:");
	process->number_count = 0;
	while (line && *line == '\t' && process->number_count < COLLECTOR_NAMESPACE_DEPTH) {
		uint32_t number;
		line = number_skip_u32(line + 1, &number);
		if (line)
			process->numbers[process->number_count++] = number;
	}
}

/* Where the process sees /tmp: through its own root, whatever that is. */
static void read_root(struct collector *c, int directory, struct process *process)
{
	const int root_fd = openat(directory, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0) {
		if (errno == EACCES)
			collector_add_note(c,
					   "process %d lives in a root of its own that we may not "
					   "enter: its perf map cannot be had",
					   process->pid);
		return;
	}
	if (process->root_fd >= 0)
		close(process->root_fd);
	process->root_fd = root_fd;
	const int tmp_fd = collector_open_as(process, "/tmp", O_PATH | O_DIRECTORY);
	if (tmp_fd < 0)
		return;
	const uint32_t index = collector_add_directory(c, tmp_fd);
	if (index == COLLECTOR_NONE)
		return;
	process->maps_directory = index;
	collector_watch_directory(c, index);
}

/* When a process that was there before us began, from the 22nd field of its stat: ticks
 * since the machine was booted.
 */
static uint64_t read_start_wall_ns(const struct collector *c, int directory)
{
	char text[1024];
	const int fd = openat(directory, "stat", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	const ssize_t got = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[got > 0 ? got : 0] = 0;
	const char *field = strrchr(text, ')'); /* names hold blanks and brackets, too */
	for (int i = 2; field && i < 22; i++)
		field = strchr(field + 1, ' ');
	if (!field)
		return 0;
	uint64_t ticks = 0;
	field++;
	(void)number_read((struct bytes){ (const uint8_t *)field, strlen(field) }, 10, &ticks);
	const uint64_t boot_ns = ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
	return c->start_clock.wall_ns - c->start_boot_ns + boot_ns;
}

static const char *read_link(struct collector *c, int directory, const char *name)
{
	char target[PATH_MAX];
	const ssize_t got = readlinkat(directory, name, target, sizeof(target) - 1);
	if (got <= 0)
		return "";
	target[got] = 0;
	return collector_copy(c, target);
}

static bool has_own_root(int directory)
{
	char target[2];
	return readlinkat(directory, "root", target, sizeof(target)) == 1 && target[0] == '/';
}

/* Node leaves V8's log in its current directory. All others' directories are not worth an
 * open file each: a build visits thousands.
 */
static bool may_leave_log(const char *executable)
{
	const char *slash = strrchr(executable, '/');
	return slash && (strncmp(slash + 1, "node", 4) == 0 || strstr(slash, "electron"));
}

void collector_see_process(struct collector *c, uint32_t index)
{
	struct process *process = &c->processes.items[index];
	char path[32];
	(void)snprintf(path, sizeof(path), "/proc/%d", process->pid);
	const int directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	if (directory < 0)
		return;
	if (fstat(directory, &st) == 0)
		process->owner = st.st_uid;
	if (!process->was_seen && process->start_ns == 0)
		process->start_wall_ns = read_start_wall_ns(c, directory);
	process->was_seen = true;
	c->process_changes++;
	process->pid_namespace = namespace_of(directory, "ns/pid");
	process->mount_namespace = namespace_of(directory, "ns/mnt");
	const bool is_same_pid =
	    !process->pid_namespace || process->pid_namespace == c->own_pid_namespace;
	const bool is_same_root =
	    (!process->mount_namespace || process->mount_namespace == c->own_mount_namespace) &&
	    has_own_root(directory);
	process->is_plain = is_same_pid && is_same_root;
	process->executable = read_link(c, directory, "exe");
	if (!is_same_pid)
		read_numbers(directory, process);
	if (!is_same_root)
		read_root(c, directory, process);
	if (may_leave_log(process->executable)) {
		const int fd = openat(directory, "cwd", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0)
			process->current_directory = collector_add_directory(c, fd);
	}
	close(directory);
}

bool collector_is_alive(pid_t pid)
{
	char path[32];
	char line[512];
	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	proc_line(path, line, sizeof(line));
	/* The state is behind the name, which holds any character. */
	const char *bracket = strrchr(line, ')');
	return bracket && bracket[1] == ' ' && bracket[2] != 'Z' && bracket[2] != 'X';
}

bool collector_may_own(struct collector *c, uint32_t index, uid_t owner)
{
	struct process *process = &c->processes.items[index];
	if (owner == 0 || (process->was_seen && owner == process->owner))
		return true;
	/* It may have become another user since; of one that died unseen nothing is known. */
	char path[32];
	struct stat st;
	(void)snprintf(path, sizeof(path), "/proc/%d", process->pid);
	if (process->end_ns == 0 && stat(path, &st) == 0)
		return owner == st.st_uid;
	return !process->was_seen && owner == geteuid();
}
