/* Stops a program before each of its instructions, and walks there: in prologues, epilogues,
 * stubs, the dynamic linker and the vdso. A list of the calls under way, kept from instruction to
 * instruction, says what must come out.
 */
#include "os/file.h"
#include "os/vdso.h"
#include "test.h"
#include "unwind/walk.h"

#include <link.h>
#include <locale.h>
#include <pthread.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	LIMIT = 128,
	MAPS = 32,
	STACK = 64 * 1024,
	STEPS = 150000,
	SHOWN = 10,
	CALL_LEAST = 2, /* bytes of a call instruction */
	CALL_MOST = 8,
};

static struct {
	uint64_t start_avma;
	uint64_t end_avma;
	uint64_t bias;
	struct cfi_table *table;
	char path[128];
} maps[MAPS];
static size_t map_count;

static int note_object(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	static struct os_file files[MAPS];
	const bool is_vdso = info->dlpi_addr == getauxval(AT_SYSINFO_EHDR);
	const char *path = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
	struct bytes image = os_vdso_image();
	if (!is_vdso) {
		assert_int_equal(os_file_open(&files[map_count], path, OS_FILE_PLAIN), 0);
		image = files[map_count].bytes;
	}
	for (int i = 0; i < info->dlpi_phnum && map_count < MAPS; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		maps[map_count].start_avma = info->dlpi_addr + ph->p_vaddr;
		maps[map_count].end_avma = info->dlpi_addr + ph->p_vaddr + ph->p_memsz;
		maps[map_count].bias = info->dlpi_addr;
		snprintf(maps[map_count].path, sizeof(maps[0].path), "%s", path);
		assert_int_equal(cfi_table_elf(&maps[map_count].table, image), 0);
		map_count++;
	}
	return 0;
}

static size_t map_of(uint64_t avma)
{
	for (size_t i = 0; i < map_count; i++)
		if (avma >= maps[i].start_avma && avma < maps[i].end_avma)
			return i;
	return MAPS;
}

static void find(void *context, const struct unwind_frame *frame, struct unwind_place *place)
{
	(void)context;
	const size_t map = map_of(frame->avma);
	if (map == MAPS)
		return;
	place->code = UNWIND_CFI;
	place->table = maps[map].table;
	place->svma = frame->avma - maps[map].bias;
}

/* What the child does under our eyes. */
static int compare(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static __attribute__((noinline)) int work(int seed)
{
	char text[256];
	const char *words[] = { "walk", "stack", "frame", "unwind", "register" };
	struct timespec now;
	regex_t pattern;
	void *memory = malloc((size_t)seed * 1000);
	setlocale(LC_ALL, "C");
	snprintf(text, sizeof(text), "%d %g %s %llx", seed, seed / 3.0, words[seed % 5],
		 1ull << 40);
	qsort(words, 5, sizeof(words[0]), compare);
	clock_gettime(CLOCK_MONOTONIC, &now);
	const int failed = regcomp(&pattern, "[a-f]+(x|y)*", REG_EXTENDED | REG_NOSUB);
	const int got = failed ? 0 : regexec(&pattern, text, 0, NULL, 0);
	if (!failed)
		regfree(&pattern);
	free(memory);
	return got + (int)strtod(text, NULL) + (getenv("HOME") != NULL) + (int)(now.tv_nsec & 1);
}

static struct {
	pid_t pid;
	uint64_t end_of_stack;
	uint64_t base[LIMIT]; /* the callers of work() */
	size_t base_count;
	struct {
		uint64_t slot_avma;
		uint64_t return_avma;
	} calls[LIMIT];
	size_t call_count;
	size_t walked;
	size_t wrong;
} child;

static size_t walk(const struct user_regs_struct *r, uint64_t *avmas, enum unwind_end *end)
{
	static uint8_t stack[STACK];
	const uint64_t values[] = { r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi,
				    r->rbp, r->rsp, r->r8,  r->r9,  r->r10, r->r11,
				    r->r12, r->r13, r->r14, r->r15, r->rip };
	struct unwind_state state = { .machine = UNWIND_X86_64, .stack_avma = r->rsp };
	for (unsigned i = 0; i < UNWIND_X86_64_REGISTERS; i++)
		unwind_set(&state.registers, i, values[i]);
	const uint64_t left = child.end_of_stack - r->rsp;
	state.stack = (struct bytes){ stack, left < STACK ? left : STACK };
	const struct iovec here = { stack, state.stack.size };
	const struct iovec there = { (void *)r->rsp, state.stack.size };
	assert_int_equal(process_vm_readv(child.pid, &here, 1, &there, 1, 0), state.stack.size);
	const struct unwind_callbacks callbacks = { .find = find };
	return unwind_walk(&callbacks, &state, avmas, LIMIT, end);
}

/* Calls and returns since the instruction before this one. */
static void follow(const struct user_regs_struct *before, const struct user_regs_struct *now)
{
	while (child.call_count && child.calls[child.call_count - 1].slot_avma < now->rsp)
		child.call_count--;
	if (now->rsp != before->rsp - sizeof(uint64_t))
		return;
	uint64_t word = 0;
	const struct iovec here = { &word, sizeof(word) };
	const struct iovec there = { (void *)now->rsp, sizeof(word) };
	assert_int_equal(process_vm_readv(child.pid, &here, 1, &there, 1, 0), sizeof(word));
	if (word - before->rip < CALL_LEAST || word - before->rip > CALL_MOST || word == now->rip ||
	    now->rip - before->rip < CALL_LEAST)
		return;
	assert_true(child.call_count < LIMIT);
	child.calls[child.call_count].slot_avma = now->rsp;
	child.calls[child.call_count++].return_avma = word;
}

static void check(const struct user_regs_struct *now)
{
	uint64_t avmas[LIMIT];
	enum unwind_end end;
	const size_t count = walk(now, avmas, &end);
	bool is_same = end == UNWIND_WHOLE && count == 1 + child.call_count + child.base_count &&
		       avmas[0] == now->rip;
	for (size_t i = 0; is_same && i < child.call_count; i++)
		is_same = avmas[1 + i] == child.calls[child.call_count - 1 - i].return_avma;
	for (size_t i = 0; is_same && i < child.base_count; i++)
		is_same = avmas[1 + child.call_count + i] == child.base[i];
	child.walked++;
	if (is_same || child.wrong++ >= SHOWN)
		return;
	const size_t map = map_of(now->rip);
	print_error("%s + %#llx: %zu of %zu frames, %s\n", map < MAPS ? maps[map].path : "?",
		    now->rip - (map < MAPS ? maps[map].bias : 0), count,
		    1 + child.call_count + child.base_count, unwind_end_text(end));
}

static void step(struct user_regs_struct *now)
{
	int status;
	assert_int_equal(ptrace(PTRACE_SINGLESTEP, child.pid, NULL, NULL), 0);
	assert_int_equal(waitpid(child.pid, &status, 0), child.pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(ptrace(PTRACE_GETREGS, child.pid, NULL, now), 0);
}

static uint64_t find_end_of_stack(void)
{
	pthread_attr_t attr;
	void *base;
	size_t size;
	assert_int_equal(pthread_getattr_np(pthread_self(), &attr), 0);
	pthread_attr_getstack(&attr, &base, &size);
	pthread_attr_destroy(&attr);
	return (uintptr_t)base + size;
}

static bool start_child(void)
{
	child.end_of_stack = find_end_of_stack();
	child.pid = fork();
	if (child.pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
			_exit(1);
		raise(SIGSTOP);
		_exit(work(7) == INT32_MIN);
	}
	int status;
	return child.pid > 0 && waitpid(child.pid, &status, 0) == child.pid && WIFSTOPPED(status);
}

static void every_instruction_is_walked(void **state)
{
	(void)state;
	struct user_regs_struct now;
	struct user_regs_struct before;
	if (!start_child())
		skip_because("SKIP: children cannot be traced here");
	do
		step(&now);
	while (now.rip != (uintptr_t)work);
	enum unwind_end end;
	uint64_t avmas[LIMIT];
	const size_t count = walk(&now, avmas, &end);
	assert_int_equal(end, UNWIND_WHOLE);
	child.base_count = count - 1;
	memcpy(child.base, avmas + 1, child.base_count * sizeof(avmas[0]));
	const uint64_t entry_sp = now.rsp;
	for (size_t i = 0; i < STEPS && now.rsp <= entry_sp; i++) {
		check(&now);
		before = now;
		step(&now);
		follow(&before, &now);
	}
	kill(child.pid, SIGKILL);
	(void)waitpid(child.pid, NULL, 0);
	print_message("%zu instructions walked, %zu wrong\n", child.walked, child.wrong);
	assert_true(child.walked > 1000);
	assert_int_equal(child.wrong, 0);
}

int main(void)
{
#ifndef __x86_64__
	printf("SKIP: steps through x86-64 code\n");
	return 77;
#endif
	dl_iterate_phdr(note_object, NULL);
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_instruction_is_walked) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
