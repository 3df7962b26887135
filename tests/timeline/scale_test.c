#include "build.h"

#include "failing_memory.h"

#include "base/status.h"

/* Sizes at which a quadratic step would not end in time, checked by formula. */

enum { MANY = 100000, BASE = 0x1000 };
static const uint64_t end_ns = 2 * (uint64_t)MANY;

static void load_object(struct timeline *tl, uint32_t pid, const struct timeline_load *what)
{
	struct timeline_load load = *what;
	load.earliest_ns = load.time_ns;
	load.latest_ns = load.time_ns;
	assert_int_equal(timeline_load(tl, pid, &load), 0);
	assert_int_equal(timeline_untimed(tl, pid + 1, &load), 0);
	assert_int_equal(timeline_map(tl, pid + 2, load.time_ns,
				      &(struct timeline_mapping){ .start_avma = load.start_avma,
								  .size = load.size,
								  .object = load.object }),
			 0);
}

static void each_inside_the_one_before(void **state)
{
	(void)state;
	struct timeline *tl = new_timeline();
	for (uint32_t i = 0; i < MANY; i++)
		load_object(tl, PID,
			    &(struct timeline_load){ .start_avma = BASE + i,
						     .size = 2 * (uint64_t)(MANY - i),
						     .time_ns = 1 + i,
						     .object = i });
	seal(tl);
	for (uint32_t i = 0; i < MANY; i += 97) {
		/* Address BASE + i is in objects 0 .. i. At the end only the last object
		 * lives; what it left over is stale, the latest first.
		 */
		struct timeline_hit hit = find_in(tl, PID, MANY, BASE + i);
		assert_int_equal(hit.object, i);
		assert_int_equal(hit.trust, i == MANY - 1 ? TRUST_EXACT : TRUST_STALE);
		hit = find_in(tl, PID, 1 + i, BASE + MANY);
		assert_int_equal(hit.trust, TRUST_EXACT);
		assert_int_equal(hit.object, i);
		hit = find_in(tl, PID + 1, 0, BASE + i);
		assert_int_equal(hit.object, i);
		assert_int_equal(hit.other_count, i);
		hit = find_in(tl, PID + 2, MANY, BASE + i);
		assert_int_equal(hit.object, i);
	}
	uint32_t object;
	assert_true(timeline_other(tl, PID + 1, BASE + MANY, 0, 63, &object));
	assert_int_equal(object, 63);
	assert_false(timeline_other(tl, PID + 1, BASE + MANY, 0, 64, &object));
	timeline_free(tl);
}

static void all_at_one_address(void **state)
{
	(void)state;
	struct timeline *tl = new_timeline();
	for (uint32_t i = 0; i < MANY; i++)
		load_object(tl, PID,
			    &(struct timeline_load){ .start_avma = BASE,
						     .size = 1 + i % 50,
						     .time_ns = 1 + MANY - i,
						     .object = i });
	seal(tl);
	for (uint32_t i = 0; i < MANY; i += 97) {
		const struct timeline_hit hit = find_in(tl, PID, 1 + MANY - i, BASE);
		assert_int_equal(hit.trust, TRUST_EXACT);
		assert_int_equal(hit.object, i);
	}
	assert_int_equal(find_in(tl, PID + 1, 0, BASE).object, MANY - 1);
	assert_int_equal(find_in(tl, PID + 1, 0, BASE).other_count, MANY - 1);
	/* Only sizes of 41 and more: i % 50 >= 40, a fifth. */
	assert_int_equal(find_in(tl, PID + 1, 0, BASE + 40).other_count, MANY / 5 - 1);
	timeline_free(tl);
}

static void many_children_of_a_large_process(void **state)
{
	(void)state;
	struct timeline *tl = new_timeline();
	for (uint32_t i = 0; i < MANY; i++)
		load_object(tl, 1,
			    &(struct timeline_load){ .start_avma = BASE + 16 * (uint64_t)i,
						     .size = 16,
						     .time_ns = 1 + i,
						     .object = i });
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(timeline_fork(tl, 1, 10 + i, 1 + i), 0);
	seal(tl);
	for (uint32_t i = 0; i < MANY; i += 97) {
		struct timeline_hit hit = find_in(tl, 10 + i, end_ns, BASE + 16 * (uint64_t)i);
		assert_int_equal(hit.trust, TRUST_EXACT);
		assert_int_equal(hit.object, i);
		/* What its parent loaded a nanosecond later than the fork is close enough. */
		if (i + 1 < MANY) {
			hit = find_in(tl, 10 + i, end_ns, BASE + 16 * (uint64_t)(i + 1));
			assert_int_equal(hit.trust, TRUST_EARLY);
		}
	}
	timeline_free(tl);
}

static void a_long_chain_of_forks(void **state)
{
	(void)state;
	struct timeline *tl = new_timeline();
	load_in(tl, 0, 'a', 1, BASE, 16);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(timeline_fork(tl, i, i + 1, 2 + i), 0);
	/* The last ones load as well, one object each, and overwrite in turn: less than 1,000 of
	 * them. */
	for (uint32_t i = MANY - 500; i < MANY; i++)
		load_in(tl, i, (char)('b' + i % 20), 2 + i, BASE + 32 + 16 * (uint64_t)(i % 100),
			16);
	seal(tl);
	expect_in(tl, MANY, end_ns, BASE, TRUST_EXACT, 'a');
	expect_in(tl, MANY, end_ns, BASE + 32, TRUST_EXACT, (char)('b' + (MANY - 100) % 20));
	timeline_free(tl);
}

static int build_a_little_of_all(struct timeline *tl)
{
	int got = 0;
	for (uint32_t i = 0; i < 300 && got == 0; i++) {
		const struct timeline_load load = {
			.start_avma = BASE + i * 8, .size = 12, .time_ns = 1000 - i, .object = i
		};
		got = timeline_load(tl, 1 + i % 100, &load);
		if (got == 0)
			got = timeline_fork(tl, 1 + i % 70, 200 + i, 500 + i);
		if (got == 0)
			got = timeline_unload(tl, 200 + i, 900, BASE);
		if (got == 0)
			got = timeline_untimed(tl, 1 + i % 3, &load);
		if (got == 0)
			got =
			    timeline_map(tl, 1 + i % 5, 5, &(struct timeline_mapping){ .size = 9 });
	}
	return got == 0 ? timeline_seal(tl) : got;
}

static void running_out_of_memory_is_said(void **state)
{
	(void)state;
	for (size_t n = 1;; n++) {
		memory_fail_at(n);
		struct timeline *tl = timeline_new(NULL);
		const int got = tl ? build_a_little_of_all(tl) : STATUS_NO_MEMORY;
		const bool has_failed = memory_has_failed();
		memory_fail_at(0);
		struct timeline_hit hit;
		if (tl && got < 0) {
			timeline_find(tl, 1, BASE, 1000, &hit);
			assert_int_equal(hit.trust, TRUST_UNKNOWN);
		}
		timeline_free(tl);
		assert_int_equal(got, has_failed ? STATUS_NO_MEMORY : 0);
		if (!has_failed)
			break;
		assert_true(n < 100000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_inside_the_one_before),
		cmocka_unit_test(all_at_one_address),
		cmocka_unit_test(many_children_of_a_large_process),
		cmocka_unit_test(a_long_chain_of_forks),
		cmocka_unit_test(running_out_of_memory_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
