/* walk_live.c - walks a running process at each sample and prints what was found.
 *
 *   walk_live PID SECONDS HZ [task]
 *
 * Ends when its input does, at the latest after so many seconds. The process may be stopped: it is
 * continued when all is ready.
 *
 * Samples the whole machine, so that children are walked, too; with "task" the first thread
 * of the process alone, so that what the program costs is what its stacks cost.
 *
 * Prints a line for each stack (told.h), then "# name value" lines of counts: of samples of
 * the process, and of those that have a stack with their very time. Exits with 77 where
 * programs cannot be loaded, with 78 where the process has nothing to walk.
 */
#include "base/status.h"
#include "interp/interp.h"
#include "interp/told.h"
#include "interp/walker.h"
#include "os/perf_event.h"
#include "os/perf_ring.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CPUS = 64, RING_BYTES = 4 << 20 };

/* Of the samples: {id, ip, pid+tid, time}; of the output event: {id, pid+tid, time, raw}. */
enum {
	SAMPLE_TYPE = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	OUTPUT_TYPE = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
};

struct cpu {
	struct perf_ring ring;
	int sample_fd;
	int output_fd;
	uint64_t output_id;
	uint64_t stack_time_ns; /* of the last stack that was read; 0: none since */
	uint32_t stack_tid;
};

struct live {
	pid_t pid;
	int cpu_count;
	struct cpu cpus[MAX_CPUS];
	struct walker *walker;
	struct told told;
	struct sink out;
	/* Definitions may come through another CPU's ring than the stacks that need them: those
	 * wait until all has been read, each behind its size.
	 */
	struct sink stacks;
	pid_t watched; /* -1: all */
	size_t samples;
	size_t joined;
	size_t lost;
};

static void die(const char *what, int code)
{
	fprintf(stderr, "walk_live: %s: %s\n", what, strerror(errno));
	exit(code);
}

static struct perf_event_attr sampling(unsigned hz)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = hz,
		.sample_type = SAMPLE_TYPE,
		.disabled = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
}

static struct perf_event_attr output(void)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_period = 1,
		.sample_type = OUTPUT_TYPE,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
}

static void open_cpu(struct live *live, int index, unsigned hz)
{
	struct cpu *cpu = &live->cpus[index];
	const struct perf_event_attr sample = sampling(hz);
	const struct perf_event_attr out = output();
	cpu->sample_fd = os_perf_open(&sample, live->watched, index);
	cpu->output_fd = os_perf_open(&out, -1, index);
	if (cpu->sample_fd < 0 || cpu->output_fd < 0)
		die("perf_event_open", 77);
	if (perf_ring_map(&cpu->ring, cpu->sample_fd, RING_BYTES) != 0)
		die("mmap", 1);
	if (os_perf_redirect(cpu->output_fd, cpu->sample_fd) != 0 ||
	    os_perf_id(cpu->output_fd, &cpu->output_id) != 0)
		die("redirect", 1);
	if (walker_set_ring(live->walker, index, cpu->output_fd) != 0 ||
	    walker_attach(live->walker, cpu->sample_fd) != 0)
		die("attach", 1);
}

static void take_output(struct live *live, struct cpu *cpu, struct cursor *c)
{
	cursor_u64(c);
	cursor_u64(c);
	const uint32_t size = cursor_u32(c);
	const struct bytes raw = cursor_take(c, size);
	struct frames_record record;
	if (frames_read(&record, raw) == 0 && record.head.kind == WALK_STACK) {
		cpu->stack_time_ns = record.stack.time_ns;
		cpu->stack_tid = record.stack.tid;
		sink_u32(&live->stacks, size);
		sink_put(&live->stacks, raw.data, raw.size);
	} else {
		told_record(&live->told, raw);
	}
}

static void take_sample(struct live *live, struct cpu *cpu, struct cursor *c)
{
	cursor_u64(c); /* ip */
	const uint32_t pid = cursor_u32(c);
	const uint32_t tid = cursor_u32(c);
	const uint64_t time_ns = cursor_u64(c);
	if (pid == (uint32_t)live->pid) {
		live->samples++;
		live->joined += cpu->stack_time_ns == time_ns && cpu->stack_tid == tid;
	}
	cpu->stack_time_ns = 0;
}

static void drain(struct live *live, struct cpu *cpu)
{
	static uint8_t flat[1 << 16];
	struct bytes pieces[2];
	const size_t unread = perf_ring_peek(&cpu->ring, pieces);
	struct perf_ring_walk walk = perf_ring_walk(&cpu->ring, unread);
	struct perf_event_header header;
	uint64_t at;
	while (perf_ring_next(&walk, &header, &at)) {
		for (size_t i = 0; i < header.size; i += 8) {
			const uint64_t word = perf_ring_u64(&cpu->ring, at + i);
			memcpy(flat + i, &word, sizeof(word));
		}
		struct cursor c = cursor_over((struct bytes){ flat, header.size });
		cursor_take(&c, sizeof(header));
		if (header.type == PERF_RECORD_LOST)
			live->lost++;
		if (header.type != PERF_RECORD_SAMPLE)
			continue;
		if (cursor_u64(&c) == cpu->output_id)
			take_output(live, cpu, &c);
		else
			take_sample(live, cpu, &c);
	}
	perf_ring_consume(&cpu->ring, unread);
}

static void watch(struct live *live, double seconds)
{
	struct timespec start;
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (int i = 0; i < live->cpu_count; i++)
		os_perf_enable(live->cpus[i].sample_fd);
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	bool ends = false;
	(void)kill(live->pid, SIGCONT);
	do {
		ends = poll(&input, 1, 50) > 0;
		for (int i = 0; i < live->cpu_count; i++)
			drain(live, &live->cpus[i]);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (!ends && (double)(now.tv_sec - start.tv_sec) +
				  1e-9 * (double)(now.tv_nsec - start.tv_nsec) <
			      seconds);
}

static void tell_stacks(struct live *live)
{
	struct cursor c = cursor_over(sink_bytes(&live->stacks));
	while (cursor_left(&c)) {
		const uint32_t size = cursor_u32(&c);
		told_record(&live->told, cursor_take(&c, size));
	}
	fwrite(live->out.data, 1, live->out.size, stdout);
}

static void describe(const struct live *live, const struct interp_process *process)
{
	const struct told *told = &live->told;
	for (size_t i = 0; i < process->found_count; i++)
		printf("# %s %s %s\n", interp_language_name(process->found[i].runtime.language),
		       process->found[i].version,
		       process->found[i].refusal ? process->found[i].refusal : "walked");
	const struct walk_python *python = &process->walk.runtimes[0].python;
	if (process->walk.runtimes[0].language == WALK_PYTHON)
		printf("# entry_bytes %u\n# entry_stack %u\n", python->eval_entry_bytes,
		       python->eval_stack_bytes);
	printf("# samples %zu\n# joined %zu\n# stacks %zu\n# definitions %zu\n# frames %zu\n"
	       "# undefined %zu\n# bad %zu\n# lost %zu\n# has_times %d\n"
	       "# verified_instructions %u\n# instructions %u\n",
	       live->samples, live->joined, told->stacks, told->definitions, told->frames,
	       told->undefined, told->bad, live->lost, walker_has_times(live->walker),
	       walker_verified(live->walker), walker_instructions(live->walker));
	/* Of all samples: those of other processes cost little. */
	const struct walker_cost cost = walker_cost(live->walker);
	printf("# runs %llu\n# run_time_ns %llu\n", (unsigned long long)cost.runs,
	       (unsigned long long)cost.time_ns);
}

int main(int argc, char **argv)
{
	static struct live live;
	struct walker_options options = { 0 };
	struct interp_process process;
	if (argc < 4)
		return 2;
	live.pid = (pid_t)strtol(argv[1], NULL, 10);
	live.watched = argc > 4 ? live.pid : -1;
	live.told.out = &live.out;
	const int found = interp_process_open(&process, NULL, live.pid);
	if (found != 0 || !process.walk.runtime_count) {
		fprintf(stderr, "walk_live: %s%s\n",
			found ? status_text(found) : "nothing to walk: ",
			process.found_count ? process.found[0].refusal : "no interpreter");
		return 78;
	}
	if (walker_open(&live.walker, &options) != 0) {
		fprintf(stderr, "walk_live: %s", walker_error());
		die("walker", 77);
	}
	(void)walker_measure();
	live.cpu_count = (int)sysconf(_SC_NPROCESSORS_ONLN);
	for (int i = 0; i < live.cpu_count && i < MAX_CPUS; i++)
		open_cpu(&live, i, (unsigned)strtoul(argv[3], NULL, 10));
	if (walker_add(live.walker, live.pid, &process.walk) != 0)
		die("walker_add", 1);
	watch(&live, strtod(argv[2], NULL));
	tell_stacks(&live);
	describe(&live, &process);
	walker_close(live.walker);
	told_clear(&live.told);
	sink_clear(&live.out);
	sink_clear(&live.stacks);
	return 0;
}
