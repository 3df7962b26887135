/* Which sample a stack of an interpreter belongs to, and what damaged ones do. */
#include "base/status.h"
#include "failing_memory.h"
#include "load/merge_scene.h"
#include "test.h"

#include <stddef.h>
#include <string.h>

/* Without a time the next sample with the stack's place is meant. */
static void stacks_without_a_time(void **state)
{
	struct scene s;
	(void)state;
	scene_begin(&s, WALK_PYTHON);
	s.has_no_time = true;
	scene_sample(&s, "Ems", "a.");
	scene_stack(&s, "b.", 'h');
	scene_native(&s, "Ems");
	s.time_ns += MS;
	scene_native(&s, "hEms");
	scene_check(&s, "a m s\nE m s\nh b m s\n");
}

static void each_stack_is_of_one_sample(void **state)
{
	struct scene s;
	(void)state;
	scene_begin(&s, WALK_PYTHON);
	/* Its sample was lost, and the next one has none. */
	scene_stack(&s, "a.", 'E');
	s.time_ns += MS;
	scene_native(&s, "Ems");
	s.time_ns += MS;
	scene_sample(&s, "Ems", "b.");
	s.time_ns -= MS;
	scene_native(&s, "Ems");
	scene_check(&s, "E m s\nb m s\nE m s\n");
}

/* Another CPU's ring comes between a stack and its sample, and tells of the code. */
static void rings_come_one_after_the_other(void **state)
{
	struct scene s;
	(void)state;
	scene_begin_bare(&s, WALK_PYTHON);
	scene_stack(&s, "a.", 'E');
	s.time_ns += MS;
	scene_stack(&s, "b.", 'E');
	scene_native(&s, "Ems");
	recording_round(&s.r);
	s.time_ns -= MS;
	scene_native(&s, "Ems");
	for (char letter = 'a'; letter <= 'b'; letter++)
		scene_define(
		    &s, &(struct recording_walked){ .name = (char[]){ letter, 0 }, .file = "x" },
		    letter);
	recording_round(&s.r);
	scene_check(&s, "a m s\nb m s\n");
}

/* More stacks than can wait: a sample without them is as if nobody had walked. */
static void stacks_that_nobody_claims_make_room(void **state)
{
	struct scene s;
	struct scene_seen seen = { 0 };
	struct load *load;
	struct load_error error;
	struct profile profile = { 0 };
	(void)state;
	scene_begin(&s, WALK_PYTHON);
	for (int i = 0; i < 5000; i++) {
		scene_stack(&s, "a.", 'E');
		s.time_ns += MS;
	}
	scene_stack(&s, "b.", 'E');
	scene_native(&s, "Ems");
	s.time_ns -= (uint64_t)MS * 5000;
	scene_native(&s, "Ems");
	recording_finish(&s.r);
	assert_int_equal(load_open(&load, &(struct load_options){ .input = s.r.path }, &error), 0);
	assert_int_equal(load_profile(load, &profile), 0);
	scene_note_rows(&seen, &profile);
	sink_u8(&seen.out, 0);
	const char *text = (const char *)seen.out.data;
	assert_true(strcmp(text, "b m s\nE m s\n") == 0 || strcmp(text, "E m s\nb m s\n") == 0);
	sink_clear(&seen.out);
	profile_clear(&profile);
	load_close(load);
	scene_end(&s);
}

static void pipe_mode_has_no_names_of_events(void **state)
{
	struct scene s;
	struct scene_seen seen = { 0 };
	(void)state;
	scene_begin(&s, WALK_PYTHON);
	scene_sample(&s, "Ems", "a.");
	recording_finish_pipe(&s.r);
	scene_read(&s, (struct load_options){ .in_order = true }, &seen);
	assert_string_equal((char *)seen.out.data, "a m s\n");
	sink_clear(&seen.out);
	scene_end(&s);
}

static void compressed_records_do_not_stay(void **state)
{
	struct scene s;
	struct scene_seen seen = { 0 };
	(void)state;
	scene_begin(&s, WALK_PYTHON);
	scene_sample(&s, "EqEms", "ab.c.");
	scene_sample(&s, "Ems", "a.");
	recording_finish_compressed(&s.r);
	scene_read(&s, (struct load_options){ .in_order = true }, &seen);
	assert_string_equal((char *)seen.out.data, "a b q c m s\na m s\n");
	sink_clear(&seen.out);
	scene_end(&s);
}

/* Nothing of it may do harm, whatever a byte of the records is. */
static void every_changed_byte(void **state)
{
	struct scene s;
	struct scene_seen seen = { 0 };
	(void)state;
	scene_begin(&s, WALK_PYTHON);
	const size_t from = s.r.out.size;
	scene_sample(&s, "EqEms", "ab.c.");
	const size_t to = s.r.out.size;
	const struct bytes whole = recording_seal(&s.r);
	for (size_t at = from; at < to; at++) {
		struct load *load;
		struct load_error error;
		struct profile profile = { 0 };
		s.r.out.data[at] ^= 0x81;
		recording_file(&s.r, "perf.data", whole);
		s.r.out.data[at] ^= 0x81;
		const struct load_options options = { .input = s.r.path,
						      .in_order = true,
						      .lines = true };
		assert_int_equal(load_open(&load, &options, &error), 0);
		seen.out.size = 0;
		assert_int_equal(load_samples(load, &profile, scene_note, &seen), 0);
		profile_clear(&profile);
		load_close(load);
	}
	sink_clear(&seen.out);
	sink_clear(&s.r.out);
	scene_end(&s);
}

/* Changes a byte of the heads of the stacks. */
static void check_warning(size_t at, uint8_t value, const char *warning)
{
	struct scene s;
	struct load *load;
	struct load_error error;
	const uint32_t magic = WALK_MAGIC;
	scene_begin(&s, WALK_PYTHON);
	size_t from = s.r.out.size;
	scene_sample(&s, "Ems", "a.");
	scene_sample(&s, "Ems", "b.");
	const size_t to = s.r.out.size;
	const struct bytes whole = recording_seal(&s.r);
	for (; from < to - sizeof(magic); from++)
		if (memcmp(s.r.out.data + from, &magic, sizeof(magic)) == 0)
			s.r.out.data[from + at] = value;
	recording_file(&s.r, "perf.data", whole);
	const struct load_options options = { .input = s.r.path };
	assert_int_equal(load_open(&load, &options, &error), 0);
	for (int i = 0; i < 2; i++) {
		struct profile profile = { 0 };
		assert_int_equal(load_profile(load, &profile), 0);
		profile_clear(&profile);
	}
	assert_int_equal(load_note_count(load), 1);
	assert_true(load_note(load, 0)->is_warning);
	assert_string_equal(load_note(load, 0)->text, warning);
	load_close(load);
	sink_clear(&s.r.out);
	scene_end(&s);
}

static void what_cannot_be_read_is_told_of(void **state)
{
	(void)state;
	check_warning(offsetof(struct walk_head, version), WALK_VERSION + 1,
		      "another version of polyperf wrote frames of interpreters: this one cannot "
		      "read them");
	check_warning(offsetof(struct walk_head, kind), 200,
		      "frames of interpreters are damaged: some functions and names are missing");
}

/* A number of code means another thing in another language. */
static void code_of_another_language_names_nothing(void **state)
{
	struct scene s;
	(void)state;
	scene_begin_bare(&s, WALK_PYTHON);
	s.language = WALK_PERL;
	scene_define(&s, &(struct recording_walked){ .name = "a", .file = "/src/a.pl" }, 'a');
	s.language = WALK_PYTHON;
	scene_sample(&s, "Ems", "a.");
	scene_check(&s, "[unknown] (its code was never told of) m s\n");
}

static int count(void *context, const struct profile *p, const struct load_sample *sample)
{
	(void)p;
	(void)sample;
	++*(size_t *)context;
	return 0;
}

static void without_memory_the_walk_ends(void **state)
{
	struct scene s;
	struct load *load;
	struct load_error error;
	struct profile profile = { 0 };
	size_t samples = 0;
	size_t failures = 0;
	(void)state;
	scene_begin(&s, WALK_PHP);
	recording_mmap(&s.r, PID, 3, JIT, 0x1000, "//anon");
	dump_load(&s.dump, PID, 4, JIT, 0x100, "a");
	scene_sample(&s, "hJqXms", "az.c.");
	s.end = WALK_END_TORN;
	scene_sample(&s, "XqXms", "b.");
	recording_finish(&s.r);
	recording_file(&s.r, "jit-4000001.dump", sink_bytes(&s.dump));
	const struct load_options options = { .input = s.r.path, .in_order = true, .lines = true };
	assert_int_equal(load_open(&load, &options, &error), 0);
	/* Symbols are read once. */
	assert_int_equal(load_samples(load, &profile, count, &samples), 0);
	profile_clear(&profile);
	for (size_t n = 1;; n++) {
		samples = 0;
		memory_fail_at(n);
		const int got = load_samples(load, &profile, count, &samples);
		const bool has_failed = memory_has_failed();
		memory_fail_at(0);
		profile_clear(&profile);
		assert_int_equal(got, has_failed ? STATUS_NO_MEMORY : 0);
		if (!has_failed)
			break;
		failures++;
	}
	assert_int_equal(samples, 2);
	assert_true(failures > 20);
	load_close(load);
	scene_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_without_a_time),
		cmocka_unit_test(each_stack_is_of_one_sample),
		cmocka_unit_test(rings_come_one_after_the_other),
		cmocka_unit_test(stacks_that_nobody_claims_make_room),
		cmocka_unit_test(pipe_mode_has_no_names_of_events),
		cmocka_unit_test(compressed_records_do_not_stay),
		cmocka_unit_test(every_changed_byte),
		cmocka_unit_test(what_cannot_be_read_is_told_of),
		cmocka_unit_test(code_of_another_language_names_nothing),
		cmocka_unit_test(without_memory_the_walk_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
