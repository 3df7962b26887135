#include "build.h"

/* Fork, exec, exit, and what a child has of its parent. */

enum { CHILD = 8, GRANDCHILD = 9, STRANGER = 20 };

static void a_child_has_what_its_parent_had(void **state)
{
	(void)state;
	/*  parent  10 | aaaa bbbbbbbb        20 | aaaa (a second a)
	 *                  \
	 *  child         10 | bbbbbb
	 *     +--------|---|--|---
	 *             100 200 fork 250; parent loads c at 300
	 */
	struct timeline *tl = new_timeline();
	load(tl, 'a', 100, 10, 10);
	load(tl, 'b', 200, 10, 10);
	map_in(tl, PID, 'm', 100, 50, 10);
	untimed_in(tl, PID, 'u', 70, 10);
	timeline_fork(tl, PID, CHILD, 250);
	load(tl, 'c', 300, 10, 10);
	map_in(tl, PID, 'n', 300, 50, 10);
	seal(tl);
	expect_in(tl, CHILD, 260, 10, TRUST_EXACT, 'b');
	expect_in(tl, CHILD, 400, 10, TRUST_EXACT, 'b');
	expect_in(tl, CHILD, 400, 50, TRUST_EXACT, 'm');
	expect_in(tl, CHILD, 400, 70, TRUST_UNTIMED, 'u');
	expect(tl, 400, 10, TRUST_EXACT, 'c');
	expect(tl, 400, 50, TRUST_EXACT, 'n');
	timeline_free(tl);
}

static void a_load_of_the_child_hides_what_it_inherited(void **state)
{
	(void)state;
	/*  20 | aaaa|bbbb        the child's b ends the whole of a, in the child
	 *  10 | aaaa|stale a
	 *     +-----|----
	 *          300
	 */
	struct timeline *tl = new_timeline();
	load(tl, 'a', 100, 10, 20);
	timeline_fork(tl, PID, CHILD, 200);
	load_in(tl, CHILD, 'b', 300, 20, 10);
	seal(tl);
	expect_in(tl, CHILD, 299, 10, TRUST_EXACT, 'a');
	assert_int_equal(find_in(tl, CHILD, 299, 10).valid_to_ns, 300);
	expect_in(tl, CHILD, 300, 10, TRUST_STALE, 'a');
	expect_in(tl, CHILD, 300, 20, TRUST_EXACT, 'b');
	expect(tl, 400, 10, TRUST_EXACT, 'a');
	timeline_free(tl);
}

static void a_child_can_unload_and_move_what_it_inherited(void **state)
{
	(void)state;
	struct timeline *tl = new_timeline();
	load(tl, 'a', 100, 10, 10);
	load(tl, 'b', 100, 20, 10);
	timeline_fork(tl, PID, CHILD, 200);
	timeline_unload(tl, CHILD, 300, 10);
	const struct timeline_load to = { .start_avma = 60, .size = 10, .object = 'c' };
	timeline_move(tl, CHILD, 400, 20, &to);
	seal(tl);
	expect_in(tl, CHILD, 299, 10, TRUST_EXACT, 'a');
	expect_in(tl, CHILD, 300, 10, TRUST_STALE, 'a');
	expect_in(tl, CHILD, 399, 20, TRUST_EXACT, 'b');
	expect_in(tl, CHILD, 400, 20, TRUST_STALE, 'b');
	expect_in(tl, CHILD, 400, 60, TRUST_EXACT, 'c');
	expect(tl, 500, 10, TRUST_EXACT, 'a');
	timeline_free(tl);
}

static void what_the_parent_told_late_is_early_in_the_child(void **state)
{
	(void)state;
	/* Loaded just before the fork, told just after it: the child has it. What comes
	 * later than the skew it does not have, for all that its range was free.
	 */
	struct timeline *tl = new_timeline();
	timeline_fork(tl, PID, CHILD, 200);
	load(tl, 'a', 205, 10, 10);
	load(tl, 'b', 215, 20, 10);
	seal(tl);
	expect_in(tl, CHILD, 900, 10, TRUST_EARLY, 'a');
	assert_int_equal(find_in(tl, CHILD, 900, 10).early_ns, 5);
	expect_in(tl, CHILD, 900, 20, TRUST_UNKNOWN, 0);
	timeline_free(tl);
}

static void a_grandchild_sees_through_a_child_without_code(void **state)
{
	(void)state;
	struct timeline *tl = new_timeline();
	load(tl, 'a', 100, 10, 10);
	timeline_fork(tl, PID, CHILD, 200);
	load(tl, 'b', 250, 10, 10);
	timeline_fork(tl, CHILD, GRANDCHILD, 300);
	seal(tl);
	expect_in(tl, GRANDCHILD, 400, 10, TRUST_EXACT, 'a');
	timeline_free(tl);
}

static void the_map_of_a_child_wins_where_it_speaks(void **state)
{
	(void)state;
	struct timeline *tl = new_timeline();
	untimed_in(tl, PID, 'a', 10, 20);
	timeline_fork(tl, PID, CHILD, 100);
	untimed_in(tl, CHILD, 'b', 10, 10);
	seal(tl);
	expect_in(tl, CHILD, 200, 10, TRUST_UNTIMED, 'b');
	expect_in(tl, CHILD, 200, 20, TRUST_UNTIMED, 'a');
	expect(tl, 200, 10, TRUST_UNTIMED, 'a');
	timeline_free(tl);
}

static void an_exec_begins_with_nothing(void **state)
{
	(void)state;
	struct timeline *tl = new_timeline();
	load(tl, 'a', 100, 10, 10);
	map_in(tl, PID, 'm', 100, 50, 10);
	timeline_exec(tl, PID, 200);
	load(tl, 'b', 300, 20, 10);
	seal(tl);
	expect(tl, 199, 10, TRUST_EXACT, 'a');
	expect(tl, 200, 10, TRUST_UNKNOWN, 0);
	expect(tl, 200, 50, TRUST_UNKNOWN, 0);
	expect(tl, 300, 20, TRUST_EXACT, 'b');
	assert_int_equal(find_in(tl, PID, 199, 10).valid_to_ns, 200);
	timeline_free(tl);
}

static void a_pid_used_again_is_another_process(void **state)
{
	(void)state;
	struct timeline *tl = new_timeline();
	load(tl, 'a', 100, 10, 10);
	timeline_exit(tl, PID, 200);
	timeline_fork(tl, STRANGER, PID, 300);
	load(tl, 'b', 400, 20, 10);
	seal(tl);
	/* A sample behind its exit still belongs to the one that went. */
	expect(tl, 250, 10, TRUST_EXACT, 'a');
	expect(tl, 300, 10, TRUST_UNKNOWN, 0);
	expect(tl, 400, 20, TRUST_EXACT, 'b');
	timeline_free(tl);
}

static void after_an_exit_a_mapping_is_a_new_process_but_code_is_late(void **state)
{
	(void)state;
	struct timeline *tl = new_timeline();
	map_in(tl, PID, 'm', 50, 50, 10);
	timeline_exit(tl, PID, 200);
	load(tl, 'a', 205, 10, 10);
	map_in(tl, PID, 'n', 300, 70, 10);
	seal(tl);
	expect(tl, 199, 10, TRUST_EARLY, 'a');
	expect(tl, 299, 50, TRUST_EXACT, 'm');
	expect(tl, 300, 50, TRUST_UNKNOWN, 0);
	expect(tl, 300, 10, TRUST_UNKNOWN, 0);
	expect(tl, 300, 70, TRUST_EXACT, 'n');
	timeline_free(tl);
}

static void code_of_time_0_belongs_to_the_program_that_told_the_rest(void **state)
{
	(void)state;
	/*   sh ──┤exec── node ──┤exec── less
	 *        100    loads   500
	 */
	struct timeline *tl = new_timeline();
	timeline_exec(tl, PID, 100);
	timeline_exec(tl, PID, 500);
	load(tl, 'b', 0, 20, 10);
	load(tl, 'a', 300, 10, 10);
	untimed_in(tl, PID, 'u', 50, 10);
	seal(tl);
	expect(tl, 99, 20, TRUST_UNKNOWN, 0);
	expect(tl, 100, 20, TRUST_EXACT, 'b');
	expect(tl, 100, 50, TRUST_UNTIMED, 'u');
	expect(tl, 500, 20, TRUST_UNKNOWN, 0);
	expect(tl, 500, 50, TRUST_UNKNOWN, 0);
	timeline_free(tl);
}

static void without_any_times_the_last_program_has_it(void **state)
{
	(void)state;
	struct timeline *tl = new_timeline();
	timeline_exec(tl, PID, 100);
	load(tl, 'a', 0, 10, 10);
	untimed_in(tl, PID, 'u', 50, 10);
	/* Unless a time says where. */
	timeline_untimed(
	    tl, PID,
	    &(struct timeline_load){ .start_avma = 70, .size = 10, .time_ns = 30, .object = 'v' });
	seal(tl);
	expect(tl, 99, 10, TRUST_UNKNOWN, 0);
	expect(tl, 100, 10, TRUST_EXACT, 'a');
	expect(tl, 100, 50, TRUST_UNTIMED, 'u');
	expect(tl, 99, 70, TRUST_UNTIMED, 'v');
	expect(tl, 100, 70, TRUST_UNKNOWN, 0);
	timeline_free(tl);
}

static void spaces_have_numbers_and_lifetimes(void **state)
{
	(void)state;
	struct timeline *tl = new_timeline();
	map_in(tl, PID, 'm', 0, 50, 10);
	timeline_fork(tl, PID, CHILD, 100);
	timeline_exec(tl, CHILD, 200);
	seal(tl);
	uint64_t from_ns;
	uint64_t to_ns;
	const uint32_t parent = timeline_space(tl, PID, 150, &from_ns, &to_ns);
	assert_int_equal(from_ns, 0);
	assert_int_equal(to_ns, UINT64_MAX);
	const uint32_t forked = timeline_space(tl, CHILD, 150, &from_ns, &to_ns);
	assert_int_equal(from_ns, 0);
	assert_int_equal(to_ns, 200);
	const uint32_t program = timeline_space(tl, CHILD, 200, &from_ns, &to_ns);
	assert_int_equal(from_ns, 200);
	assert_int_equal(to_ns, UINT64_MAX);
	assert_int_not_equal(parent, forked);
	assert_int_not_equal(parent, program);
	assert_int_not_equal(forked, program);
	assert_int_not_equal(parent * forked * program, 0);
	assert_int_equal(timeline_space(tl, STRANGER, 150, &from_ns, &to_ns), 0);
	assert_int_equal(to_ns, UINT64_MAX);
	timeline_free(tl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_has_what_its_parent_had),
		cmocka_unit_test(a_load_of_the_child_hides_what_it_inherited),
		cmocka_unit_test(a_child_can_unload_and_move_what_it_inherited),
		cmocka_unit_test(what_the_parent_told_late_is_early_in_the_child),
		cmocka_unit_test(a_grandchild_sees_through_a_child_without_code),
		cmocka_unit_test(the_map_of_a_child_wins_where_it_speaks),
		cmocka_unit_test(an_exec_begins_with_nothing),
		cmocka_unit_test(a_pid_used_again_is_another_process),
		cmocka_unit_test(after_an_exit_a_mapping_is_a_new_process_but_code_is_late),
		cmocka_unit_test(code_of_time_0_belongs_to_the_program_that_told_the_rest),
		cmocka_unit_test(without_any_times_the_last_program_has_it),
		cmocka_unit_test(spaces_have_numbers_and_lifetimes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
