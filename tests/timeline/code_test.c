#include "build.h"

/* Timed code: when a load is the answer, and how far that can be trusted. */

static void a_load_is_exact_from_its_time_on(void **state)
{
	(void)state;
	/*  20 |      aaaaaaaa
	 *  10 |      aaaaaaaa
	 *     +------|-------
	 *           100
	 */
	struct timeline *tl = new_timeline();
	load(tl, 'a', 100, 10, 10);
	seal(tl);
	expect(tl, 100, 10, TRUST_EXACT, 'a');
	expect(tl, UINT64_MAX - 1, 19, TRUST_EXACT, 'a');
	expect(tl, 100, 9, TRUST_UNKNOWN, 0);
	expect(tl, 100, 20, TRUST_UNKNOWN, 0);
	const struct timeline_hit hit = find_in(tl, PID, 500, 15);
	assert_int_equal(hit.layer, LAYER_CODE);
	assert_int_equal(hit.start_avma, 10);
	assert_int_equal(hit.size, 10);
	assert_int_equal(hit.other_count, 0);
	assert_int_equal(hit.valid_from_ns, 100);
	assert_int_equal(hit.valid_to_ns, UINT64_MAX);
	timeline_free(tl);
}

static void a_load_ends_all_that_it_overlaps(void **state)
{
	(void)state;
	/*  40 | bbbb  stale b
	 *  30 | bbbb|cccc
	 *  20 | aaaa|cccc
	 *  10 | aaaa  stale a
	 *     +-|---|----
	 *      100 200
	 */
	struct timeline *tl = new_timeline();
	load(tl, 'a', 100, 10, 20);
	load(tl, 'b', 100, 30, 20);
	load(tl, 'c', 200, 20, 20);
	seal(tl);
	expect(tl, 199, 10, TRUST_EXACT, 'a');
	expect(tl, 199, 29, TRUST_EXACT, 'a');
	expect(tl, 199, 30, TRUST_EXACT, 'b');
	expect(tl, 200, 10, TRUST_STALE, 'a');
	expect(tl, 200, 20, TRUST_EXACT, 'c');
	expect(tl, 200, 39, TRUST_EXACT, 'c');
	expect(tl, 200, 40, TRUST_STALE, 'b');
	assert_int_equal(find_in(tl, PID, 150, 10).valid_to_ns, 200);
	timeline_free(tl);
}

static void the_same_range_again_is_a_new_version(void **state)
{
	(void)state;
	struct timeline *tl = new_timeline();
	load(tl, 'b', 200, 10, 10);
	load(tl, 'a', 100, 10, 10);
	load(tl, 'c', 200, 10, 10);
	seal(tl);
	expect(tl, 199, 10, TRUST_EXACT, 'a');
	/* Equal times: in the order in which they were added. */
	expect(tl, 200, 10, TRUST_EXACT, 'c');
	timeline_free(tl);
}

static void a_sample_shortly_before_a_load_is_early(void **state)
{
	(void)state;
	/*  10 | stale a | early b | bbb
	 *     +---|-----|---------|----
	 *        100   190       200
	 */
	struct timeline *tl = new_timeline();
	load(tl, 'a', 50, 10, 10);
	assert_int_equal(timeline_unload(tl, PID, 100, 10), 0);
	load(tl, 'b', 200, 10, 10);
	seal(tl);
	expect(tl, 99, 10, TRUST_EXACT, 'a');
	expect(tl, 100, 10, TRUST_STALE, 'a');
	expect(tl, 189, 10, TRUST_STALE, 'a');
	expect(tl, 190, 10, TRUST_EARLY, 'b');
	expect(tl, 199, 10, TRUST_EARLY, 'b');
	assert_int_equal(find_in(tl, PID, 192, 10).early_ns, 8);
	expect(tl, 200, 10, TRUST_EXACT, 'b');
	timeline_free(tl);
}

static void who_still_lives_is_exact_however_soon_a_load_follows(void **state)
{
	(void)state;
	struct timeline *tl = new_timeline();
	load(tl, 'a', 100, 10, 10);
	load(tl, 'b', 200, 15, 10);
	seal(tl);
	expect(tl, 199, 15, TRUST_EXACT, 'a');
	/* And so through all of its life: callers cache by the interval. */
	assert_int_equal(find_in(tl, PID, 199, 15).valid_from_ns, 100);
	assert_int_equal(find_in(tl, PID, 101, 15).valid_to_ns, 200);
	/* Nobody had the rest of b's range before. */
	expect(tl, 199, 20, TRUST_EARLY, 'b');
	timeline_free(tl);
}

static void the_rest_of_what_was_overwritten_yields_to_an_early_load(void **state)
{
	(void)state;
	/*  20 | aaaa|bbbbbbbbbbbb
	 *  10 | aaaa|stale|early c|ccc
	 *     +-|---|-----|-------|---
	 *      100 200   290     300
	 */
	struct timeline *tl = new_timeline();
	load(tl, 'a', 100, 10, 20);
	load(tl, 'b', 200, 20, 10);
	load(tl, 'c', 300, 10, 10);
	seal(tl);
	expect(tl, 289, 10, TRUST_STALE, 'a');
	expect(tl, 290, 10, TRUST_EARLY, 'c');
	expect(tl, 290, 20, TRUST_EXACT, 'b');
	timeline_free(tl);
}

static void a_range_that_nobody_had_is_early_at_any_distance(void **state)
{
	(void)state;
	struct timeline *tl = new_timeline();
	load(tl, 'a', 1000000, 10, 10);
	seal(tl);
	expect(tl, 0, 10, TRUST_EARLY, 'a');
	const struct timeline_hit hit = find_in(tl, PID, 5, 10);
	assert_int_equal(hit.trust, TRUST_EARLY);
	assert_int_equal(hit.early_ns, 999995);
	timeline_free(tl);
}

static void a_move_ends_the_old_place_and_begins_the_new(void **state)
{
	(void)state;
	/*  50 |        bbbb
	 *  10 | aaaa | stale a
	 *     +-|----|----
	 *      100  200
	 */
	struct timeline *tl = new_timeline();
	load(tl, 'a', 100, 10, 10);
	const struct timeline_load to = { .start_avma = 50, .size = 10, .object = 'b' };
	assert_int_equal(timeline_move(tl, PID, 200, 10, &to), 0);
	seal(tl);
	expect(tl, 199, 10, TRUST_EXACT, 'a');
	expect(tl, 200, 10, TRUST_STALE, 'a');
	expect(tl, 200, 50, TRUST_EXACT, 'b');
	timeline_free(tl);
}

static void an_unload_is_of_what_starts_there(void **state)
{
	(void)state;
	struct timeline *tl = new_timeline();
	load(tl, 'a', 100, 10, 10);
	assert_int_equal(timeline_unload(tl, PID, 200, 11), 0);
	assert_int_equal(timeline_unload(tl, PID, 200, 9), 0);
	assert_int_equal(timeline_unload(tl, PID, 50, 10), 0);
	assert_int_equal(timeline_unload(tl, PID, 300, 10), 0);
	assert_int_equal(timeline_unload(tl, PID, 400, 10), 0);
	seal(tl);
	expect(tl, 299, 10, TRUST_EXACT, 'a');
	expect(tl, 300, 10, TRUST_STALE, 'a');
	assert_int_equal(find_in(tl, PID, 300, 10).valid_from_ns, 300);
	timeline_free(tl);
}

static void code_without_a_size_reaches_to_the_next(void **state)
{
	(void)state;
	struct timeline *tl = new_timeline();
	load(tl, 'a', 100, 10000, 0);
	load(tl, 'b', 100, 10064, 0);
	seal(tl);
	expect(tl, 100, 10063, TRUST_EXACT, 'a');
	expect(tl, 100, 10064, TRUST_EXACT, 'b');
	expect(tl, 100, 10064 + 4095, TRUST_EXACT, 'b');
	expect(tl, 100, 10064 + 4096, TRUST_UNKNOWN, 0);
	assert_int_equal(find_in(tl, PID, 100, 10000).size, 64);
	timeline_free(tl);
}

static void ranges_end_where_addresses_end(void **state)
{
	(void)state;
	struct timeline *tl = new_timeline();
	load(tl, 'a', 100, UINT64_MAX - 10, UINT64_MAX);
	load(tl, 'b', 100, UINT64_MAX, 0);
	load(tl, 'c', 100, 0, 1);
	seal(tl);
	expect(tl, 100, UINT64_MAX - 1, TRUST_EXACT, 'a');
	expect(tl, 100, UINT64_MAX, TRUST_UNKNOWN, 0);
	expect(tl, 100, 0, TRUST_EXACT, 'c');
	timeline_free(tl);
}

static void a_change_known_only_within_an_interval_is_ambiguous(void **state)
{
	(void)state;
	/*  10 | aaaa| a, or b | b, or a |bbbb
	 *     +-|---|---------|---------|---
	 *      100 200       250       300
	 */
	struct timeline *tl = new_timeline();
	load(tl, 'a', 100, 10, 10);
	load_between(tl, 'b', (const uint64_t[]){ 200, 250, 300 }, 10, 10);
	seal(tl);
	expect(tl, 199, 10, TRUST_EXACT, 'a');
	expect(tl, 200, 10, TRUST_AMBIGUOUS, 'a');
	expect_others(tl, 200, 10, "b");
	expect(tl, 249, 10, TRUST_AMBIGUOUS, 'a');
	expect(tl, 250, 10, TRUST_AMBIGUOUS, 'b');
	expect_others(tl, 299, 10, "a");
	expect(tl, 300, 10, TRUST_EXACT, 'b');
	expect_others(tl, 300, 10, "");
	timeline_free(tl);
}

static void an_interval_with_one_possible_owner_is_not_ambiguous(void **state)
{
	(void)state;
	/* Further than the skew, but within its own interval: early; then exact. */
	struct timeline *tl = new_timeline();
	load(tl, 'a', 50, 10, 10);
	assert_int_equal(timeline_unload(tl, PID, 60, 10), 0);
	load_between(tl, 'b', (const uint64_t[]){ 200, 250, 300 }, 10, 10);
	seal(tl);
	expect(tl, 199, 10, TRUST_STALE, 'a');
	expect(tl, 200, 10, TRUST_EARLY, 'b');
	expect(tl, 250, 10, TRUST_EXACT, 'b');
	timeline_free(tl);
}

static void versions_that_one_poll_saw_are_all_ambiguous(void **state)
{
	(void)state;
	struct timeline *tl = new_timeline();
	load(tl, 'a', 100, 10, 10);
	load_between(tl, 'b', (const uint64_t[]){ 200, 230, 300 }, 10, 10);
	load_between(tl, 'c', (const uint64_t[]){ 200, 260, 300 }, 10, 10);
	seal(tl);
	expect(tl, 210, 10, TRUST_AMBIGUOUS, 'a');
	expect(tl, 240, 10, TRUST_AMBIGUOUS, 'b');
	expect_others(tl, 240, 10, "ac");
	expect(tl, 270, 10, TRUST_AMBIGUOUS, 'c');
	expect(tl, 300, 10, TRUST_EXACT, 'c');
	timeline_free(tl);
}

static void the_kernel_is_a_process_like_others(void **state)
{
	(void)state;
	struct timeline *tl = new_timeline();
	load_in(tl, TIMELINE_KERNEL_PID, 'k', 100, 0xffffffffc0000000u, 64);
	assert_int_equal(timeline_unload(tl, TIMELINE_KERNEL_PID, 200, 0xffffffffc0000000u), 0);
	seal(tl);
	expect_in(tl, TIMELINE_KERNEL_PID, 150, 0xffffffffc0000001u, TRUST_EXACT, 'k');
	expect_in(tl, TIMELINE_KERNEL_PID, 200, 0xffffffffc0000001u, TRUST_STALE, 'k');
	expect_in(tl, PID, 150, 0xffffffffc0000001u, TRUST_UNKNOWN, 0);
	timeline_free(tl);
}

static void the_default_skew_is_20_ms(void **state)
{
	(void)state;
	struct timeline *tl = timeline_new(NULL);
	assert_non_null(tl);
	load(tl, 'a', 1, 10, 10);
	assert_int_equal(timeline_unload(tl, PID, 2, 10), 0);
	load(tl, 'b', 100000000, 10, 10);
	seal(tl);
	expect(tl, 79999999, 10, TRUST_STALE, 'a');
	expect(tl, 80000000, 10, TRUST_EARLY, 'b');
	timeline_free(tl);
}

static void an_empty_or_unsealed_timeline_knows_nothing(void **state)
{
	(void)state;
	struct timeline *tl = new_timeline();
	load(tl, 'a', 1, 10, 10);
	expect(tl, 5, 10, TRUST_UNKNOWN, 0);
	assert_int_equal(timeline_space(tl, PID, 5, NULL, NULL), 0);
	timeline_free(tl);
	tl = new_timeline();
	seal(tl);
	expect(tl, 5, 10, TRUST_UNKNOWN, 0);
	/* What comes too late is not taken. */
	load(tl, 'a', 1, 10, 10);
	seal(tl);
	expect(tl, 5, 10, TRUST_UNKNOWN, 0);
	timeline_free(tl);
	timeline_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_load_is_exact_from_its_time_on),
		cmocka_unit_test(a_load_ends_all_that_it_overlaps),
		cmocka_unit_test(the_same_range_again_is_a_new_version),
		cmocka_unit_test(a_sample_shortly_before_a_load_is_early),
		cmocka_unit_test(who_still_lives_is_exact_however_soon_a_load_follows),
		cmocka_unit_test(the_rest_of_what_was_overwritten_yields_to_an_early_load),
		cmocka_unit_test(a_range_that_nobody_had_is_early_at_any_distance),
		cmocka_unit_test(a_move_ends_the_old_place_and_begins_the_new),
		cmocka_unit_test(an_unload_is_of_what_starts_there),
		cmocka_unit_test(code_without_a_size_reaches_to_the_next),
		cmocka_unit_test(ranges_end_where_addresses_end),
		cmocka_unit_test(a_change_known_only_within_an_interval_is_ambiguous),
		cmocka_unit_test(an_interval_with_one_possible_owner_is_not_ambiguous),
		cmocka_unit_test(versions_that_one_poll_saw_are_all_ambiguous),
		cmocka_unit_test(the_kernel_is_a_process_like_others),
		cmocka_unit_test(the_default_skew_is_20_ms),
		cmocka_unit_test(an_empty_or_unsealed_timeline_knows_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
