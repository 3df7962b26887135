#include "base/status.h"

#include "test.h"

#include <string.h>

static void every_status_has_a_text_of_its_own(void **state)
{
	(void)state;
	assert_int_equal(STATUS_OK, 0);
	const char *texts[64] = { status_text(0) };
	int count = 1;
#define X(name, text)                                          \
	assert_int_equal(STATUS_##name, -count);               \
	assert_string_equal(status_text(STATUS_##name), text); \
	for (int i = 0; i < count; i++)                        \
		assert_string_not_equal(texts[i], text);       \
	texts[count++] = text;
	STATUS_LIST(X)
#undef X
	assert_string_equal(status_text(-count), "unknown status");
	assert_string_equal(status_text(1), "unknown status");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_status_has_a_text_of_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
