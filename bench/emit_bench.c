/* emit_bench.c - what it costs a runtime to tell of 1 KB of code.
 *
 *   emit_bench HOW THREADS LOADS DIRECTORY      HOW: emit trusted writev stdio off null
 *
 * Prints ns of CPU time a load, ns of wall time a load (of all threads together), and MB/s of
 * code. `writev` is one bare call a record; `stdio` what perf's Java agent does: three fwrite()
 * under the stream's lock, which loses what is buffered when the process is killed.
 */
#include "format/jitdump/layout.h"

#include <fcntl.h>
#include <polyperf/jit.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { CODE_SIZE = 1024, THREADS_MAX = 64, SLOTS = 4096 };

static const char name[] = "Lorg/example/server/RequestHandler;handle(Ljava/lang/String;I)V";
static unsigned char code[CODE_SIZE + SLOTS];

struct record {
	uint32_t id, total_size;
	uint64_t time_ns;
	uint32_t pid, tid;
	uint64_t vma, address, size, index;
};

static struct polyperf_jit *jit;
static int fd = -1;
static FILE *stream;
static atomic_ullong next_index;
static uint64_t loads;
static const char *how;
static atomic_ullong failed_count;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct record header_of(uint64_t i, uint32_t tid)
{
	return (struct record){
		.id = JITDUMP_CODE_LOAD,
		.total_size = sizeof(struct record) + sizeof(name) + CODE_SIZE,
		.time_ns = clock_ns(CLOCK_MONOTONIC),
		.pid = (uint32_t)getpid(),
		.tid = tid,
		.vma = 0x7f0000000000 + i % SLOTS * 4096,
		.address = 0x7f0000000000 + i % SLOTS * 4096,
		.size = CODE_SIZE,
		.index = atomic_fetch_add(&next_index, 1),
	};
}

static int by_writev(uint64_t i, uint32_t tid)
{
	struct record header = header_of(i, tid);
	const struct iovec parts[] = {
		{ &header, sizeof(header) },
		{ (void *)(uintptr_t)name, sizeof(name) },
		{ code + i % SLOTS, CODE_SIZE },
	};
	return writev(fd, parts, 3) != (ssize_t)header.total_size;
}

static int by_stdio(uint64_t i, uint32_t tid)
{
	const struct record header = header_of(i, tid);
	flockfile(stream);
	size_t written = fwrite_unlocked(&header, sizeof(header), 1, stream);
	written += fwrite_unlocked(name, sizeof(name), 1, stream);
	written += fwrite_unlocked(code + i % SLOTS, CODE_SIZE, 1, stream);
	funlockfile(stream);
	return written != 3;
}

static int by_emit(uint64_t i, uint32_t flags)
{
	const struct polyperf_jit_load_info load = {
		.struct_size = sizeof(load),
		.name = name,
		.name_size = sizeof(name) - 1,
		.address = 0x7f0000000000 + i % SLOTS * 4096,
		.size = CODE_SIZE,
		.code = code + i % SLOTS,
		.flags = flags,
	};
	return polyperf_jit_load(jit, &load) < 0;
}

static int by_library(uint64_t i, uint32_t tid)
{
	(void)tid;
	return by_emit(i, 0);
}

static int by_library_trusted(uint64_t i, uint32_t tid)
{
	(void)tid;
	return by_emit(i, POLYPERF_JIT_CODE_TRUSTED);
}

static void *run(void *unused)
{
	int (*tell)(uint64_t i, uint32_t tid) = by_library;
	if (strcmp(how, "writev") == 0)
		tell = by_writev;
	else if (strcmp(how, "stdio") == 0)
		tell = by_stdio;
	else if (strcmp(how, "trusted") == 0)
		tell = by_library_trusted;
	const uint32_t tid = (uint32_t)syscall(SYS_gettid);
	uint64_t failed = 0;
	(void)unused;
	for (uint64_t i = 0; i < loads; i++)
		failed += (uint64_t)tell(i, tid);
	atomic_fetch_add(&failed_count, failed);
	return NULL;
}

static int open_output(const char *directory)
{
	char path[4096];
	(void)snprintf(path, sizeof(path), "%s/bench.dump", directory);
	if (strcmp(how, "writev") == 0)
		return fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
	if (strcmp(how, "stdio") == 0)
		return (stream = fopen(path, "w")) ? 0 : -1;
	struct polyperf_jit_options options = { .struct_size = sizeof(options) };
	options.directory = directory;
	options.size_limit = UINT64_C(3) << 30;
	if (strcmp(how, "off") == 0)
		options.flags = POLYPERF_JIT_START_OFF;
	if (strcmp(how, "null") == 0)
		options.flags = POLYPERF_JIT_NULL;
	return polyperf_jit_open(&options, &jit);
}

int main(int argc, char **argv)
{
	if (argc != 5) {
		(void)fputs("usage: emit_bench HOW THREADS LOADS DIRECTORY\n", stderr);
		return 2;
	}
	how = argv[1];
	const int threads = (int)strtol(argv[2], NULL, 10);
	loads = (uint64_t)strtoull(argv[3], NULL, 10) / (uint64_t)threads;
	pthread_t thread[THREADS_MAX];
	if (threads < 1 || threads > THREADS_MAX || open_output(argv[4]) < 0) {
		perror("emit_bench");
		return 1;
	}
	memset(code, 0x90, sizeof(code));
	const uint64_t wall_ns = clock_ns(CLOCK_MONOTONIC);
	const uint64_t cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, run, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	const double count = (double)(loads * (uint64_t)threads);
	const double wall = (double)(clock_ns(CLOCK_MONOTONIC) - wall_ns) / count;
	const double cpu = (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns) / count;
	polyperf_jit_close(jit);
	(void)printf("%.1f %.1f %.0f\n", cpu, wall, CODE_SIZE * 1000 / wall);
	return atomic_load(&failed_count) != 0;
}
