/* scene.h - a collector, a process for it to look at, and the recording that it writes.
 *
 *   start(scene, (struct collector_options){ 0 });
 *   start_child(scene);
 *   collector_process(scene->collector, scene->child, os_clock_mono_ns());
 *   ... files appear ...
 *   finish(scene);
 *   expect_text(scene, "process/7/perf.map", "...");
 *
 * setup() and teardown() are for cmocka.
 */
#ifndef TESTS_RECORD_SCENE_H
#define TESTS_RECORD_SCENE_H

#include "test.h"

#include "base/arena.h"
#include "base/sink.h"
#include "format/jitdump/layout.h"
#include "os/clock.h"
#include "os/file.h"
#include "record/collector_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct scene {
	struct private_dir dir;
	struct collector *collector;
	struct runtimes *runtimes;
	char recording_path[64];
	char place[64]; /* a directory for files of runtimes */
	int recording_fd;
	struct os_file recording;
	struct bundle *bundle;
	pid_t child; /* a process that waits */
	int child_fd;
	struct arena arena;
};

__attribute__((format(printf, 2, 3))) static inline const char *made(struct scene *scene,
								     const char *format, ...)
{
	va_list args;
	char text[1024];
	va_start(args, format);
	const int size = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	assert_in_range(size, 1, sizeof(text) - 1);
	char *copy = arena_new(&scene->arena, char, (size_t)size + 1);
	assert_non_null(copy);
	return memcpy(copy, text, (size_t)size);
}

/* A process that waits until its pipe is closed. */
static inline void start_child(struct scene *scene)
{
	int ends[2];
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	scene->child = fork();
	if (scene->child == 0) {
		char byte;
		close(ends[1]);
		(void)!read(ends[0], &byte, 1);
		_exit(0);
	}
	close(ends[0]);
	scene->child_fd = ends[1];
}

static inline void end_child(struct scene *scene)
{
	if (!scene->child)
		return;
	close(scene->child_fd);
	(void)waitpid(scene->child, NULL, 0);
	collector_exit(scene->collector, scene->child, os_clock_mono_ns());
	scene->child = 0;
}

static inline int setup(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	*state = scene;
	(void)snprintf(scene->recording_path, sizeof(scene->recording_path),
		       "/tmp/collector_test-XXXXXX");
	(void)snprintf(scene->place, sizeof(scene->place), "/tmp/collector_test-XXXXXX");
	scene->recording_fd = mkstemp(scene->recording_path);
	if (scene->recording_fd < 0 || !mkdtemp(scene->place) || private_dir_make(&scene->dir) < 0)
		return -1;
	static char *nothing[1];
	struct runtimes_options options = { .private_dir = scene->dir.path,
					    .environment = nothing };
	return runtimes_new(&scene->runtimes, &options);
}

static inline void start(struct scene *scene, struct collector_options options)
{
	options.private_dir = &scene->dir;
	assert_int_equal(collector_new(&scene->collector, &options), 0);
}

/* All that was told and written before is looked at, as the collector's thread would by itself. */
static inline void settle(struct scene *scene)
{
	struct collector *c = scene->collector;
	pthread_mutex_lock(&c->work);
	collector_catch_up(c);
	while (collector_read_more_code(c))
		continue;
	pthread_mutex_unlock(&c->work);
}

static inline void finish(struct scene *scene)
{
	struct bundle_writer *writer;
	const struct collector_about about = { .runtimes = scene->runtimes,
					       .without_kernel = true };
	end_child(scene);
	assert_int_equal(bundle_writer_open(&writer, scene->recording_fd, true), 0);
	assert_int_equal(collector_finish(scene->collector, writer, &about), 0);
	assert_int_equal(bundle_writer_close(writer), 0);
	assert_int_equal(os_file_open(&scene->recording, scene->recording_path, OS_FILE_PLAIN), 0);
	assert_int_equal(bundle_open(&scene->bundle, scene->recording.bytes), 0);
}

static inline int teardown(void **state)
{
	struct scene *scene = *state;
	if (scene->child) {
		close(scene->child_fd);
		(void)waitpid(scene->child, NULL, 0);
	}
	collector_free(scene->collector);
	runtimes_free(scene->runtimes);
	bundle_close(scene->bundle);
	os_file_close(&scene->recording);
	close(scene->recording_fd);
	unlink(scene->recording_path);
	private_dir_remove(&scene->dir);
	struct private_dir place = { .root = strdup(scene->place) };
	private_dir_remove(&place);
	arena_clear(&scene->arena);
	free(scene);
	return 0;
}

static inline void put_file(const char *path, const char *text, int flags)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* A jitdump header of `pid`, and a byte behind it. */
static inline void put_dump(const char *path, uint32_t pid)
{
	struct sink out = { 0 };
	sink_u32(&out, JITDUMP_MAGIC);
	sink_u32(&out, JITDUMP_VERSION);
	sink_u32(&out, JITDUMP_HEADER_SIZE);
	sink_u32(&out, 62);
	sink_u32(&out, 0);
	sink_u32(&out, pid);
	sink_u64(&out, 1);
	sink_u64(&out, 0);
	sink_u8(&out, 'x');
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, out.data, out.size), out.size);
	close(fd);
	sink_clear(&out);
}

static inline bool has_member(struct scene *scene, const char *name, struct bytes *bytes)
{
	return bundle_read(scene->bundle, name, bytes) == 0;
}

static inline void expect_text(struct scene *scene, const char *name, const char *text)
{
	struct bytes bytes;
	assert_true(has_member(scene, name, &bytes));
	assert_int_equal(bytes.size, strlen(text));
	assert_memory_equal(bytes.data, text, bytes.size);
}

static inline bool member_holds(struct scene *scene, const char *name, const char *text)
{
	struct bytes bytes;
	assert_true(has_member(scene, name, &bytes));
	return memmem(bytes.data, bytes.size, text, strlen(text)) != NULL;
}

static inline bool has_note(const struct scene *scene, const char *text)
{
	for (size_t i = 0; i < collector_note_count(scene->collector); i++)
		if (strstr(collector_note(scene->collector, i), text))
			return true;
	return false;
}

#define PATH(variable, ...) const char *variable = made(scene, __VA_ARGS__)

static inline void tell_mapping(struct scene *scene, const char *path)
{
	collector_mapping(scene->collector, scene->child,
			  &(struct collector_mapping){ 0x10000, 4096, path });
}

#endif
