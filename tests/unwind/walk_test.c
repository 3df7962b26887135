/* Walks this process's own stack through the C library and back, and holds the
 * result against backtrace(3).
 */
#include "os/file.h"
#include "test.h"
#include "unwind/walk.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 128, STACK_BYTES = 64 * 1024, OBJECTS = 8 };

static struct {
	char path[256];
	struct os_file file;
	struct cfi_table *table;
} objects[OBJECTS];
static int object_count;

static struct cfi_table *table_of(const char *path)
{
	for (int i = 0; i < object_count; i++)
		if (strcmp(objects[i].path, path) == 0)
			return objects[i].table;
	assert_true(object_count < OBJECTS);
	const int at = object_count++;
	strncpy(objects[at].path, path, sizeof(objects[at].path) - 1);
	assert_int_equal(os_file_open(&objects[at].file, path, OS_FILE_PLAIN), 0);
	assert_int_equal(cfi_table_elf(&objects[at].table, objects[at].file.bytes), 0);
	return objects[at].table;
}

static void find(void *context, const struct unwind_frame *frame, struct unwind_place *place)
{
	const uint64_t avma = frame->avma;
	(void)context;
	Dl_info info;
	struct link_map *map;
	if (!dladdr1((void *)avma, &info, (void **)&map, RTLD_DL_LINKMAP))
		return;
	/* The program itself has no name in its link map. */
	place->table = table_of(map->l_name[0] ? map->l_name : "/proc/self/exe");
	place->svma = avma - map->l_addr;
	place->code = UNWIND_CFI;
}

struct seen {
	uint64_t avmas[LIMIT];
	size_t count;
	enum unwind_end end;
	void *expected[LIMIT];
	int expected_count;
};

static struct seen seen;

static struct unwind_state state_of(uint64_t pc, uint64_t sp, uint64_t bp)
{
	struct unwind_state state = { .machine = UNWIND_X86_64, .stack_avma = sp };
	unwind_set(&state.registers, UNWIND_X86_64_PC, pc);
	unwind_set(&state.registers, UNWIND_X86_64_SP, sp);
	unwind_set(&state.registers, UNWIND_X86_64_BP, bp);
	return state;
}

#define walk(callbacks, start, bytes, avmas, limit, end)                       \
	({                                                                     \
		struct unwind_state cut_state = *(start);                      \
		cut_state.stack = (bytes);                                     \
		unwind_walk((callbacks), &cut_state, (avmas), (limit), (end)); \
	})

/* The whole stack, with what a sanitizer keeps around variables. */
static __attribute__((no_sanitize("address"))) void copy_stack(uint8_t *to, const uint8_t *from,
							       size_t size)
{
	const volatile uint64_t *words = (const volatile uint64_t *)from;
	for (size_t i = 0; i + sizeof(*words) <= size; i += sizeof(*words)) {
		const uint64_t word = words[i / sizeof(*words)];
		memcpy(to + i, &word, sizeof(word));
	}
}

static __attribute__((noinline)) void look(void)
{
	static uint8_t copy[STACK_BYTES];
	uint64_t pc;
	uint64_t sp;
	uint64_t bp;
	__asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"
			 : "=&r"(pc), "=&r"(sp), "=&r"(bp));
	struct unwind_state state = state_of(pc, sp, bp);
	pthread_attr_t attr;
	void *base;
	size_t size;
	assert_int_equal(pthread_getattr_np(pthread_self(), &attr), 0);
	pthread_attr_getstack(&attr, &base, &size);
	pthread_attr_destroy(&attr);
	const size_t left = (uintptr_t)base + size - state.stack_avma;
	const struct bytes stack = { copy, left < STACK_BYTES ? left : STACK_BYTES };
	copy_stack(copy, (const uint8_t *)state.stack_avma, stack.size);
	const struct unwind_callbacks callbacks = { .find = find };
	seen.expected_count = backtrace(seen.expected, LIMIT);
	state.stack = stack;
	seen.count = unwind_walk(&callbacks, &state, seen.avmas, LIMIT, &seen.end);
}

/* Through qsort, so that frames of the C library lie between ours. */
static int compare(const void *left, const void *right)
{
	if (!seen.count)
		look();
	return memcmp(left, right, 1);
}

static void *in_thread(void *unused)
{
	char text[] = "unwind";
	qsort(text, sizeof(text) - 1, 1, compare);
	return unused;
}

static void check_seen(void)
{
	assert_int_equal(seen.end, UNWIND_WHOLE);
	/* A sanitizer's backtrace() tells of itself, too: one frame more at the leaf. */
	const size_t extra = (size_t)seen.expected_count - seen.count;
	assert_in_range(extra, 0, 1);
	/* The first of ours is where each of the two stood in look(). */
	for (size_t i = 1; i < seen.count; i++)
		assert_ptr_equal((void *)seen.avmas[i], seen.expected[i + extra]);
	assert_true(seen.count > 4);
}

static void own_stack_is_walked_as_backtrace_does(void **state)
{
	(void)state;
	seen.count = 0;
	in_thread(NULL);
	check_seen();
}

static void a_thread_ends_where_it_began(void **state)
{
	(void)state;
	pthread_t thread;
	seen.count = 0;
	assert_int_equal(pthread_create(&thread, NULL, in_thread, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	check_seen();
}

/* rbp chains and stubs, on a stack made by hand: leaf, frame, stub, frame. */
static void find_by_number(void *context, const struct unwind_frame *frame,
			   struct unwind_place *place)
{
	const uint64_t avma = frame->avma;
	(void)context;
	static const enum unwind_code codes[] = { UNWIND_UNKNOWN, UNWIND_FRAME_POINTER,
						  UNWIND_STUB };
	place->code = codes[avma >> 8 < 3 ? avma >> 8 : 0];
}

static void frame_pointers_and_stubs_are_followed(void **state)
{
	(void)state;
	const uint64_t words[] = {
		0,      0x1030,
		0x250,         /* a frame: saved rbp, return into a stub */
		0xdead, 0x150, /* the stub's eight bytes, return into a frame */
		0,      0,
		0x5000 /* that frame: end of the rbp chain, return to nowhere known */
	};
	const struct unwind_callbacks callbacks = { .find = find_by_number };
	const struct unwind_state start = state_of(0x101, 0x1000, 0x1008);
	const struct bytes stack = { (const uint8_t *)words, sizeof(words) };
	uint64_t avmas[8];
	enum unwind_end end;
	assert_int_equal(walk(&callbacks, &start, stack, avmas, 8, &end), 3);
	assert_int_equal(end, UNWIND_UNKNOWN_CODE);
	assert_int_equal(avmas[0], 0x101);
	assert_int_equal(avmas[1], 0x250);
	assert_int_equal(avmas[2], 0x150);
	for (size_t size = 0; size < sizeof(words); size++) {
		const struct bytes cut = { stack.data, size };
		assert_true(walk(&callbacks, &start, cut, avmas, 8, &end) <= 3);
		assert_int_not_equal(end, UNWIND_WHOLE);
	}
	assert_int_equal(walk(&callbacks, &start, stack, avmas, 1, &end), 1);
	assert_int_equal(end, UNWIND_TOO_DEEP);
}

/* Frames of an interpreter are told, by the place they get, and can be read as far as the stack
 * goes.
 */
struct told {
	size_t indices[4];
	uint64_t words[4];
	size_t count;
	bool reached_outside;
};

static void find_interpreter(void *context, const struct unwind_frame *frame,
			     struct unwind_place *place)
{
	const uint64_t avma = frame->avma;
	(void)context;
	place->code = avma >> 8 == 1   ? UNWIND_FRAME_POINTER
		      : avma >> 8 == 2 ? UNWIND_INTERPRETER
				       : UNWIND_UNKNOWN;
}

static void note_interpreter(void *context, const struct unwind_frame *frame)
{
	struct told *told = context;
	uint64_t word;
	told->indices[told->count] = frame->index;
	if (!unwind_frame_word(frame, -8, &told->words[told->count]))
		told->words[told->count] = 0;
	told->count++;
	told->reached_outside |= unwind_frame_word(frame, -1024, &word) ||
				 unwind_frame_word(frame, INT32_MIN, &word) ||
				 unwind_frame_word(frame, INT32_MAX, &word);
}

static void frames_of_interpreters_are_told(void **state)
{
	(void)state;
	const uint64_t words[] = { 0xaaaa, 0x1020, 0x110, /* leaf, in the interpreter */
				   0,      0x1038, 0x230, /* compiled */
				   0xbbbb, 0,      0 };   /* the interpreter, called by nobody */
	const struct unwind_state start = state_of(0x205, 0x1000, 0x1008);
	struct told told = { 0 };
	struct unwind_callbacks callbacks = { .context = &told,
					      .find = find_interpreter,
					      .interpreter = note_interpreter };
	struct bytes stack = { (const uint8_t *)words, sizeof(words) };
	uint64_t avmas[8];
	enum unwind_end end;
	assert_int_equal(walk(&callbacks, &start, stack, avmas, 8, &end), 3);
	assert_int_equal(end, UNWIND_WHOLE);
	assert_int_equal(told.count, 2);
	assert_int_equal(told.indices[0], 0);
	assert_int_equal(told.indices[1], 2);
	assert_int_equal(told.words[0], 0xaaaa);
	assert_int_equal(told.words[1], 0xbbbb);
	assert_false(told.reached_outside);
	for (stack.size = 0; stack.size < sizeof(words); stack.size++) {
		told = (struct told){ 0 };
		assert_true(walk(&callbacks, &start, stack, avmas, 8, &end) <= 3);
		assert_false(told.reached_outside);
	}
	/* Nobody need listen. */
	callbacks.interpreter = NULL;
	stack.size = sizeof(words);
	assert_int_equal(walk(&callbacks, &start, stack, avmas, 8, &end), 3);
}

/* The leaf is at the `ret` behind `pop rbp`: its row still says that rbp is on the stack. */
static void find_epilogue(void *context, const struct unwind_frame *frame,
			  struct unwind_place *place)
{
	static const struct cfi_rule rules[] = { { .kind = CFI_AT_CFA, .operand = -16 },
						 { .kind = CFI_AT_CFA, .operand = -8 } };
	(void)context;
	place->code = frame->index ? UNWIND_FRAME_POINTER : UNWIND_RULE;
	place->rule = (struct cfi_row){
		.cfa = { .kind = CFI_REGISTER, .number = UNWIND_X86_64_SP, .operand = 8 },
		.ruled = 1u << UNWIND_X86_64_BP | 1u << UNWIND_X86_64_PC,
		.rules = rules,
		.return_register = UNWIND_X86_64_PC,
	};
}

static void what_an_epilogue_restored_is_kept(void **state)
{
	(void)state;
	const uint64_t words[] = { 0x200, 0, 0x300, /* returns into 0x200, whose frame is here */ };
	const struct unwind_callbacks callbacks = { .find = find_epilogue };
	struct unwind_state start = state_of(0x101, 0x1000, 0x1008);
	const struct bytes stack = { (const uint8_t *)words, sizeof(words) };
	uint64_t avmas[8];
	enum unwind_end end;
	assert_int_equal(walk(&callbacks, &start, stack, avmas, 8, &end), 3);
	assert_int_equal(end, UNWIND_WHOLE);
	assert_int_equal(avmas[1], 0x200);
	assert_int_equal(avmas[2], 0x300);
	/* Where it lies in the piece of stack, that counts. */
	const uint64_t with_more[] = { 0x1018, 0x200, 0, 0x300, 0, 0x400 };
	start.stack_avma = 0xff8;
	const struct bytes more = { (const uint8_t *)with_more, sizeof(with_more) };
	assert_int_equal(walk(&callbacks, &start, more, avmas, 8, &end), 3);
	assert_int_equal(end, UNWIND_WHOLE);
	assert_int_equal(avmas[2], 0x400);
	/* What should lie above, but was cut off, is not known. */
	const struct bytes cut = { (const uint8_t *)words, 8 };
	start.stack_avma = 0x1000;
	assert_int_equal(walk(&callbacks, &start, cut, avmas, 8, &end), 2);
	assert_int_equal(end, UNWIND_TRUNCATED);
}

int main(void)
{
#ifndef __x86_64__
	printf("SKIP: stacks of this machine are not walked yet\n");
	return 77;
#endif
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_stack_is_walked_as_backtrace_does),
		cmocka_unit_test(a_thread_ends_where_it_began),
		cmocka_unit_test(frame_pointers_and_stubs_are_followed),
		cmocka_unit_test(frames_of_interpreters_are_told),
		cmocka_unit_test(what_an_epilogue_restored_is_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
