/* How far reading has come, as it is told. */
#include "load/load.h"

#include "load/recording.h"
#include "test.h"

#include <string.h>

enum { PID = 4000001, SAMPLES = 60000, PARTS_MOST = 8 };

struct told {
	const char *parts[PARTS_MOST];
	size_t part_count;
	bool is_running;
	uint64_t done;
	uint64_t total;
	size_t steps;
};

static void tell(void *context, const char *what, uint64_t done, uint64_t total)
{
	struct told *told = context;
	if (!told->is_running) {
		assert_true(told->part_count < PARTS_MOST);
		told->parts[told->part_count++] = what;
		told->done = 0;
		told->steps = 0;
	}
	assert_string_equal(told->parts[told->part_count - 1], what);
	assert_true(done >= told->done);
	assert_true(done <= total);
	told->done = done;
	told->total = total;
	told->is_running = done < total;
	told->steps++;
}

static void make(struct recording *r, bool has_rounds)
{
	recording_begin(r);
	recording_comm(r, PID, 1000, "app", true);
	for (uint64_t i = 0; i < SAMPLES; i++) {
		/* Every second one is late. */
		recording_sample(r, PID, PID, 5000 + 10 * (i ^ 1), (uint64_t[]){ 0x1000 }, 1);
		if (has_rounds && i % 1000 == 999)
			recording_round(r);
	}
	recording_finish(r);
}

static int ignore(void *context, const struct profile *profile, const struct load_sample *sample)
{
	(void)profile;
	(void)sample;
	*(size_t *)context += 1;
	return 0;
}

static void check(bool has_rounds, bool in_order)
{
	struct recording r;
	struct told told = { 0 };
	struct progress progress = { .tell = tell, .context = &told };
	struct load_options options = { .in_order = in_order, .progress = &progress };
	struct load *load;
	struct load_error error;
	struct profile profile = { 0 };
	make(&r, has_rounds);
	options.input = r.path;
	assert_int_equal(load_open(&load, &options, &error), 0);
	assert_int_equal(told.part_count, 1);
	assert_false(told.is_running);
	assert_true(told.steps > 4);
	size_t seen = 0;
	if (in_order) {
		assert_int_equal(load_samples(load, &profile, ignore, &seen), 0);
		assert_int_equal(seen, SAMPLES);
	} else {
		assert_int_equal(load_profile(load, &profile), 0);
	}
	assert_int_equal(told.part_count, 2);
	assert_string_equal(told.parts[1], "samples");
	assert_false(told.is_running);
	assert_int_equal(told.done, told.total);
	assert_true(told.steps > 4);
	profile_clear(&profile);
	load_close(load);
	recording_remove(&r);
}

static void test_samples_summed_up(void **state)
{
	(void)state;
	check(false, false);
}

static void test_samples_in_order(void **state)
{
	(void)state;
	check(true, true);
	check(false, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples_summed_up),
		cmocka_unit_test(test_samples_in_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
