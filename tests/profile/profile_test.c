#include "profile/profile.h"
#include "profile/weight.h"

#include "test.h"

#include <stdlib.h>

static void equal_stacks_have_one_id(void **state)
{
	(void)state;
	struct profile p = { 0 };
	const uint32_t a = profile_add_stack(&p, (uint32_t[]){ 1, 2, 3 }, 3);
	const uint32_t b = profile_add_stack(&p, (uint32_t[]){ 1, 2 }, 2);
	assert_int_not_equal(a, b);
	assert_int_equal(profile_add_stack(&p, (uint32_t[]){ 1, 2, 3 }, 3), a);
	assert_int_equal(profile_add_stack(&p, NULL, 0), profile_add_stack(&p, NULL, 0));
	assert_int_equal(p.stacks.count, 3);
	profile_clear(&p);
}

static void stacks_of_the_same_frames_may_end_differently(void **state)
{
	(void)state;
	struct profile p = { 0 };
	const uint32_t frames[] = { 1, 2 };
	const uint32_t plain = profile_add_stack(&p, frames, 2);
	const uint32_t whole = profile_add_ended_stack(&p, frames, 2, PROFILE_END_WHOLE);
	const uint32_t cut = profile_add_ended_stack(&p, frames, 2, PROFILE_END_TRUNCATED);
	assert_int_equal(p.stacks.count, 3);
	assert_int_equal(p.stacks.items[plain].end, PROFILE_END_NOT_DUMPED);
	assert_int_equal(p.stacks.items[whole].end, PROFILE_END_WHOLE);
	/* Still so after the table grew. */
	for (uint32_t i = 0; i < 3000; i++)
		assert_int_not_equal(profile_add_stack(&p, (uint32_t[]){ i, i, i }, 3),
				     INTERN_NONE);
	assert_int_equal(profile_add_ended_stack(&p, frames, 2, PROFILE_END_TRUNCATED), cut);
	assert_int_equal(profile_add_stack(&p, frames, 2), plain);
	assert_string_equal(profile_end_key(PROFILE_END_TRUNCATED), "truncated");
	assert_string_equal(profile_end_text(PROFILE_END_COUNT), "");
	profile_clear(&p);
}

/* Random samples against a plain array of counters. */
static void rows_count_like_a_plain_array(void **state)
{
	(void)state;
	enum { THREADS = 5, STACKS = 700, EVENTS = 2, SAMPLES = 50000 };
	static uint64_t expected[THREADS][STACKS][EVENTS];
	struct profile p = { 0 };
	srand(1);
	for (int i = 0; i < SAMPLES; i++) {
		const uint32_t thread = (uint32_t)rand() % THREADS;
		const uint32_t number = (uint32_t)rand() % STACKS;
		const uint32_t event = (uint32_t)rand() % EVENTS;
		const uint32_t stack =
		    profile_add_stack(&p, (uint32_t[]){ number, number / 7, 9 }, 3);
		assert_true(stack <= STACKS);
		const struct profile_row row = {
			.thread = thread, .event = event, .stack = stack, .count = 1, .weight = 3
		};
		assert_int_not_equal(profile_add(&p, &row), INTERN_NONE);
		expected[thread][number][event]++;
	}
	uint64_t sum = 0;
	for (size_t i = 0; i < p.rows.count; i++) {
		const struct profile_row *row = &p.rows.items[i];
		const uint32_t number = p.frame_ids.items[p.stacks.items[row->stack].first];
		assert_int_equal(row->count, expected[row->thread][number][row->event]);
		assert_int_equal(row->weight, 3 * row->count);
		sum += row->count;
	}
	assert_int_equal(sum, SAMPLES);
	profile_clear(&p);
}

/* Periods are what the recording claims: their sum must not be less than one of them. */
static void weights_stop_at_the_largest(void **state)
{
	(void)state;
	static const uint64_t periods[] = { UINT64_C(1) << 63, UINT64_C(1) << 63, UINT64_MAX, 1,
					    0 };
	struct profile p = { 0 };
	struct profile_row row = { .stack = profile_add_stack(&p, NULL, 0), .count = 1 };
	for (size_t i = 0; i < sizeof(periods) / sizeof(*periods); i++) {
		row.weight = periods[i];
		assert_int_equal(profile_add(&p, &row), 0);
		assert_true(p.rows.items[0].weight == WEIGHT_MAX);
	}
	assert_int_equal(p.rows.items[0].count, 5);
	profile_clear(&p);
	assert_true(weight_sum(WEIGHT_MAX - 1, 1) == WEIGHT_MAX);
	assert_true(weight_sum(2, 3) == 5);
}

static void threads_differ_by_name_too(void **state)
{
	(void)state;
	struct profile p = { 0 };
	const uint32_t a = profile_add_thread(&p, 1, 2, 3);
	assert_int_equal(profile_add_thread(&p, 1, 2, 3), a);
	assert_int_not_equal(profile_add_thread(&p, 1, 2, 4), a);
	profile_clear(&p);
}

static void events_are_found(void **state)
{
	(void)state;
	struct profile p = { 0 };
	static const char *const names[] = { "dummy", "cycles", "cpu-clock" };
	assert_int_equal(profile_first_event(&p), INTERN_NONE);
	for (size_t i = 0; i < 3; i++) {
		uint32_t *event = vector_push(&p.events);
		assert_non_null(event);
		*event = intern_text(&p.strings, names[i]);
	}
	(void)profile_add(&p, &(struct profile_row){ .event = 2, .count = 1 });
	assert_int_equal(profile_first_event(&p), 2);
	(void)profile_add(&p, &(struct profile_row){ .event = 1, .count = 1 });
	assert_int_equal(profile_first_event(&p), 1);
	assert_int_equal(profile_find_event(&p, "cpu-clock"), 2);
	assert_int_equal(profile_find_event(&p, "cpu"), INTERN_NONE);
	profile_clear(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_stacks_have_one_id),
		cmocka_unit_test(stacks_of_the_same_frames_may_end_differently),
		cmocka_unit_test(rows_count_like_a_plain_array),
		cmocka_unit_test(weights_stop_at_the_largest),
		cmocka_unit_test(threads_differ_by_name_too),
		cmocka_unit_test(events_are_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
