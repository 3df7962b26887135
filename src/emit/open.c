/* Handles are made, asked about, and ended. */
#include "emit/emit_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

enum { DEFAULT_KEEP = 2, WIPED_SIZE = 64 << 10 };

static const uint64_t DEFAULT_SIZE_LIMIT = UINT64_C(512) << 20;
/* Sizes within a dump are 32-bit numbers. */
static const uint64_t SIZE_LIMIT_MAX = UINT64_C(3) << 30;
static const uint32_t KNOWN_FLAGS = POLYPERF_JIT_DUMP | POLYPERF_JIT_MAP | POLYPERF_JIT_NULL |
				    POLYPERF_JIT_TO_FD | POLYPERF_JIT_START_OFF |
				    POLYPERF_JIT_CONTROL_MEMFD;

static int take_options(struct polyperf_jit_options *taken,
			const struct polyperf_jit_options *given)
{
	memset(taken, 0, sizeof(*taken));
	if (!given)
		return 0;
	const size_t size = given->struct_size;
	if (size < offsetof(struct polyperf_jit_options, clock))
		return POLYPERF_JIT_INVALID;
	memcpy(taken, given, size < sizeof(*taken) ? size : sizeof(*taken));
	for (size_t i = sizeof(*taken); i < size; i++)
		if (((const uint8_t *)given)[i])
			return POLYPERF_JIT_UNSUPPORTED;
	return taken->flags & ~KNOWN_FLAGS ? POLYPERF_JIT_UNSUPPORTED : 0;
}

/* Absolute, since the program may change its directory. */
static int take_directory(char *to, const char *path, const char *otherwise)
{
	if (!path || !*path)
		path = otherwise;
	if (!realpath(path, to) || strlen(to) > PPJIT_PATH_SIZE - PPJIT_NAMES_SIZE)
		return POLYPERF_JIT_FAILED;
	return 0;
}

static int take_path(char *to, const char *path)
{
	const size_t size = strlen(path);
	char directory[PPJIT_PATH_SIZE] = "";
	if (path[0] != '/' && !getcwd(directory, sizeof(directory)))
		return POLYPERF_JIT_FAILED;
	const size_t before = strlen(directory);
	if (before + size + 2 > PPJIT_PATH_SIZE)
		return POLYPERF_JIT_INVALID;
	memcpy(to, directory, before);
	if (before)
		to[before] = '/';
	memcpy(to + before + (before ? 1 : 0), path, size + 1);
	return 0;
}

static int take_paths(struct polyperf_jit *jit, const struct polyperf_jit_options *options)
{
	int got = 0;
	if ((jit->flags & POLYPERF_JIT_DUMP) && !(jit->flags & POLYPERF_JIT_TO_FD)) {
		const char *from_environment = ppjit_environment("JITDUMPDIR");
		got = take_directory(jit->directory, options->directory,
				     from_environment && *from_environment ? from_environment
									   : "/tmp");
	}
	if (got == 0 && (jit->flags & POLYPERF_JIT_MAP))
		got = take_directory(jit->map_directory, options->map_directory, "/tmp");
	if (got == 0 && options->control_path) {
		got = take_path(jit->control_path, options->control_path);
		jit->polls = got == 0;
	}
	return got;
}

static uint64_t bounded(uint64_t value, uint64_t least, uint64_t most)
{
	return value < least ? least : value > most ? most : value;
}

static int set_up(struct polyperf_jit *jit, const struct polyperf_jit_options *options)
{
	jit->flags = options->flags;
	if (jit->flags & POLYPERF_JIT_TO_FD)
		jit->flags |= POLYPERF_JIT_DUMP;
	if (!(jit->flags & (POLYPERF_JIT_DUMP | POLYPERF_JIT_MAP)))
		jit->flags |= POLYPERF_JIT_DUMP;
	if (!ppjit_clock(options->clock, &jit->clock))
		return POLYPERF_JIT_INVALID;
	jit->own_pid = (uint32_t)getpid();
	jit->pid = options->pid ? options->pid : jit->own_pid;
	jit->elf_machine = options->elf_machine;
	jit->size_limit = bounded(options->size_limit ? options->size_limit : DEFAULT_SIZE_LIMIT,
				  PPJIT_SIZE_LIMIT_MIN, SIZE_LIMIT_MAX);
	jit->keep_count = (uint32_t)bounded(
	    options->keep_count ? options->keep_count : DEFAULT_KEEP, 1, PPJIT_KEEP_MAX);
	jit->on_start = options->on_start;
	jit->context = options->context;
	jit->stream.fd = options->fd;
	jit->map.fd = -1;
	jit->control_fd = -1;
	for (size_t i = 0; i < sizeof(jit->files) / sizeof(jit->files[0]); i++)
		jit->files[i].fd = -1;
	(void)pthread_mutex_init(&jit->rotate_lock, NULL);
	(void)pthread_mutex_init(&jit->grow_lock, NULL);
	(void)pthread_mutex_init(&jit->lock, NULL);
	return take_paths(jit, options);
}

static void set_up_words(struct polyperf_jit *jit)
{
	uint32_t *page = NULL;
	jit->wanted = &jit->own_wanted;
	if (jit->flags & POLYPERF_JIT_CONTROL_MEMFD)
		page = ppjit_control_memory(&jit->control_fd);
	if (page) {
		jit->has_control_page = true;
		jit->wanted = (_Atomic uint32_t *)page;
	}
	const bool starts_off = jit->flags & POLYPERF_JIT_START_OFF || jit->polls;
	atomic_store(jit->wanted, starts_off ? 0 : 1);
	page = ppjit_wiped_on_fork(WIPED_SIZE);
	jit->has_wiped_page = page != NULL;
	jit->alive = page ? (_Atomic uint32_t *)page : &jit->own_alive;
	atomic_store(jit->alive, PPJIT_ALIVE);
}

static void tear_down(struct polyperf_jit *jit)
{
	if (jit->has_wiped_page)
		(void)munmap((void *)jit->alive, WIPED_SIZE);
	if (jit->has_control_page) {
		(void)munmap((void *)jit->wanted, 4096);
		(void)close(jit->control_fd);
	}
	(void)pthread_mutex_destroy(&jit->rotate_lock);
	(void)pthread_mutex_destroy(&jit->grow_lock);
	(void)pthread_mutex_destroy(&jit->lock);
	(void)munmap(jit, sizeof(*jit));
}

static int begin(struct polyperf_jit *jit)
{
	set_up_words(jit);
	int got = ppjit_fork_register(jit);
	if (got < 0)
		return got;
	got = ppjit_look(jit);
	jit->is_open = true;
	if (got < 0)
		ppjit_fork_forget(jit);
	return got < 0 ? got : 0;
}

static int open_jit(const struct polyperf_jit_options *given, struct polyperf_jit **opened)
{
	struct polyperf_jit_options options;
	int got = take_options(&options, given);
	if (got < 0)
		return got;
	/* What calls that do nothing cost is what calls on no handle cost. */
	if (options.flags & POLYPERF_JIT_NULL)
		return 0;
	void *memory = mmap(NULL, sizeof(struct polyperf_jit), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return POLYPERF_JIT_NO_MEMORY;
	struct polyperf_jit *jit = memory;
	got = set_up(jit, &options);
	if (got == 0)
		got = begin(jit);
	if (got == 0)
		*opened = jit;
	else
		tear_down(jit);
	return got;
}

int polyperf_jit_open(const struct polyperf_jit_options *options, struct polyperf_jit **jit)
{
	const int errno_value = errno;
	if (!jit)
		return POLYPERF_JIT_INVALID;
	*jit = NULL;
	const int got = open_jit(options, jit);
	errno = errno_value;
	return got;
}

void polyperf_jit_close(struct polyperf_jit *jit)
{
	if (!jit)
		return;
	const int errno_value = errno;
	ppjit_fork_forget(jit);
	/* A child that has told nothing leaves the parent's files alone. */
	const bool is_parents = atomic_load(jit->alive) != PPJIT_ALIVE;
	if (is_parents) {
		ppjit_fork_leave(jit);
	} else if (atomic_load(&jit->is_recording)) {
		ppjit_lock(&jit->rotate_lock);
		ppjit_stop(jit);
		ppjit_unlock(&jit->rotate_lock);
	}
	tear_down(jit);
	errno = errno_value;
}

int polyperf_jit_enable(struct polyperf_jit *jit, int on)
{
	if (!jit)
		return POLYPERF_JIT_OFF;
	atomic_store(jit->wanted, on ? 1 : 0);
	return polyperf_jit_poll(jit);
}

int polyperf_jit_poll(struct polyperf_jit *jit)
{
	if (!jit)
		return POLYPERF_JIT_OFF;
	const int errno_value = errno;
	const int got = ppjit_look(jit);
	errno = errno_value;
	return got;
}

int polyperf_jit_get_stats(struct polyperf_jit *jit, struct polyperf_jit_stats *stats)
{
	if (!stats || stats->struct_size < sizeof(stats->struct_size))
		return POLYPERF_JIT_INVALID;
	struct polyperf_jit_stats now = { .struct_size = stats->struct_size };
	if (jit && !ppjit_is_inside) {
		ppjit_lock(&jit->lock);
		now.record_count = jit->record_count;
		now.written_bytes = jit->written_bytes;
		now.has_marker = jit->file && jit->file->marker;
		ppjit_unlock(&jit->lock);
	}
	if (jit) {
		now.drop_count = atomic_load(&jit->drop_count);
		now.no_space_count = atomic_load(&jit->no_space_count);
		now.unreadable_count = atomic_load(&jit->unreadable_count);
		now.file_count = atomic_load(&jit->file_count);
		now.lost_live_count = atomic_load(&jit->lost_live_count);
		now.is_recording = atomic_load(&jit->is_recording);
	}
	const size_t size = stats->struct_size;
	if (size > sizeof(now))
		memset((uint8_t *)stats + sizeof(now), 0, size - sizeof(now));
	memcpy(stats, &now, size < sizeof(now) ? size : sizeof(now));
	return 0;
}

size_t polyperf_jit_path(struct polyperf_jit *jit, char *path, size_t size)
{
	if (size)
		path[0] = 0;
	if (!jit || ppjit_is_inside)
		return 0;
	ppjit_lock(&jit->lock);
	const char *from = jit->file ? jit->file->path : "";
	const size_t length = strlen(from);
	if (size) {
		const size_t part = length < size ? length : size - 1;
		memcpy(path, from, part);
		path[part] = 0;
	}
	ppjit_unlock(&jit->lock);
	return length;
}

const char *polyperf_jit_version(void)
{
	return TEXT(POLYPERF_JIT_VERSION_MAJOR) "." TEXT(POLYPERF_JIT_VERSION_MINOR) ".0";
}
