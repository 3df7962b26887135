/* minijit.c - what a runtime does to be seen by profilers, in one page.
 *
 *   polyperf record minijit && polyperf report
 *
 * Links with -lpolyperf-jit and nothing else. "Compiles" one function, with lines and with another
 * function inlined, tells of it before it runs, and takes it back when it is freed.
 */
#include <polyperf/jit.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#if defined(__x86_64__)
/* push %rbp; mov %rsp,%rbp; 1: dec %rdi; jne 1b; pop %rbp; ret */
static const unsigned char machine_code[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0xff,
					      0xcf, 0x75, 0xfb, 0x5d, 0xc3 };
enum { LOOP = 4, LOOP_END = 9 };
#elif defined(__aarch64__)
/* stp x29,x30,[sp,#-16]!; mov x29,sp; 1: subs x0,x0,#1; b.ne 1b; ldp x29,x30,[sp],#16; ret */
static const unsigned machine_code[] = { 0xa9bf7bfd, 0x910003fd, 0xf1000400,
					 0x54ffffe1, 0xa8c17bfd, 0xd65f03c0 };
enum { LOOP = 8, LOOP_END = 16 };
#endif

/* Where instructions come from: run() at line 1 of work.mini, with the body of count(). */
static const struct polyperf_jit_line lines[] = {
	{ 0, 1, 1, "work.mini" },
	{ LOOP, 7, 3, NULL }, /* a line of count(), inlined */
	{ LOOP_END, 3, 1, NULL },
};
static const struct polyperf_jit_inline inlined[] = {
	{ .offset = LOOP,
	  .size = LOOP_END - LOOP,
	  .depth = 0,
	  .call_line = 2,
	  .call_bytecode = -1,
	  .name = "count",
	  .call_file = "work.mini" },
};

static void *compile(struct polyperf_jit *jit, uint64_t *index)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return NULL;
	memcpy(code, machine_code, sizeof(machine_code));
	mprotect(code, 4096, PROT_READ | PROT_EXEC);
	__builtin___clear_cache(code, (char *)code + sizeof(machine_code));

	/* The code is in place and has not run yet: this is the moment to tell of it. */
	struct polyperf_jit_load_info load = { .struct_size = sizeof(load) };
	load.name = "run";
	load.address = (uintptr_t)code;
	load.size = sizeof(machine_code);
	load.lines = lines;
	load.line_count = sizeof(lines) / sizeof(lines[0]);
	load.inlines = inlined;
	load.inline_count = 1;
	load.code_index = index;
	polyperf_jit_load(jit, &load);
	return code;
}

int main(void)
{
	struct polyperf_jit *jit;
	/* The defaults: a dump in $JITDUMPDIR or /tmp. Without one the program runs all the same.
	 */
	if (polyperf_jit_open(NULL, &jit) < 0)
		(void)fprintf(stderr, "minijit: profilers will see no names\n");
	uint64_t index = POLYPERF_JIT_NO_INDEX;
	void *code = compile(jit, &index);
	if (!code)
		return 1;
	void (*run)(long turns);
	memcpy(&run, &code, sizeof(run));
	for (const time_t end = time(NULL) + 2; time(NULL) < end;)
		run(1000000);

	/* Before the memory is given away. */
	polyperf_jit_unload(jit, (uintptr_t)code, sizeof(machine_code), index);
	munmap(code, 4096);
	polyperf_jit_close(jit);
	return 0;
}
