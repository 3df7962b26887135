#include "diff/diff.h"

#include "base/status.h"
#include "diff/fixture.h"
#include "diff/statistics.h"
#include "failing_memory.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FUNCTIONS = 60 };

/* Shares as programs have them: a few large, many small. */
static double share_of(int function)
{
	double sum = 0;
	for (int i = 0; i < FUNCTIONS; i++)
		sum += 1.0 / (1 + i);
	return 1.0 / (1 + function) / sum;
}

/* A run of a program: `samples` drawn at random, a function's share times `factor[function]`. */
static void make_run(struct profile *p, uint64_t *random, uint64_t samples, const double *factors)
{
	char name[32];
	memset(p, 0, sizeof(*p));
	for (int i = 0; i < FUNCTIONS; i++) {
		snprintf(name, sizeof(name), "f%d w.js:%d:1", i, i);
		const double share = share_of(i) * (factors ? factors[i] : 1);
		fixture_add(p, name, fixture_draw(random, samples, share));
	}
	p->first_ns = 1000000000;
	p->last_ns = 3000000000;
}

static void compare(struct diff *diff, const struct profile *runs, size_t before, size_t after,
		    enum diff_by by)
{
	struct diff_recording recordings[8];
	assert_true(before + after <= 8);
	for (size_t i = 0; i < before + after; i++)
		recordings[i] =
		    (struct diff_recording){ .profile = &runs[i],
					     .side = i < before ? DIFF_BEFORE : DIFF_AFTER };
	memset(diff, 0, sizeof(*diff));
	assert_int_equal(
	    diff_build(diff, recordings, before + after, &(struct diff_options){ .by = by }), 0);
}

static void clear_runs(struct profile *runs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		profile_clear(&runs[i]);
}

static void test_quantiles(void **state)
{
	(void)state;
	assert_true(fabs(normal_quantile(0.05) - 1.959964) < 1e-5);
	assert_true(fabs(normal_quantile(0.001) - 3.290527) < 1e-5);
	assert_true(fabs(normal_quantile(1)) < 1e-5);
	/* Tables of Student's distribution, two-sided. */
	assert_true(fabs(student_quantile(0.05, 10) / 2.228 - 1) < 0.01);
	assert_true(fabs(student_quantile(0.001, 12) / 4.318 - 1) < 0.01);
	assert_true(fabs(student_quantile(0.0001, 10) / 6.211 - 1) < 0.01);
	assert_true(fabs(student_quantile(0.01, 1000) / 2.581 - 1) < 0.01);
}

static void test_of_itself_nothing_changed(void **state)
{
	(void)state;
	uint64_t random = 1;
	struct profile runs[2];
	struct diff diff;
	make_run(&runs[0], &random, 5000, NULL);
	runs[1] = runs[0];
	compare(&diff, runs, 1, 1, DIFF_BY_SHARE);
	assert_int_equal(diff.beyond, 0);
	assert_true(diff.rows.count > 20);
	assert_int_equal(diff.order.count, diff.rows.count);
	double sum = 0;
	for (size_t i = 0; i < diff.rows.count; i++) {
		assert_true(diff_change(&diff.rows.items[i].self) == 0);
		assert_true(diff.rows.items[i].self.noise > 0);
		sum += diff.rows.items[i].self.value[DIFF_AFTER];
	}
	assert_true(fabs(sum - 1) < 1e-9);
	diff_clear(&diff);
	profile_clear(&runs[0]);
}

/* As promised: in 19 of 20 comparisons of equal programs nothing is beyond noise. */
static void check_false_alarms(uint64_t samples, size_t before, size_t after, int most)
{
	uint64_t random = 12345 + samples;
	int alarms = 0;
	for (int round = 0; round < 200; round++) {
		struct profile runs[8];
		struct diff diff;
		for (size_t i = 0; i < before + after; i++)
			make_run(&runs[i], &random, samples, NULL);
		compare(&diff, runs, before, after, DIFF_BY_SHARE);
		alarms += diff.beyond > 0;
		diff_clear(&diff);
		clear_runs(runs, before + after);
	}
	if (alarms > most)
		fail_msg("%d of 200 comparisons of equal programs found a change", alarms);
}

static void test_equal_programs(void **state)
{
	(void)state;
	check_false_alarms(300, 1, 1, 16);
	check_false_alarms(3000, 1, 1, 16);
	check_false_alarms(1000, 2, 2, 16);
}

/* Function 3 takes twice its time: 5 % of 20,000 samples, then 10 %. */
static void test_a_change_is_found_and_no_other(void **state)
{
	(void)state;
	double factors[FUNCTIONS];
	for (int i = 0; i < FUNCTIONS; i++)
		factors[i] = 1;
	factors[3] = 2;
	int others = 0;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		uint64_t random = seed * 977;
		struct profile runs[2];
		struct diff diff;
		make_run(&runs[0], &random, 20000, NULL);
		make_run(&runs[1], &random, 20000, factors);
		/* By share all others fell, the largest by more than noise; the weight says who it
		 * was.
		 */
		compare(&diff, runs, 1, 1, DIFF_BY_TOTAL);
		assert_true(diff.beyond >= 1);
		const struct diff_row *row = &diff.rows.items[diff.order.items[0]];
		assert_string_equal(
		    diff_match_text(&diff.match, diff.match.functions.items[row->function].name[1]),
		    "f3 w.js:3:1");
		others += (int)diff.beyond - 1;
		diff_clear(&diff);
		clear_runs(runs, 2);
	}
	assert_true(others <= 3);
}

/* Every run differs from the next by 20 %, in half of the functions up, in half down: of that,
 * sampling alone knows nothing, and runs tell.
 */
static void make_unsteady_runs(struct profile *runs, size_t count, uint64_t *random)
{
	for (size_t run = 0; run < count; run++) {
		double factors[FUNCTIONS];
		for (int i = 0; i < FUNCTIONS; i++)
			factors[i] = 0.8 + 0.4 * fixture_random(random, 1000) / 1000.0;
		make_run(&runs[run], random, 20000, factors);
	}
}

static void test_runs_tell_how_much_they_differ(void **state)
{
	(void)state;
	uint64_t random = 99;
	int alarms_of_one = 0;
	int alarms_of_three = 0;
	for (int round = 0; round < 40; round++) {
		struct profile runs[6];
		struct diff diff;
		make_unsteady_runs(runs, 6, &random);
		const struct profile one[2] = { runs[0], runs[3] };
		compare(&diff, one, 1, 1, DIFF_BY_SHARE);
		assert_true(diff.spread == 0);
		alarms_of_one += diff.beyond > 0;
		diff_clear(&diff);
		compare(&diff, runs, 3, 3, DIFF_BY_SHARE);
		assert_true(diff.spread > 0.05 && diff.spread < 0.25);
		alarms_of_three += diff.beyond > 0;
		diff_clear(&diff);
		clear_runs(runs, 6);
	}
	assert_true(alarms_of_one > 30);
	assert_true(alarms_of_three < 6);
}

static void put(struct profile *p, const char *name, uint64_t count, uint64_t weight,
		uint32_t caller)
{
	fixture_put(p, &(struct fixture_function){ .name = name,
						   .object = "app",
						   .runtime = "native",
						   .count = count,
						   .weight = weight,
						   .caller = caller });
}

static void test_units(void **state)
{
	(void)state;
	struct profile runs[2] = { 0 };
	put(&runs[0], "main", 100, 1000, 0);
	put(&runs[0], "leaf", 300, 3000, 1);
	put(&runs[1], "main", 100, 1000, 0);
	put(&runs[1], "leaf", 500, 5000, 1);
	for (int i = 0; i < 2; i++) {
		runs[i].first_ns = 1000000000;
		runs[i].last_ns = 3000000000;
	}
	static const double LEAF[][2] = { { 0.75, 5.0 / 6 }, { 3000, 5000 }, { 1500, 2500 } };
	for (int by = DIFF_BY_SHARE; by <= DIFF_BY_SECOND; by++) {
		struct diff diff;
		compare(&diff, runs, 1, 1, (enum diff_by)by);
		assert_int_equal(diff.rows.count, 2);
		for (size_t i = 0; i < 2; i++) {
			const struct diff_row *row = &diff.rows.items[i];
			const bool is_leaf = strcmp(diff_match_key(&diff.match, row->function),
						    "leaf\tapp\tnative") == 0;
			for (int side = 0; side < 2 && is_leaf; side++)
				assert_true(fabs(row->self.value[side] - LEAF[by][side]) < 1e-9);
			if (by == DIFF_BY_SHARE && !is_leaf) {
				assert_true(fabs(row->total.value[0] - 1) < 1e-9);
				assert_true(fabs(row->self.value[0] - 0.25) < 1e-9);
				assert_int_equal(row->total.count[1], 600);
			}
		}
		assert_int_equal(diff.sides[1].count, 600);
		assert_true(fabs(diff.sides[1].seconds - 2) < 1e-9);
		diff_clear(&diff);
	}
	struct diff diff = { 0 };
	const struct diff_recording recordings[] = { { .profile = &runs[0] },
						     { .profile = &runs[1], .side = 1 } };
	const struct diff_options options = { .by = DIFF_BY_CPU_SECOND };
	assert_int_equal(diff_build(&diff, recordings, 2, &options), STATUS_NOT_FOUND);
	diff_clear(&diff);
	clear_runs(runs, 2);
}

/* 10 samples that weigh as much as 1000 say no more than 10. */
static void test_unequal_weights(void **state)
{
	(void)state;
	struct profile runs[2] = { 0 };
	put(&runs[0], "a", 1000, 1000, 0);
	put(&runs[0], "b", 1000, 1000, 0);
	put(&runs[1], "a", 1000, 1000, 0);
	put(&runs[1], "b", 13, 1300, 0);
	struct diff diff;
	compare(&diff, runs, 1, 1, DIFF_BY_SHARE);
	assert_int_equal(diff.beyond, 0);
	diff_clear(&diff);
	runs[1].rows.items[1].count = 1300;
	compare(&diff, runs, 1, 1, DIFF_BY_SHARE);
	assert_int_equal(diff.beyond, 2);
	diff_clear(&diff);
	clear_runs(runs, 2);
}

static void test_empty_sides(void **state)
{
	(void)state;
	struct profile runs[2] = { 0 };
	put(&runs[0], "a", 0, 0, 0);
	put(&runs[1], "a", 100, 100, 0);
	struct diff diff;
	for (int by = DIFF_BY_SHARE; by <= DIFF_BY_SECOND; by++) {
		compare(&diff, runs, 1, 1, (enum diff_by)by);
		assert_int_equal(diff.rows.count, 1);
		assert_true(diff.rows.items[0].self.value[0] == 0);
		assert_true(isfinite(diff.rows.items[0].self.noise));
		diff_clear(&diff);
	}
	clear_runs(runs, 2);
}

static void test_words(void **state)
{
	(void)state;
	for (int by = DIFF_BY_SHARE; by <= DIFF_BY_CPU_SECOND; by++)
		assert_int_equal(diff_by_find(diff_by_name((enum diff_by)by)), by);
	assert_int_equal(diff_by_find("parsec"), -1);
}

static void test_without_memory(void **state)
{
	(void)state;
	uint64_t random = 7;
	struct profile runs[3];
	for (int i = 0; i < 3; i++)
		make_run(&runs[i], &random, 100, NULL);
	const struct diff_recording recordings[] = { { .profile = &runs[0] },
						     { .profile = &runs[1] },
						     { .profile = &runs[2], .side = 1 } };
	const struct diff_options options = { .by = DIFF_BY_SHARE };
	for (size_t n = 1;; n++) {
		struct diff diff = { 0 };
		memory_fail_at(n);
		const int got = diff_build(&diff, recordings, 3, &options);
		const bool has_failed = memory_has_failed();
		diff_clear(&diff);
		assert_int_equal(got, has_failed ? STATUS_NO_MEMORY : 0);
		if (!has_failed)
			break;
	}
	memory_fail_at(0);
	clear_runs(runs, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantiles),
		cmocka_unit_test(test_of_itself_nothing_changed),
		cmocka_unit_test(test_equal_programs),
		cmocka_unit_test(test_a_change_is_found_and_no_other),
		cmocka_unit_test(test_runs_tell_how_much_they_differ),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_unequal_weights),
		cmocka_unit_test(test_empty_sides),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
