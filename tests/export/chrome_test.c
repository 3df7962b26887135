/* Chrome's trace events: times, gaps, and what became of code. chrome_test.py holds the stacks. */
#include "export/fixture.h"
#include "test.h"

#include <stdlib.h>

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("not there: %s", part);
}

/* Samples of `count` times instead of the fixture's own, of one thread and stack. */
static void replace_samples(struct export_fixture *fixture, const uint64_t *times_ns, size_t count,
			    struct export_sample sample)
{
	export_samples_close(fixture->samples);
	assert_int_equal(export_samples_open(&fixture->samples), 0);
	for (size_t i = 0; i < count; i++) {
		sample.time_ns = times_ns[i];
		assert_int_equal(export_samples_add(fixture->samples, &sample), 0);
	}
	assert_int_equal(export_samples_end(fixture->samples), 0);
}

/* The first row's stack is main and alpha. */
static struct export_sample first_sample(const struct export_fixture *fixture)
{
	const struct profile_row *row = &fixture->profile.rows.items[0];
	return (struct export_sample){ .period = 1000, .stack = row->stack };
}

#define ALPHA(start, duration)                                                 \
	"{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":" start ",\"dur\":" duration \
	",\"name\":\"alpha\",\"cat\":\"baseline\",\"args\":{\"source\":\"/js/app.js:3\","

static void samples_that_are_near_are_one_call(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	/* A period, up to half of one more, and then a nanosecond more than that. What is written
	 * are eighths of a microsecond.
	 */
	replace_samples(&fixture, (const uint64_t[]){ 10000, 11000, 12500, 14001 }, 4,
			first_sample(&fixture));
	char *text = fixture_write(&fixture, &export_chrome, FIXTURE_CPU_CLOCK, NULL);
	has(text, ALPHA("9.000", "3.500"));
	has(text, ALPHA("13.000", "1.000"));
	free(text);
	fixture_close(&fixture);
}

/* Where weights are no times, the usual distance tells how long a sample lasts. */
static void distances_stand_for_periods(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	struct export_sample sample = first_sample(&fixture);
	sample.event = FIXTURE_CYCLES;
	replace_samples(&fixture, (const uint64_t[]){ 100000, 101000, 102000, 103000, 900000 }, 5,
			sample);
	char *text = fixture_write(&fixture, &export_chrome, FIXTURE_CYCLES, NULL);
	has(text, ALPHA("99.000", "4.000"));
	has(text, ALPHA("899.000", "1.000"));
	free(text);
	fixture_close(&fixture);
}

static void samples_without_times_follow_each_other(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	replace_samples(&fixture, (const uint64_t[]){ 0, 0, 0 }, 3, first_sample(&fixture));
	char *text = fixture_write(&fixture, &export_chrome, FIXTURE_CPU_CLOCK, NULL);
	has(text, ALPHA("0.000", "3.000"));
	free(text);
	fixture_close(&fixture);
}

/* Times from outside may be anything. */
static void any_time_is_written(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	struct export_sample sample = first_sample(&fixture);
	sample.period = UINT64_MAX;
	replace_samples(&fixture, (const uint64_t[]){ UINT64_MAX, 0, 5, UINT64_MAX }, 4, sample);
	char *text = fixture_write(&fixture, &export_chrome, FIXTURE_CPU_CLOCK, NULL);
	has(text, ALPHA("0.000", "18446744073709551.500"));
	free(text);
	fixture_close(&fixture);
}

/* The thread's name changed, as it does when a program starts: the calls do not overlap. */
static void a_thread_of_two_names_is_in_one_place_at_a_time(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	struct export_sample sample = first_sample(&fixture);
	fixture.profile.threads.items[1] = fixture.profile.threads.items[0];
	fixture.profile.threads.items[1].comm = intern_text(&fixture.profile.strings, "sh");
	export_samples_close(fixture.samples);
	assert_int_equal(export_samples_open(&fixture.samples), 0);
	for (uint32_t i = 0; i < 2; i++) {
		sample.thread = i;
		sample.time_ns = 10000 + 400 * i;
		assert_int_equal(export_samples_add(fixture.samples, &sample), 0);
	}
	assert_int_equal(export_samples_end(fixture.samples), 0);
	char *text = fixture_write(&fixture, &export_chrome, FIXTURE_CPU_CLOCK, NULL);
	has(text, ALPHA("9.000", "1.000"));
	has(text, ALPHA("10.000", "0.375"));
	has(text, "\"name\":\"thread_name\",\"pid\":7,\"tid\":7,\"args\":{\"name\":\"sh\"}");
	free(text);
	fixture_close(&fixture);
}

static void code_is_told_of(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	char *text = fixture_write(&fixture, &export_chrome, FIXTURE_CPU_CLOCK, NULL);
	size_t count = 0;
	for (const char *at = text; (at = strstr(at, "{\"ph\":\"i\"")); at++)
		count++;
	assert_int_equal(count, fixture.events.items.count);
	has(text, "\"cat\":\"code\",\"s\":\"t\",\"ts\":");
	has(text, "\"args\":{\"kind\":\"compiled\",\"tier\":\"turbofan\",");
	has(text, "\"args\":{\"kind\":\"fell_back\",\"tier\":\"sparkplug\",\"from\":\"turbofan\",");
	free(text);
	fixture_close(&fixture);
}

/* chrome_test.py unpacks it. */
static void a_name_tells_of_packing(void **state)
{
	(void)state;
	assert_ptr_equal(export_format_of_path("a.trace.json"), &export_chrome);
	assert_ptr_equal(export_format_of_path("a.chrome.json"), &export_chrome);
	assert_ptr_equal(export_format_of_path("a.trace.json.gz"), &export_chrome_gz);
	assert_ptr_equal(export_format_of_path("a.chrome.json.gz"), &export_chrome_gz);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_that_are_near_are_one_call),
		cmocka_unit_test(distances_stand_for_periods),
		cmocka_unit_test(samples_without_times_follow_each_other),
		cmocka_unit_test(any_time_is_written),
		cmocka_unit_test(a_thread_of_two_names_is_in_one_place_at_a_time),
		cmocka_unit_test(code_is_told_of),
		cmocka_unit_test(a_name_tells_of_packing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
