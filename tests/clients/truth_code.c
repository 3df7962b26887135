#include "truth_code.h"

#include "truth_log.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Nanoseconds of one turn of the smallest function, and what each further byte adds. */
static double turn_ns_base;
static double turn_ns_a_byte;

int code_region_open(struct code_region *region, size_t size, enum code_access access)
{
	region->size = size;
	region->access = access;
	if (access != CODE_DUAL) {
		const int exec = access == CODE_RWX ? PROT_EXEC : 0;
		region->writable = mmap(NULL, size, PROT_READ | PROT_WRITE | exec,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		region->executable = region->writable;
		return region->writable == MAP_FAILED ? -1 : 0;
	}

	const int fd = memfd_create("truth-code", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, (off_t)size) < 0)
		return -1;
	region->writable = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	region->executable = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	close(fd);
	if (region->writable == MAP_FAILED || region->executable == MAP_FAILED)
		return -1;
	return 0;
}

static int protect(struct code_region *region, size_t offset, size_t size, int protection)
{
	if (region->access != CODE_MPROTECT)
		return 0;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t start = offset / page * page;
	return mprotect(region->writable + start, offset + size - start, protection);
}

#if defined(__x86_64__)

/* push %rbp; mov %rsp,%rbp; loop: nops; dec %rdi; jnz loop; pop %rbp; ret; int3. The mark is
 * the displacement of each nop.
 */
static void put_spin(uint8_t *at, size_t size, uint32_t mark)
{
	static const uint8_t enter[] = { 0x55, 0x48, 0x89, 0xe5 };
	uint8_t nop[] = { 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 };
	static const uint8_t turn[] = { 0x48, 0xff, 0xcf, 0x0f, 0x85 };
	static const uint8_t leave[] = { 0x5d, 0xc3, 0xcc };
	const size_t nops = size / 8 - 2;
	size_t used = 0;

	memcpy(nop + 4, &mark, sizeof(mark));
	memcpy(at, enter, sizeof(enter));
	used += sizeof(enter);
	for (size_t i = 0; i < nops; i++, used += sizeof(nop))
		memcpy(at + used, nop, sizeof(nop));
	memcpy(at + used, turn, sizeof(turn));
	used += sizeof(turn);
	const int32_t back = (int32_t)sizeof(enter) - (int32_t)(used + sizeof(int32_t));
	memcpy(at + used, &back, sizeof(back));
	used += sizeof(back);
	memcpy(at + used, leave, sizeof(leave));
}

#elif defined(__aarch64__)

/* stp x29,x30,[sp,#-16]!; mov x29,sp; loop: movz and movk of the mark to w1; nops;
 * subs x0,x0,#1; b.ne loop; ldp; ret
 */
static void put_spin(uint8_t *at, size_t size, uint32_t mark)
{
	const size_t words = size / 4;
	uint32_t code[CODE_SIZE_MAX / 4];

	code[0] = 0xa9bf7bfd;
	code[1] = 0x910003fd;
	code[2] = 0x52800001 | (mark & 0xffff) << 5;
	code[3] = 0x72a00001 | (mark >> 16) << 5;
	for (size_t i = 4; i < words - 4; i++)
		code[i] = 0xd503201f;
	code[words - 4] = 0xf1000400;
	const uint32_t back = 2 - (uint32_t)(words - 3);
	code[words - 3] = 0x54000001 | (back & 0x7ffff) << 5;
	code[words - 2] = 0xa8c17bfd;
	code[words - 1] = 0xd65f03c0;
	memcpy(at, code, size);
}

#else
#error "no code for this machine"
#endif

int code_write(struct code_region *region, size_t offset, size_t size, uint32_t mark)
{
	if (protect(region, offset, size, PROT_READ | PROT_WRITE) < 0)
		return -1;
	put_spin(region->writable + offset, size, mark);
	__builtin___clear_cache((char *)region->executable + offset,
				(char *)region->executable + offset + size);
	return protect(region, offset, size, PROT_READ | PROT_EXEC);
}

int code_move(struct code_region *region, size_t from, size_t to, size_t size)
{
	if (protect(region, to, size, PROT_READ | PROT_WRITE) < 0)
		return -1;
	memmove(region->writable + to, region->executable + from, size);
	__builtin___clear_cache((char *)region->executable + to,
				(char *)region->executable + to + size);
	return protect(region, to, size, PROT_READ | PROT_EXEC);
}

static void run_turns(const struct code_region *region, size_t offset, uint64_t turns)
{
	void (*function)(uint64_t);
	const void *entry = region->executable + offset;

	memcpy(&function, &entry, sizeof(function));
	function(turns);
}

static double measure_turn_ns(const struct code_region *region)
{
	enum { TURNS = 20000, TRIES = 100 };
	uint64_t best_ns = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		const uint64_t start_ns = now_mono_ns();
		run_turns(region, 0, TURNS);
		const uint64_t spent_ns = now_mono_ns() - start_ns;
		if (spent_ns < best_ns)
			best_ns = spent_ns;
	}
	return (double)best_ns / TURNS;
}

int code_calibrate(struct code_region *region)
{
	if (code_write(region, 0, CODE_SIZE_MIN, 0) < 0)
		return -1;
	turn_ns_base = measure_turn_ns(region);
	if (code_write(region, 0, CODE_SIZE_MAX, 0) < 0)
		return -1;
	turn_ns_a_byte = (measure_turn_ns(region) - turn_ns_base) / (CODE_SIZE_MAX - CODE_SIZE_MIN);
	if (turn_ns_a_byte < 0)
		turn_ns_a_byte = 0;
	return 0;
}

void code_run(const struct code_region *region, size_t offset, size_t size, uint64_t ns)
{
	const double turn_ns =
	    turn_ns_base + turn_ns_a_byte * (double)(size - (size_t)CODE_SIZE_MIN);
	const uint64_t turns = (uint64_t)((double)ns / turn_ns);

	run_turns(region, offset, turns ? turns : 1);
}
