/* Functions of interpreters in injected recordings: what perf is led to, and what we read in them.
 */
#include "base/status.h"
#include "failing_memory.h"
#include "format/perfdata/rewrite.h"
#include "inject/inject_run.h"
#include "inject/interpreted_scene.h"
#include "os/file.h"
#include "test.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DUMPED = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER };

static const struct load_options READ = { .in_order = true, .lines = true, .keep_code = true };

static int note(void *context, const struct profile *p, const struct load_sample *sample)
{
	struct sink *out = context;
	const struct profile_stack *stack = &p->stacks.items[sample->stack];
	for (uint32_t i = 0; i < stack->depth; i++) {
		const struct profile_frame *frame =
		    &p->frames.items[p->frame_ids.items[stack->first + i]];
		sink_printf(out, "%s%s", i ? " " : "",
			    profile_text(p, p->functions.items[frame->function].name));
		if (frame->line)
			sink_printf(out, "@%s:%u", profile_text(p, frame->file), frame->line);
	}
	sink_text(out, "\n");
	return 0;
}

/* Samples, a line each, as our reports have them. */
static void read_samples(const char *path, struct sink *out)
{
	struct load *load;
	struct load_error error;
	struct profile profile = { 0 };
	struct load_options options = READ;
	options.input = path;
	assert_int_equal(load_open(&load, &options, &error), 0);
	assert_int_equal(load_samples(load, &profile, note, out), 0);
	profile_clear(&profile);
	load_close(load);
	sink_u8(out, 0);
}

static struct inject_result inject(const struct recording *r)
{
	struct load *load;
	struct load_error error;
	struct inject_result result;
	struct agreement agreement;
	const char *path = inject_output_path(r);
	const struct load_options how = { .input = r->path,
					  .keep_code = true,
					  .walked_lines = true };
	const struct inject_options options = { .output = path, .producer = "test" };
	assert_int_equal(load_open(&load, &how, &error), 0);
	assert_int_equal(inject_run(load, &options, &result), 0);
	agree(load, path, &agreement);
	assert_string_equal(agreement.complaint, "");
	assert_int_equal(agreement.samples, result.counts.samples);
	load_close(load);
	return result;
}

/* Injected, the samples read as expected, and so did the recording. */
static struct inject_result check(struct interpreted_scene *s, const char *expected)
{
	struct sink before = { 0 };
	struct sink after = { 0 };
	recording_finish(&s->r);
	read_samples(s->r.path, &before);
	assert_string_equal((char *)before.data, expected);
	const struct inject_result result = inject(&s->r);
	read_samples(inject_output_path(&s->r), &after);
	assert_string_equal((char *)after.data, expected);
	sink_clear(&before);
	sink_clear(&after);
	return result;
}

static void sample(struct interpreted_scene *s, const char *native, const char *frames)
{
	scene_sample(s, &(struct interpreted_sample){ .native = native, .frames = frames });
}

static void frames_take_the_place_of_evaluators(void **state)
{
	struct interpreted_scene s;
	(void)state;
	scene_begin(&s, PERF_SAMPLE_CALLCHAIN);
	sample(&s, "Em", "a12 b3.");
	sample(&s, "hEm", "a12 b3.");
	sample(&s, "hEhEm", "a12. b4 c0.");
	sample(&s, "hm", NULL);
	const struct inject_result result =
	    check(&s, "a@/src/a.py:12 b@/src/b.py:3 main\n"
		      "helper a@/src/a.py:12 b@/src/b.py:3 main\n"
		      "helper a@/src/a.py:12 helper b@/src/b.py:4 c main\n"
		      "helper main\n");
	assert_int_equal(result.counts.samples, 4);
	assert_int_equal(result.counts.interpreted, 3);
	assert_int_equal(result.counts.walk_records, 3 + 4);
	assert_int_equal(result.interpreted_count, 3);
	assert_int_equal(result.image_count, 1);
	recording_remove(&s.r);
}

static void the_kernel_stays_in_front(void **state)
{
	struct interpreted_scene s;
	struct sink out = { 0 };
	(void)state;
	scene_begin(&s, PERF_SAMPLE_CALLCHAIN);
	scene_sample(&s, &(struct interpreted_sample){ "hEm", "a12.", .is_kernel = true });
	recording_finish(&s.r);
	(void)inject(&s.r);
	read_samples(inject_output_path(&s.r), &out);
	const char *text = (char *)out.data;
	/* What the kernel's own functions are called depends on where this runs. */
	const char *user = strstr(text, " helper a@/src/a.py:12 main\n");
	assert_non_null(user);
	assert_non_null(memchr(text, ' ', (size_t)(user - text)));
	sink_clear(&out);
	recording_remove(&s.r);
}

static void without_callers_the_place_alone_moves(void **state)
{
	struct interpreted_scene s;
	struct sink out = { 0 };
	(void)state;
	scene_begin(&s, 0);
	sample(&s, "E", "a12 b3.");
	sample(&s, "h", "a12 b3.");
	recording_finish(&s.r);
	const struct inject_result result = inject(&s.r);
	assert_int_equal(result.counts.interpreted, 1);
	read_samples(inject_output_path(&s.r), &out);
	assert_string_equal((char *)out.data, "a@/src/a.py:12\nhelper\n");
	sink_clear(&out);
	recording_remove(&s.r);
}

/* What the first sample has that is no record of the walk. */
struct first {
	struct os_file file;
	struct perfdata *perf;
	struct perfdata_record record;
	struct perfdata_sample sample;
	size_t events;
};

static void open_first(const char *path, struct first *first)
{
	assert_int_equal(os_file_open(&first->file, path, OS_FILE_PLAIN), 0);
	assert_int_equal(perfdata_open(&first->perf, first->file.bytes, NULL), 0);
	first->events = perfdata_event_count(first->perf);
	do {
		assert_int_equal(perfdata_next(first->perf, &first->record), 1);
	} while (first->record.type != PERFDATA_SAMPLE ||
		 perfdata_decode_sample(first->perf, &first->record, &first->sample) < 0 ||
		 first->sample.raw.size);
}

static void close_first(struct first *first)
{
	perfdata_close(first->perf);
	os_file_close(&first->file);
}

static void a_piece_of_stack_gives_way_to_callers(void **state)
{
	struct interpreted_scene s;
	struct first first;
	(void)state;
	scene_begin(&s, PERF_SAMPLE_CALLCHAIN | DUMPED);
	scene_sample(&s, &(struct interpreted_sample){ "E", "a12 b3.", .has_stack = true });
	scene_sample(&s, &(struct interpreted_sample){ "h", NULL, .has_stack = true });
	recording_finish(&s.r);
	const struct inject_result result = inject(&s.r);
	assert_int_equal(result.counts.interpreted, 1);
	open_first(inject_output_path(&s.r), &first);
	assert_int_equal(first.events, 1);
	assert_true(first.sample.present & PERFDATA_SAMPLE_STACK_USER);
	assert_int_equal(first.sample.user_regs_abi, 0);
	assert_int_equal(first.sample.user_stack_wanted_bytes, 0);
	assert_int_equal(first.sample.chain_count, 3);
	uint64_t words[3];
	memcpy(words, first.sample.chain, sizeof(words));
	assert_true(words[0] == PERF_CONTEXT_USER);
	assert_true(words[1] == first.sample.ip_avma);
	/* The other one is as it was. */
	assert_int_equal(perfdata_next(first.perf, &first.record), 1);
	assert_int_equal(perfdata_decode_sample(first.perf, &first.record, &first.sample), 0);
	assert_int_equal(first.sample.user_stack.size, 32);
	close_first(&first);
	recording_remove(&s.r);
}

static void children_see_the_same_functions(void **state)
{
	struct interpreted_scene s;
	(void)state;
	scene_begin(&s, PERF_SAMPLE_CALLCHAIN);
	sample(&s, "Em", "a12.");
	recording_fork(&s.r, SCENE_PID, SCENE_CHILD, s.time_ns - 1);
	s.pid = SCENE_CHILD;
	recording_put_walked(
	    &s.r, s.pid, s.time_ns,
	    &(struct recording_walked){ .language = WALK_PYTHON,
					.key = { 0x5000 + 16 * 'a', 7, SCENE_CHILD, 3 },
					.name = "a",
					.file = "/src/a.py",
					.first_line = 1 });
	sample(&s, "Em", "a12.");
	const struct inject_result result = check(&s, "a@/src/a.py:12 main\na@/src/a.py:12 main\n");
	assert_int_equal(result.interpreted_count, 1);
	assert_int_equal(result.image_count, 1);
	recording_remove(&s.r);
}

/* A process may have anything anywhere: then samples stay as they were. */
static void no_place_leaves_samples_alone(void **state)
{
	struct interpreted_scene s;
	struct sink out = { 0 };
	(void)state;
	scene_begin(&s, PERF_SAMPLE_CALLCHAIN);
	recording_mmap(&s.r, SCENE_PID, 3, 0x100000000000, 0x400000000000, "//anon");
	sample(&s, "Em", "a12.");
	recording_finish(&s.r);
	const struct inject_result result = inject(&s.r);
	assert_int_equal(result.counts.interpreted, 0);
	assert_int_equal(result.image_count, 0);
	read_samples(inject_output_path(&s.r), &out);
	assert_string_equal((char *)out.data, "_PyEval_EvalFrameDefault main\n");
	sink_clear(&out);
	recording_remove(&s.r);
}

static void a_pipe_is_the_same(void **state)
{
	struct interpreted_scene s;
	struct sink out = { 0 };
	(void)state;
	scene_begin(&s, PERF_SAMPLE_CALLCHAIN);
	sample(&s, "Em", "a12 b3.");
	recording_finish_pipe(&s.r);
	(void)inject(&s.r);
	read_samples(inject_output_path(&s.r), &out);
	assert_string_equal((char *)out.data, "a@/src/a.py:12 b@/src/b.py:3 main\n");
	sink_clear(&out);
	recording_remove(&s.r);
}

static void each_allocation_may_fail(void **state)
{
	struct interpreted_scene s;
	bool has_failed = true;
	size_t told = 0;
	size_t passed = 0;
	(void)state;
	scene_begin(&s, PERF_SAMPLE_CALLCHAIN | DUMPED);
	sample(&s, "hEm", "a12 b3.");
	scene_sample(&s, &(struct interpreted_sample){ "E", "c1.", .has_stack = true });
	recording_finish(&s.r);
	for (size_t n = 1; has_failed; n++) {
		struct load *load;
		struct load_error error;
		struct inject_result result;
		const char *path = inject_output_path(&s.r);
		const struct load_options how = { .input = s.r.path,
						  .keep_code = true,
						  .walked_lines = true };
		const struct inject_options options = { .output = path };
		assert_int_equal(load_open(&load, &how, &error), 0);
		memory_fail_at(n);
		const int got = inject_run(load, &options, &result);
		has_failed = memory_has_failed();
		memory_fail_at(0);
		load_close(load);
		/* Without symbols of the program nothing interprets, and nothing is to be done. */
		if (!has_failed || got < 0)
			assert_int_equal(got, has_failed ? STATUS_NO_MEMORY : 0);
		told += got < 0;
		passed += got == 0;
	}
	print_message("%zu failures told, %zu passed over\n", told, passed);
	assert_true(told > 5 * passed);
	recording_remove(&s.r);
}

/* What is asked for to inject so many samples of four stacks. */
static size_t bytes_for(size_t samples)
{
	static const char *const frames[] = { "a1 b2.", "a2 b2.", "b3.", "c4 d5 d6." };
	struct interpreted_scene s;
	struct load *load;
	struct load_error error;
	struct inject_result result;
	scene_begin(&s, PERF_SAMPLE_CALLCHAIN);
	for (size_t i = 0; i < samples; i++) {
		sample(&s, i % 2 ? "hEm" : "Em", frames[i % 4]);
		if (i % 50 == 49)
			recording_round(&s.r);
	}
	recording_finish(&s.r);
	const char *path = inject_output_path(&s.r);
	const struct load_options how = { .input = s.r.path,
					  .keep_code = true,
					  .walked_lines = true };
	assert_int_equal(load_open(&load, &how, &error), 0);
	memory_fail_at(0);
	assert_int_equal(inject_run(load, &(struct inject_options){ .output = path }, &result), 0);
	const size_t bytes = memory_asked_bytes();
	assert_int_equal(result.counts.interpreted, samples);
	load_close(load);
	recording_remove(&s.r);
	return bytes;
}

static void memory_does_not_grow_with_samples(void **state)
{
	(void)state;
	const size_t few = bytes_for(1000);
	const size_t many = bytes_for(10000);
	print_message("%zu bytes for 1,000 samples, %zu for 10,000\n", few, many);
	assert_true(many < few + few / 10);
}

/* Longer than a record can be: the outermost callers go. */
static void a_chain_is_cut_to_a_record(void **state)
{
	struct interpreted_scene s;
	struct first first;
	struct sink body = { 0 };
	enum { COUNT = 10000 };
	uint64_t *chain = calloc(COUNT, sizeof(*chain));
	(void)state;
	assert_non_null(chain);
	for (size_t i = 0; i < COUNT; i++)
		chain[i] = i;
	scene_begin(&s, PERF_SAMPLE_CALLCHAIN | DUMPED);
	scene_sample(&s, &(struct interpreted_sample){ "h", NULL, .has_stack = true });
	recording_finish(&s.r);
	open_first(s.r.path, &first);
	perfdata_rewrite_sample(
	    &body, &first.record, &first.sample,
	    &(struct perfdata_new_stack){ .ip_avma = 7, .chain = chain, .chain_count = COUNT });
	assert_int_equal(body.size, 65520);
	first.record.body = sink_bytes(&body);
	assert_int_equal(perfdata_decode_sample(first.perf, &first.record, &first.sample), 0);
	assert_int_equal(first.sample.ip_avma, 7);
	assert_int_equal(first.sample.user_stack_wanted_bytes, 0);
	uint64_t last;
	memcpy(&last, first.sample.chain + (first.sample.chain_count - 1) * sizeof(last),
	       sizeof(last));
	assert_int_equal(last, first.sample.chain_count - 1);
	close_first(&first);
	sink_clear(&body);
	free(chain);
	recording_remove(&s.r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_take_the_place_of_evaluators),
		cmocka_unit_test(the_kernel_stays_in_front),
		cmocka_unit_test(without_callers_the_place_alone_moves),
		cmocka_unit_test(a_piece_of_stack_gives_way_to_callers),
		cmocka_unit_test(children_see_the_same_functions),
		cmocka_unit_test(no_place_leaves_samples_alone),
		cmocka_unit_test(a_pipe_is_the_same),
		cmocka_unit_test(each_allocation_may_fail),
		cmocka_unit_test(memory_does_not_grow_with_samples),
		cmocka_unit_test(a_chain_is_cut_to_a_record),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
