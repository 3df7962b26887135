/* Stacks that are made up word by word, through code that says in different ways, or not at all,
 * how its frames are found.
 */
#include "load/load.h"
#include "load/recording.h"
#include "test.h"
#include "unwind/cfi.h"

#include "os/file.h"

#include <link.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PID = 4000002, /* one that no kernel gives */
	MS = 1000000,
	STACK = 0x7f0000001000,
	WORD = 8,
	WORDS = 128,
	ALPHA = 0x10000,
	BETA = 0x11000,
	MAIN = 0x12000,
	CODE_BYTES = 64,
};

struct scene {
	struct recording r;
	struct sink dump;
	struct recording_stack stack;
	uint64_t words[WORDS];
};

static void begin_on(struct scene *s, bool is_arm64)
{
	*s = (struct scene){ 0 };
	recording_begin_as(&s->r,
			   &(struct recording_shape){
			       .is_arm64 = is_arm64,
			       .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
					      PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN |
					      PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER });
	recording_comm(&s->r, PID, 1, "program", false);
	recording_mmap(&s->r, PID, 2, ALPHA, 0x10000, "//anon");
	dump_begin(&s->dump, PID);
	s->stack =
	    (struct recording_stack){ .ip = ALPHA, .sp = STACK, .words = s->words, .count = WORDS };
}

static void begin(struct scene *s)
{
	begin_on(s, false);
}

static void tell(struct scene *s, uint64_t start_avma, const char *name, const uint8_t *code)
{
	const struct dump_code load = { .pid = PID,
					.time_ns = 3,
					.start_avma = start_avma,
					.size = CODE_BYTES,
					.index = start_avma,
					.name = name,
					.code = code };
	dump_put(&s->dump, &load);
}

static void sample(struct scene *s)
{
	recording_put_sample(&s->r, &(struct recording_what){ .pid = PID,
							      .tid = PID,
							      .time_ns = MS,
							      .ip_avma = s->stack.ip,
							      .stack = &s->stack });
}

/* "name < name: end", leaf first. */
static int note(void *context, const struct profile *p, const struct load_sample *what)
{
	struct sink *seen = context;
	const struct profile_stack *stack = &p->stacks.items[what->stack];
	for (uint32_t i = 0; i < stack->depth; i++) {
		const struct profile_frame *frame =
		    &p->frames.items[p->frame_ids.items[stack->first + i]];
		sink_printf(seen, "%s%s", i ? " < " : "",
			    profile_text(p, p->functions.items[frame->function].name));
	}
	sink_printf(seen, ": %s\n", profile_end_key((enum profile_end)stack->end));
	return 0;
}

static char *seen_in(struct scene *s)
{
	struct load *load;
	struct load_error error;
	struct profile profile = { 0 };
	struct sink seen = { 0 };
	const struct load_options options = { .input = s->r.path, .in_order = true };
	recording_finish(&s->r);
	recording_file(&s->r, "jit-4000002.dump", sink_bytes(&s->dump));
	assert_int_equal(load_open(&load, &options, &error), 0);
	assert_int_equal(load_samples(load, &profile, note, &seen), 0);
	sink_u8(&seen, 0);
	profile_clear(&profile);
	load_close(load);
	recording_remove(&s->r);
	sink_clear(&s->dump);
	return (char *)seen.data;
}

static void check(struct scene *s, const char *expected)
{
	char *seen = seen_in(s);
	assert_string_equal(seen, expected);
	free(seen);
}

static const uint8_t WITH_FRAME[CODE_BYTES] = {
	0x55, 0x48, 0x89, 0xe5, /* push rbp; mov rbp, rsp */
	0x0f, 0xaf, 0xc0,       /* imul eax, eax */
	0x5d, 0xc3,             /* pop rbp; ret */
};

/* alpha is called by beta, and that by main, which nobody called. */
static void three_with_frame_pointers(struct scene *s)
{
	begin(s);
	tell(s, ALPHA, "LazyCompile:*alpha a.js:1:1", WITH_FRAME);
	tell(s, BETA, "LazyCompile:*beta a.js:2:1", WITH_FRAME);
	tell(s, MAIN, "LazyCompile:*main a.js:3:1", WITH_FRAME);
	s->words[10] = STACK + WORD * 20;
	s->words[11] = BETA + 8;
	s->words[20] = STACK + WORD * 30;
	s->words[21] = MAIN + 8;
}

static void frame_pointers_are_not_followed_before_they_are_set(void **state)
{
	(void)state;
	struct scene s;
	three_with_frame_pointers(&s);
	s.stack.bp = STACK + WORD * 10;
	s.stack.ip = ALPHA + 4; /* in the body */
	sample(&s);
	/* At the first instruction, and at the return, the frame pointer is beta's. */
	s.stack.bp = STACK + WORD * 20;
	s.words[0] = BETA + 8;
	s.stack.ip = ALPHA;
	sample(&s);
	s.stack.ip = ALPHA + 8;
	sample(&s);
	/* It is pushed, and beta's still. */
	s.words[0] = STACK + WORD * 20;
	s.words[1] = BETA + 8;
	s.stack.ip = ALPHA + 1;
	sample(&s);
	/* It is main's chain that ends in the zeros behind it. */
	check(&s, "alpha a.js:1:1 < beta a.js:2:1 < main a.js:3:1: whole\n"
		  "alpha a.js:1:1 < beta a.js:2:1 < main a.js:3:1: whole\n"
		  "alpha a.js:1:1 < beta a.js:2:1 < main a.js:3:1: whole\n"
		  "alpha a.js:1:1 < beta a.js:2:1 < main a.js:3:1: whole\n");
}

static void stacks_say_why_they_end(void **state)
{
	(void)state;
	struct scene s;
	three_with_frame_pointers(&s);
	s.stack.ip = ALPHA + 4;
	s.stack.bp = STACK + WORD * 10;
	/* The dump ends before main's frame. */
	s.stack.count = 30;
	sample(&s);
	/* Memory ended there: a longer dump would not help. */
	s.stack.wanted = WORDS;
	sample(&s);
	s.stack.count = WORDS;
	/* Where no code is known to be. */
	s.words[21] = 0x990000;
	sample(&s);
	/* Nobody spoke of what lies there. */
	s.words[21] = MAIN + 0x1008;
	s.words[20] = 0;
	sample(&s);
	/* The chain leads to where another stack is, and nowhere. */
	s.words[10] = STACK + (64 << 20);
	sample(&s);
	s.words[10] = STACK + WORD * 3;
	sample(&s);
	check(&s, "alpha a.js:1:1 < beta a.js:2:1 < main a.js:3:1: truncated\n"
		  "alpha a.js:1:1 < beta a.js:2:1 < main a.js:3:1: no_unwinding\n"
		  "alpha a.js:1:1 < beta a.js:2:1: unknown_code\n"
		  "alpha a.js:1:1 < beta a.js:2:1 < [unknown]: unknown_code\n"
		  "alpha a.js:1:1 < beta a.js:2:1: other_stack\n"
		  "alpha a.js:1:1 < beta a.js:2:1: no_unwinding\n");
}

static void the_end_is_part_of_the_stack(void **state)
{
	(void)state;
	struct scene s;
	three_with_frame_pointers(&s);
	s.stack.ip = ALPHA + 4;
	s.stack.bp = STACK + WORD * 10;
	sample(&s);
	s.stack.count = 30;
	sample(&s);
	sample(&s);
	check(&s, "alpha a.js:1:1 < beta a.js:2:1 < main a.js:3:1: whole\n"
		  "alpha a.js:1:1 < beta a.js:2:1 < main a.js:3:1: truncated\n"
		  "alpha a.js:1:1 < beta a.js:2:1 < main a.js:3:1: truncated\n");
}

/* .eh_frame of one function whose CFA is rsp + 64, with the code right before it; then a header,
 * of which only the size counts.
 */
static const uint8_t UNWINDING[] = {
	0x14, 0,    0,          0,    0, 0, 0, 0,    1, 'z', 'R', 0,    1, 0x78, 16, 1,    0x1b,
	0x0c, 7,    64,         0x90, 1, 0, 0, 0x10, 0, 0,   0,   0x1c, 0, 0,    0,  0xa0, 0xff,
	0xff, 0xff, CODE_BYTES, 0,    0, 0, 0, 0,    0, 0,   0,   0,    0, 0, /* the end */
	1,    0x1b, 3,          0x3b, 0, 0, 0, 0,                             /* the header */
};

static void runtimes_tell_how_frames_are_found(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	const struct bytes unwinding = { UNWINDING, sizeof(UNWINDING) };
	dump_unwinding(&s.dump, unwinding, 8);
	tell(&s, ALPHA, "py::alpha:/a.py", NULL);
	dump_unwinding(&s.dump, unwinding, 8);
	tell(&s, BETA, "py::beta:/a.py", NULL);
	s.stack.ip = ALPHA + 4;
	s.words[7] = BETA + 8;
	s.words[15] = 0;
	sample(&s);
	check(&s, "alpha a.py < beta a.py: whole\n");
}

static void the_kernel_stops_at_absent_pages(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	dump_unwinding(&s.dump, (struct bytes){ UNWINDING, sizeof(UNWINDING) }, 8);
	tell(&s, ALPHA, "py::alpha:/a.py", NULL);
	s.stack.ip = ALPHA + 4;
	s.stack.wanted = WORDS;
	s.stack.count = 4;
	s.stack.sp = STACK + 0x1000 - 4 * WORD;
	sample(&s);
	/* No page ends there: it must be the frame that is wrong. */
	s.stack.sp -= WORD;
	sample(&s);
	/* All that was wanted came. */
	s.stack.wanted = 0;
	sample(&s);
	check(&s, "alpha a.py: absent_page\n"
		  "alpha a.py: bad_frame\n"
		  "alpha a.py: truncated\n");
}

/* Some frames tell how far up their caller's sp is: that lies beyond what was dumped. */
static void the_callers_sp_may_not_be_in_the_dump(void **state)
{
	(void)state;
	enum { INSTRUCTIONS = 41, VALUE_OFFSET_SF = 0x15, RSP = 7, MINUS_64 = 0x40 };
	struct scene s;
	uint8_t unwinding[sizeof(UNWINDING)];
	memcpy(unwinding, UNWINDING, sizeof(unwinding));
	unwinding[INSTRUCTIONS] = VALUE_OFFSET_SF;
	unwinding[INSTRUCTIONS + 1] = RSP;
	unwinding[INSTRUCTIONS + 2] = MINUS_64;
	begin(&s);
	dump_unwinding(&s.dump, (struct bytes){ unwinding, sizeof(unwinding) }, 8);
	tell(&s, ALPHA, "py::alpha:/a.py", NULL);
	tell(&s, BETA, "LazyCompile:*beta a.js:2:1", WITH_FRAME);
	s.stack.ip = ALPHA + 4;
	s.stack.bp = STACK + WORD * 80;
	s.words[7] = BETA + 8;
	s.stack.count = 10;
	sample(&s);
	check(&s, "alpha a.py < beta a.js:2:1: truncated\n");
}

static void trampolines_call_with_a_word_of_room(void **state)
{
	(void)state;
	static const uint8_t room[CODE_BYTES] = { 0x48, 0x83, 0xec, 8, 0xff, 0xd1,
						  0x48, 0x83, 0xc4, 8, 0xc3 };
	struct scene s;
	begin(&s);
	tell(&s, ALPHA, "py::alpha:/a.py", room);
	tell(&s, BETA, "py::beta:/a.py", WITH_FRAME);
	tell(&s, MAIN, "py::<module>:/a.py", NULL);
	/* alpha and the module by room, beta by its frame pointer. */
	s.stack.bp = STACK + WORD * 20;
	s.stack.ip = ALPHA + 6;
	s.words[1] = BETA + 7;
	s.words[21] = MAIN + 6;
	s.words[23] = 0;
	sample(&s);
	/* At its first instruction and at its last, alpha has no room. */
	s.words[0] = BETA + 7;
	s.stack.ip = ALPHA;
	sample(&s);
	s.stack.ip = ALPHA + 10;
	sample(&s);
	check(&s, "alpha a.py < beta a.py < <module> a.py: whole\n"
		  "alpha a.py < beta a.py < <module> a.py: whole\n"
		  "alpha a.py < beta a.py < <module> a.py: whole\n");
}

static void on_aarch64_the_link_register_comes_first(void **state)
{
	(void)state;
	static const uint8_t code[CODE_BYTES] = {
		0xfd, 0x7b, 0xbf, 0xa9, /* stp x29, x30, [sp, #-16]! */
		0xfd, 0x03, 0x00, 0x91, /* mov x29, sp */
		0x1f, 0x20, 0x03, 0xd5, /* nop */
		0xfd, 0x7b, 0xc1, 0xa8, /* ldp x29, x30, [sp], #16 */
		0xc0, 0x03, 0x5f, 0xd6, /* ret */
	};
	struct scene s;
	begin_on(&s, true);
	tell(&s, ALPHA, "LazyCompile:*alpha a.js:1:1", code);
	tell(&s, BETA, "LazyCompile:*beta a.js:2:1", code);
	tell(&s, MAIN, "LazyCompile:*main a.js:3:1", code);
	s.words[10] = STACK + WORD * 20;
	s.words[11] = BETA + 12;
	s.words[20] = STACK + WORD * 30;
	/* Signed, as processors with pointer authentication leave it. */
	s.words[21] = (MAIN + 12) | 0x7f1ull << 53;
	/* In the body; the link register holds what alpha called last. */
	s.stack.bp = STACK + WORD * 10;
	s.stack.lr = ALPHA + 12;
	s.stack.ip = ALPHA + 8;
	sample(&s);
	/* At the first instruction and at the return. */
	s.stack.bp = STACK + WORD * 20;
	s.stack.lr = BETA + 12;
	s.stack.ip = ALPHA;
	sample(&s);
	s.stack.ip = ALPHA + 16;
	sample(&s);
	/* The pair is pushed. */
	s.words[0] = STACK + WORD * 20;
	s.words[1] = BETA + 12;
	s.stack.lr = 0;
	s.stack.ip = ALPHA + 4;
	sample(&s);
	check(&s, "alpha a.js:1:1 < beta a.js:2:1 < main a.js:3:1: whole\n"
		  "alpha a.js:1:1 < beta a.js:2:1 < main a.js:3:1: whole\n"
		  "alpha a.js:1:1 < beta a.js:2:1 < main a.js:3:1: whole\n"
		  "alpha a.js:1:1 < beta a.js:2:1 < main a.js:3:1: whole\n");
}

static void hotspots_stubs_have_no_frame(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	tell(&s, ALPHA, "itable stub", NULL);
	tell(&s, BETA, "Lwork;beta()V", WITH_FRAME);
	tell(&s, MAIN, "Lwork;main()V", WITH_FRAME);
	s.stack.ip = ALPHA + 9;
	s.stack.bp = STACK + WORD * 20; /* beta's */
	s.words[0] = BETA + 7;
	s.words[20] = STACK + WORD * 30;
	s.words[21] = MAIN + 7;
	sample(&s);
	check(&s, "itable stub < work.beta() < work.main(): whole\n");
}

/* Native code that JIT code was called from: this program's own. */

__attribute__((noinline)) static uint64_t where_it_returns(void)
{
	return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

__attribute__((noinline)) uint64_t call_by_pointer(uint64_t (*volatile callee)(void));

uint64_t call_by_pointer(uint64_t (*volatile callee)(void))
{
	return callee() & ~(uint64_t)0 >> 1;
}

#if defined(__x86_64__)
/* As interpreters written in assembly are described: in their frame from the first byte on. */
__asm__(".text\n"
	".globl own_interpreter\n"
	".type own_interpreter, @function\n"
	"own_interpreter:\n"
	".cfi_startproc\n"
	".cfi_def_cfa_offset 80\n"
	".cfi_offset 6, -16\n"
	"mov (%rsp), %rax\n"
	"ret\n"
	".cfi_endproc\n"
	".size own_interpreter, . - own_interpreter\n");
uint64_t own_interpreter(void);

/* As C libraries return from handlers: nothing stands behind the system call. */
__asm__(".text\n"
	".globl ends_in_system_call\n"
	".type ends_in_system_call, @function\n"
	"ends_in_system_call:\n"
	".cfi_startproc\n"
	".cfi_def_cfa_offset 32\n"
	"mov $15, %rax\n"
	"syscall\n"
	".cfi_endproc\n"
	".size ends_in_system_call, . - ends_in_system_call\n"
	"nop\n"
	"nop\n");
void ends_in_system_call(void);

__attribute__((noinline)) uint64_t call_interpreter(void);

uint64_t call_interpreter(void)
{
	return own_interpreter() & ~(uint64_t)0 >> 1;
}

/* Has a frame, and PHP's name. */
__attribute__((noinline)) uint64_t execute_ex(uint64_t (*volatile callee)(void));

uint64_t execute_ex(uint64_t (*volatile callee)(void))
{
	volatile uint64_t sums[9] = { 0 };
	for (size_t i = 0; i < 9; i++)
		sums[i] = callee() + i;
	return sums[0] + sums[8];
}
#endif

struct code_segment {
	uint64_t start_avma;
	uint64_t size;
	uint64_t file_off;
	uint64_t base_avma;
};

static int find_segment(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	struct code_segment *segment = context;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
			continue;
		segment->base_avma = info->dlpi_addr;
		segment->start_avma = info->dlpi_addr + header->p_vaddr;
		segment->size = header->p_filesz;
		segment->file_off = header->p_offset;
	}
	return 1; /* the first is the program */
}

/* Maps this program, under a path of which only the last part matters. */
static struct code_segment map_program(struct scene *s, const char *name, char *path, size_t size)
{
	struct code_segment segment = { 0 };
	struct os_file file;
	(void)dl_iterate_phdr(find_segment, &segment);
	assert_int_equal(os_file_open(&file, "/proc/self/exe", OS_FILE_PLAIN), 0);
	recording_file(&s->r, name, file.bytes);
	os_file_close(&file);
	(void)snprintf(path, size, "%s/%s", s->r.dir, name);
	recording_map(&s->r, &(struct recording_map){ .pid = PID,
						      .time_ns = 2,
						      .start_avma = segment.start_avma,
						      .size = segment.size,
						      .file_off = segment.file_off,
						      .path = path });
	return segment;
}

/* What called this program's own functions is not in the dump: how often is the text there? */
static size_t count_in(struct scene *s, const char *text)
{
	size_t count = 0;
	char *seen = seen_in(s);
	for (const char *at = seen; (at = strstr(at, text)); at++)
		count++;
	free(seen);
	return count;
}

static void yjit_pushes_three_registers(void **state)
{
	(void)state;
	struct scene s;
	char path[256];
	begin(&s);
	(void)map_program(&s, "ruby", path, sizeof(path));
	tell(&s, ALPHA, "rb::alpha a.rb:1", NULL);
	s.stack.ip = ALPHA + 4;
	s.words[3] = call_by_pointer(where_it_returns);
	sample(&s);
	/* With a word more, as it calls. */
	s.words[4] = s.words[3];
	s.words[3] = ALPHA;
	sample(&s);
	assert_int_equal(count_in(&s, "alpha a.rb:1 < call_by_pointer"), 2);
}

static void luajit_runs_in_its_interpreters_frame(void **state)
{
	(void)state;
#if defined(__x86_64__)
	struct scene s;
	char path[256];
	begin(&s);
	(void)map_program(&s, "luajit", path, sizeof(path));
	tell(&s, ALPHA, "TRACE_1::a.lua:1", NULL);
	s.stack.ip = ALPHA + 4;
	/* A return address that is not that of an interpreter lies on the way. */
	s.words[9] = call_by_pointer(where_it_returns);
	s.words[11] = call_interpreter();
	sample(&s);
	assert_int_equal(count_in(&s, " < call_interpreter"), 1);
#else
	skip_because("this runtime is known on x86-64 only");
#endif
}

static void php_runs_in_the_frame_of_its_loop(void **state)
{
	(void)state;
#if defined(__x86_64__)
	struct scene s;
	char path[256];
	begin(&s);
	const struct code_segment segment = map_program(&s, "php8", path, sizeof(path));
	/* How large the frame is, this program's table tells, in the middle of the function. */
	struct os_file file;
	struct cfi_table *table;
	assert_int_equal(os_file_open(&file, path, OS_FILE_PLAIN), 0);
	assert_int_equal(cfi_table_elf(&table, file.bytes), 0);
	const uint64_t returns = execute_ex(where_it_returns);
	(void)returns;
	const struct cfi_row *row =
	    cfi_find(table, (uint64_t)(uintptr_t)&execute_ex + 60 - segment.base_avma);
	assert_non_null(row);
	const bool has_frame_pointer = row->cfa.number != UNWIND_X86_64_SP;
	const size_t frame_words = (size_t)row->cfa.operand / WORD;
	cfi_table_free(table);
	os_file_close(&file);
	tell(&s, ALPHA, "alpha", NULL);
	tell(&s, BETA, "TRACE-1$main$5", NULL);
	s.stack.ip = BETA + 4;
	s.words[frame_words - 1] = call_by_pointer(where_it_returns);
	sample(&s);
	/* A build with frame pointers, as those with sanitizers, shows nothing. */
	const size_t count = count_in(&s, " < call_by_pointer");
	if (has_frame_pointer)
		skip_because("this build has frame pointers");
	assert_int_equal(count, 1);
#else
	skip_because("this runtime is known on x86-64 only");
#endif
}

/* The thread is behind the instruction for as long as the kernel works for it. */
static void system_calls_may_be_the_last_instruction(void **state)
{
	(void)state;
#if defined(__x86_64__)
	enum { BEHIND_CALL = 9 };
	struct scene s;
	char path[256];
	begin(&s);
	(void)map_program(&s, "program", path, sizeof(path));
	s.stack.ip = (uint64_t)(uintptr_t)&ends_in_system_call + BEHIND_CALL;
	s.words[3] = call_by_pointer(where_it_returns);
	sample(&s);
	/* Somebody else's code is behind that. */
	s.stack.ip++;
	sample(&s);
	assert_int_equal(count_in(&s, " < call_by_pointer"), 1);
#else
	skip_because("this runtime is known on x86-64 only");
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frame_pointers_are_not_followed_before_they_are_set),
		cmocka_unit_test(stacks_say_why_they_end),
		cmocka_unit_test(the_end_is_part_of_the_stack),
		cmocka_unit_test(runtimes_tell_how_frames_are_found),
		cmocka_unit_test(the_kernel_stops_at_absent_pages),
		cmocka_unit_test(the_callers_sp_may_not_be_in_the_dump),
		cmocka_unit_test(trampolines_call_with_a_word_of_room),
		cmocka_unit_test(on_aarch64_the_link_register_comes_first),
		cmocka_unit_test(hotspots_stubs_have_no_frame),
		cmocka_unit_test(yjit_pushes_three_registers),
		cmocka_unit_test(luajit_runs_in_its_interpreters_frame),
		cmocka_unit_test(php_runs_in_the_frame_of_its_loop),
		cmocka_unit_test(system_calls_may_be_the_last_instruction),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
