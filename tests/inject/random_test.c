/* Random processes, mappings, code and samples in a small universe, so that all meet all. */
#include "inject/inject_run.h"
#include "inject/world.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { STEPS = 160, RUNS = 40 };

static uint32_t next_random(void *context)
{
	uint64_t *seed = context;
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33);
}

static void write_files(struct world *w)
{
	char name[64];
	recording_finish(&w->r);
	for (uint32_t i = 0; i < WORLD_PIDS; i++) {
		(void)snprintf(name, sizeof(name), "jit-%u.dump", WORLD_FIRST_PID + i);
		recording_file(&w->r, name, sink_bytes(&w->dumps[i]));
		(void)snprintf(name, sizeof(name), "perf-%u.map", WORLD_FIRST_PID + i);
		recording_file(&w->r, name, sink_bytes(&w->maps[i]));
	}
}

static size_t run(uint64_t number)
{
	char program[256] = "";
	uint64_t seed = number * 77 + 5;
	struct world w = { .next = next_random, .context = &seed, .program = program };
	assert_true(readlink("/proc/self/exe", program, sizeof(program) - 1) > 0);
	const uint64_t type = number % 4 == 3 ? world_with_stacks : 0;
	world_begin(&w, &(struct recording_shape){ .sample_type = type });
	for (uint32_t i = 0; i < STEPS; i++)
		world_step(&w);
	write_files(&w);
	world_clear(&w);
	const struct agreement got = inject_and_agree(&w.r);
	recording_remove(&w.r);
	return got.codes;
}

/* SEED=n runs the nth alone. */
static void perf_names_what_we_name(void **state)
{
	(void)state;
	size_t codes = 0;
	const char *one = getenv("SEED");
	for (uint64_t number = 0; number < RUNS; number++) {
		if (one && strtoull(one, NULL, 10) != number)
			continue;
		print_message("seed %llu\n", (unsigned long long)number);
		codes += run(number);
	}
	assert_true(codes > RUNS || one);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(perf_names_what_we_name) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
