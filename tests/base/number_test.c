#include "base/number.h"

#include "test.h"

static struct bytes text(const char *t)
{
	return (struct bytes){ (const uint8_t *)t, strlen(t) };
}

static void reads_up_to_the_first_other_byte(void **state)
{
	(void)state;
	uint64_t value = 5;
	assert_int_equal(number_read(text("7f00Ab r-xp"), 16, &value), 6);
	assert_int_equal(value, 0x7f00ab);
	assert_int_equal(number_read(text("12,"), 10, &value), 2);
	assert_int_equal(value, 12);
	assert_int_equal(number_read(text("779"), 8, &value), 2);
	assert_int_equal(value, 077);
	assert_int_equal(number_read((struct bytes){ (const uint8_t *)"123", 2 }, 10, &value), 2);
	assert_int_equal(value, 12);
	for (const char *const *wrong = (const char *const[]){ "", "-1", "+1", " 1", "g", NULL };
	     *wrong; wrong++) {
		value = 42;
		assert_int_equal(number_read(text(*wrong), 16, &value), 0);
		assert_int_equal(value, 42);
	}
}

static void refuses_what_does_not_fit(void **state)
{
	(void)state;
	uint64_t value = 42;
	assert_int_equal(number_read(text("18446744073709551615"), 10, &value), 20);
	assert_true(value == UINT64_MAX);
	value = 42;
	assert_int_equal(number_read(text("18446744073709551616"), 10, &value), 0);
	assert_int_equal(number_read(text("10000000000000000"), 16, &value), 0);
	assert_int_equal(value, 42);
	assert_int_equal(number_read(text("0000000000000000000000001"), 16, &value), 25);
	assert_int_equal(value, 1);
}

static void whole_texts(void **state)
{
	(void)state;
	uint64_t value = 42;
	assert_false(number_parse(text("12 "), 10, &value));
	assert_false(number_parse(text("0x12"), 16, &value));
	assert_false(number_parse_text("", &value));
	assert_int_equal(value, 42);
	assert_true(number_parse(text("ff"), 16, &value));
	assert_int_equal(value, 255);
	assert_true(number_parse_text("007", &value));
	assert_int_equal(value, 7);
}

static void skips_an_id(void **state)
{
	(void)state;
	uint32_t value = 42;
	const char *text = "4294967295/jit";
	assert_ptr_equal(number_skip_u32(text, &value), text + 10);
	assert_int_equal(value, UINT32_MAX);
	value = 42;
	assert_null(number_skip_u32("4294967296", &value));
	assert_null(number_skip_u32("/1", &value));
	assert_null(number_skip_u32("", &value));
	assert_int_equal(value, 42);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_up_to_the_first_other_byte),
		cmocka_unit_test(refuses_what_does_not_fit),
		cmocka_unit_test(whole_texts),
		cmocka_unit_test(skips_an_id),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
