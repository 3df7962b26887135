#include "os/clock.h"

#include "test.h"

static void fit_goes_through_both_pairs(void **state)
{
	(void)state;
	/* 2.5 GHz, a counter that is far along. */
	const struct os_cycle_pair first = { 7000000000000000, 123456789 };
	const struct os_cycle_pair last = { 7000000000000000 + 25000000000,
					    123456789 + 10000000000 };
	struct os_cycle_conversion fit;
	assert_true(os_clock_fit(&first, &last, &fit));
	assert_int_equal(os_clock_from_cycles(&fit, first.cycles), first.mono_ns);
	const uint64_t end = os_clock_from_cycles(&fit, last.cycles);
	assert_in_range(end, last.mono_ns - 10, last.mono_ns + 10);
	const uint64_t middle = os_clock_from_cycles(&fit, first.cycles + 12500000000);
	assert_in_range(middle, 123456789 + 5000000000 - 10, 123456789 + 5000000000 + 10);
}

static void fit_refuses_what_tells_no_rate(void **state)
{
	(void)state;
	struct os_cycle_conversion fit;
	const struct os_cycle_pair at = { 1000, 1000 };
	assert_false(os_clock_fit(&at, &at, &fit));
	assert_false(os_clock_fit(&at, &(struct os_cycle_pair){ 2000, 1400 }, &fit));
	assert_false(os_clock_fit(&at, &(struct os_cycle_pair){ 500, 10000000 }, &fit));
	assert_false(os_clock_fit(&at, &(struct os_cycle_pair){ 1001, 90000000000 }, &fit));
}

static void clocks_go_forward(void **state)
{
	(void)state;
	const uint64_t before = os_clock_mono_ns();
	const struct os_clock_pair pair = os_clock_pair();
	assert_true(pair.mono_ns >= before);
	assert_true(pair.mono_ns <= os_clock_mono_ns());
	/* After 2020. */
	assert_true(pair.wall_ns > 1577836800ull * 1000000000);
}

static void cycles_go_forward(void **state)
{
	(void)state;
	struct os_cycle_pair first;
	struct os_cycle_pair last;
	if (!os_clock_cycle_pair(&first))
		skip_because("no cycle counter that the kernel reads");
	assert_true(os_clock_cycle_pair(&last));
	assert_true(last.cycles > first.cycles);
	assert_true(last.mono_ns > first.mono_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fit_goes_through_both_pairs),
		cmocka_unit_test(fit_refuses_what_tells_no_rate),
		cmocka_unit_test(clocks_go_forward),
		cmocka_unit_test(cycles_go_forward),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
