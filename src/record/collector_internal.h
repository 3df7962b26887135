/* collector_internal.h - what the files of collector.h share.
 *
 * `directories`, `maps`, `dumps` and `processes` belong to whoever holds `work`: the thread,
 * while it does not sleep, and collector_look().
 */
#ifndef RECORD_COLLECTOR_INTERNAL_H
#define RECORD_COLLECTOR_INTERNAL_H

#include "base/arena.h"
#include "base/sink.h"
#include "base/vector.h"
#include "os/clock.h"
#include "record/collector.h"
#include "record/follow.h"
#include "record/map_code.h"

#include <pthread.h>

enum {
	COLLECTOR_NONE = 0xffffffff, /* instead of an index */
	COLLECTOR_NAMESPACE_DEPTH = 8,
	COLLECTOR_FILE_LIMIT = 1 << 16, /* of each kind */
};

/* A directory that files of runtimes lie in. Found by device and inode, so that
 * namespaces that share one share this, too.
 */
struct directory {
	int fd; /* O_PATH; owned */
	dev_t device;
	ino_t inode;
	int watch; /* of inotify, for new files; -1: none */
	bool has_maps;
	bool is_private; /* of this recording */
};

struct map {
	struct follow follow;
	uint32_t directory;
	uint32_t number; /* of its name: the PID as its process sees itself */
	int watch;       /* of inotify, for growth; -1: looked at now and then */
	bool is_slow;    /* its process says all that matters in a jitdump */
	uint64_t active_until_ns;
	uint32_t process; /* set by collector_link_maps() */
	const char *member;
	struct map_code code;
	uint32_t code_process;   /* whose memory is read; COLLECTOR_NONE: not known yet */
	uint64_t owner_known_at; /* process_changes when it was looked for */
	bool has_more_code;      /* a step has left lines for the next */
};

/* A jitdump, or what else a process wrote for us alone. */
struct dump {
	int fd;             /* owned; -1 while it is empty and `is_pending` */
	uint32_t directory; /* COLLECTOR_NONE where only the mapping led to it */
	uint32_t process;   /* COLLECTOR_NONE: found in the private directory, of nobody known */
	dev_t device;
	ino_t inode;
	const char *name; /* in its directory */
	const char *path; /* as the mapping has it */
	const char *member;
	uint64_t pending_until_ns; /* until then its header may still be written; 0: it was */
	bool is_events;            /* no jitdump: the events of a .NET process */
};

struct process {
	pid_t pid;
	uint64_t start_ns; /* CLOCK_MONOTONIC; 0: before the recording, at ... */
	uint64_t start_wall_ns;
	uint64_t end_ns; /* 0: alive at its end */
	bool was_seen;   /* alive: what follows is true */
	bool is_plain;   /* in our own namespaces and root */
	uid_t owner;
	uint64_t pid_namespace;
	uint64_t mount_namespace;
	uint32_t number_count;
	uint32_t
	    numbers[COLLECTOR_NAMESPACE_DEPTH]; /* the PID in each namespace, outermost first */
	int root_fd;                            /* O_PATH; owned; -1 where is_plain */
	uint32_t maps_directory;
	uint32_t told_directory;    /* by collector_map_file(); else COLLECTOR_NONE */
	uint32_t current_directory; /* of a Node; else COLLECTOR_NONE */
	const char *executable;
	bool has_dump;
};

enum message_kind { MESSAGE_PROCESS, MESSAGE_EXEC, MESSAGE_EXIT, MESSAGE_MAPPING, MESSAGE_MAP };

struct message {
	enum message_kind kind;
	pid_t pid;
	uint64_t time_ns;
	uint64_t start_avma;
	uint64_t length;
	size_t path_off; /* in the queue's paths */
};

struct queue {
	VECTOR(struct message) messages;
	struct sink paths;
};

struct collector {
	struct collector_options options;
	struct os_clock_pair start_clock;
	uint64_t start_boot_ns;

	pthread_mutex_t work;
	pthread_mutex_t lock; /* of `incoming` and `is_stopping` */
	struct queue incoming;
	bool is_stopping;
	int wake_fd;
	pthread_t thread;
	bool is_running;

	/* Of the thread. */
	struct queue current;
	int inotify_fd; /* -1: everything is looked at now and then */
	bool has_lost_events;
	uint64_t window_ns; /* wake-ups are counted within it, so that they stay cheap */
	unsigned window_wakes;

	struct arena arena;
	VECTOR(struct directory) directories;
	VECTOR(struct map) maps;
	VECTOR(struct dump) dumps;
	VECTOR(struct process) processes;
	uint32_t *process_slots; /* newest process of a PID: index + 1, or 0 */
	size_t process_slot_count;
	uint64_t process_changes; /* counts what collector_find_owner() depends on */
	uint64_t own_pid_namespace;
	uint64_t own_mount_namespace;
	uint32_t tmp_directory;
	uint32_t tmpdir_directory; /* $TMPDIR, where it is another */
	uint32_t private_directory;
	uint32_t start_directory; /* the current one at the start */

	struct map_code_room *code_room; /* NULL until it is needed */
	uint32_t code_turn;              /* map whose turn it is */
	size_t busy_codes;               /* maps that has_more_code */
	bool is_looking;                 /* collector_look(): there is more to come */
	bool leaves_code;                /* and the code of maps is not wanted now */
	bool is_refusal_told;
	bool is_limit_told;
	bool is_length_told;

	VECTOR(const char *) notes;
	struct collector_totals totals;
};

/* collector_process.c */
int collector_process_table(struct collector *c);
uint32_t collector_find_process(const struct collector *c, pid_t pid);
/* The process, made if it is new; COLLECTOR_NONE without memory. */
uint32_t collector_add_process(struct collector *c, pid_t pid, uint64_t time_ns);
/* Reads what /proc says of it now. */
void collector_see_process(struct collector *c, uint32_t index);
/* Runs, and is no zombie that nobody waits for. */
bool collector_is_alive(pid_t pid);
/* True if files of `owner` may be the process's. */
bool collector_may_own(struct collector *c, uint32_t index, uid_t owner);
static inline uint32_t process_number(const struct process *process)
{
	return process->number_count ? process->numbers[process->number_count - 1]
				     : (uint32_t)process->pid;
}

/* collector_files.c */
/* Takes over an O_PATH fd. COLLECTOR_NONE without memory. */
uint32_t collector_add_directory(struct collector *c, int fd);
/* Has new maps in it told to us. */
void collector_watch_directory(struct collector *c, uint32_t index);
/* Opens a path as the process sees it; -1 with errno. */
int collector_open_as(const struct process *process, const char *path, int flags);
/* The process that runs now under the number, as seen in that directory. */
uint32_t collector_find_owner(const struct collector *c, uint32_t directory, uint32_t number);
/* Follows `perf-N.map` of the directory, if it is there and this file not followed yet. */
void collector_open_map(struct collector *c, uint32_t directory, uint32_t number);
void collector_check_map(struct collector *c, struct map *map, uint64_t now_ns);
/* Follows the map at a path that we were told of. */
void collector_open_told_map(struct collector *c, const struct message *message, const char *path);
void collector_open_dump(struct collector *c, const struct message *message, const char *path);
void collector_retry_dumps(struct collector *c, uint64_t now_ns);
bool collector_holds_dump(const struct collector *c, dev_t device, ino_t inode);

/* collector_code.c */
/* Reads some of the code that new lines of the map speak of. */
void collector_read_code(struct collector *c, struct map *map);
/* The same for a map with more lines than one step takes. True if any has still more. */
bool collector_read_more_code(struct collector *c);
/* After the thread has ended: the member beside the map. */
int collector_write_code(struct collector *c, struct bundle_writer *writer, struct map *map);
void collector_put_code(const struct collector *c, struct sink *out);

/* collector_sources.c: members for the source files that the dumps name. */
int collector_write_sources(struct collector *c, struct bundle_writer *writer);
void collector_put_sources(const struct collector *c, struct sink *out);

/* collector_link.c */
/* Dumps in the private directory that no mapping led to. */
void collector_scan_private(struct collector *c);
/* Gives each map its process; those of nobody stay COLLECTOR_NONE. */
void collector_link_maps(struct collector *c);

/* collector_loop.c */
void *collector_loop(void *collector);
/* Does now what the thread would do next; by the holder of `work`. */
void collector_catch_up(struct collector *c);

/* collector_write.c */
int collector_write_members(struct collector *c, struct bundle_writer *writer,
			    const struct collector_about *about);

/* collector_about.c */
void collector_put_processes(const struct collector *c, struct sink *out);
void collector_put_about(const struct collector *c, const struct collector_about *about,
			 struct sink *out);

/* collector_remove.c */
void collector_remove_files(struct collector *c);

/* A sentence for the user, unless it was said before. */
__attribute__((format(printf, 2, 3))) void collector_add_note(struct collector *c,
							      const char *format, ...);
const char *collector_copy(struct collector *c, const char *text);
uint64_t collector_boot_ns(void);

/* "perf-42.map": 42; 0 for other names. */
uint32_t collector_map_number(const char *name);

#endif
