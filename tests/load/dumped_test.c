/* Frames of interpreters with a slot in copies of stacks, which are made up word by word. */
#include "base/status.h"
#include "failing_memory.h"
#include "load/load.h"
#include "load/recording.h"
#include "test.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PID = 4000005,
	RUNTIME = 2,
	MS = 1000000,
	WORD = 8,
	WORDS = 64,
	FRAME_WORDS = 5,
	CODE = 0x5000
};

static const uint64_t stack_avma = 0x7f0000001000;
static const uint64_t magic = 0xb5e1fea70f5a3e91;

struct scene {
	struct recording r;
	struct sink told; /* the member */
	uint64_t words[WORDS];
	uint64_t time_ns;
	bool has_lines;
};

static void tell_runtime(struct scene *s, uint64_t time_ns, uint32_t runtime)
{
	const struct walk_told told = {
		.head = { WALK_MAGIC, WALK_VERSION, WALK_RUNTIME, WALK_SLOT, 0, sizeof(told), PID },
		.time_ns = time_ns,
		.runtime = { .id = runtime,
			     .language = WALK_SLOT,
			     .slot = { .frame_magic = magic,
				       .frame_bytes = FRAME_WORDS * WORD,
				       .frame_previous = 8,
				       .frame_code = 16,
				       .frame_generation = 24,
				       .frame_line = 32,
				       .frame_flags = 36 } },
	};
	sink_put(&s->told, &told, sizeof(told));
}

static void tell_code(struct scene *s, uint32_t runtime, char letter, uint64_t generation)
{
	const char name[2] = { letter };
	recording_walked_record(&s->told,
				&(struct recording_walked){
				    .language = WALK_SLOT,
				    .key = { CODE + (uint64_t)letter, generation, PID, runtime },
				    .name = name,
				    .file = "x.src",
				    .first_line = 10 });
}

static void begin(struct scene *s)
{
	*s = (struct scene){ .time_ns = 10 * MS };
	recording_begin_as(&s->r,
			   &(struct recording_shape){
			       .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
					      PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN |
					      PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER });
	recording_comm(&s->r, PID, 1, "work", false);
	tell_runtime(s, 5, RUNTIME);
	for (char letter = 'a'; letter <= 'd'; letter++)
		tell_code(s, RUNTIME, letter, 7);
}

/* At a word of the stack; `previous` is another's, 0: none. */
static void put(struct scene *s, size_t at, size_t previous, char letter)
{
	const uint64_t line = 10 + (uint64_t)(letter - 'a');
	s->words[at] = magic ^ (stack_avma + at * WORD);
	s->words[at + 1] = previous ? stack_avma + previous * WORD : 0;
	s->words[at + 2] = CODE + (uint64_t)letter;
	s->words[at + 3] = 7;
	s->words[at + 4] = line | (uint64_t)1 << 32;
}

static void sample_of(struct scene *s, size_t words)
{
	const struct recording_stack stack = {
		.ip = 0x123, .sp = stack_avma, .words = s->words, .count = words
	};
	recording_put_sample(
	    &s->r,
	    &(struct recording_what){
		.pid = PID, .tid = PID, .time_ns = s->time_ns, .ip_avma = 0x123, .stack = &stack });
	s->time_ns += MS;
	memset(s->words, 0, sizeof(s->words));
}

struct seen {
	struct sink out;
	bool has_lines;
};

static int note(void *context, const struct profile *p, const struct load_sample *what)
{
	struct seen *seen = context;
	const struct profile_stack *stack = &p->stacks.items[what->stack];
	for (uint32_t i = 0; i < stack->depth; i++) {
		const struct profile_frame *frame =
		    &p->frames.items[p->frame_ids.items[stack->first + i]];
		const struct profile_function *function = &p->functions.items[frame->function];
		const char *name = profile_text(p, function->name);
		/* Where the program itself was is nobody's memory. */
		if (frame->avma == 0x123)
			continue;
		sink_printf(&seen->out, "%s ", name);
		if (seen->has_lines)
			sink_printf(&seen->out, "%u ", frame->line);
		if (frame->reason)
			sink_printf(&seen->out, "(%s) ", profile_text(p, frame->reason));
	}
	sink_text(&seen->out, "\n");
	return 0;
}

/* Returns what load_open() or load_samples() does. */
static int read_it(struct scene *s, struct seen *seen)
{
	struct load *load;
	struct load_error error;
	struct profile profile = { 0 };
	const struct load_options options = { .input = s->r.path,
					      .in_order = true,
					      .lines = s->has_lines };
	seen->out.size = 0;
	seen->has_lines = s->has_lines;
	int got = load_open(&load, &options, &error);
	if (got < 0)
		return got;
	got = load_samples(load, &profile, note, seen);
	profile_clear(&profile);
	load_close(load);
	return got;
}

static void seal(struct scene *s, struct bytes told)
{
	recording_finish(&s->r);
	recording_members(&s->r, (struct recording_member[]){ { "frames", told } }, 1);
}

static void end(struct scene *s)
{
	recording_remove(&s->r);
	sink_clear(&s->told);
}

static void check(struct scene *s, const char *expected)
{
	struct seen seen = { 0 };
	seal(s, sink_bytes(&s->told));
	assert_int_equal(read_it(s, &seen), 0);
	sink_u8(&seen.out, 0);
	assert_string_equal((char *)seen.out.data, expected);
	sink_clear(&seen.out);
	end(s);
}

static void frames_are_found_and_followed(void **state)
{
	struct scene s;
	(void)state;
	begin(&s);
	put(&s, 3, 20, 'a');
	put(&s, 20, 40, 'b');
	put(&s, 40, 0, 'c');
	sample_of(&s, WORDS);
	put(&s, 0, 0, 'd');
	sample_of(&s, FRAME_WORDS);
	sample_of(&s, WORDS);
	check(&s, "a b c \nd \n\n");
}

static void lines_are_in_the_frames(void **state)
{
	struct scene s;
	(void)state;
	begin(&s);
	s.has_lines = true;
	put(&s, 3, 20, 'a');
	put(&s, 20, 0, 'c');
	sample_of(&s, WORDS);
	check(&s, "a 10 c 12 \n");
}

static void a_copy_may_be_cut(void **state)
{
	struct scene s;
	(void)state;
	begin(&s);
	put(&s, 3, 20, 'a');
	put(&s, 20, 80, 'b');
	sample_of(&s, WORDS);
	/* Half of a frame is none. */
	put(&s, 3, 20, 'a');
	put(&s, 20, 0, 'b');
	sample_of(&s, 20 + FRAME_WORDS - 1);
	check(&s, "a b (its callers are not known: a frame could not be read) \n"
		  "a (its callers are not known: a call was just being made) \n");
}

static void what_is_no_frame_is_none(void **state)
{
	struct scene s;
	(void)state;
	begin(&s);
	/* A copy of a frame, another's mark, a caller below, a caller that is none. */
	put(&s, 3, 0, 'a');
	memmove(&s.words[10], &s.words[3], FRAME_WORDS * sizeof(s.words[0]));
	s.words[3] = 0;
	sample_of(&s, WORDS);
	put(&s, 3, 0, 'a');
	s.words[3] ^= 1;
	sample_of(&s, WORDS);
	put(&s, 30, 10, 'a');
	sample_of(&s, WORDS);
	put(&s, 3, 21, 'a');
	put(&s, 20, 0, 'b');
	sample_of(&s, WORDS);
	check(&s, "\n\n"
		  "a (its callers are not known: a frame could not be read) \n"
		  "a (its callers are not known: a call was just being made) \n");
}

/* Code that was gone when the sample was read, or other code at its address. */
static void another_generation_has_no_name(void **state)
{
	struct scene s;
	(void)state;
	begin(&s);
	put(&s, 3, 20, 'a');
	put(&s, 20, 0, 'b');
	s.words[3 + 3] = 8;
	sample_of(&s, WORDS);
	check(&s, "[unknown] (its code was never told of) b \n");
}

static void what_is_told_is_of_one_program(void **state)
{
	struct scene s;
	(void)state;
	begin(&s);
	put(&s, 3, 0, 'a');
	sample_of(&s, WORDS);
	recording_comm(&s.r, PID, s.time_ns, "other", true);
	s.time_ns += MS;
	put(&s, 3, 0, 'a');
	sample_of(&s, WORDS);
	/* From here on it is known again. */
	tell_runtime(&s, s.time_ns - MS / 2, RUNTIME + 1);
	tell_code(&s, RUNTIME + 1, 'b', 7);
	put(&s, 3, 20, 'a');
	put(&s, 20, 0, 'b');
	sample_of(&s, WORDS);
	check(&s, "a \n"
		  "[unknown] (its code was never told of) \n"
		  "[unknown] (its code was never told of) b \n");
}

/* Each byte of the member changed, and each beginning of it: no crash, and no name but those told.
 */
static void any_member_does_no_harm(void **state)
{
	struct scene s;
	struct seen seen = { 0 };
	(void)state;
	for (size_t i = 0;; i += i < 400 ? 1 : 7) {
		begin(&s);
		put(&s, 3, 20, 'a');
		put(&s, 20, 0, 'b');
		sample_of(&s, WORDS);
		const size_t size = s.told.size;
		if (i >= 2 * size) {
			recording_finish(&s.r);
			end(&s);
			break;
		}
		if (i < size)
			s.told.data[i] ^= 0xff;
		seal(&s, (struct bytes){ s.told.data, i < size ? size : i - size });
		assert_int_equal(read_it(&s, &seen), 0);
		end(&s);
	}
	sink_clear(&seen.out);
}

static void without_memory_it_ends(void **state)
{
	struct scene s;
	struct seen seen = { 0 };
	size_t failures = 0;
	(void)state;
	begin(&s);
	put(&s, 3, 20, 'a');
	put(&s, 20, 0, 'b');
	sample_of(&s, WORDS);
	seal(&s, sink_bytes(&s.told));
	for (size_t n = 1;; n++) {
		memory_fail_at(n);
		const int got = read_it(&s, &seen);
		const bool has_failed = memory_has_failed();
		memory_fail_at(0);
		if (!has_failed)
			break;
		assert_true(got == STATUS_NO_MEMORY || got == 0);
		failures++;
	}
	assert_true(failures > 20);
	sink_clear(&seen.out);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_found_and_followed),
		cmocka_unit_test(lines_are_in_the_frames),
		cmocka_unit_test(a_copy_may_be_cut),
		cmocka_unit_test(what_is_no_frame_is_none),
		cmocka_unit_test(another_generation_has_no_name),
		cmocka_unit_test(what_is_told_is_of_one_program),
		cmocka_unit_test(any_member_does_no_harm),
		cmocka_unit_test(without_memory_it_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
