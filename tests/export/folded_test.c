/* Folded stacks, of the fixture. */
#include "export/fixture.h"
#include "test.h"

#include <stdlib.h>

static void writes_its_samples(void **state)
{
	struct export_fixture fixture;
	(void)state;
	fixture_open(&fixture);
	char *text = fixture_write(&fixture, &export_folded, FIXTURE_CPU_CLOCK, NULL);
	assert_non_null(text);
	free(text);
	fixture_fails(&fixture, &export_folded, FIXTURE_CPU_CLOCK);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_its_samples),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
