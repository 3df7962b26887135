/* What is known of a recording, and found in it. */
#include "export/about.h"
#include "test.h"

static void nothing_is_known(void **state)
{
	(void)state;
	struct export_about about = { 0 };
	assert_int_equal(export_wall_ns(&about, 5), 0);
	assert_null(export_object_of(&about, 1));
	assert_string_equal(export_program_of(&about, 1), "");
	assert_int_equal(export_rate_of(&about, 0).frequency, 0);
	export_about_clear(&about);
}

static void clocks_are_laid_on_each_other(void **state)
{
	(void)state;
	const struct export_about about = { .wall_ns = 1000, .clock_ns = 100 };
	assert_int_equal(export_wall_ns(&about, 150), 1050);
	assert_int_equal(export_wall_ns(&about, 40), 940);
	assert_int_equal(export_wall_ns(&about, 100), 1000);
	assert_int_equal(export_wall_ns(&about, UINT64_MAX), 0);
	const struct export_about early = { .wall_ns = 10, .clock_ns = 100 };
	assert_int_equal(export_wall_ns(&early, 0), 0);
}

static void things_are_found(void **state)
{
	(void)state;
	struct export_about about = { 0 };
	for (uint32_t i = 0; i < 7; i++) {
		struct export_object *object = vector_push(&about.objects);
		struct export_program *program = vector_push(&about.programs);
		assert_non_null(object);
		assert_non_null(program);
		*object = (struct export_object){ .path = i * 2 + 1, .end_off = i };
		*program = (struct export_program){ i * 2 + 1, &"abcdefg"[i] };
	}
	for (uint32_t i = 0; i < 7; i++) {
		assert_int_equal(export_object_of(&about, i * 2 + 1)->end_off, i);
		assert_null(export_object_of(&about, i * 2));
		assert_string_equal(export_program_of(&about, i * 2 + 1), &"abcdefg"[i]);
		assert_string_equal(export_program_of(&about, i * 2), "");
	}
	export_about_clear(&about);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_known),
		cmocka_unit_test(clocks_are_laid_on_each_other),
		cmocka_unit_test(things_are_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
