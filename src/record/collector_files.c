#include "base/number.h"
#include "base/status.h"
#include "format/jitdump/reader.h"
#include "record/collector_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	/* A link or a pipe put in the place of a file is refused, not followed or waited for. */
	OPEN_UNTRUSTED = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
};

static const uint64_t second_ns = 1000000000;
/* File systems stamp with the clock of the last tick. */
static const uint64_t tick_ns = 20000000;

uint32_t collector_map_number(const char *name)
{
	if (strncmp(name, "perf-", 5) != 0)
		return 0;
	uint32_t number;
	const char *rest = number_skip_u32(name + 5, &number);
	return rest && strcmp(rest, ".map") == 0 && number <= INT32_MAX ? number : 0;
}

uint32_t collector_add_directory(struct collector *c, int fd)
{
	struct stat st;
	if (fstat(fd, &st) != 0) {
		close(fd);
		return COLLECTOR_NONE;
	}
	for (size_t i = 0; i < c->directories.count; i++) {
		const struct directory *directory = &c->directories.items[i];
		if (directory->device == st.st_dev && directory->inode == st.st_ino) {
			close(fd);
			return (uint32_t)i;
		}
	}
	struct directory *directory =
	    c->directories.count < COLLECTOR_FILE_LIMIT ? vector_push(&c->directories) : NULL;
	if (!directory) {
		close(fd);
		return COLLECTOR_NONE;
	}
	*directory = (struct directory){
		.fd = fd,
		.device = st.st_dev,
		.inode = st.st_ino,
		.watch = -1,
	};
	return (uint32_t)c->directories.count - 1;
}

/* inotify wants a path: the one of the fd leads to the very same inode. */
static int watch_fd(const struct collector *c, int fd, uint32_t mask)
{
	char path[32];
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return c->inotify_fd < 0 ? -1 : inotify_add_watch(c->inotify_fd, path, mask);
}

void collector_watch_directory(struct collector *c, uint32_t index)
{
	struct directory *directory = &c->directories.items[index];
	if (directory->has_maps)
		return;
	directory->has_maps = true;
	directory->watch = watch_fd(c, directory->fd, IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
}

int collector_open_as(const struct process *process, const char *path, int flags)
{
	if (process->root_fd < 0)
		return open(path, flags | O_CLOEXEC);
	/* Links inside lead to where they lead for the process, never out of its root. */
	struct open_how how = {
		.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	const long fd = syscall(SYS_openat2, process->root_fd, path, &how, sizeof(how));
	if (fd >= 0 || errno != ENOSYS)
		return (int)fd;
	while (*path == '/')
		path++;
	return openat(process->root_fd, *path ? path : ".", flags | O_CLOEXEC);
}

static void note_no_files(struct collector *c)
{
	if (errno == EMFILE || errno == ENFILE)
		collector_add_note(c, "some files of runtimes could not be held open: the limit of "
				      "open files (ulimit -n) was reached");
}

uint32_t collector_find_owner(const struct collector *c, uint32_t directory, uint32_t number)
{
	const uint32_t plain = collector_find_process(c, (pid_t)number);
	if (plain != COLLECTOR_NONE && c->processes.items[plain].is_plain)
		return plain;
	for (size_t i = c->processes.count; i-- > 0;) {
		const struct process *process = &c->processes.items[i];
		if (!process->is_plain && process_number(process) == number &&
		    (process->maps_directory == directory || process->told_directory == directory ||
		     directory == c->private_directory))
			return (uint32_t)i;
	}
	return COLLECTOR_NONE;
}

static struct map *find_map(struct collector *c, uint32_t directory, uint32_t number,
			    const struct stat *st)
{
	for (size_t i = 0; i < c->maps.count; i++) {
		struct map *map = &c->maps.items[i];
		if (map->directory == directory && map->number == number &&
		    map->follow.device == st->st_dev && map->follow.inode == st->st_ino)
			return map;
	}
	return NULL;
}

static int open_map_file(struct collector *c, uint32_t directory, uint32_t number, struct stat *st)
{
	char name[32];
	(void)snprintf(name, sizeof(name), "perf-%u.map", number);
	const int at = c->directories.items[directory].fd;
	if (fstatat(at, name, st, AT_SYMLINK_NOFOLLOW) != 0)
		return -1;
	if (find_map(c, directory, number, st))
		return -1;
	const bool is_known = collector_find_owner(c, directory, number) != COLLECTOR_NONE;
	if (!S_ISREG(st->st_mode)) {
		if (is_known)
			collector_add_note(c, "the map of process %u was refused: %s is %s", number,
					   name, S_ISLNK(st->st_mode) ? "a link" : "no file");
		return -1;
	}
	/* In /tmp anyone could give a file of root's this name, were that not forbidden. */
	if (st->st_nlink > 1) {
		if (is_known)
			collector_add_note(
			    c, "the map of process %u was refused: %s has other names, too", number,
			    name);
		return -1;
	}
	const int fd = openat(at, name, OPEN_UNTRUSTED);
	if (fd < 0) {
		note_no_files(c);
		if (is_known && (errno == EACCES || errno == EPERM))
			collector_add_note(c, "the map of process %u may not be read", number);
	}
	return fd;
}

/* What an earlier process of the same number left is not this one's. What a process
 * wrote before we came was there from the beginning.
 */
static void judge_old_content(struct collector *c, struct map *map, const struct stat *st)
{
	const uint64_t mtime_ns =
	    (uint64_t)st->st_mtim.tv_sec * second_ns + (uint64_t)st->st_mtim.tv_nsec;
	const uint32_t index = collector_find_owner(c, map->directory, map->number);
	const struct process *process = index == COLLECTOR_NONE ? NULL : &c->processes.items[index];
	if (process && process->start_ns == 0 && mtime_ns + tick_ns >= process->start_wall_ns) {
		(void)follow_check(&map->follow);
		follow_settle(&map->follow);
	} else if (mtime_ns + tick_ns < c->start_clock.wall_ns) {
		follow_skip(&map->follow);
	}
}

void collector_open_map(struct collector *c, uint32_t directory, uint32_t number)
{
	struct stat st;
	const int fd = open_map_file(c, directory, number, &st);
	if (fd < 0)
		return;
	struct map *map = c->maps.count < COLLECTOR_FILE_LIMIT ? vector_push(&c->maps) : NULL;
	if (!map) {
		close(fd);
		return;
	}
	*map = (struct map){
		.directory = directory,
		.number = number,
		.watch = watch_fd(c, fd, IN_MODIFY),
		.process = COLLECTOR_NONE,
		.code_process = COLLECTOR_NONE,
	};
	map_code_init(&map->code);
	if (follow_start(&map->follow, fd, 0) < 0) {
		c->maps.count--;
		return;
	}
	judge_old_content(c, map, &st);
	const uint32_t process = collector_find_owner(c, directory, number);
	map->is_slow = process != COLLECTOR_NONE && c->processes.items[process].has_dump;
	collector_check_map(c, map, os_clock_mono_ns());
}

void collector_check_map(struct collector *c, struct map *map, uint64_t now_ns)
{
	if (map->is_slow && map->watch >= 0) {
		(void)inotify_rm_watch(c->inotify_fd, map->watch);
		map->watch = -1;
	}
	if (follow_check(&map->follow))
		map->active_until_ns = now_ns + second_ns;
	collector_read_code(c, map);
}

/* Splits a path at its last slash, opens the directory as the process sees it. */
static uint32_t open_parent(struct collector *c, const struct process *process, const char *path,
			    const char **name)
{
	char parent[PATH_MAX];
	const char *slash = strrchr(path, '/');
	const size_t size = slash == path ? 1 : (size_t)(slash - path);
	if (!slash || size >= sizeof(parent))
		return COLLECTOR_NONE;
	memcpy(parent, path, size);
	parent[size] = 0;
	*name = slash + 1;
	const int fd = collector_open_as(process, parent, O_PATH | O_DIRECTORY);
	return fd < 0 ? COLLECTOR_NONE : collector_add_directory(c, fd);
}

void collector_open_told_map(struct collector *c, const struct message *message, const char *path)
{
	const char *name;
	const uint32_t index = collector_add_process(c, message->pid, message->time_ns);
	if (index == COLLECTOR_NONE)
		return;
	const uint32_t directory = open_parent(c, &c->processes.items[index], path, &name);
	if (directory == COLLECTOR_NONE)
		return;
	struct process *process = &c->processes.items[index];
	process->told_directory = directory;
	c->process_changes++;
	collector_watch_directory(c, directory);
	collector_open_map(c, directory, process_number(process));
}

/* Reaches the mapped file itself, also when its name is gone. For the privileged. */
static int open_mapped(const struct message *message)
{
	char path[80];
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t end_avma = (message->start_avma + message->length + page - 1) & ~(page - 1);
	(void)snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", message->pid,
		       (unsigned long long)message->start_avma, (unsigned long long)end_avma);
	return open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

enum verdict { IS_DUMP, IS_EMPTY, IS_OTHER };

static enum verdict judge(int fd)
{
	uint8_t start[4];
	const ssize_t got = pread(fd, start, sizeof(start), 0);
	if (got < (ssize_t)sizeof(start))
		return got >= 0 ? IS_EMPTY : IS_OTHER;
	return jitdump_is_magic((struct bytes){ start, sizeof(start) }) ? IS_DUMP : IS_OTHER;
}

bool collector_holds_dump(const struct collector *c, dev_t device, ino_t inode)
{
	for (size_t i = 0; i < c->dumps.count; i++)
		if (c->dumps.items[i].device == device && c->dumps.items[i].inode == inode)
			return true;
	return false;
}

static void set_has_dump(struct collector *c, uint32_t index)
{
	struct process *process = &c->processes.items[index];
	process->has_dump = true;
	for (size_t i = 0; i < c->maps.count; i++) {
		if (c->maps.items[i].number != process_number(process))
			continue;
		c->maps.items[i].is_slow = true;
		collector_read_code(c, &c->maps.items[i]);
	}
}

/* Takes over the fd. */
static void add_dump(struct collector *c, const struct dump *dump, const struct stat *st)
{
	const enum verdict verdict = judge(dump->fd);
	struct dump *slot = NULL;
	if (verdict != IS_OTHER && !collector_holds_dump(c, st->st_dev, st->st_ino) &&
	    c->dumps.count < COLLECTOR_FILE_LIMIT)
		slot = vector_push(&c->dumps);
	if (!slot) {
		close(dump->fd);
		return;
	}
	*slot = *dump;
	slot->device = st->st_dev;
	slot->inode = st->st_ino;
	slot->name = collector_copy(c, dump->name);
	slot->path = collector_copy(c, dump->path);
	if (verdict == IS_EMPTY)
		slot->pending_until_ns = os_clock_mono_ns() + 10 * second_ns;
	else if (dump->process != COLLECTOR_NONE)
		set_has_dump(c, dump->process);
}

static const char *without_deleted(struct collector *c, const char *path)
{
	static const char DELETED[] = " (deleted)";
	const size_t size = strlen(path);
	const size_t tail = sizeof(DELETED) - 1;
	if (size <= tail || strcmp(path + size - tail, DELETED) != 0)
		return path;
	char *copy = arena_new(&c->arena, char, size - tail + 1);
	if (!copy)
		return path;
	return memcpy(copy, path, size - tail);
}

void collector_open_dump(struct collector *c, const struct message *message, const char *path)
{
	const uint32_t index = collector_add_process(c, message->pid, message->time_ns);
	if (index == COLLECTOR_NONE)
		return;
	struct dump dump = { .process = index };
	path = without_deleted(c, path);
	dump.path = path;
	dump.name = path;
	dump.directory = open_parent(c, &c->processes.items[index], path, &dump.name);
	dump.fd = -1;
	if (dump.directory != COLLECTOR_NONE)
		dump.fd =
		    openat(c->directories.items[dump.directory].fd, dump.name, OPEN_UNTRUSTED);
	if (dump.fd < 0) {
		note_no_files(c);
		dump.fd = open_mapped(message);
		dump.directory = COLLECTOR_NONE;
	}
	struct stat st;
	if (dump.fd < 0)
		return;
	if (fstat(dump.fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(dump.fd);
		return;
	}
	if (!collector_may_own(c, index, st.st_uid)) {
		if (judge(dump.fd) == IS_DUMP)
			collector_add_note(
			    c,
			    "the jitdump %s of process %d was refused: it belongs to "
			    "another user (%u)",
			    path, message->pid, st.st_uid);
		close(dump.fd);
		return;
	}
	add_dump(c, &dump, &st);
}

void collector_retry_dumps(struct collector *c, uint64_t now_ns)
{
	for (size_t i = 0; i < c->dumps.count; i++) {
		struct dump *dump = &c->dumps.items[i];
		if (!dump->pending_until_ns)
			continue;
		const enum verdict verdict = judge(dump->fd);
		if (verdict == IS_EMPTY && now_ns < dump->pending_until_ns)
			continue;
		dump->pending_until_ns = 0;
		if (verdict == IS_DUMP) {
			if (dump->process != COLLECTOR_NONE)
				set_has_dump(c, dump->process);
			continue;
		}
		close(dump->fd);
		*dump = c->dumps.items[--c->dumps.count];
		i--;
	}
}
