/* Disks that are full, limits, descriptors that others close, readers that are slow. */
#include "emit_lib.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

struct tally {
	uint64_t told;
	uint64_t refused;
};

static struct tally tell_many(struct polyperf_jit *jit, uint64_t from, uint64_t count)
{
	struct tally tally = { 0 };
	for (uint64_t i = from; i < from + count; i++) {
		const int got = load(jit, "name", 0x10000 + i * 4096, 1000);
		if (got == 0)
			tally.told++;
		else if (got == POLYPERF_JIT_NO_SPACE)
			tally.refused++;
		else
			fail_msg("load %llu: %d", (unsigned long long)i, got);
	}
	return tally;
}

static void skip_zeros(void *context, const struct jitdump_problem *problem)
{
	if (problem->kind != JITDUMP_PROBLEM_ZEROS)
		fail_on_problem(context, problem);
}

static uint64_t count_loads(const char *path)
{
	struct dump dump;
	struct jitdump_record record;
	uint64_t count = 0;
	dump_read(&dump, path);
	dump.reader.on_problem = skip_zeros;
	while (dump_next(&dump, &record) > 0)
		count += record.id == JITDUMP_CODE_LOAD;
	dump_free(&dump);
	return count;
}

static void sleep_ms(long ms)
{
	const struct timespec pause = { .tv_nsec = ms * 1000000 };
	nanosleep(&pause, NULL);
}

static int mount_small(void)
{
	return mount("tmpfs", dir, "tmpfs", 0, "size=2m,mode=0700");
}

static void survives_a_full_disk(void **state)
{
	(void)state;
	if (mount_small() != 0)
		skip_because("no file system may be mounted here");
	char path[PATH_SIZE];
	char filler[DIR_SIZE + 16];
	static const char megabyte[1 << 20];
	(void)snprintf(filler, sizeof(filler), "%s/filler", dir);
	struct polyperf_jit *jit = open_in(dir, (struct polyperf_jit_options){ 0 });
	path_of(jit, path);
	const int fd = open(filler, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, megabyte, sizeof(megabyte)), sizeof(megabyte));
	close(fd);

	struct tally tally = tell_many(jit, 0, 3000);
	assert_true(tally.told > 100 && tally.refused > 1000);
	assert_int_equal(stats_of(jit).drop_count, tally.refused);
	assert_int_equal(stats_of(jit).no_space_count, tally.refused);

	/* Space again: it goes on, after a moment. */
	assert_int_equal(unlink(filler), 0);
	sleep_ms(150);
	assert_int_equal(tell_many(jit, 3000, 100).told, 100);
	polyperf_jit_close(jit);
	assert_int_equal(count_loads(path), tally.told + 100);
	assert_int_equal(umount(dir), 0);
}

static void opens_on_no_full_disk(void **state)
{
	(void)state;
	if (mount("tmpfs", dir, "tmpfs", 0, "size=4k,mode=0700") != 0)
		skip_because("no file system may be mounted here");
	const struct polyperf_jit_options options = { .struct_size = sizeof(options),
						      .directory = dir };
	struct polyperf_jit *jit;
	assert_int_equal(polyperf_jit_open(&options, &jit), POLYPERF_JIT_NO_SPACE);
	assert_int_equal(count_dumps(dir), 0);
	assert_int_equal(umount(dir), 0);
}

/* Writing beyond it would raise SIGXFSZ, and kill. In a child: the limit is for good. */
static void stays_below_the_limit_of_file_sizes(void **state)
{
	(void)state;
	char path[PATH_SIZE];
	(void)snprintf(path, sizeof(path), "%s/told", dir);
	const pid_t pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		const struct rlimit limit = { 300000, 300000 };
		char own[PATH_SIZE];
		if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
			_exit(1);
		struct polyperf_jit *jit =
		    open_in(dir, (struct polyperf_jit_options){ .flags = POLYPERF_JIT_MAP |
									 POLYPERF_JIT_DUMP });
		path_of(jit, own);
		const struct tally tally = tell_many(jit, 0, 20000);
		polyperf_jit_close(jit);
		_exit(tally.told < 100 || !tally.refused || count_loads(own) != tally.told);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* What daemons do: close every descriptor they do not know. */
static void close_all_files(void)
{
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
}

static void regains_a_file_that_was_closed(void **state)
{
	(void)state;
	char path[PATH_SIZE];
	char other[DIR_SIZE + 16];
	struct polyperf_jit *jit = open_in(dir, (struct polyperf_jit_options){ 0 });
	path_of(jit, path);
	assert_int_equal(tell_many(jit, 0, 10).told, 10);
	close_all_files();
	/* Others get the number: their files must not grow, shrink, or be closed. */
	(void)snprintf(other, sizeof(other), "%s/other", dir);
	int fds[8];
	for (int i = 0; i < 8; i++)
		fds[i] = open(other, O_RDWR | O_CREAT, 0600);
	assert_int_equal(write(fds[0], "precious", 8), 8);
	assert_int_equal(tell_many(jit, 10, 2000).told, 2000);
	polyperf_jit_close(jit);
	assert_int_equal(count_loads(path), 2010);
	struct stat st;
	for (int i = 0; i < 8; i++) {
		assert_int_equal(fstat(fds[i], &st), 0);
		assert_int_equal(st.st_size, 8);
		close(fds[i]);
	}
}

static void drops_what_has_no_file_any_more(void **state)
{
	(void)state;
	char path[PATH_SIZE];
	struct polyperf_jit *jit = open_in(dir, (struct polyperf_jit_options){ 0 });
	path_of(jit, path);
	close_all_files();
	assert_int_equal(unlink(path), 0);
	int last = 0;
	for (int i = 0; i < 2000; i++)
		last = load(jit, "name", 0x10000, 1000);
	assert_true(last == POLYPERF_JIT_FAILED || last == POLYPERF_JIT_NO_SPACE);
	assert_true(stats_of(jit).drop_count > 1000);
	polyperf_jit_close(jit);
}

static void refuses_a_record_larger_than_a_quarter_of_the_limit(void **state)
{
	(void)state;
	static const uint8_t large[600 << 10];
	struct polyperf_jit *jit =
	    open_in(dir, (struct polyperf_jit_options){ .size_limit = 2 << 20 });
	struct polyperf_jit_load_info info = a_load("large", 0x10000, sizeof(large));
	info.code = large;
	assert_int_equal(polyperf_jit_load(jit, &info), POLYPERF_JIT_TOO_BIG);
	info.size = 400 << 10;
	assert_int_equal(polyperf_jit_load(jit, &info), 0);
	polyperf_jit_close(jit);
}

/* Reads a stream to its end, slowly at first. */
struct receiver {
	int fd;
	uint8_t *data;
	size_t size;
	atomic_int may_read;
};

static void *receive(void *argument)
{
	struct receiver *to = argument;
	while (!atomic_load(&to->may_read))
		sleep_ms(1);
	for (;;) {
		to->data = realloc(to->data, to->size + 65536);
		assert_non_null(to->data);
		const ssize_t got = read(to->fd, to->data + to->size, 65536);
		if (got <= 0)
			return NULL;
		to->size += (size_t)got;
	}
}

static uint64_t count_received(const struct receiver *from)
{
	struct jitdump_reader reader;
	struct jitdump_record record;
	uint64_t count = 0;
	const struct bytes bytes = { from->data, from->size };
	assert_int_equal(jitdump_reader_init(&reader, bytes), 0);
	reader.on_problem = fail_on_problem;
	record.id = 0;
	while (jitdump_reader_next(&reader, &record) > 0)
		count += record.id == JITDUMP_CODE_LOAD;
	assert_int_equal(record.id, JITDUMP_CLOSE);
	return count;
}

static void check_stream(const int fds[2])
{
	pthread_t thread;
	struct receiver receiver = { .fd = fds[0] };
	struct polyperf_jit *jit = open_in(
	    dir, (struct polyperf_jit_options){ .flags = POLYPERF_JIT_TO_FD, .fd = fds[1] });
	/* Nobody reads: what exceeds the pipe and our buffer is dropped, and nothing waits. */
	const struct tally tally = tell_many(jit, 0, 5000);
	assert_true(tally.told > 500 && tally.refused > 1000);
	atomic_store(&receiver.may_read, 1);
	assert_int_equal(pthread_create(&thread, NULL, receive, &receiver), 0);
	sleep_ms(50);
	assert_int_equal(tell_many(jit, 5000, 10).told, 10);
	polyperf_jit_close(jit);
	close(fds[1]);
	pthread_join(thread, NULL);
	close(fds[0]);
	assert_int_equal(count_received(&receiver), tally.told + 10);
	assert_int_equal(count_dumps(dir), 0);
	free(receiver.data);
}

static void drops_what_a_slow_reader_does_not_take(void **state)
{
	(void)state;
	int fds[2];
	assert_int_equal(pipe(fds), 0);
	check_stream(fds);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	check_stream(fds);
}

static void survives_a_reader_that_goes(void **state)
{
	(void)state;
	for (int is_socket = 0; is_socket < 2; is_socket++) {
		int fds[2];
		assert_int_equal(is_socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, fds) : pipe(fds),
				 0);
		struct polyperf_jit *jit =
		    open_in(dir, (struct polyperf_jit_options){ .flags = POLYPERF_JIT_TO_FD,
								.fd = fds[1] });
		assert_int_equal(load(jit, "name", 0x10000, 64), 0);
		close(fds[0]);
		/* The default action of SIGPIPE would end this test. */
		(void)load(jit, "name", 0x20000, 64);
		assert_int_equal(load(jit, "name", 0x30000, 64), POLYPERF_JIT_FAILED);
		polyperf_jit_close(jit);
		close(fds[1]);
	}
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(survives_a_full_disk),
		CASE(opens_on_no_full_disk),
		CASE(stays_below_the_limit_of_file_sizes),
		CASE(regains_a_file_that_was_closed),
		CASE(drops_what_has_no_file_any_more),
		CASE(refuses_a_record_larger_than_a_quarter_of_the_limit),
		CASE(drops_what_a_slow_reader_does_not_take),
		CASE(survives_a_reader_that_goes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
