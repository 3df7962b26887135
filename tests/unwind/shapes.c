/* Frames of all shapes that compilers make, down to capture(). */
#include "shapes.h"

#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

extern const char *shapes_directory;

#define NOINLINE __attribute__((noinline, noclone))
#ifdef __clang__
#undef NOINLINE
#define NOINLINE __attribute__((noinline))
#endif

static volatile int sink;
static const char *name;
static int other_stack;

/* Keeps a call from becoming a jump, and the object alive. */
static NOINLINE void use(void *object)
{
	__asm__ volatile("" : : "r"(object) : "memory");
	sink++;
}

/* From handlers, too: the program stands still meanwhile. */
static NOINLINE void plain(int depth)
{
	if (depth)
		plain(depth - 1);
	else
		capture(name, other_stack); // NOLINT(bugprone-signal-handler)
	sink++;
}

static int compare(const void *left, const void *right)
{
	static int calls;
	if (!calls++)
		plain(3);
	return *(const int *)left - *(const int *)right;
}

/* Through the C library, which keeps no frame pointers. */
static void shape_library(void)
{
	int numbers[] = { 3, 1, 2, 7, 5 };
	qsort(numbers, 5, sizeof(numbers[0]), compare);
	sink += numbers[0];
}

/* The frame's address is known by what was saved of it alone. */
static NOINLINE void realigned(int size)
{
	_Alignas(128) char fixed[128];
	char *more = alloca((size_t)size);
	memset(fixed, size, sizeof(fixed));
	memset(more, size, (size_t)size);
	use(fixed);
	use(more);
	plain(1);
	use(fixed);
	use(more);
}

/* NOLINTNEXTLINE(readability-function-size): as many as it takes for some to be on the stack. */
static NOINLINE void many_arguments(int a, int b, int c, int d, int e, int f, int g, int h)
{
	_Alignas(64) int all[16] = { a, b, c, d, e, f, g, h };
	use(all);
	realigned(a + h);
	use(all);
}

static void shape_realigned(void)
{
	many_arguments(1, 2, 3, 4, 5, 6, 7, sink + 100);
	sink++;
}

static NOINLINE void allocating(int count)
{
	char *memory = alloca((size_t)count * 100);
	memset(memory, count, (size_t)count * 100);
	use(memory);
	if (count > 3)
		plain(2);
	else
		allocating(count + 1);
	use(memory);
}

static void shape_alloca(void)
{
	allocating(1);
	sink++;
}

/* More than a page, and more than an instruction's offset can say at once. */
static NOINLINE void huge(void)
{
	char memory[70000];
	use(memory);
	plain(1);
	use(memory);
}

static void shape_huge(void)
{
	huge();
	sink++;
}

static void on_signal(int number)
{
	(void)number;
	plain(2);
	sink++;
}

static NOINLINE void raise_it(int number)
{
	raise(number);
	sink++;
}

static void shape_signal(void)
{
	signal(SIGUSR1, on_signal);
	raise_it(SIGUSR1);
	sink++;
}

/* Interrupted at its first instruction: nothing lies before it that is its own. */
void trap(void);
__asm__(".text\n"
	".globl trap\n"
	".type trap, %function\n"
	"trap:\n"
	".cfi_startproc\n"
#ifdef __x86_64__
	"ud2\n"
#else
	"udf #0\n"
#endif
	"ret\n"
	".cfi_endproc\n"
	".size trap, .-trap\n");

static void on_trap(int number, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	(void)number;
	(void)info;
	plain(1);
#ifdef __x86_64__
	u->uc_mcontext.gregs[REG_RIP] += 2;
#else
	u->uc_mcontext.pc += 4;
#endif
}

static void trap_with(int flags)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | flags };
	sigaction(SIGILL, &action, NULL);
	trap();
	sink++;
}

static void shape_trap(void)
{
	trap_with(0);
	sink++;
}

static void shape_other_stack(void)
{
	static char memory[1 << 17];
	const stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) };
	sigaltstack(&stack, NULL);
	other_stack = 1;
	trap_with(SA_ONSTACK);
	other_stack = 0;
	sink++;
}

static void *in_thread(void *unused)
{
	shape_realigned();
	return unused;
}

static void shape_thread(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, NULL);
}

static void shape_throw(void)
{
	if (throw_through_frames)
		throw_through_frames();
	sink++;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} shapes[] = {
		{ "library", shape_library },
		{ "realigned", shape_realigned },
		{ "alloca", shape_alloca },
		{ "huge", shape_huge },
		{ "signal", shape_signal },
		{ "trap", shape_trap },
		{ "other_stack", shape_other_stack },
		{ "thread", shape_thread },
		{ "throw", shape_throw },
	};
	if (argc != 2)
		return 2;
	shapes_directory = argv[1];
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		name = shapes[i].name;
		shapes[i].run();
	}
	return 0;
}
