/* Each allocation fails once: the call says so, and leaks nothing. */
#include "annotate/fixture.h"
#include "failing_memory.h"
#include "test.h"

#include "base/status.h"

static void building(void **state)
{
	(void)state;
	static const char *const questions[] = { "fib", "g", "fib.js", "g.js:7", NULL };
	for (int q = 0; q < 5; q++) {
		size_t n = 1;
		for (bool has_failed = true; has_failed; n++) {
			struct fixture f;
			fixture_begin(&f);
			fixture_fib(&f);
			memory_fail_at(n);
			const int got = fixture_build(&f, questions[q]);
			has_failed = memory_has_failed();
			memory_fail_at(0);
			assert_int_equal(got, has_failed ? STATUS_NO_MEMORY : 0);
			fixture_end(&f);
		}
		assert_true(n > 10);
	}
}

static void writing(void **state)
{
	(void)state;
	const struct annotate_options options = { .context = 1, .all_versions = true };
	struct fixture f;
	fixture_begin(&f);
	fixture_fib(&f);
	assert_int_equal(fixture_build(&f, "fib"), 0);
	for (enum fixture_format format = FIXTURE_TEXT; format <= FIXTURE_HTML; format++) {
		size_t n = 1;
		for (bool has_failed = true; has_failed; n++) {
			struct sink out = { 0 };
			memory_fail_at(n);
			const char *text = fixture_write(&f, &out, format, &options);
			has_failed = memory_has_failed();
			memory_fail_at(0);
			assert_int_equal(text == NULL, has_failed);
			sink_clear(&out);
		}
		assert_true(n > 3);
	}
	fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(building),
		cmocka_unit_test(writing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
