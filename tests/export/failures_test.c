/* Every format of the list when something fails: each allocation once, each write once. The page is
 * made elsewhere.
 */
#include "export/fixture.h"
#include "failing_memory.h"
#include "test.h"

#include "base/status.h"

/* The next format from *index on that export_run() writes; NULL behind the last. */
static const struct export_format *next_format(size_t *index)
{
	const struct export_format *format;
	do
		format = export_format_at((*index)++);
	while (format && format->is_page);
	return format;
}

static uint32_t event_for(const struct export_format *format)
{
	return format->has_events ? (uint32_t)EXPORT_ALL_EVENTS : FIXTURE_CPU_CLOCK;
}

static int take(void *context, const void *data, size_t size)
{
	(void)context;
	(void)data;
	(void)size;
	return 0;
}

static void fails_at_each_allocation(const struct export_format *format,
				     const struct export_fixture *fixture)
{
	const struct export_view view = { .profile = &fixture->profile,
					  .event = event_for(format),
					  .samples = fixture->samples,
					  .options = &fixture->options,
					  .about = &fixture->about,
					  .events = &fixture->events };
	size_t failures = 0;
	for (size_t n = 1;; n++) {
		struct export_out out = { .write = take };
		memory_fail_at(n);
		const int got = export_run(format, &out, &view);
		const bool has_failed = memory_has_failed();
		memory_fail_at(0);
		export_out_clear(&out);
		assert_int_equal(got, has_failed ? STATUS_NO_MEMORY : 0);
		if (!has_failed)
			break;
		failures++;
	}
	assert_true(failures > 3);
}

static void each_allocation_fails_once(void **state)
{
	struct export_fixture fixture;
	const struct export_format *format;
	(void)state;
	fixture_open(&fixture);
	fixture.options.threads = true;
	for (size_t index = 0; (format = next_format(&index));)
		fails_at_each_allocation(format, &fixture);
	fixture_close(&fixture);
}

static void each_write_fails_once(void **state)
{
	struct export_fixture fixture;
	const struct export_format *format;
	(void)state;
	fixture_open(&fixture);
	for (size_t index = 0; (format = next_format(&index));)
		fixture_fails(&fixture, format, event_for(format));
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_allocation_fails_once),
		cmocka_unit_test(each_write_fails_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
