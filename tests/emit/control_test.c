/* Recording is switched on and off while the program runs. */
#include "emit_lib.h"

#include <signal.h>
#include <time.h>

static int started_count;

static int set_up_counted(void **state)
{
	started_count = 0;
	return set_up(state);
}

static void sleep_ms(long ms)
{
	const struct timespec pause = { .tv_nsec = ms * 1000000 };
	nanosleep(&pause, NULL);
}

/* What a runtime does when it is asked to begin: it tells what there is. */
static void on_start(struct polyperf_jit *jit, void *context)
{
	struct polyperf_jit_load_info info = a_load(context, 0x10000, 64);
	info.flags = POLYPERF_JIT_EXISTING;
	assert_int_equal(polyperf_jit_load(jit, &info), 0);
	started_count++;
}

static struct polyperf_jit *open_off(uint32_t flags, const char *control_path)
{
	static char name[] = "was there";
	return open_in(dir, (struct polyperf_jit_options){ .flags = flags,
							   .control_path = control_path,
							   .on_start = on_start,
							   .context = name });
}

static void check_dump(const char *path, const char *second)
{
	struct dump dump;
	struct jitdump_record record;
	dump_read(&dump, path);
	expect(&dump, JITDUMP_CODE_LOAD, &record);
	assert_text(record.code_load.name, "was there");
	assert_int_equal(record.time_ns, 0);
	expect(&dump, JITDUMP_CODE_LOAD, &record);
	assert_text(record.code_load.name, second);
	expect(&dump, JITDUMP_CLOSE, &record);
	assert_int_equal(dump_next(&dump, &record), 0);
	dump_free(&dump);
}

static void starts_when_it_is_enabled(void **state)
{
	(void)state;
	char paths[2][PATH_SIZE];
	struct polyperf_jit *jit = open_off(POLYPERF_JIT_START_OFF, NULL);
	assert_int_equal(load(jit, "too early", 0x20000, 64), POLYPERF_JIT_OFF);
	assert_int_equal(count_dumps(dir), 0);
	assert_int_equal(stats_of(jit).is_recording, 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(polyperf_jit_enable(jit, 1), 0);
		assert_int_equal(started_count, i + 1);
		path_of(jit, paths[i]);
		assert_int_equal(load(jit, i ? "second" : "first", 0x20000, 64), 0);
		assert_int_equal(stats_of(jit).is_recording, 1);
		assert_int_equal(polyperf_jit_enable(jit, 0), POLYPERF_JIT_OFF);
		assert_int_equal(load(jit, "too late", 0x20000, 64), POLYPERF_JIT_OFF);
	}
	assert_int_equal(polyperf_jit_path(jit, paths[0] + 1000, 10), 0);
	polyperf_jit_close(jit);
	check_dump(paths[0], "first");
	check_dump(paths[1], "second");
	assert_int_equal(count_dumps(dir), 2);
}

static void starts_when_a_file_appears(void **state)
{
	(void)state;
	char control[DIR_SIZE + 16];
	char path[PATH_SIZE];
	(void)snprintf(control, sizeof(control), "%s/control", dir);
	struct polyperf_jit *jit = open_off(0, control);
	assert_int_equal(load(jit, "too early", 0x20000, 64), POLYPERF_JIT_OFF);
	const int fd = open(control, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
	sleep_ms(120);
	assert_int_equal(load(jit, "first", 0x20000, 64), 0);
	assert_int_equal(started_count, 1);
	path_of(jit, path);
	assert_int_equal(unlink(control), 0);
	sleep_ms(120);
	assert_int_equal(polyperf_jit_poll(jit), POLYPERF_JIT_OFF);
	polyperf_jit_close(jit);
	check_dump(path, "first");
}

static void records_at_once_where_the_file_is_there(void **state)
{
	(void)state;
	char control[DIR_SIZE + 16];
	(void)snprintf(control, sizeof(control), "%s/control", dir);
	const int fd = open(control, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
	struct polyperf_jit *jit = open_off(0, control);
	assert_int_equal(stats_of(jit).is_recording, 1);
	assert_int_equal(started_count, 0);
	polyperf_jit_close(jit);
}

/* As another process does it: through /proc, by the name of the memory. */
static int open_control(void)
{
	for (int fd = 3; fd < 256; fd++) {
		char link[64];
		char target[256];
		(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		const ssize_t size = readlink(link, target, sizeof(target) - 1);
		target[size > 0 ? size : 0] = 0;
		if (strncmp(target, "/memfd:polyperf-jit", 19) == 0)
			return open(link, O_RDWR);
	}
	return -1;
}

static void starts_when_its_memory_says_so(void **state)
{
	(void)state;
	const uint32_t on = 1;
	const uint32_t off = 0;
	char path[PATH_SIZE];
	struct polyperf_jit *jit =
	    open_off(POLYPERF_JIT_START_OFF | POLYPERF_JIT_CONTROL_MEMFD, NULL);
	const int control = open_control();
	assert_true(control >= 0);
	assert_int_equal(load(jit, "too early", 0x20000, 64), POLYPERF_JIT_OFF);
	/* Nobody can shrink it under the feet of the program. */
	assert_int_equal(ftruncate(control, 0), -1);
	assert_int_equal(pwrite(control, &on, 4, 0), 4);
	assert_int_equal(load(jit, "first", 0x20000, 64), 0);
	path_of(jit, path);
	assert_int_equal(pwrite(control, &off, 4, 0), 4);
	assert_int_equal(load(jit, "too late", 0x20000, 64), POLYPERF_JIT_OFF);
	close(control);
	polyperf_jit_close(jit);
	assert_int_equal(started_count, 1);
	check_dump(path, "first");
}

static void tries_again_where_it_cannot_start(void **state)
{
	(void)state;
	char away[DIR_SIZE + 8];
	(void)snprintf(away, sizeof(away), "%s-away", dir);
	struct polyperf_jit *jit = open_off(POLYPERF_JIT_START_OFF, NULL);
	assert_int_equal(rename(dir, away), 0);
	assert_int_equal(polyperf_jit_enable(jit, 1), POLYPERF_JIT_FAILED);
	assert_int_equal(load(jit, "no", 0x20000, 64), POLYPERF_JIT_FAILED);
	assert_int_equal(rename(away, dir), 0);
	sleep_ms(120);
	assert_int_equal(load(jit, "first", 0x20000, 64), 0);
	assert_int_equal(stats_of(jit).drop_count, 1);
	polyperf_jit_close(jit);
}

static struct polyperf_jit *signalled;
static volatile sig_atomic_t results[POLYPERF_JIT_UNSUPPORTED * -1 + 2];

static void on_signal(int number)
{
	(void)number;
	const int got = load(signalled, "in a handler", 0x30000, 64);
	results[got < 0 ? -got : 0]++;
}

/* A timer's handler tells of code too, wherever it interrupts. */
static void may_be_called_from_a_handler(void **state)
{
	(void)state;
	char path[PATH_SIZE];
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct sigaction old;
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	const struct itimerspec often = { { 0, 50000 }, { 0, 50000 } };
	timer_t timer;
	signalled = open_in(dir, (struct polyperf_jit_options){ .size_limit = 4 << 20 });
	assert_int_equal(sigaction(SIGUSR1, &action, &old), 0);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	assert_int_equal(timer_settime(timer, 0, &often, NULL), 0);
	uint64_t told = 0;
	for (int i = 0; i < 20000; i++)
		told += load(signalled, "outside", 0x20000, 500) == 0;
	assert_int_equal(timer_delete(timer), 0);
	assert_int_equal(sigaction(SIGUSR1, &old, NULL), 0);
	assert_int_equal(told, 20000);
	assert_true(results[0] > 0);
	const uint64_t drop_count = stats_of(signalled).drop_count;
	assert_int_equal(drop_count, results[-POLYPERF_JIT_BUSY]);
	path_of(signalled, path);
	polyperf_jit_close(signalled);
	struct dump dump;
	struct jitdump_record record;
	dump_read(&dump, path);
	while (dump_next(&dump, &record) > 0)
		assert_true(record.id == JITDUMP_CODE_LOAD || record.id == JITDUMP_CLOSE);
	dump_free(&dump);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up_counted, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(starts_when_it_is_enabled),
		CASE(starts_when_a_file_appears),
		CASE(records_at_once_where_the_file_is_there),
		CASE(starts_when_its_memory_says_so),
		CASE(tries_again_where_it_cannot_start),
		CASE(may_be_called_from_a_handler),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
