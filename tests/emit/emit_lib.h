/* emit_lib.h - what the tests of the emitting side share: a directory, and dumps read back.
 *
 *   cmocka_unit_test_setup_teardown(test, set_up, tear_down)        makes `dir`, and removes it
 *
 *   struct polyperf_jit *jit = open_in(dir, &(struct polyperf_jit_options){ 0 });
 *   ...
 *   struct dump dump;
 *   dump_read(&dump, path);          fails the test on anything but whole records
 *   dump_free(&dump);
 */
#ifndef TESTS_EMIT_EMIT_LIB_H
#define TESTS_EMIT_EMIT_LIB_H

#include "test.h"

#include "format/jitdump/extensions.h"

#include <fcntl.h>
#include <ftw.h>
#include <polyperf/jit.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DIR_SIZE = 256, PATH_SIZE = 4096 };

static inline void make_dir(char dir[DIR_SIZE])
{
	const char *base = getenv("TMPDIR");
	(void)snprintf(dir, DIR_SIZE, "%s/emit-test-XXXXXX", base ? base : "/tmp");
	assert_non_null(mkdtemp(dir));
}

static inline int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* With all that is in it. */
static inline void remove_dir(const char *dir)
{
	(void)nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Of the test that runs. */
static char dir[DIR_SIZE];

static inline int set_up(void **state)
{
	(void)state;
	make_dir(dir);
	return 0;
}

static inline int tear_down(void **state)
{
	(void)state;
	remove_dir(dir);
	return 0;
}

static inline uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static size_t counted_dumps;

static inline int count_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	const size_t size = strlen(path);
	counted_dumps += type == FTW_F && strcmp(path + size - 5, ".dump") == 0;
	return 0;
}

/* How many dumps lie in a directory and its folders. */
static inline size_t count_dumps(const char *folder)
{
	counted_dumps = 0;
	(void)nftw(folder, count_one, 8, FTW_PHYS);
	return counted_dumps;
}

static inline struct polyperf_jit *open_in(const char *folder, struct polyperf_jit_options options)
{
	struct polyperf_jit *jit = NULL;
	options.struct_size = sizeof(options);
	options.directory = folder;
	options.map_directory = folder;
	assert_int_equal(polyperf_jit_open(&options, &jit), 0);
	assert_non_null(jit);
	return jit;
}

static inline void path_of(struct polyperf_jit *jit, char path[PATH_SIZE])
{
	assert_true(polyperf_jit_path(jit, path, PATH_SIZE) > 0);
}

static inline struct polyperf_jit_stats stats_of(struct polyperf_jit *jit)
{
	struct polyperf_jit_stats stats = { .struct_size = sizeof(stats) };
	assert_int_equal(polyperf_jit_get_stats(jit, &stats), 0);
	return stats;
}

/* Code bytes that tell which load they are of. */
static const uint8_t code_bytes[4096] = { 0x90, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97 };

static inline struct polyperf_jit_load_info a_load(const char *name, uint64_t address,
						   uint64_t size)
{
	return (struct polyperf_jit_load_info){
		.struct_size = sizeof(struct polyperf_jit_load_info),
		.name = name,
		.address = address,
		.size = size,
		.code = code_bytes,
	};
}

static inline int load(struct polyperf_jit *jit, const char *name, uint64_t address, uint64_t size)
{
	const struct polyperf_jit_load_info info = a_load(name, address, size);
	return polyperf_jit_load(jit, &info);
}

struct dump {
	uint8_t *data;
	size_t size;
	struct jitdump_reader reader;
};

static inline void fail_on_problem(void *context, const struct jitdump_problem *problem)
{
	(void)context;
	fail_msg("at byte %llu: %s", (unsigned long long)problem->offset, problem->what);
}

static inline void dump_read(struct dump *dump, const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	if (fd < 0)
		fail_msg("%s cannot be read", path);
	assert_int_equal(fstat(fd, &st), 0);
	dump->size = (size_t)st.st_size;
	dump->data = malloc(dump->size + 1);
	assert_non_null(dump->data);
	for (size_t at = 0; at < dump->size;) {
		const ssize_t got = read(fd, dump->data + at, dump->size - at);
		assert_true(got > 0);
		at += (size_t)got;
	}
	close(fd);
	const struct bytes bytes = { dump->data, dump->size };
	assert_int_equal(jitdump_reader_init(&dump->reader, bytes), 0);
	dump->reader.on_problem = fail_on_problem;
}

static inline void dump_free(struct dump *dump)
{
	free(dump->data);
}

/* The next record that is no PAD; 0 at the end. */
static inline int dump_next(struct dump *dump, struct jitdump_record *record)
{
	int got;
	do
		got = jitdump_reader_next(&dump->reader, record);
	while (got > 0 && record->id == JITDUMP_PAD);
	return got;
}

static inline void expect(struct dump *dump, uint32_t id, struct jitdump_record *record)
{
	assert_int_equal(dump_next(dump, record), 1);
	assert_int_equal(record->id, id);
}

static inline void assert_text(struct bytes got, const char *want)
{
	if (got.size != strlen(want) || memcmp(got.data, want, got.size) != 0)
		fail_msg("'%.*s' is not '%s'", (int)got.size, (const char *)got.data, want);
}

#endif
