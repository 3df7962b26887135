/* tinyjit.c - the smallest JIT compiler that a profiler can be tried on.
 *
 *   JITDUMPDIR=/tmp tinyjit [SECONDS]
 *
 * Compiles alpha, beta and gamma again and again, each into the same place, and
 * runs them for 60, 30 and 10 percent of the time. Whoever only remembers which
 * function was there last sees one of the three. So each compilation is
 * announced, with its time, in $JITDUMPDIR/jit-PID.dump: the format is jitdump
 * (docs/formats/jitdump.md), and all that a runtime has to do for it is here.
 */
#include "format/jitdump/layout.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Machine code of `void spin(long turns) { while (--turns) {} }` with a frame pointer. */
#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
static const uint8_t spin_code[] = {
	0x55,             /*    push %rbp      */
	0x48, 0x89, 0xe5, /*    mov %rsp,%rbp  */
	0x48, 0xff, 0xcf, /* 1: dec %rdi       */
	0x75, 0xfb,       /*    jne 1b         */
	0x5d,             /*    pop %rbp       */
	0xc3,             /*    ret            */
};
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };
static const uint32_t spin_code[] = {
	0xa9bf7bfd, /*    stp x29, x30, [sp, #-16]! */
	0x910003fd, /*    mov x29, sp               */
	0xf1000400, /* 1: subs x0, x0, #1           */
	0x54ffffe1, /*    b.ne 1b                   */
	0xa8c17bfd, /*    ldp x29, x30, [sp], #16   */
	0xd65f03c0, /*    ret                       */
};
#else
#error "tinyjit knows x86-64 and aarch64"
#endif

struct function {
	const char *name;
	double share;
	double seconds; /* how long it ran, by our own clock */
};

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct dump_header {
	uint32_t magic, version, header_size, machine, padding, pid;
	uint64_t time_ns, flags;
};

struct dump_record {
	uint32_t id, size;
	uint64_t time_ns;
};

struct dump_load {
	struct dump_record record;
	uint32_t pid, tid;
	uint64_t vma, address, size, index;
	/* then the name with its NUL, then the code */
};

static void write_whole(int dump, const void *bytes, size_t size)
{
	/* One call a record: what another thread or a crash does falls between two. */
	if (write(dump, bytes, size) != (ssize_t)size) {
		perror("tinyjit: dump");
		exit(1);
	}
}

static int open_dump(void)
{
	const char *folder = getenv("JITDUMPDIR");
	char path[4096];
	(void)snprintf(path, sizeof(path), "%s/jit-%d.dump", folder ? folder : "/tmp", getpid());
	const int dump = open(path, O_CREAT | O_TRUNC | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
	if (dump < 0) {
		perror(path);
		exit(1);
	}
	const struct dump_header header = {
		.magic = JITDUMP_MAGIC,
		.version = JITDUMP_VERSION,
		.header_size = sizeof(header),
		.machine = MACHINE,
		.pid = (uint32_t)getpid(),
		.time_ns = now_ns(),
	};
	write_whole(dump, &header, sizeof(header));
	/* An executable mapping of the file is what tells a profiler where it is. */
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	if (mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump, 0) == MAP_FAILED)
		perror("tinyjit: the dump's folder cannot be mapped executable");
	return dump;
}

static void announce(int dump, const char *name, const void *code, size_t size)
{
	static uint64_t index;
	uint8_t bytes[256];
	const size_t name_size = strlen(name) + 1;
	const struct dump_load load = {
		.record = { .id = JITDUMP_CODE_LOAD,
			    .size = (uint32_t)(sizeof(load) + name_size + size),
			    .time_ns = now_ns() },
		.pid = (uint32_t)getpid(),
		.tid = (uint32_t)syscall(SYS_gettid),
		.vma = (uintptr_t)code,
		.address = (uintptr_t)code,
		.size = size,
		.index = index++,
	};
	memcpy(bytes, &load, sizeof(load));
	memcpy(bytes + sizeof(load), name, name_size);
	memcpy(bytes + sizeof(load) + name_size, code, size);
	write_whole(dump, bytes, load.record.size);
}

/* Compiles, announces, and runs for `seconds`. */
static void run(struct function *function, void *memory, int dump, double seconds)
{
	mprotect(memory, sizeof(spin_code), PROT_READ | PROT_WRITE);
	memcpy(memory, spin_code, sizeof(spin_code));
	mprotect(memory, sizeof(spin_code), PROT_READ | PROT_EXEC);
	__builtin___clear_cache(memory, (char *)memory + sizeof(spin_code));
	announce(dump, function->name, memory, sizeof(spin_code));

	void (*spin)(long turns);
	memcpy(&spin, &memory, sizeof(spin));
	const uint64_t start_ns = now_ns();
	const uint64_t end_ns = start_ns + (uint64_t)(seconds * 1e9);
	while (now_ns() < end_ns)
		spin(100000);
	function->seconds += (double)(now_ns() - start_ns) / 1e9;
}

int main(int argc, char **argv)
{
	enum { ROUNDS = 10, COUNT = 3 };
	struct function functions[COUNT] = { { "alpha", 0.6, 0 },
					     { "beta", 0.3, 0 },
					     { "gamma", 0.1, 0 } };
	const double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
	const int dump = open_dump();
	void *memory = mmap(NULL, sizeof(spin_code), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		perror("tinyjit: mmap");
		return 1;
	}
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < COUNT; i++)
			run(&functions[i], memory, dump, functions[i].share * seconds / ROUNDS);

	const struct dump_record close_record = { JITDUMP_CLOSE, sizeof(close_record), now_ns() };
	write_whole(dump, &close_record, sizeof(close_record));
	double total = 0;
	for (int i = 0; i < COUNT; i++)
		total += functions[i].seconds;
	printf("tinyjit alpha %.1f beta %.1f gamma %.1f\n", functions[0].seconds / total * 100,
	       functions[1].seconds / total * 100, functions[2].seconds / total * 100);
	return 0;
}
