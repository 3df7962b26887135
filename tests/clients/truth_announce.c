#include "truth_announce.h"

#include "format/jitdump/layout.h"
#include "truth_log.h"

#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct announcer {
	pthread_mutex_t lock;
	int dump_fd; /* -1: none */
	int map_fd;
	void *marker;
	size_t marker_size;
	uint64_t next_index;
};

/* A record under construction; the longest is a load with its name and code. */
struct record {
	uint8_t bytes[2048];
	size_t used;
};

static void put(struct record *record, const void *bytes, size_t size)
{
	if (size > sizeof(record->bytes) - record->used)
		errx(1, "record too long");
	memcpy(record->bytes + record->used, bytes, size);
	record->used += size;
}

static void put_u32(struct record *record, uint32_t value)
{
	put(record, &value, sizeof(value));
}

static void put_u64(struct record *record, uint64_t value)
{
	put(record, &value, sizeof(value));
}

/* The size is filled in by write_record(). */
static void begin_record(struct record *record, enum jitdump_id id)
{
	record->used = 0;
	put_u32(record, (uint32_t)id);
	put_u32(record, 0);
	put_u64(record, now_mono_ns());
	if (id == JITDUMP_CODE_LOAD || id == JITDUMP_CODE_MOVE) {
		put_u32(record, (uint32_t)getpid());
		put_u32(record, (uint32_t)gettid());
	}
}

static void write_all(int fd, const void *bytes, size_t size)
{
	if (write(fd, bytes, size) != (ssize_t)size)
		err(1, "cannot announce code");
}

static void write_record(int fd, struct record *record)
{
	const uint32_t size = (uint32_t)record->used;

	memcpy(record->bytes + sizeof(uint32_t), &size, sizeof(size));
	write_all(fd, record->bytes, record->used);
}

static void open_dump(struct announcer *to, const char *dir)
{
	struct record header = { .used = 0 };
	char path[4096];

	snprintf(path, sizeof(path), "%s/jit-%d.dump", dir, (int)getpid());
	to->dump_fd = open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0644);
	if (to->dump_fd < 0)
		err(1, "%s", path);
	put_u32(&header, JITDUMP_MAGIC);
	put_u32(&header, JITDUMP_VERSION);
	put_u32(&header, JITDUMP_HEADER_SIZE);
#if defined(__aarch64__)
	put_u32(&header, EM_AARCH64);
#else
	put_u32(&header, EM_X86_64);
#endif
	put_u32(&header, 0);
	put_u32(&header, (uint32_t)getpid());
	put_u64(&header, now_mono_ns());
	put_u64(&header, 0);
	write_all(to->dump_fd, header.bytes, header.used);

	to->marker_size = (size_t)sysconf(_SC_PAGESIZE);
	to->marker =
	    mmap(NULL, to->marker_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, to->dump_fd, 0);
	if (to->marker == MAP_FAILED)
		err(1, "marker of %s", path);
}

static void open_map(struct announcer *to)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	to->map_fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
	if (to->map_fd < 0)
		err(1, "%s", path);
}

struct announcer *announcer_open(int kinds, const char *dump_dir)
{
	struct announcer *to = calloc(1, sizeof(*to));

	if (!to)
		err(1, "announcer");
	pthread_mutex_init(&to->lock, NULL);
	to->dump_fd = -1;
	to->map_fd = -1;
	if (kinds & ANNOUNCE_JITDUMP)
		open_dump(to, dump_dir);
	if (kinds & ANNOUNCE_MAP)
		open_map(to);
	return to;
}

void announcer_close(struct announcer *to)
{
	if (to->dump_fd >= 0) {
		struct record record;
		begin_record(&record, JITDUMP_CLOSE);
		write_record(to->dump_fd, &record);
		munmap(to->marker, to->marker_size);
		close(to->dump_fd);
	}
	if (to->map_fd >= 0)
		close(to->map_fd);
	pthread_mutex_destroy(&to->lock);
	free(to);
}

uint64_t announce_load(struct announcer *to, const char *name, const uint8_t *address,
		       const uint8_t *bytes, size_t size)
{
	pthread_mutex_lock(&to->lock);
	const uint64_t index = to->next_index++;
	if (to->dump_fd >= 0) {
		struct record record;
		begin_record(&record, JITDUMP_CODE_LOAD);
		put_u64(&record, (uintptr_t)address);
		put_u64(&record, (uintptr_t)address);
		put_u64(&record, size);
		put_u64(&record, index);
		put(&record, name, strlen(name) + 1);
		put(&record, bytes, size);
		write_record(to->dump_fd, &record);
	}
	if (to->map_fd >= 0) {
		char line[128];
		const int length = snprintf(line, sizeof(line), "%" PRIxPTR " %zx %s\n",
					    (uintptr_t)address, size, name);
		write_all(to->map_fd, line, (size_t)length);
	}
	pthread_mutex_unlock(&to->lock);
	return index;
}

void announce_move(struct announcer *to, uint64_t index, const uint8_t *from,
		   const uint8_t *address, size_t size)
{
	struct record record;

	if (to->dump_fd < 0)
		return;
	pthread_mutex_lock(&to->lock);
	begin_record(&record, JITDUMP_CODE_MOVE);
	put_u64(&record, (uintptr_t)address);
	put_u64(&record, (uintptr_t)from);
	put_u64(&record, (uintptr_t)address);
	put_u64(&record, size);
	put_u64(&record, index);
	write_record(to->dump_fd, &record);
	pthread_mutex_unlock(&to->lock);
}
