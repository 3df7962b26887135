#include "record/follow.h"

#include "os/clock.h"
#include "test.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINES = 400 };

/* What the writer of a line knows: it was written after `before` and before `after`. */
struct written {
	uint64_t end_offset;
	uint64_t before_ns;
	uint64_t after_ns;
};

struct growing {
	char path[64];
	int writer_fd;
	struct follow follow;
	struct written lines[LINES];
	size_t count;
	uint64_t size;
	unsigned random;
};

static int setup(void **state)
{
	struct growing *growing = calloc(1, sizeof(*growing));
	(void)snprintf(growing->path, sizeof(growing->path), "/tmp/follow_test-XXXXXX");
	growing->writer_fd = mkstemp(growing->path);
	growing->random = 1;
	const int fd = open(growing->path, O_RDONLY | O_CLOEXEC);
	*state = growing;
	return growing->writer_fd < 0 ? -1 : follow_start(&growing->follow, fd, os_clock_mono_ns());
}

static int teardown(void **state)
{
	struct growing *growing = *state;
	follow_clear(&growing->follow);
	close(growing->writer_fd);
	unlink(growing->path);
	free(growing);
	return 0;
}

static unsigned next_random(struct growing *growing, unsigned below)
{
	growing->random = growing->random * 1103515245u + 12345u;
	return (growing->random >> 16) % below;
}

static void write_text(struct growing *growing, const char *text, size_t size)
{
	struct written *line = &growing->lines[growing->count++];
	line->before_ns = os_clock_mono_ns();
	assert_int_equal(write(growing->writer_fd, text, size), size);
	line->after_ns = os_clock_mono_ns();
	growing->size += size;
	line->end_offset = growing->size;
}

static void write_line(struct growing *growing)
{
	char line[64];
	const int size = snprintf(line, sizeof(line), "%x 10 function_%zu\n",
				  0x1000u + (unsigned)growing->count * 16, growing->count);
	write_text(growing, line, (size_t)size);
}

/* The text, as the loader reads it back. */
static struct sink times_text(const struct growing *growing)
{
	struct sink text = { 0 };
	follow_put_times(&growing->follow, &text);
	assert_false(sink_failed(&text));
	return text;
}

/* What the writer knows must agree with what the follower says, for every line. */
static void expect_sound(const struct growing *growing)
{
	struct sink text = times_text(growing);
	struct perfmap_times times;
	assert_int_equal(perfmap_times_init(&times, sink_bytes(&text)), 0);
	for (size_t i = 0; i < growing->count; i++) {
		const struct written *line = &growing->lines[i];
		struct perfmap_stretch stretch;
		assert_int_equal(perfmap_times_at(&times, line->end_offset - 1, &stretch), 1);
		assert_true(stretch.earliest_ns <= line->after_ns);
		assert_true(stretch.latest_ns >= line->before_ns);
		assert_true(stretch.earliest_ns <= stretch.best_ns);
		assert_true(stretch.best_ns <= stretch.latest_ns);
	}
	sink_clear(&text);
}

static void test_checked_after_every_line(void **state)
{
	struct growing *growing = *state;
	while (growing->count < LINES) {
		write_line(growing);
		assert_true(follow_check(&growing->follow));
		assert_false(follow_check(&growing->follow));
	}
	expect_sound(growing);
	assert_int_equal(growing->follow.stretches.count, LINES);
}

static void test_many_lines_between_checks(void **state)
{
	struct growing *growing = *state;
	while (growing->count < LINES) {
		write_line(growing);
		if (next_random(growing, 4) == 0)
			(void)follow_check(&growing->follow);
	}
	(void)follow_check(&growing->follow);
	expect_sound(growing);
}

/* Of lines that came together only the last is known by the file's mtime. */
static void test_the_last_line_is_a_stretch_of_its_own(void **state)
{
	struct growing *growing = *state;
	write_line(growing);
	usleep(20000);
	const uint64_t between_ns = os_clock_mono_ns();
	usleep(20000);
	write_line(growing);
	assert_true(follow_check(&growing->follow));
	assert_int_equal(growing->follow.stretches.count, 2);
	const struct perfmap_stretch *stretches = growing->follow.stretches.items;
	assert_int_equal(stretches[0].end_offset, growing->lines[0].end_offset);
	assert_true(stretches[0].earliest_ns < growing->lines[0].before_ns);
	if (growing->follow.has_true_mtime)
		assert_true(stretches[1].earliest_ns > between_ns);
	expect_sound(growing);
}

/* The times of a writer that buffers end inside lines: the loader must see that. */
static void test_torn_lines(void **state)
{
	struct growing *growing = *state;
	write_text(growing, "1000 10 al", 10);
	assert_true(follow_check(&growing->follow));
	write_text(growing, "pha\n1010 10 beta\n1020 1", 23);
	assert_true(follow_check(&growing->follow));
	assert_int_equal(growing->follow.stretches.count, 3);
	assert_int_equal(growing->follow.stretches.items[0].end_offset, 10);
	assert_int_equal(growing->follow.stretches.items[1].end_offset, 27);
	assert_int_equal(growing->follow.stretches.items[2].end_offset, 33);
	expect_sound(growing);
}

static void test_a_line_longer_than_any_should_be(void **state)
{
	struct growing *growing = *state;
	char *line = malloc(20000);
	memset(line, 'x', 20000);
	line[19999] = '\n';
	write_text(growing, line, 20000);
	free(line);
	assert_true(follow_check(&growing->follow));
	write_line(growing);
	assert_true(follow_check(&growing->follow));
	assert_int_equal(growing->follow.stretches.count, 2);
	expect_sound(growing);
}

static void test_cut_short(void **state)
{
	struct growing *growing = *state;
	write_line(growing);
	write_line(growing);
	assert_true(follow_check(&growing->follow));
	assert_int_equal(ftruncate(growing->writer_fd, 0), 0);
	assert_int_equal(lseek(growing->writer_fd, 0, SEEK_SET), 0);
	assert_true(follow_check(&growing->follow));
	assert_true(growing->follow.has_shrunk);
	assert_int_equal(growing->follow.stretches.count, 0);
	growing->count = 0;
	growing->size = 0;
	write_line(growing);
	assert_true(follow_check(&growing->follow));
	expect_sound(growing);
}

/* What a line said when it came is not what it says now. */
static void test_written_over_in_place(void **state)
{
	struct growing *growing = *state;
	if (!growing->follow.has_true_mtime)
		skip_because("the file system has no times of its own");
	write_text(growing, "1000 10 one\n", 12);
	assert_true(follow_check(&growing->follow));
	write_text(growing, "2000 10 two\n", 12);
	assert_true(follow_check(&growing->follow));
	assert_false(follow_was_rewritten(&growing->follow));
	/* Stamps have the grain of the kernel's tick. */
	usleep(20000);
	assert_int_equal(pwrite(growing->writer_fd, "1000 10 six\n", 12, 0), 12);
	assert_false(follow_check(&growing->follow));
	assert_true(follow_was_rewritten(&growing->follow));
}

static void test_somebody_elses_lines_are_skipped(void **state)
{
	struct growing *growing = *state;
	assert_int_equal(write(growing->writer_fd, "1 2 old\n", 8), 8);
	follow_skip(&growing->follow);
	assert_false(follow_check(&growing->follow));
	write_line(growing); /* its offset counts from behind the old lines */
	assert_true(follow_check(&growing->follow));
	assert_int_equal(growing->follow.skip_off, 8);
	expect_sound(growing);
	/* A new owner that starts over takes the whole file. */
	assert_int_equal(ftruncate(growing->writer_fd, 0), 0);
	assert_true(follow_check(&growing->follow));
	assert_int_equal(growing->follow.skip_off, 0);
}

static void test_what_was_there_before_has_no_time(void **state)
{
	struct growing *growing = *state;
	write_line(growing);
	write_line(growing);
	assert_true(follow_check(&growing->follow));
	follow_settle(&growing->follow);
	write_line(growing);
	assert_true(follow_check(&growing->follow));
	struct sink text = times_text(growing);
	struct perfmap_times times;
	struct perfmap_stretch stretch;
	assert_int_equal(perfmap_times_init(&times, sink_bytes(&text)), 0);
	assert_int_equal(perfmap_times_at(&times, 0, &stretch), 1);
	assert_int_equal(stretch.latest_ns, 0);
	assert_int_equal(perfmap_times_at(&times, growing->lines[2].end_offset - 1, &stretch), 1);
	assert_true(stretch.latest_ns >= growing->lines[2].before_ns);
	sink_clear(&text);
}

/* An mtime that lies (utimes) must not move the interval past the truth. */
static void test_an_mtime_from_elsewhere(void **state)
{
	struct growing *growing = *state;
	struct timespec times[2] = { { .tv_nsec = UTIME_NOW }, { .tv_sec = 1000 } };
	write_line(growing);
	assert_int_equal(futimens(growing->writer_fd, times), 0);
	assert_true(follow_check(&growing->follow));
	write_line(growing);
	times[1] = (struct timespec){ .tv_sec = (time_t)1 << 33 };
	assert_int_equal(futimens(growing->writer_fd, times), 0);
	assert_true(follow_check(&growing->follow));
	expect_sound(growing);
}

struct reader {
	struct follow *follow;
	int inotify_fd;
	uint64_t end_size; /* read under the file's own growth: 0 until known */
};

static void *follow_by_inotify(void *argument)
{
	struct reader *reader = argument;
	char events[4096];
	for (;;) {
		(void)follow_check(reader->follow);
		const uint64_t end_size = __atomic_load_n(&reader->end_size, __ATOMIC_ACQUIRE);
		if (end_size && reader->follow->known_size == end_size)
			return NULL;
		if (read(reader->inotify_fd, events, sizeof(events)) <= 0)
			return NULL;
	}
}

static void test_a_writer_at_its_own_pace(void **state)
{
	struct growing *growing = *state;
	struct reader reader = { .follow = &growing->follow,
				 .inotify_fd = inotify_init1(IN_CLOEXEC) };
	if (reader.inotify_fd < 0 ||
	    inotify_add_watch(reader.inotify_fd, growing->path, IN_MODIFY | IN_ATTRIB) < 0)
		skip_because("no inotify");
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, follow_by_inotify, &reader), 0);
	while (growing->count < LINES) {
		write_line(growing);
		if (next_random(growing, 3) == 0)
			usleep(next_random(growing, 3000));
	}
	__atomic_store_n(&reader.end_size, growing->size, __ATOMIC_RELEASE);
	/* Wakes the reader should it have seen all lines already. */
	assert_int_equal(fchmod(growing->writer_fd, 0600), 0);
	pthread_join(thread, NULL);
	close(reader.inotify_fd);
	expect_sound(growing);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_checked_after_every_line),
		TEST(test_many_lines_between_checks),
		TEST(test_the_last_line_is_a_stretch_of_its_own),
		TEST(test_torn_lines),
		TEST(test_a_line_longer_than_any_should_be),
		TEST(test_cut_short),
		TEST(test_written_over_in_place),
		TEST(test_somebody_elses_lines_are_skipped),
		TEST(test_what_was_there_before_has_no_time),
		TEST(test_an_mtime_from_elsewhere),
		TEST(test_a_writer_at_its_own_pace),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
