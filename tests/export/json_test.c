/* The formats that are JSON: their writers' failures. json_test.py reads what they write. */
#include "export/fixture.h"
#include "test.h"

static void a_failed_write_ends_it(void **state)
{
	const struct export_format *const formats[] = { &export_speedscope, &export_firefox };
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		fixture_fails(&fixture, formats[i], EXPORT_ALL_EVENTS);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failed_write_ends_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
