#include "build.h"

/* Untimed maps and file mappings, and which layer wins. */

static void the_only_name_of_an_address_is_untimed(void **state)
{
	(void)state;
	struct timeline *tl = new_timeline();
	untimed_in(tl, PID, 'b', 30, 10);
	untimed_in(tl, PID, 'a', 10, 10);
	seal(tl);
	expect(tl, 0, 10, TRUST_UNTIMED, 'a');
	expect(tl, 9999, 19, TRUST_UNTIMED, 'a');
	expect(tl, 0, 20, TRUST_UNKNOWN, 0);
	expect(tl, 0, 30, TRUST_UNTIMED, 'b');
	const struct timeline_hit hit = find_in(tl, PID, 50, 39);
	assert_int_equal(hit.layer, LAYER_MAP);
	assert_int_equal(hit.start_avma, 30);
	assert_int_equal(hit.size, 10);
	assert_int_equal(hit.valid_from_ns, 0);
	assert_int_equal(hit.valid_to_ns, UINT64_MAX);
	timeline_free(tl);
}

static void of_several_names_the_last_added_wins(void **state)
{
	(void)state;
	/*  10   15   20   25   30   35
	 *  |a a a a a a a a a a|          1st
	 *       |b b b b|                 2nd
	 *            |c c c c c c c|      3rd
	 */
	struct timeline *tl = new_timeline();
	untimed_in(tl, PID, 'a', 10, 20);
	untimed_in(tl, PID, 'b', 15, 10);
	untimed_in(tl, PID, 'c', 20, 15);
	seal(tl);
	expect(tl, 0, 10, TRUST_UNTIMED, 'a');
	expect(tl, 0, 15, TRUST_AMBIGUOUS, 'b');
	expect_others(tl, 0, 15, "a");
	expect(tl, 0, 20, TRUST_AMBIGUOUS, 'c');
	expect_others(tl, 0, 20, "ab");
	expect(tl, 0, 25, TRUST_AMBIGUOUS, 'c');
	expect_others(tl, 0, 25, "a");
	expect(tl, 0, 30, TRUST_UNTIMED, 'c');
	timeline_free(tl);
}

static void one_name_is_one_owner_however_often_it_is_listed(void **state)
{
	(void)state;
	struct timeline *tl = new_timeline();
	untimed_in(tl, PID, 'a', 10, 10);
	untimed_in(tl, PID, 'a', 10, 10);
	untimed_in(tl, PID, 'a', 12, 20);
	seal(tl);
	expect(tl, 0, 10, TRUST_UNTIMED, 'a');
	expect(tl, 0, 15, TRUST_UNTIMED, 'a');
	assert_int_equal(find_in(tl, PID, 0, 15).start_avma, 12);
	expect_others(tl, 0, 15, "");
	timeline_free(tl);
}

static void an_owner_is_listed_where_it_was_added_first(void **state)
{
	(void)state;
	struct timeline *tl = new_timeline();
	untimed_in(tl, PID, 'b', 10, 10);
	untimed_in(tl, PID, 'a', 9, 12);
	untimed_in(tl, PID, 'b', 8, 14);
	untimed_in(tl, PID, 'c', 10, 10);
	untimed_in(tl, PID, 'b', 50, 10);
	untimed_in(tl, PID, 'a', 51, 10);
	untimed_in(tl, PID, 'b', 52, 10);
	untimed_in(tl, PID, 'c', 53, 10);
	seal(tl);
	expect(tl, 0, 10, TRUST_AMBIGUOUS, 'c');
	expect_others(tl, 0, 10, "ba");
	expect_others(tl, 0, 55, "ba");
	timeline_free(tl);
}

static void untimed_code_without_a_size_reaches_to_the_next(void **state)
{
	(void)state;
	struct timeline *tl = new_timeline();
	untimed_in(tl, PID, 'a', 10000, 0);
	untimed_in(tl, PID, 'b', 10000, 0);
	untimed_in(tl, PID, 'c', 10064, 0);
	untimed_in(tl, PID, 'd', UINT64_MAX, 0);
	seal(tl);
	expect(tl, 0, 10063, TRUST_AMBIGUOUS, 'b');
	expect(tl, 0, 10064, TRUST_UNTIMED, 'c');
	expect(tl, 0, 10064 + 4095, TRUST_UNTIMED, 'c');
	expect(tl, 0, 10064 + 4096, TRUST_UNKNOWN, 0);
	expect(tl, 0, UINT64_MAX, TRUST_UNKNOWN, 0);
	timeline_free(tl);
}

static void timed_code_wins_only_where_it_is_sure(void **state)
{
	(void)state;
	/* The map says u of all addresses.
	 *
	 *  30 | u               (nothing timed ever)
	 *  20 | u |early b| b   (far before b: the map)
	 *  10 | a | u           (after a's end: the map)
	 */
	struct timeline *tl = new_timeline();
	untimed_in(tl, PID, 'u', 0, 100);
	load(tl, 'a', 100, 10, 10);
	assert_int_equal(timeline_unload(tl, PID, 200, 10), 0);
	load(tl, 'b', 300, 20, 10);
	seal(tl);
	expect(tl, 150, 10, TRUST_EXACT, 'a');
	expect(tl, 200, 10, TRUST_UNTIMED, 'u');
	expect(tl, 289, 20, TRUST_UNTIMED, 'u');
	expect(tl, 290, 20, TRUST_EARLY, 'b');
	expect(tl, 290, 30, TRUST_UNTIMED, 'u');
	timeline_free(tl);
}

static void mappings_come_last(void **state)
{
	(void)state;
	struct timeline *tl = new_timeline();
	map_in(tl, PID, 'm', 0, 0, 100);
	load(tl, 'a', 100, 10, 10);
	assert_int_equal(timeline_unload(tl, PID, 200, 10), 0);
	untimed_in(tl, PID, 'u', 30, 10);
	seal(tl);
	expect(tl, 150, 10, TRUST_EXACT, 'a');
	expect(tl, 250, 10, TRUST_STALE, 'a');
	expect(tl, 150, 30, TRUST_UNTIMED, 'u');
	expect(tl, 150, 50, TRUST_EXACT, 'm');
	assert_int_equal(find_in(tl, PID, 150, 50).layer, LAYER_MAPPING);
	struct timeline_hit hit;
	assert_true(timeline_find_mapping(tl, PID, 10, 150, &hit));
	assert_int_equal(hit.object, 'm');
	assert_false(timeline_find_mapping(tl, PID, 100, 150, &hit));
	assert_false(timeline_find_mapping(tl, PID + 1, 10, 150, &hit));
	timeline_free(tl);
}

static void a_mapping_takes_only_the_part_it_covers(void **state)
{
	(void)state;
	/*  30 | aaaaaaaaaa
	 *  20 | aaaa|bbbbb
	 *  10 | aaaaaaaaaa
	 *     +-|---|-----
	 *      100 200
	 */
	struct timeline *tl = new_timeline();
	map_in(tl, PID, 'a', 100, 10, 30);
	map_in(tl, PID, 'b', 200, 20, 10);
	seal(tl);
	expect(tl, 99, 20, TRUST_UNKNOWN, 0);
	expect(tl, 199, 20, TRUST_EXACT, 'a');
	expect(tl, 200, 19, TRUST_EXACT, 'a');
	expect(tl, 200, 20, TRUST_EXACT, 'b');
	expect(tl, 200, 30, TRUST_EXACT, 'a');
	const struct timeline_hit hit = find_in(tl, PID, 200, 30);
	assert_int_equal(hit.start_avma, 10);
	assert_int_equal(hit.size, 30);
	assert_int_equal(hit.file_off, 5);
	assert_int_equal(hit.valid_from_ns, 100);
	timeline_free(tl);
}

static void a_mapping_of_no_size_is_none(void **state)
{
	(void)state;
	struct timeline *tl = new_timeline();
	map_in(tl, PID, 'a', 100, 10, 0);
	seal(tl);
	expect(tl, 200, 10, TRUST_UNKNOWN, 0);
	timeline_free(tl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_only_name_of_an_address_is_untimed),
		cmocka_unit_test(of_several_names_the_last_added_wins),
		cmocka_unit_test(one_name_is_one_owner_however_often_it_is_listed),
		cmocka_unit_test(an_owner_is_listed_where_it_was_added_first),
		cmocka_unit_test(untimed_code_without_a_size_reaches_to_the_next),
		cmocka_unit_test(timed_code_wins_only_where_it_is_sure),
		cmocka_unit_test(mappings_come_last),
		cmocka_unit_test(a_mapping_takes_only_the_part_it_covers),
		cmocka_unit_test(a_mapping_of_no_size_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
