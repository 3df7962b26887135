/* Many threads at once: each record whole, in order of time, with a number of its own; and a
 * dump that lost nothing when the process is killed in the middle.
 */
#include "emit_lib.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

enum { THREADS = 8, LOADS = 4000, KILLS = 25 };

/* What the threads have been told is written: survives the process. */
struct shared {
	_Atomic uint64_t acknowledged[THREADS];
};
static struct shared *shared;

struct worker {
	pthread_t thread;
	struct polyperf_jit *jit;
	uint32_t number;
	uint64_t count; /* UINT64_MAX: until killed */
};

static uint64_t address_of(uint32_t thread, uint64_t i)
{
	return UINT64_C(0x100000000) * (thread + 1) + i * 4096;
}

/* Names and sizes differ, so that places in the file are never aligned alike. */
static void *tell(void *argument)
{
	struct worker *worker = argument;
	static const struct polyperf_jit_line lines[] = { { 0, 1, 1, "file" }, { 4, 2, 1, NULL } };
	for (uint64_t i = 0; i < worker->count; i++) {
		char name[64];
		(void)snprintf(name, sizeof(name), "thread %u load %llu", worker->number,
			       (unsigned long long)i);
		struct polyperf_jit_load_info info =
		    a_load(name, address_of(worker->number, i), 100 + i * 37 % 1500);
		info.lines = lines;
		info.line_count = i % 3 ? 0 : 2;
		if (polyperf_jit_load(worker->jit, &info) != 0)
			continue;
		atomic_store(&shared->acknowledged[worker->number], i + 1);
	}
	return NULL;
}

static void start(struct polyperf_jit *jit, struct worker workers[THREADS], uint64_t count)
{
	for (uint32_t i = 0; i < THREADS; i++) {
		atomic_store(&shared->acknowledged[i], 0);
		workers[i] = (struct worker){ .jit = jit, .number = i, .count = count };
		assert_int_equal(pthread_create(&workers[i].thread, NULL, tell, &workers[i]), 0);
	}
}

/* Which loads of each thread are there; each must be what the thread said. */
static void check_load(const struct jitdump_record *record, uint64_t counts[THREADS])
{
	const struct jitdump_code_load *got = &record->code_load;
	char name[80];
	assert_true(got->name.size < sizeof(name));
	memcpy(name, got->name.data, got->name.size);
	name[got->name.size] = 0;
	unsigned thread;
	unsigned long long i;
	assert_int_equal(sscanf(name, "thread %u load %llu", &thread, &i), 2);
	assert_true(thread < THREADS);
	assert_int_equal(i, counts[thread]); /* each thread's in its order */
	counts[thread]++;
	assert_int_equal(got->code_avma, address_of(thread, i));
	assert_int_equal(got->code_size, 100 + i * 37 % 1500);
	assert_int_equal(got->code.size, got->code_size);
	assert_memory_equal(got->code.data, code_bytes, got->code.size);
}

/* Killed while the file grew: its new end, in which nothing can have been written. */
static void allow_zeros(void *context, const struct jitdump_problem *problem)
{
	if (problem->kind != JITDUMP_PROBLEM_ZEROS)
		fail_on_problem(context, problem);
}

static uint64_t check_dump(const char *path, uint64_t counts[THREADS], bool is_dense)
{
	struct dump dump;
	struct jitdump_record record;
	uint64_t last_ns = 0;
	uint64_t count = 0;
	dump_read(&dump, path);
	if (!is_dense)
		dump.reader.on_problem = allow_zeros;
	memset(counts, 0, THREADS * sizeof(counts[0]));
	uint64_t next_index = 0;
	while (dump_next(&dump, &record) > 0) {
		assert_true(record.time_ns >= last_ns);
		last_ns = record.time_ns;
		if (record.id != JITDUMP_CODE_LOAD)
			continue;
		check_load(&record, counts);
		if (is_dense)
			assert_int_equal(record.code_load.code_index, next_index);
		assert_true(record.code_load.code_index >= next_index);
		next_index = record.code_load.code_index + 1;
		count++;
	}
	dump_free(&dump);
	return count;
}

static void writes_whole_records_in_order(void **state)
{
	(void)state;
	char path[PATH_SIZE];
	uint64_t counts[THREADS];
	struct worker workers[THREADS];
	struct polyperf_jit *jit = open_in(dir, (struct polyperf_jit_options){ 0 });
	path_of(jit, path);
	start(jit, workers, LOADS);
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	assert_int_equal(stats_of(jit).record_count, THREADS * LOADS);
	assert_int_equal(stats_of(jit).drop_count, 0);
	polyperf_jit_close(jit);
	assert_int_equal(check_dump(path, counts, true), THREADS * LOADS);
	assert_int_equal(unlink(path), 0);
}

static _Noreturn void run_until_killed(int to_parent)
{
	struct worker workers[THREADS];
	char path[PATH_SIZE];
	struct polyperf_jit *jit = open_in(dir, (struct polyperf_jit_options){ 0 });
	path_of(jit, path);
	start(jit, workers, UINT64_MAX);
	if (write(to_parent, path, sizeof(path)) != sizeof(path))
		_exit(1);
	for (;;)
		pause();
}

/* At any moment: records are half written, the file grows. */
static void loses_nothing_when_killed(void **state)
{
	(void)state;
	for (int round = 0; round < KILLS; round++) {
		char path[PATH_SIZE];
		uint64_t counts[THREADS];
		int pipes[2];
		assert_int_equal(pipe(pipes), 0);
		const pid_t pid = fork();
		assert_true(pid >= 0);
		if (!pid)
			run_until_killed(pipes[1]);
		close(pipes[1]);
		assert_int_equal(read(pipes[0], path, sizeof(path)), sizeof(path));
		close(pipes[0]);
		const struct timespec a_while = { .tv_nsec = 1000000 + round * 777777 % 9000000 };
		nanosleep(&a_while, NULL);
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		(void)check_dump(path, counts, false);
		for (int i = 0; i < THREADS; i++) {
			const uint64_t acknowledged = atomic_load(&shared->acknowledged[i]);
			if (counts[i] < acknowledged || counts[i] > acknowledged + 1)
				fail_msg("round %d, thread %d: %llu of %llu are there", round, i,
					 (unsigned long long)counts[i],
					 (unsigned long long)acknowledged);
		}
		assert_int_equal(unlink(path), 0);
	}
}

static int set_up_shared(void **state)
{
	shared =
	    mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return shared == MAP_FAILED ? -1 : set_up(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_whole_records_in_order),
		cmocka_unit_test(loses_nothing_when_killed),
	};
	return cmocka_run_group_tests(tests, set_up_shared, tear_down);
}
