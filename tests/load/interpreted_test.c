/* Frames of HotSpot's interpreter, out of stacks that are made up word by word. */
#include "load/load.h"
#include "load/recording.h"
#include "test.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

enum { PID = 4000001, MS = 1000000, BASE = 1000 * MS }; /* a pid that no kernel gives */

/* Two frames of the interpreter: the leaf's words, its caller's words. */
enum {
	STACK = 0x7f0000001000,
	WORDS = 24,
	LEAF_BP = 10,
	CALLER_BP = 22,
	METHOD = -3,
	BYTECODE = -8,
	BYTECODE_OF_8 = -7,
	CODE = 0x10000, /* the interpreter's own */
	ALPHA = 0x7f1000000100,
	BETA = 0x7f1000000200,
	ALPHA_BYTES = 0x7f2000000000,
	BETA_BYTES = 0x7f2000001000,
};

struct scene {
	struct recording r;
	struct sink dump;
	struct recording_stack stack;
	uint64_t words[WORDS];
};

static void begin(struct scene *s)
{
	*s = (struct scene){ 0 };
	recording_begin_as(&s->r,
			   &(struct recording_shape){
			       .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
					      PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN |
					      PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER });
	recording_comm(&s->r, PID, 1, "java", false);
	recording_mmap(&s->r, PID, 2, CODE, 0x10000, "//anon");
	dump_begin(&s->dump, PID);
	dump_load(&s->dump, PID, 3, CODE, 0x1000, "Interpreter");
	s->stack = (struct recording_stack){ .ip = CODE + 0x10,
					     .sp = STACK,
					     .bp = STACK + 8 * LEAF_BP,
					     .words = s->words,
					     .count = WORDS };
	s->words[LEAF_BP] = STACK + 8 * CALLER_BP;
	s->words[LEAF_BP + 1] = CODE + 0x20;
	s->words[LEAF_BP + METHOD] = ALPHA;
	s->words[LEAF_BP + BYTECODE] = ALPHA_BYTES + 4;
	s->words[CALLER_BP + METHOD] = BETA;
	s->words[CALLER_BP + BYTECODE] = BETA_BYTES + 7;
}

static void sample(struct scene *s, uint64_t time_ns)
{
	recording_put_sample(&s->r, &(struct recording_what){ .pid = PID,
							      .tid = PID,
							      .time_ns = time_ns,
							      .ip_avma = s->stack.ip,
							      .stack = &s->stack });
}

/* Bytecode 0-3: line 10, 4-8: 12, from 9 on: 11; told with the loop's head behind its body. */
static const uint32_t LINES[] = { 0, 10, 9, 11, 4, 12 };

static void tell(struct scene *s, uint64_t time_ns, uint64_t id, uint64_t bytes, const char *name)
{
	const struct dump_method method = { .pid = PID,
					    .time_ns = time_ns,
					    .id = id,
					    .bytecode_avma = bytes,
					    .bytecode_size = 16,
					    .lines = LINES,
					    .line_count = 3,
					    .name = name,
					    .file = "Work.java" };
	dump_method(&s->dump, &method);
}

static void tell_both(struct scene *s)
{
	tell(s, BASE, ALPHA, ALPHA_BYTES, "LWork;alpha()V");
	tell(s, BASE, BETA, BETA_BYTES, "LWork;beta()V");
}

/* "name:line tier trust", leaf first. */
static int note(void *context, const struct profile *p, const struct load_sample *sample)
{
	struct sink *seen = context;
	const struct profile_stack *stack = &p->stacks.items[sample->stack];
	for (uint32_t i = 0; i < stack->depth; i++) {
		const struct profile_frame *frame =
		    &p->frames.items[p->frame_ids.items[stack->first + i]];
		const struct profile_function *f = &p->functions.items[frame->function];
		sink_printf(seen, "%s%s:%u%s%s %s", i ? " < " : "", profile_text(p, f->name),
			    frame->line, *profile_text(p, f->tier) ? " " : "",
			    profile_text(p, f->tier),
			    profile_trust_name((enum profile_trust)frame->trust));
		if (frame->reason)
			sink_printf(seen, " (%s)", profile_text(p, frame->reason));
		assert_true(frame->is_jit);
	}
	sink_text(seen, "\n");
	return 0;
}

static char *read_all(const struct scene *s, bool lines)
{
	struct load *load;
	struct load_error error;
	struct profile profile = { 0 };
	struct sink seen = { 0 };
	const struct load_options options = { .input = s->r.path,
					      .in_order = true,
					      .lines = lines };
	assert_int_equal(load_open(&load, &options, &error), 0);
	assert_int_equal(load_samples(load, &profile, note, &seen), 0);
	/* A second walk begins anew. */
	profile_clear(&profile);
	seen.size = 0;
	assert_int_equal(load_samples(load, &profile, note, &seen), 0);
	sink_u8(&seen, 0);
	profile_clear(&profile);
	load_close(load);
	return (char *)seen.data;
}

static void finish(struct scene *s)
{
	recording_finish(&s->r);
	recording_file(&s->r, "jit-4000001.dump", sink_bytes(&s->dump));
}

static void end(struct scene *s)
{
	recording_remove(&s->r);
	sink_clear(&s->dump);
}

static void check(struct scene *s, const char *expected)
{
	finish(s);
	char *seen = read_all(s, true);
	assert_string_equal(seen, expected);
	free(seen);
	end(s);
}

static void frames_get_names_and_lines(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	tell_both(&s);
	sample(&s, BASE + MS);
	s.words[CALLER_BP + BYTECODE] = BETA_BYTES + 15;
	sample(&s, BASE + 2 * MS);
	check(&s, "Work.alpha():12 interpreter exact < Work.beta():12 interpreter exact\n"
		  "Work.alpha():12 interpreter exact < Work.beta():11 interpreter exact\n");
}

static void the_leaf_has_its_place_in_a_register(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	tell_both(&s);
	s.stack.r13 = ALPHA_BYTES + 2;
	sample(&s, BASE + MS);
	check(&s, "Work.alpha():10 interpreter exact < Work.beta():12 interpreter exact\n");
}

static void jdk_8_has_it_a_word_nearer(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	tell_both(&s);
	s.words[CALLER_BP + BYTECODE] = STACK;
	s.words[CALLER_BP + BYTECODE_OF_8] = BETA_BYTES + 1;
	sample(&s, BASE + MS);
	check(&s, "Work.alpha():12 interpreter exact < Work.beta():10 interpreter exact\n");
}

/* A native method has no bytecode; in one that is just entered, the frame is not yet complete. */
static void a_function_without_a_place_has_no_line(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	tell_both(&s);
	s.words[LEAF_BP + BYTECODE] = 0;
	sample(&s, BASE + MS);
	check(&s, "Work.alpha():0 interpreter exact < Work.beta():12 interpreter exact\n");
}

static void without_lines_there_are_none(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	tell_both(&s);
	sample(&s, BASE + MS);
	finish(&s);
	char *seen = read_all(&s, false);
	assert_string_equal(seen,
			    "Work.alpha():0 interpreter exact < Work.beta():0 interpreter exact\n");
	free(seen);
	end(&s);
}

/* A class goes, and another's function takes its place in memory. */
static void ids_are_used_again(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	tell_both(&s);
	tell(&s, BASE + 20 * MS, ALPHA, ALPHA_BYTES + 0x100, "LOther;gamma()V");
	sample(&s, BASE + 10 * MS);
	s.words[LEAF_BP + BYTECODE] = ALPHA_BYTES + 0x100;
	/* Told in the agent's own time: its bytecode says that it is there already. */
	sample(&s, BASE + 19 * MS);
	sample(&s, BASE + 30 * MS);
	s.words[LEAF_BP + BYTECODE] = 0;
	sample(&s, BASE + 31 * MS);
	check(&s, "Work.alpha():12 interpreter exact < Work.beta():12 interpreter exact\n"
		  "Other.gamma():10 interpreter exact < Work.beta():12 interpreter exact\n"
		  "Other.gamma():10 interpreter exact < Work.beta():12 interpreter exact\n"
		  "Other.gamma():0 interpreter exact < Work.beta():12 interpreter exact\n");
}

static void what_is_told_late_is_early(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	tell_both(&s);
	s.words[LEAF_BP + BYTECODE] = 0;
	sample(&s, BASE - 500 * MS);
	check(&s, "Work.alpha():0 interpreter early (announced after the sample) < "
		  "Work.beta():12 interpreter exact\n");
}

static void existing_methods_have_no_time(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	tell(&s, 0, ALPHA, 0, "LWork;alpha()V");
	tell(&s, 0, BETA, BETA_BYTES, "LWork;beta()V");
	sample(&s, 5);
	check(&s, "Work.alpha():0 interpreter exact < Work.beta():12 interpreter exact\n");
}

static void without_a_record_it_is_the_interpreter(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	tell(&s, BASE, BETA, BETA_BYTES, "LWork;beta()V");
	sample(&s, BASE + MS);
	check(&s, "Interpreter:0 exact (no method record for this frame) < "
		  "Work.beta():12 interpreter exact\n");
}

/* A frame that is not there yet: rbp is still that of compiled code, rbx has the function. */
static void what_is_just_entered_is_in_a_register(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	tell_both(&s);
	s.words[LEAF_BP + METHOD] = STACK + 8;
	s.stack.bx = ALPHA;
	sample(&s, BASE + MS);
	s.stack.bx = STACK;
	sample(&s, BASE + 2 * MS);
	/* A frame that is there goes first, whatever the register is used for. */
	s.words[LEAF_BP + METHOD] = ALPHA;
	s.stack.bx = BETA;
	sample(&s, BASE + 3 * MS);
	check(&s, "Work.alpha():10 interpreter exact < Work.beta():12 interpreter exact\n"
		  "Interpreter:0 exact (no method record for this frame) < "
		  "Work.beta():12 interpreter exact\n"
		  "Work.alpha():12 interpreter exact < Work.beta():12 interpreter exact\n");
}

static void without_any_record_nothing_is_missed(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	sample(&s, BASE + MS);
	check(&s, "Interpreter:0 exact < Interpreter:0 exact\n");
}

/* Another process's records are nothing to this one. */
static void records_are_of_their_process(void **state)
{
	(void)state;
	struct scene s;
	struct sink other = { 0 };
	begin(&s);
	tell(&s, BASE, BETA, BETA_BYTES, "LWork;beta()V");
	recording_comm(&s.r, PID + 1, 1, "java", false);
	sample(&s, BASE + MS);
	dump_begin(&other, PID + 1);
	const struct dump_method method = { .pid = PID + 1,
					    .id = ALPHA,
					    .bytecode_avma = ALPHA_BYTES,
					    .bytecode_size = 16,
					    .name = "LWork;alpha()V" };
	dump_method(&other, &method);
	recording_file(&s.r, "jit-4000002.dump", sink_bytes(&other));
	sink_clear(&other);
	check(&s, "Interpreter:0 exact (no method record for this frame) < "
		  "Work.beta():12 interpreter exact\n");
}

/* Whatever a stack holds: a walk that ends, and frames that exist. */
static void hostile_words_do_no_harm(void **state)
{
	(void)state;
	static const uint64_t words[] = { 0,
					  1,
					  CODE + 8,
					  ALPHA,
					  UINT64_MAX,
					  (uint64_t)-4000,
					  (uint64_t)-512,
					  STACK,
					  STACK + 8,
					  ALPHA_BYTES + 3 };
	enum { COUNT = sizeof(words) / sizeof(words[0]), SAMPLES = 400 };
	struct scene s;
	uint64_t random = 88172645463325252u;
	begin(&s);
	tell_both(&s);
	recording_mmap(&s.r, PID, 2, (uint64_t)-4096, 0x800, "//anon");
	dump_load(&s.dump, PID, 3, (uint64_t)-4096, 0x800, "Interpreter");
	for (uint32_t i = 0; i < SAMPLES; i++) {
		for (size_t w = 0; w < WORDS; w++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			if (random >> 60 == 0)
				s.words[w] = words[(random >> 32) % COUNT];
		}
		if (i % 16 == 0)
			s.stack.bp = s.words[i % WORDS];
		if (i % 24 == 0)
			s.stack.bp = STACK + 8 * LEAF_BP;
		s.stack.count = i % (WORDS + 1);
		sample(&s, BASE + i);
	}
	finish(&s);
	free(read_all(&s, true));
	end(&s);
}

/* The mark means something in chains that we made ourselves; one that was read may hold anything.
 */
static void marks_are_not_believed_in_chains_that_were_read(void **state)
{
	(void)state;
	struct recording r;
	struct sink dump = { 0 };
	recording_begin(&r);
	recording_comm(&r, PID, 1, "java", false);
	recording_mmap(&r, PID, 2, CODE, 0x10000, "//anon");
	const uint64_t chain[] = { CODE + 8, (uint64_t)-4000, 1ull << 32, CODE + 16 };
	recording_sample(&r, PID, PID, BASE + MS, chain, 4);
	recording_finish(&r);
	dump_begin(&dump, PID);
	dump_load(&dump, PID, 3, CODE, 0x1000, "Interpreter");
	recording_file(&r, "jit-4000001.dump", sink_bytes(&dump));
	sink_clear(&dump);
	const struct scene s = { .r = r };
	char *seen = read_all(&s, true);
	assert_string_equal(seen, "Interpreter:0 exact\n");
	free(seen);
	recording_remove(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_get_names_and_lines),
		cmocka_unit_test(the_leaf_has_its_place_in_a_register),
		cmocka_unit_test(jdk_8_has_it_a_word_nearer),
		cmocka_unit_test(a_function_without_a_place_has_no_line),
		cmocka_unit_test(without_lines_there_are_none),
		cmocka_unit_test(ids_are_used_again),
		cmocka_unit_test(what_is_told_late_is_early),
		cmocka_unit_test(existing_methods_have_no_time),
		cmocka_unit_test(without_a_record_it_is_the_interpreter),
		cmocka_unit_test(what_is_just_entered_is_in_a_register),
		cmocka_unit_test(without_any_record_nothing_is_missed),
		cmocka_unit_test(records_are_of_their_process),
		cmocka_unit_test(hostile_words_do_no_harm),
		cmocka_unit_test(marks_are_not_believed_in_chains_that_were_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
