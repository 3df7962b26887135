/* Formats without memory: each allocation fails once. */
#include "export/fixture.h"
#include "failing_memory.h"
#include "test.h"

#include "base/status.h"

static int take(void *context, const void *data, size_t size)
{
	(void)context;
	(void)data;
	(void)size;
	return 0;
}

static void fails_at_each(const struct export_format *format, const struct export_options *options)
{
	struct export_fixture fixture;
	fixture_open(&fixture);
	const struct export_view view = { .profile = &fixture.profile,
					  .event = FIXTURE_CPU_CLOCK,
					  .samples = fixture.samples,
					  .options = options,
					  .about = &fixture.about,
					  .events = &fixture.events };
	size_t failures = 0;
	for (size_t n = 1;; n++) {
		struct export_out out = { .write = take };
		memory_fail_at(n);
		const int got = export_run(format, &out, &view);
		const bool has_failed = memory_has_failed();
		memory_fail_at(0);
		export_out_clear(&out);
		if (!has_failed)
			break;
		assert_int_equal(got, STATUS_NO_MEMORY);
		failures++;
	}
	assert_true(failures > 3);
	fixture_close(&fixture);
}

static const struct export_options plain = { .title = "" };

static void folded(void **state)
{
	(void)state;
	fails_at_each(&export_folded, &(struct export_options){ .title = "", .threads = true });
}

static void svg(void **state)
{
	(void)state;
	fails_at_each(&export_svg, &plain);
}

static void chrome(void **state)
{
	(void)state;
	fails_at_each(&export_chrome, &plain);
}

static void callgrind(void **state)
{
	(void)state;
	fails_at_each(&export_callgrind, &plain);
}

static void speedscope(void **state)
{
	(void)state;
	fails_at_each(&export_speedscope, &plain);
}

static void firefox(void **state)
{
	(void)state;
	fails_at_each(&export_firefox, &plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folded),     cmocka_unit_test(svg),
		cmocka_unit_test(chrome),     cmocka_unit_test(callgrind),
		cmocka_unit_test(speedscope), cmocka_unit_test(firefox),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
