/* After the thread has ended: what belongs to whom. */
#include "base/bytes.h"
#include "base/number.h"
#include "format/jitdump/reader.h"
#include "format/nettrace/nettrace.h"
#include "record/collector_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PRIVATE_DEPTH = 5 }; /* JITDUMPDIR/.debug/jit/llvm-.../jit-N.dump */

/* The PID that the header has; as its process sees itself. */
static uint32_t pid_in_header(int fd)
{
	uint8_t header[JITDUMP_HEADER_SIZE];
	struct jitdump_reader reader;
	const ssize_t got = pread(fd, header, sizeof(header), 0);
	if (got != (ssize_t)sizeof(header) ||
	    jitdump_reader_init(&reader, (struct bytes){ header, sizeof(header) }) < 0)
		return 0;
	return reader.pid;
}

/* The newest process that sees itself under this number. */
static uint32_t newest_of_number(struct collector *c, uint32_t number, uid_t owner)
{
	for (size_t i = c->processes.count; i-- > 0;)
		if (process_number(&c->processes.items[i]) == number &&
		    collector_may_own(c, (uint32_t)i, owner))
			return (uint32_t)i;
	return COLLECTOR_NONE;
}

/* The number in a name such as "clr-42.nettrace"; 0 for other names. */
static uint32_t number_in_name(const char *name, const char *start)
{
	uint32_t number;
	const size_t size = strlen(start);
	const char *rest =
	    strncmp(name, start, size) == 0 ? number_skip_u32(name + size, &number) : NULL;
	return rest && strcmp(rest, ".nettrace") == 0 ? number : 0;
}

/* The PID in a stream's header, as its process sees itself; 0 where there is none. */
static uint32_t pid_in_events(int fd)
{
	uint8_t head[4096];
	struct nettrace_reader *reader;
	uint32_t pid = 0;
	const ssize_t got = pread(fd, head, sizeof(head), 0);
	const struct bytes start = { head, got > 0 ? (size_t)got : 0 };
	if (nettrace_open(&reader, start, NULL) == 0) {
		pid = nettrace_pid(reader);
		nettrace_free(reader);
	}
	return pid;
}

/* Streams that we took off a socket are named by our own view of the PID. All others name
 * themselves, in the header, and, for formats that we do not know, in the file's name.
 */
static uint32_t process_of_events(struct collector *c, const char *name, int fd, uid_t owner)
{
	const uint32_t header_pid = pid_in_events(fd);
	const uint32_t attached_pid = number_in_name(name, "attached-");
	const uint32_t attached =
	    attached_pid ? collector_find_process(c, (pid_t)attached_pid) : COLLECTOR_NONE;
	if (attached != COLLECTOR_NONE && owner == geteuid())
		return attached;
	return newest_of_number(c, header_pid ? header_pid : number_in_name(name, "clr-"), owner);
}

enum kind { KIND_OTHER, KIND_DUMP, KIND_EVENTS };

static enum kind kind_of(int fd)
{
	uint8_t start[8];
	const ssize_t got = pread(fd, start, sizeof(start), 0);
	if (got >= 4 && jitdump_is_magic((struct bytes){ start, 4 }))
		return KIND_DUMP;
	if (got > 0 && nettrace_is_magic((struct bytes){ start, (size_t)got }))
		return KIND_EVENTS;
	return KIND_OTHER;
}

static void take_file(struct collector *c, int directory, const char *name)
{
	struct stat st;
	const int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	const bool is_ours = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
			     !collector_holds_dump(c, st.st_dev, st.st_ino) &&
			     c->dumps.count < COLLECTOR_FILE_LIMIT;
	const enum kind kind = is_ours ? kind_of(fd) : KIND_OTHER;
	struct dump *dump = kind != KIND_OTHER ? vector_push(&c->dumps) : NULL;
	if (!dump) {
		close(fd);
		return;
	}
	*dump = (struct dump){
		.fd = fd,
		.directory = COLLECTOR_NONE, /* goes with the whole private directory */
		.process = kind == KIND_EVENTS ? process_of_events(c, name, fd, st.st_uid)
					       : newest_of_number(c, pid_in_header(fd), st.st_uid),
		.device = st.st_dev,
		.inode = st.st_ino,
		.name = collector_copy(c, name),
		.path = collector_copy(c, name),
		.is_events = kind == KIND_EVENTS,
	};
	if (dump->process == COLLECTOR_NONE)
		collector_add_note(c,
				   "the %s %s in the private directory was written by no "
				   "process of this recording",
				   dump->is_events ? "event stream" : "jitdump", name);
	else if (!dump->is_events)
		c->processes.items[dump->process].has_dump = true;
}

/* Takes over the fd. */
static void scan(struct collector *c, int fd, int depth)
{
	DIR *stream = fdopendir(fd);
	if (!stream) {
		close(fd);
		return;
	}
	const struct dirent *entry;
	while ((entry = readdir(stream))) {
		const char *name = entry->d_name;
		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			continue;
		const int inner =
		    depth ? openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
		if (inner >= 0)
			scan(c, inner, depth - 1);
		else
			take_file(c, fd, name);
	}
	closedir(stream);
}

void collector_scan_private(struct collector *c)
{
	if (!c->options.private_dir)
		return;
	const int fd =
	    open(c->options.private_dir->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		scan(c, fd, PRIVATE_DEPTH);
}

static bool may_be_of(const struct collector *c, const struct map *map,
		      const struct process *process)
{
	if (process_number(process) != map->number)
		return false;
	return map->directory == process->maps_directory ||
	       map->directory == process->told_directory ||
	       map->directory == c->private_directory ||
	       (process->is_plain && map->directory == c->tmpdir_directory);
}

/* Of processes that had the PID one after the other, the one that ran when the map
 * was written to last.
 */
static uint32_t process_of_map(struct collector *c, const struct map *map)
{
	const size_t count = map->follow.stretches.count;
	const uint64_t last_ns = count ? map->follow.stretches.items[count - 1].latest_ns : 0;
	uint32_t found = COLLECTOR_NONE;
	for (size_t i = 0; i < c->processes.count; i++) {
		const struct process *process = &c->processes.items[i];
		if (!may_be_of(c, map, process))
			continue;
		if (found != COLLECTOR_NONE && process->start_ns > last_ns)
			break;
		found = (uint32_t)i;
	}
	return found;
}

void collector_link_maps(struct collector *c)
{
	for (size_t i = 0; i < c->maps.count; i++) {
		struct map *map = &c->maps.items[i];
		if (map->follow.known_size <= map->follow.skip_off)
			continue;
		const uint32_t index = process_of_map(c, map);
		if (index == COLLECTOR_NONE)
			continue;
		const pid_t pid = c->processes.items[index].pid;
		if (!collector_may_own(c, index, map->follow.owner)) {
			collector_add_note(
			    c,
			    "the map of process %d was refused: it belongs to another "
			    "user (%u)",
			    pid, map->follow.owner);
			continue;
		}
		if (map->follow.has_shrunk)
			collector_add_note(
			    c,
			    "the map of process %d was cut short while it grew: what "
			    "it said before that is lost",
			    pid);
		map->process = index;
	}
}
