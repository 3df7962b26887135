/* Random processes, mappings, code and samples in a small universe, so that all meet all. */
#include "inject/inject_run.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	PIDS = 4,
	FIRST_PID = 4000001,
	START = 0x10000,
	PAGES = 12,
	PAGE = 0x1000,
	STEPS = 160,
	RUNS = 40,
	MS = 1000000,
};

struct world {
	struct recording r;
	struct sink dumps[PIDS];
	struct sink maps[PIDS];
	uint64_t seed;
	uint64_t now_ns;
	char program[256]; /* a real ELF file: its symbols are asked for too */
	unsigned names;
	uint64_t starts[16]; /* of the last codes: to be met again */
	bool has_time;
};

static uint32_t any(struct world *w, uint32_t limit)
{
	w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(w->seed >> 33) % limit;
}

static uint64_t any_place(struct world *w)
{
	const uint64_t at =
	    any(w, 3) ? START + any(w, PAGES * PAGE / 16) * 16 : START + any(w, PAGES) * PAGE;
	return any(w, 3) ? at : w->starts[any(w, 16)];
}

static uint64_t any_size(struct world *w)
{
	return any(w, 4) ? 16 + any(w, 32) * 16 : 16 + any(w, 2 * PAGE);
}

/* Starts, ends, and whatever lies around them. */
static uint64_t any_address(struct world *w)
{
	const uint64_t place = any_place(w);
	return any(w, 3) ? place + any(w, 0x200) : place - any(w, 2);
}

static uint32_t any_pid(struct world *w)
{
	return FIRST_PID + any(w, PIDS);
}

static void add_code(struct world *w)
{
	char name[32];
	const uint32_t pid = any_pid(w);
	struct sink *dump = &w->dumps[pid - FIRST_PID];
	const uint64_t start = any_place(w);
	const uint64_t size = any(w, 10) ? any_size(w) : 0;
	const uint64_t late_ns = any(w, 3) ? 0 : any(w, 30) * MS;
	(void)snprintf(name, sizeof(name), "code-%u", w->names++);
	w->starts[any(w, 16)] = start + (any(w, 2) ? size : 0);
	dump_load(dump, pid, w->now_ns + late_ns, start, size, name);
}

static void change_code(struct world *w)
{
	const uint32_t pid = any_pid(w);
	struct sink *dump = &w->dumps[pid - FIRST_PID];
	if (any(w, 2))
		dump_unload(dump, pid, w->now_ns, w->starts[any(w, 16)]);
	else
		dump_move(dump, pid, w->now_ns, w->starts[any(w, 16)], any_place(w), any_size(w));
}

static void add_line(struct world *w)
{
	char line[64];
	struct sink *map = &w->maps[any(w, PIDS)];
	const uint64_t start = any_place(w);
	(void)snprintf(line, sizeof(line), "%llx %llx line-%u\n", (unsigned long long)start,
		       (unsigned long long)(any(w, 8) ? any_size(w) : 0), any(w, 6));
	w->starts[any(w, 16)] = start;
	sink_text(map, line);
}

static void add_mapping(struct world *w)
{
	static const char *const paths[] = {
		"//anon",      "//anon",          "/memfd:doublemapper (deleted)",
		"[anon:code]", "/nowhere/one.so", "/nowhere/two.so",
		"[heap]",      "[vdso]"
	};
	const uint32_t kind = any(w, 9);
	recording_map(&w->r, &(struct recording_map){
				 .pid = any_pid(w),
				 .time_ns = w->now_ns,
				 .start_avma = START + any(w, PAGES) * PAGE,
				 .size = (1 + any(w, 5)) * PAGE,
				 .file_off = kind < 4 ? 0 : any(w, 4) * PAGE,
				 .path = kind < 8 ? paths[kind] : w->program,
			     });
}

static void change_process(struct world *w)
{
	const uint32_t pid = any_pid(w);
	const uint32_t other = any_pid(w);
	if (any(w, 3) == 0)
		recording_comm(&w->r, pid, w->now_ns, "again", true);
	else if (pid != other)
		recording_fork(&w->r, pid, other, w->now_ns);
}

static void add_sample(struct world *w)
{
	uint64_t chain[6];
	const size_t count = 1 + any(w, 6);
	const uint32_t pid = any_pid(w);
	for (size_t i = 0; i < count; i++)
		chain[i] = any_address(w);
	recording_sample(&w->r, pid, pid, w->now_ns, chain, count);
}

static void step(struct world *w)
{
	const uint32_t kind = any(w, 20);
	w->now_ns += any(w, 3) ? any(w, 3) * MS : any(w, 12) * MS;
	if (kind < 4)
		add_code(w);
	else if (kind < 6)
		change_code(w);
	else if (kind < 7)
		add_line(w);
	else if (kind < 9)
		add_mapping(w);
	else if (kind < 10)
		change_process(w);
	else
		add_sample(w);
}

static void finish(struct world *w)
{
	char name[64];
	recording_finish(&w->r);
	for (uint32_t i = 0; i < PIDS; i++) {
		(void)snprintf(name, sizeof(name), "jit-%u.dump", FIRST_PID + i);
		recording_file(&w->r, name, sink_bytes(&w->dumps[i]));
		(void)snprintf(name, sizeof(name), "perf-%u.map", FIRST_PID + i);
		recording_file(&w->r, name, sink_bytes(&w->maps[i]));
		sink_clear(&w->dumps[i]);
		sink_clear(&w->maps[i]);
	}
}

static size_t run(uint64_t seed)
{
	struct world w = { .seed = seed * 77 + 5, .now_ns = 1000 * MS };
	const ssize_t size = readlink("/proc/self/exe", w.program, sizeof(w.program) - 1);
	assert_true(size > 0);
	recording_begin(&w.r);
	for (uint32_t i = 0; i < PIDS; i++) {
		dump_begin(&w.dumps[i], FIRST_PID + i);
		recording_comm(&w.r, FIRST_PID + i, 1, "app", false);
	}
	for (uint32_t i = 0; i < STEPS; i++)
		step(&w);
	finish(&w);
	const struct agreement got = inject_and_agree(&w.r);
	recording_remove(&w.r);
	return got.codes;
}

static void perf_names_what_we_name(void **state)
{
	(void)state;
	size_t codes = 0;
	const char *one = getenv("SEED");
	for (uint64_t seed = 0; seed < RUNS; seed++) {
		if (one && strtoull(one, NULL, 10) != seed)
			continue;
		print_message("seed %llu\n", (unsigned long long)seed);
		codes += run(seed);
	}
	assert_true(codes > RUNS || one);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(perf_names_what_we_name) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
