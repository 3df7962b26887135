/* A process forks: parent and child each have a dump of their own, and both are right. */
#include "emit_lib.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

static void path_of_pid(pid_t pid, char path[PATH_SIZE])
{
	(void)snprintf(path, PATH_SIZE, "%s/jit-%d.dump", dir, pid);
}

/* The child's result: 0 if all its calls returned 0. */
static void wait_for(pid_t pid)
{
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int tell_some(struct polyperf_jit *jit)
{
	static const struct polyperf_jit_line lines[] = { { 0, 7, 1, "file" } };
	struct polyperf_jit_load_info info = a_load("inherited", 0x10000, 64);
	info.lines = lines;
	info.line_count = 1;
	int got = polyperf_jit_load(jit, &info);
	got |= load(jit, "moved", 0x20000, 64);
	got |= load(jit, "unloaded", 0x30000, 64);
	got |= load(jit, "replaced", 0x40000, 64);
	got |= load(jit, "replacement", 0x40020, 64);
	info = a_load("moved with lines", 0x50000, 64);
	info.lines = lines;
	info.line_count = 1;
	got |= polyperf_jit_load(jit, &info);
	got |= polyperf_jit_move(jit, 0x20000, 0x21000, 64, 1);
	got |= polyperf_jit_move(jit, 0x50000, 0x51000, 64, 5);
	got |= polyperf_jit_unload(jit, 0x30000, 64, 2);
	return got;
}

struct want {
	const char *name;
	uint64_t avma;
};

static void expect_load(struct dump *dump, struct want want, pid_t pid, uint64_t times[2])
{
	struct jitdump_record record;
	assert_int_equal(dump_next(dump, &record), 1);
	if (record.id == JITDUMP_DEBUG_INFO) {
		assert_int_equal(record.debug_info.code_avma, want.avma);
		struct cursor c = record.debug_info.entries;
		assert_int_equal(cursor_u64(&c), want.avma);
		assert_int_equal(dump_next(dump, &record), 1);
	}
	assert_int_equal(record.id, JITDUMP_CODE_LOAD);
	assert_text(record.code_load.name, want.name);
	assert_int_equal(record.code_load.vma, want.avma);
	assert_int_equal(record.code_load.code_avma, want.avma);
	assert_int_equal(record.code_load.pid, pid);
	assert_memory_equal(record.code_load.code.data, code_bytes, 64);
	assert_true(record.time_ns >= times[0] && record.time_ns <= times[1]);
}

static void check_child(pid_t pid, uint64_t times[2])
{
	static const struct want wanted[] = {
		{ "inherited", 0x10000 },        { "replacement", 0x40020 },  { "moved", 0x21000 },
		{ "moved with lines", 0x51000 }, { "of the child", 0x60000 },
	};
	char path[PATH_SIZE];
	struct dump dump;
	struct jitdump_record record;
	path_of_pid(pid, path);
	dump_read(&dump, path);
	assert_int_equal(dump.reader.pid, pid);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		expect_load(&dump, wanted[i], pid, times);
	expect(&dump, JITDUMP_CLOSE, &record);
	dump_free(&dump);
}

static void check_parent(const char *path)
{
	struct dump dump;
	struct jitdump_record record;
	uint64_t loads = 0;
	bool has_own = false;
	dump_read(&dump, path);
	while (dump_next(&dump, &record) > 0) {
		if (record.id != JITDUMP_CODE_LOAD)
			continue;
		loads++;
		assert_int_equal(record.code_load.pid, getpid());
		has_own |= record.code_load.code_avma == 0x70000;
	}
	assert_int_equal(loads, 7);
	assert_true(has_own);
	dump_free(&dump);
}

static pid_t fork_raw(void)
{
	return (pid_t)syscall(SYS_clone, 17 /* SIGCHLD */, NULL, NULL, NULL, NULL);
}

static pid_t fork_usual(void)
{
	return fork();
}

static void check_fork(pid_t (*make_child)(void))
{
	char path[PATH_SIZE];
	struct polyperf_jit *jit = open_in(dir, (struct polyperf_jit_options){ 0 });
	path_of(jit, path);
	assert_int_equal(tell_some(jit), 0);
	uint64_t times[2] = { now_ns(), 0 };
	const pid_t pid = make_child();
	assert_true(pid >= 0);
	if (!pid) {
		const int got = load(jit, "of the child", 0x60000, 64);
		polyperf_jit_close(jit);
		_exit(got != 0);
	}
	/* At the same time, into the mapping that both have. */
	assert_int_equal(load(jit, "of the parent", 0x70000, 64), 0);
	wait_for(pid);
	times[1] = now_ns();
	polyperf_jit_close(jit);
	check_parent(path);
	check_child(pid, times);
}

static void gives_the_child_a_file_with_what_it_inherits(void **state)
{
	(void)state;
	check_fork(fork_usual);
}

static void notices_a_fork_that_bypasses_libc(void **state)
{
	(void)state;
	check_fork(fork_raw);
}

static void makes_no_file_for_a_child_that_tells_nothing(void **state)
{
	(void)state;
	char path[PATH_SIZE];
	struct polyperf_jit *jit = open_in(dir, (struct polyperf_jit_options){ 0 });
	path_of(jit, path);
	assert_int_equal(load(jit, "first", 0x10000, 64), 0);
	for (int closes = 0; closes < 2; closes++) {
		const pid_t pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			if (closes)
				polyperf_jit_close(jit);
			_exit(0);
		}
		wait_for(pid);
	}
	assert_int_equal(load(jit, "second", 0x20000, 64), 0);
	polyperf_jit_close(jit);
	assert_int_equal(count_dumps(dir), 1);
	struct dump dump;
	struct jitdump_record record;
	dump_read(&dump, path);
	expect(&dump, JITDUMP_CODE_LOAD, &record);
	expect(&dump, JITDUMP_CODE_LOAD, &record);
	assert_text(record.code_load.name, "second");
	expect(&dump, JITDUMP_CLOSE, &record);
	dump_free(&dump);
}

static void goes_on_through_generations(void **state)
{
	(void)state;
	struct polyperf_jit *jit = open_in(dir, (struct polyperf_jit_options){ 0 });
	assert_int_equal(load(jit, "oldest", 0x10000, 64), 0);
	const pid_t pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		int got = load(jit, "middle", 0x20000, 64);
		const pid_t grandchild = fork();
		if (!grandchild) {
			got |= load(jit, "youngest", 0x30000, 64);
			polyperf_jit_close(jit);
			_exit(got != 0);
		}
		int status = 1;
		(void)waitpid(grandchild, &status, 0);
		polyperf_jit_close(jit);
		char name[DIR_SIZE + 16];
		char path[PATH_SIZE];
		(void)snprintf(name, sizeof(name), "%s/grandchild", dir);
		path_of_pid(grandchild, path);
		_exit(got != 0 || status != 0 || rename(path, name) != 0);
	}
	wait_for(pid);
	polyperf_jit_close(jit);
	char path[DIR_SIZE + 16];
	(void)snprintf(path, sizeof(path), "%s/grandchild", dir);
	struct dump dump;
	struct jitdump_record record;
	dump_read(&dump, path);
	static const char *const names[] = { "oldest", "middle", "youngest" };
	for (int i = 0; i < 3; i++) {
		expect(&dump, JITDUMP_CODE_LOAD, &record);
		assert_text(record.code_load.name, names[i]);
		assert_int_equal(record.code_load.pid, dump.reader.pid);
	}
	dump_free(&dump);
}

static atomic_int stop;

static void *keep_telling(void *argument)
{
	struct polyperf_jit *jit = argument;
	for (uint64_t i = 0; !atomic_load(&stop); i++)
		(void)load(jit, "busy", 0x100000 + i % 512 * 4096, 1000);
	return NULL;
}

/* Other threads are inside of calls at the moment of each fork. */
static void forks_while_others_tell(void **state)
{
	(void)state;
	enum { THREADS = 4, FORKS = 12 };
	pthread_t threads[THREADS];
	struct polyperf_jit *jit = open_in(dir, (struct polyperf_jit_options){ 0 });
	atomic_store(&stop, 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, keep_telling, jit), 0);
	for (int i = 0; i < FORKS; i++) {
		const pid_t pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			const int got = load(jit, "of the child", 0x60000, 64);
			polyperf_jit_close(jit);
			_exit(got != 0);
		}
		wait_for(pid);
		char path[PATH_SIZE];
		struct dump dump;
		struct jitdump_record record;
		uint32_t last_id = 0;
		path_of_pid(pid, path);
		dump_read(&dump, path);
		while (dump_next(&dump, &record) > 0)
			last_id = record.id;
		assert_int_equal(last_id, JITDUMP_CLOSE);
		dump_free(&dump);
	}
	atomic_store(&stop, 1);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	polyperf_jit_close(jit);
}

static void gives_the_child_a_map(void **state)
{
	(void)state;
	struct polyperf_jit *jit =
	    open_in(dir, (struct polyperf_jit_options){ .flags = POLYPERF_JIT_MAP });
	assert_int_equal(load(jit, "inherited", 0x10000, 64), 0);
	const pid_t pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		const int got = load(jit, "child", 0x20000, 64);
		polyperf_jit_close(jit);
		_exit(got != 0);
	}
	wait_for(pid);
	assert_int_equal(load(jit, "parent", 0x30000, 64), 0);
	polyperf_jit_close(jit);
	for (int i = 0; i < 2; i++) {
		char path[DIR_SIZE + 32];
		char text[200] = "";
		(void)snprintf(path, sizeof(path), "%s/perf-%d.map", dir, i ? pid : getpid());
		FILE *file = fopen(path, "r");
		assert_non_null(file);
		const size_t size = fread(text, 1, sizeof(text) - 1, file);
		fclose(file);
		text[size] = 0;
		assert_string_equal(text, i ? "10000 40 inherited\n20000 40 child\n"
					    : "10000 40 inherited\n30000 40 parent\n");
	}
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(gives_the_child_a_file_with_what_it_inherits),
		CASE(notices_a_fork_that_bypasses_libc),
		CASE(makes_no_file_for_a_child_that_tells_nothing),
		CASE(goes_on_through_generations),
		CASE(forks_while_others_tell),
		CASE(gives_the_child_a_map),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
