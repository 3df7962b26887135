/* emit_internal.h - the handle, its files, and how a record gets into one.
 *
 * A dump is a file that is mapped; room in it is allocated and made present ahead of use. What
 * is in it at any moment, a kill included, are whole records, for the room behind the last
 * one is itself a record, a PAD that reaches to the end of what is prepared:
 *
 *   header | LOAD | LOAD | PAD ........................ prepared end
 *                          reserve 200 bytes:
 *   header | LOAD | LOAD | PAD 200 | PAD .............. under `lock`, with the time stamp
 *   header | LOAD | LOAD | PAD 200 | LOAD | PAD ....... others go on while we copy
 *   header | LOAD | LOAD | LOAD    | LOAD | PAD ....... published by one 8-byte store
 *
 * A load with lines, inlines and so on is one such reservation: the store that makes its
 * first record visible makes all of them visible.
 *
 * Locks, outer before inner: rotate_lock (a new file is begun), grow_lock (room is added),
 * lock (some dozen instructions and a clock). A thread holds any of them only while its
 * `ppjit_is_inside` is set, so that a signal handler in that thread knows to keep out.
 */
#ifndef EMIT_EMIT_INTERNAL_H
#define EMIT_EMIT_INTERNAL_H

#include "emit/platform.h"
#include "format/jitdump/layout.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/types.h>

#include <polyperf/jit.h>

enum {
	PPJIT_PATH_SIZE = 4096,
	PPJIT_NAMES_SIZE = 128, /* what is added to a directory */
	PPJIT_KEEP_MAX = 8,
	PPJIT_NAME_MAX = 60000, /* readers take longer ones for damage */
	PPJIT_ALIVE = 0x50504a31,
	PPJIT_STEP_MIN = 64 << 10,
	PPJIT_STEP_MAX = 1 << 20,
	PPJIT_SIZE_LIMIT_MIN = 1 << 20,
	PPJIT_STREAM_SIZE = 1 << 20,
	PPJIT_RETRY_MS = 100,
	PPJIT_POLL_MS = 50,
};

/* A dump, or what is left of one. */
struct ppjit_file {
	uint8_t *base; /* of `address_size` bytes of address space, mapped up to `prepared` */
	size_t address_size;
	size_t prepared; /* under the handle's lock */
	size_t used;     /* under the handle's lock */
	/* Writers between reservation and publication, by the epoch in which they came: to know
	 * that all is written up to a place, one begins a new epoch and waits for the old.
	 */
	atomic_uint in_flight[2];
	uint32_t epoch;     /* 0 or 1; under the handle's lock */
	size_t step;        /* by which it grows next; under grow_lock */
	size_t low;         /* room is added when less is left; under the handle's lock */
	uint64_t head_size; /* of what was taken over from the file before */
	uint64_t head_time_ns;
	int fd;
	dev_t device;
	ino_t inode;
	void *marker;
	bool has_folder; /* the path's last folder was made for it */
	char path[PPJIT_PATH_SIZE];
};

struct ppjit_old_path {
	bool has_folder;
	char path[PPJIT_PATH_SIZE];
};

/* Output that is no mapped file: what the descriptor does not take at once waits here. */
struct ppjit_stream {
	uint8_t *buffer; /* NULL: there is no stream */
	size_t head;     /* the first byte that waits */
	size_t count;
	int fd;
	dev_t device;
	ino_t inode;
	bool is_socket;
	bool is_broken;
};

struct ppjit_map {
	int fd;
	dev_t device;
	ino_t inode;
	char path[PPJIT_PATH_SIZE];
};

struct polyperf_jit {
	/* Read by every call. */
	_Atomic uint32_t *wanted; /* nonzero: recording is asked for */
	_Atomic uint32_t *alive;  /* PPJIT_ALIVE, or 0 in a child that has no file yet */
	atomic_uint is_recording;
	uint32_t flags;
	bool polls;                      /* there is a control file to look for */
	bool is_open;                    /* polyperf_jit_open() has returned */
	_Atomic uint32_t was_there;      /* the control file, when last looked for */
	_Atomic uint64_t poll_at_ns;     /* coarse */
	_Atomic uint64_t retry_at_ns;    /* coarse: until then a full disk is not asked again */
	_Atomic uint64_t new_file_at_ns; /* the same for a new file, ahead of need */
	int clock;

	pthread_mutex_t rotate_lock;
	pthread_mutex_t grow_lock;
	pthread_mutex_t lock;

	struct ppjit_file *file; /* under lock; NULL: none */
	uint64_t last_time_ns;   /* under lock */
	uint64_t next_index;     /* under lock */
	uint64_t record_count;   /* under lock */
	uint64_t written_bytes;  /* under lock */

	struct ppjit_file files[3]; /* current, previous, and one whose writers never ended */
	struct ppjit_stream stream;
	struct ppjit_map map;

	uint64_t fork_time_ns;
	_Atomic uint32_t own_wanted;
	_Atomic uint32_t own_alive;
	int control_fd;
	bool has_control_page;
	bool has_wiped_page;
	uint64_t size_limit;
	uint32_t keep_count;
	uint32_t elf_machine;
	uint32_t pid;       /* in records */
	uint32_t own_pid;   /* the system's */
	uint32_t named_pid; /* whose jit-PID.dump has been begun */
	void (*on_start)(struct polyperf_jit *jit, void *context);
	void *context;

	atomic_ullong drop_count;
	atomic_ullong no_space_count;
	atomic_ullong unreadable_count;
	atomic_ullong file_count;
	atomic_ullong lost_live_count;

	struct polyperf_jit *next; /* all handles, for fork */
	uint32_t old_count;
	struct ppjit_old_path old[PPJIT_KEEP_MAX];
	char directory[PPJIT_PATH_SIZE];
	char map_directory[PPJIT_PATH_SIZE];
	char control_path[PPJIT_PATH_SIZE];
};

/* Set while this thread holds one of our locks. */
extern PPJIT_THREAD_LOCAL volatile int ppjit_is_inside;

/* The thread's id in records, asked for once. */
uint32_t ppjit_tid(void);
void ppjit_forget_tid(void);

/* enter.c: every public call begins and ends with these. ppjit_enter() returns 0 where the
 * call shall write; *errno_value is given back by ppjit_leave(), which counts what was dropped.
 */
int ppjit_enter(struct polyperf_jit *jit, int *errno_value);
int ppjit_leave(struct polyperf_jit *jit, int errno_value, int result);
int ppjit_look(struct polyperf_jit *jit);

/* start.c: files are begun and ended. */
int ppjit_start(struct polyperf_jit *jit);
void ppjit_stop(struct polyperf_jit *jit);

enum ppjit_need {
	PPJIT_NEED_NOTHING,
	PPJIT_NEED_ROOM, /* soon: more of the file is to be prepared */
	PPJIT_NEED_FILE, /* soon: the file has reached its size */
};

/* Room for one record, or for several that shall appear together. */
struct ppjit_span {
	struct ppjit_file *file; /* NULL: it goes to the stream */
	uint8_t *at;
	size_t size;
	uint64_t time_ns;
	uint64_t index; /* code_index, where one was asked for */
	enum ppjit_need need;
	uint32_t epoch;
};

/* reserve.c. `size` as it will be written, at least 16; with `takes_index` the record gets a
 * number. Publish makes its bytes from the ninth on visible by writing the first eight.
 */
int ppjit_reserve(struct polyperf_jit *jit, size_t size, bool takes_index, struct ppjit_span *span);
void ppjit_publish(struct polyperf_jit *jit, const struct ppjit_span *span, uint32_t id,
		   uint32_t total_size);

/* file.c */
int ppjit_file_create(struct polyperf_jit *jit, struct ppjit_file *file);
/* Adds room for `more` bytes at least behind what is prepared; grow_lock is held. */
int ppjit_file_grow(struct polyperf_jit *jit, struct ppjit_file *file, size_t more);
/* Takes the mapping down. `size`: what it is cut to; 0: it is another process's, left alone. */
void ppjit_file_release(struct ppjit_file *file, size_t size);
void ppjit_file_remove(const char *path, bool has_folder);
/* folder/name; both are known to fit a path's size. */
void ppjit_join(char *to, const char *folder, const char *name);
/* Is the descriptor still our file, and not what was opened after somebody closed it? */
bool ppjit_is_own_fd(int fd, dev_t device, ino_t inode);
/* The size up to which this process may write a file; asking avoids SIGXFSZ. */
uint64_t ppjit_file_size_limit(void);
void ppjit_put_header(const struct polyperf_jit *jit, uint8_t *to, uint64_t time_ns);

/* rotate.c: begins a new file with what lives in the current one. rotate_lock is held. */
int ppjit_rotate(struct polyperf_jit *jit);
/* In a forked child: the same, from the file of the parent. */
int ppjit_inherit(struct polyperf_jit *jit);
struct ppjit_file *ppjit_free_slot(struct polyperf_jit *jit);
/* Waits for those who are still writing, but not long: they may have been stopped for good. Returns
 * up to where all is written.
 */
size_t ppjit_settle_writers(struct polyperf_jit *jit, struct ppjit_file *file);
/* Ends a file that nobody begins to write to any more. */
void ppjit_retire(struct polyperf_jit *jit, struct ppjit_file *file);

/* fork.c */
int ppjit_fork_register(struct polyperf_jit *jit);
void ppjit_fork_forget(struct polyperf_jit *jit);
void ppjit_fork_notice(struct polyperf_jit *jit);
/* In a child that ends its handle without having used it: lets go of the parent's files. */
void ppjit_fork_leave(struct polyperf_jit *jit);

/* map.c */
int ppjit_map_open(struct polyperf_jit *jit);
/* In a forked child: a map of its own that begins with the parent's lines. */
int ppjit_map_inherit(struct polyperf_jit *jit);
void ppjit_map_close(struct polyperf_jit *jit);
int ppjit_map_write(struct polyperf_jit *jit, const char *name, size_t name_size, uint64_t address,
		    uint64_t size);

/* stream.c; under lock */
int ppjit_stream_open(struct polyperf_jit *jit);
void ppjit_stream_close(struct polyperf_jit *jit);
/* Forgets what waits. */
void ppjit_stream_abandon(struct polyperf_jit *jit);
int ppjit_stream_reserve(struct polyperf_jit *jit, size_t size, struct ppjit_span *span);
void ppjit_stream_commit(struct polyperf_jit *jit, const struct ppjit_span *span);

/* All multi-byte values lie unaligned in a dump, for the names and code between them. */
typedef uint64_t ppjit_unaligned_u64 __attribute__((aligned(1), may_alias));

/* One store, which a kill or another reader finds done or not done. */
static inline void ppjit_store_prefix(uint8_t *to, uint32_t id, uint32_t total_size)
{
	const uint32_t both[2] = { id, total_size };
	uint64_t value;
	memcpy(&value, both, sizeof(value));
	atomic_thread_fence(memory_order_release);
	*(volatile ppjit_unaligned_u64 *)to = value;
}

static inline void ppjit_put_u32(uint8_t *to, uint32_t value)
{
	memcpy(to, &value, sizeof(value));
}

static inline void ppjit_put_u64(uint8_t *to, uint64_t value)
{
	memcpy(to, &value, sizeof(value));
}

static inline uint32_t ppjit_get_u32(const uint8_t *from)
{
	uint32_t value;
	memcpy(&value, from, sizeof(value));
	return value;
}

static inline uint64_t ppjit_get_u64(const uint8_t *from)
{
	uint64_t value;
	memcpy(&value, from, sizeof(value));
	return value;
}

/* What a call costs that nobody asked for. */
static inline bool ppjit_is_off(const struct polyperf_jit *jit)
{
	return !jit || (!jit->polls && !atomic_load_explicit(jit->wanted, memory_order_relaxed) &&
			!atomic_load_explicit(&jit->is_recording, memory_order_relaxed));
}

static inline void ppjit_lock(pthread_mutex_t *mutex)
{
	ppjit_is_inside++;
	(void)pthread_mutex_lock(mutex);
}

static inline void ppjit_unlock(pthread_mutex_t *mutex)
{
	(void)pthread_mutex_unlock(mutex);
	ppjit_is_inside--;
}

#endif
