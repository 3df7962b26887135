/* A dump as a mapped file: made, grown, taken down. */
#include "emit/emit_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

enum {
	ROUND = 64 << 10,         /* a multiple of every page size there is */
	RESIDENT_BYTES = 4 << 20, /* mapped pages kept in this process's memory behind `used` */
	FOLDER_TRIES = 64,
};

static size_t round_up(size_t size)
{
	return (size + ROUND - 1) & ~(size_t)(ROUND - 1);
}

void ppjit_join(char *to, const char *folder, const char *name)
{
	const size_t size = strlen(folder);
	const size_t name_size = strlen(name);
	if (size + name_size + 2 > PPJIT_PATH_SIZE)
		return;
	memmove(to, folder, size);
	to[size] = '/';
	memcpy(to + size + 1, name, name_size + 1);
}

bool ppjit_is_own_fd(int fd, dev_t device, ino_t inode)
{
	struct stat st;
	return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == device && st.st_ino == inode;
}

uint64_t ppjit_file_size_limit(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return (uint64_t)limit.rlim_cur;
}

/* EM_* of what this library was compiled for. */
static uint32_t own_machine(void)
{
#if defined(__x86_64__)
	return 62;
#elif defined(__aarch64__)
	return 183;
#elif defined(__s390x__)
	return 22;
#elif defined(__riscv)
	return 243;
#elif defined(__powerpc64__)
	return 21;
#elif defined(__loongarch__)
	return 258;
#elif defined(__arm__)
	return 40;
#elif defined(__i386__)
	return 3;
#else
	return 0;
#endif
}

void ppjit_put_header(const struct polyperf_jit *jit, uint8_t *to, uint64_t time_ns)
{
	ppjit_put_u32(to + 4, JITDUMP_VERSION);
	ppjit_put_u32(to + 8, JITDUMP_HEADER_SIZE);
	ppjit_put_u32(to + 12, jit->elf_machine ? jit->elf_machine : own_machine());
	ppjit_put_u32(to + 16, 0);
	ppjit_put_u32(to + 20, jit->pid);
	ppjit_put_u64(to + 24, time_ns);
	ppjit_put_u64(to + 32, 0);
	ppjit_put_u32(to, JITDUMP_MAGIC);
}

static int create_in(int folder, const char *name)
{
	return openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* The name is taken, by an earlier file of ours or by somebody who waits for one: a folder that
 * we make can hold nothing of others. Stock perf wants the file's own name as it is.
 */
static int create_in_folder(const struct polyperf_jit *jit, struct ppjit_file *file, int directory,
			    const char *name)
{
	uint64_t mixed = ppjit_now_ns(jit->clock) ^ ((uint64_t)jit->own_pid << 32);
	for (int i = 0; i < FOLDER_TRIES; i++) {
		char folder[64];
		mixed = (mixed + (uint64_t)i) * UINT64_C(0x9e3779b97f4a7c15);
		(void)snprintf(folder, sizeof(folder), "jit-%u-%06x", (unsigned)jit->pid,
			       (unsigned)(mixed >> 40));
		if (mkdirat(directory, folder, 0700) != 0) {
			if (errno != EEXIST)
				return -1;
			continue;
		}
		const int within =
		    openat(directory, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		const int fd = within < 0 ? -1 : create_in(within, name);
		if (within >= 0)
			(void)close(within);
		if (fd < 0)
			(void)unlinkat(directory, folder, AT_REMOVEDIR);
		ppjit_join(file->path, jit->directory, folder);
		ppjit_join(file->path, file->path, name);
		file->has_folder = true;
		return fd;
	}
	return -1;
}

/* The usual name is used once in a process: events that lead to a first file must not lead to a
 * later one.
 */
static int create(struct polyperf_jit *jit, struct ppjit_file *file)
{
	char name[32];
	(void)snprintf(name, sizeof(name), "jit-%u.dump", (unsigned)jit->pid);
	const int directory = open(jit->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		return POLYPERF_JIT_FAILED;
	file->has_folder = false;
	ppjit_join(file->path, jit->directory, name);
	const bool is_first = jit->named_pid != jit->own_pid;
	file->fd = is_first ? create_in(directory, name) : -1;
	if (file->fd < 0 && (!is_first || errno == EEXIST))
		file->fd = create_in_folder(jit, file, directory, name);
	const int reason = errno;
	jit->named_pid = jit->own_pid;
	(void)close(directory);
	struct stat st;
	if (file->fd >= 0 && fstat(file->fd, &st) == 0) {
		file->device = st.st_dev;
		file->inode = st.st_ino;
		return 0;
	}
	return reason == ENOSPC || reason == EDQUOT ? POLYPERF_JIT_NO_SPACE : POLYPERF_JIT_FAILED;
}

/* A descriptor that somebody closed is opened anew, if the file is still at its place. */
static bool regain(struct ppjit_file *file)
{
	if (ppjit_is_own_fd(file->fd, file->device, file->inode))
		return true;
	/* Whatever has the number now is not ours to close. */
	file->fd = open(file->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (ppjit_is_own_fd(file->fd, file->device, file->inode))
		return true;
	if (file->fd >= 0)
		(void)close(file->fd);
	file->fd = -1;
	return false;
}

/* As much as is wanted, or as much as is needed; 0 if not even that may be written. */
static size_t allocate(struct ppjit_file *file, size_t wanted, size_t needed)
{
	const uint64_t limit = ppjit_file_size_limit();
	if (file->prepared + wanted > limit)
		wanted = needed;
	if (file->prepared + wanted > limit)
		return 0;
	if (ppjit_allocate(file->fd, file->prepared, wanted) == 0)
		return wanted;
	/* Without space for all, some may have been given: it is zeros behind the last record. */
	if (wanted > needed && ppjit_allocate(file->fd, file->prepared, needed) == 0)
		return needed;
	return 0;
}

/* Pages behind the last records stay in the page cache and leave our resident memory. */
static void trim(const struct ppjit_file *file, size_t added)
{
	if (file->prepared < RESIDENT_BYTES + 2 * (size_t)ROUND)
		return;
	const size_t end = (file->prepared - RESIDENT_BYTES) & ~(size_t)(ROUND - 1);
	const size_t size = added + ROUND < end - ROUND ? added + ROUND : end - ROUND;
	(void)madvise(file->base + end - size, size, MADV_DONTNEED);
}

int ppjit_file_grow(struct polyperf_jit *jit, struct ppjit_file *file, size_t more)
{
	const size_t needed = round_up(more);
	size_t size = needed > file->step ? needed : file->step;
	if (size > file->address_size - file->prepared)
		size = needed;
	if (size > file->address_size - file->prepared)
		return POLYPERF_JIT_NO_SPACE;
	if (!regain(file))
		return POLYPERF_JIT_FAILED;
	size = allocate(file, size, needed);
	if (!size)
		return POLYPERF_JIT_NO_SPACE;
	uint8_t *at = file->base + file->prepared;
	if (mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file->fd,
		 (off_t)file->prepared) == MAP_FAILED)
		return POLYPERF_JIT_FAILED;
	ppjit_populate(at, size);

	ppjit_lock(&jit->lock);
	file->prepared += size;
	file->low = size / 2;
	uint8_t *tail = file->base + file->used;
	if (!jit->last_time_ns)
		jit->last_time_ns = ppjit_now_ns(jit->clock);
	ppjit_put_u64(tail + 8, jit->last_time_ns);
	ppjit_store_prefix(tail, JITDUMP_PAD, (uint32_t)(file->prepared - file->used));
	ppjit_unlock(&jit->lock);
	if (file->step < PPJIT_STEP_MAX)
		file->step *= 2;
	trim(file, size);
	return 0;
}

/* Recorders find the dump by an executable mapping of its first page. */
static void *map_marker(const struct ppjit_file *file)
{
	void *marker =
	    mmap(NULL, (size_t)getpagesize(), PROT_READ | PROT_EXEC, MAP_PRIVATE, file->fd, 0);
	return marker == MAP_FAILED ? NULL : marker;
}

/* At an address with which large folios of the page cache are aligned. */
static uint8_t *reserve_addresses(size_t size)
{
	const size_t alignment = 2 << 20;
	void *base = mmap(NULL, size + alignment, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return NULL;
	uint8_t *start = base;
	const size_t before = -(uintptr_t)start & (alignment - 1);
	if (before)
		(void)munmap(start, before);
	(void)munmap(start + before + size, alignment - before);
	return start + before;
}

int ppjit_file_create(struct polyperf_jit *jit, struct ppjit_file *file)
{
	int got = create(jit, file);
	if (got < 0) {
		if (file->fd >= 0)
			(void)close(file->fd);
		return got;
	}
	file->address_size = round_up((size_t)jit->size_limit + PPJIT_STEP_MAX);
	file->prepared = 0;
	file->used = JITDUMP_HEADER_SIZE;
	file->step = PPJIT_STEP_MIN;
	atomic_store(&file->in_flight[0], 0);
	atomic_store(&file->in_flight[1], 0);
	file->epoch = 0;
	file->marker = NULL;
	file->base = reserve_addresses(file->address_size);
	ppjit_keep_in_place(file->fd);
	got = file->base ? ppjit_file_grow(jit, file, PPJIT_STEP_MIN) : POLYPERF_JIT_NO_MEMORY;
	if (got < 0) {
		ppjit_file_release(file, 1);
		ppjit_file_remove(file->path, file->has_folder);
		return got;
	}
	ppjit_put_header(jit, file->base, ppjit_now_ns(jit->clock));
	file->marker = map_marker(file);
	atomic_fetch_add(&jit->file_count, 1);
	return 0;
}

void ppjit_file_release(struct ppjit_file *file, size_t size)
{
	if (file->base)
		(void)munmap(file->base, file->address_size);
	if (file->marker)
		(void)munmap(file->marker, (size_t)getpagesize());
	file->base = NULL;
	file->marker = NULL;
	if (size && regain(file) && ftruncate(file->fd, (off_t)size) != 0) {
		/* It keeps a PAD at its end, which readers pass over. */
	}
	if (ppjit_is_own_fd(file->fd, file->device, file->inode))
		(void)close(file->fd);
	file->fd = -1;
}

void ppjit_file_remove(const char *path, bool has_folder)
{
	char folder[PPJIT_PATH_SIZE];
	const char *slash = strrchr(path, '/');
	(void)unlink(path);
	if (!has_folder || !slash || slash == path)
		return;
	const size_t size = (size_t)(slash - path);
	memcpy(folder, path, size);
	folder[size] = 0;
	(void)rmdir(folder);
}
