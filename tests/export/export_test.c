/* How formats are found, and what holds the samples of threads. */
#include "base/status.h"
#include "export/export.h"
#include "export/samples.h"
#include "test.h"

#include "base/status.h"

static void a_path_tells_its_format(void **state)
{
	(void)state;
	assert_ptr_equal(export_format_of_path("a/b.folded"), &export_folded);
	assert_ptr_equal(export_format_of_path("b.collapsed"), &export_folded);
	assert_null(export_format_of_path(".folded"));
	assert_null(export_format_of_path("b.folded.txt"));
	assert_ptr_equal(export_format_find("folded"), &export_folded);
	assert_null(export_format_find("folde"));
}

/* Thread t has the times t, t + THREADS, ... */
enum { THREADS = 7, EACH = 1000 };

struct expected {
	uint64_t next;
	uint64_t count;
};

static int check(void *context, const struct export_sample *sample)
{
	struct expected *expected = context;
	assert_int_equal(sample->time_ns, expected->next);
	assert_int_equal(sample->period, sample->time_ns * 3);
	expected->next += THREADS;
	expected->count++;
	return 0;
}

static int stop(void *context, const struct export_sample *sample)
{
	(void)sample;
	(void)context;
	return STATUS_TOO_BIG;
}

static void samples_come_back_by_thread(void **state)
{
	(void)state;
	struct export_samples *samples;
	assert_int_equal(export_samples_open(&samples), 0);
	for (uint64_t i = 0; i < THREADS * EACH; i++)
		assert_int_equal(export_samples_add(samples,
						    &(struct export_sample){
							.thread = (uint32_t)(i % THREADS),
							.time_ns = i,
							.period = i * 3,
						    }),
				 0);
	assert_int_equal(export_samples_end(samples), 0);
	for (unsigned round = 0; round < 2; round++)
		for (uint32_t thread = 0; thread < THREADS; thread++) {
			struct expected expected = { .next = thread };
			assert_int_equal(export_samples_each(samples, thread, check, &expected), 0);
			assert_int_equal(expected.count, EACH);
			assert_int_equal(export_samples_count(samples, thread), EACH);
		}
	assert_int_equal(export_samples_count(samples, THREADS), 0);
	assert_int_equal(export_samples_each(samples, THREADS, stop, NULL), 0);
	assert_int_equal(export_samples_each(samples, 0, stop, NULL), STATUS_TOO_BIG);
	export_samples_close(samples);
}

static int check_in_time(void *context, const struct export_sample *sample)
{
	uint64_t *next = context;
	assert_int_equal(sample->time_ns, *next);
	assert_int_equal(sample->thread, *next * *next % THREADS);
	(*next)++;
	return 0;
}

/* Of threads of very different numbers of samples. */
static void samples_come_back_in_time(void **state)
{
	(void)state;
	struct export_samples *samples;
	uint64_t next = 0;
	assert_int_equal(export_samples_open(&samples), 0);
	assert_int_equal(export_samples_in_time(samples, stop, NULL), 0);
	for (uint64_t i = 0; i < (uint64_t)THREADS * EACH; i++)
		assert_int_equal(export_samples_add(samples,
						    &(struct export_sample){
							.thread = (uint32_t)(i * i % THREADS),
							.time_ns = i,
						    }),
				 0);
	assert_int_equal(export_samples_end(samples), 0);
	assert_int_equal(export_samples_in_time(samples, check_in_time, &next), 0);
	assert_int_equal(next, THREADS * EACH);
	assert_int_equal(export_samples_in_time(samples, stop, NULL), STATUS_TOO_BIG);
	export_samples_close(samples);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_tells_its_format),
		cmocka_unit_test(samples_come_back_by_thread),
		cmocka_unit_test(samples_come_back_in_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
