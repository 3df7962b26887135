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

static void threads_have_their_times(void **state)
{
	(void)state;
	static struct export_life lives[] = {
		{ 1, 2, 0, 50 },
		{ 1, 2, 60, 70 },
		{ 9, 2, 5, 0 },
		{ 1, 3, 10, 20 },
	};
	struct export_about about = { 0 };
	about.lives.items = lives;
	about.lives.count = sizeof(lives) / sizeof(*lives);
	assert_int_equal(export_life_of(&about, 1, 2, 40).ends_ns, 50);
	assert_int_equal(export_life_of(&about, 1, 2, 60).ends_ns, 70);
	assert_int_equal(export_life_of(&about, 9, 2, 60).begins_ns, 5);
	assert_int_equal(export_life_of(&about, 9, 2, 4).begins_ns, 0);
	assert_int_equal(export_life_of(&about, 1, 3, 10).begins_ns, 10);
	assert_int_equal(export_life_of(&about, 1, 4, 10).ends_ns, 0);
	assert_int_equal(export_life_of(&about, 8, 3, 10).ends_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_known),
		cmocka_unit_test(clocks_are_laid_on_each_other),
		cmocka_unit_test(things_are_found),
		cmocka_unit_test(threads_have_their_times),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
