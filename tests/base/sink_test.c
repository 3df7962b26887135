#include "base/sink.h"

#include "failing_memory.h"
#include "test.h"

static void writes_what_a_cursor_reads(void **state)
{
	(void)state;
	struct sink s = { 0 };
	sink_u8(&s, 1);
	sink_u16(&s, 2);
	sink_u32(&s, 3);
	sink_u64(&s, 4);
	sink_text(&s, "ab");
	sink_cstr(&s, "cd");
	sink_zeros(&s, 3);
	sink_put(&s, NULL, 0);
	assert_false(sink_failed(&s));

	struct cursor c = cursor_over(sink_bytes(&s));
	assert_int_equal(cursor_u8(&c), 1);
	assert_int_equal(cursor_u16(&c), 2);
	assert_int_equal(cursor_u32(&c), 3);
	assert_int_equal(cursor_u64(&c), 4);
	assert_string_equal(cursor_cstr(&c), "abcd");
	assert_memory_equal(cursor_take(&c, 3).data, "\0\0", 3);
	assert_int_equal(cursor_left(&c), 0);
	sink_clear(&s);
	assert_null(s.data);
}

static void formats_text_of_any_length(void **state)
{
	(void)state;
	for (int length = 0; length < 600; length += length < 250 || length > 260 ? 7 : 1) {
		struct sink s = { 0 };
		sink_text(&s, "<");
		sink_printf(&s, "%0*d", length, 0);
		sink_text(&s, ">");
		sink_u8(&s, '\0');
		assert_false(sink_failed(&s));
		const size_t digits = length ? (size_t)length : 1;
		assert_int_equal(strlen((char *)s.data), digits + 2);
		assert_int_equal(strspn((char *)s.data + 1, "0"), digits);
		sink_clear(&s);
	}
}

static void groups_digits_by_three(void **state)
{
	static const struct {
		uint64_t count;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ 999, "999" },
		{ 1000, "1,000" },
		{ 1234567, "1,234,567" },
		{ UINT64_MAX, "18,446,744,073,709,551,615" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sink s = { 0 };
		sink_grouped(&s, cases[i].count);
		sink_u8(&s, 0);
		assert_string_equal(s.data, cases[i].text);
		sink_clear(&s);
	}
}

static void patches_only_what_is_there(void **state)
{
	(void)state;
	struct sink s = { 0 };
	sink_zeros(&s, 12);
	sink_patch_u32(&s, 0, 7);
	sink_patch_u64(&s, 4, 8);
	sink_patch_u32(&s, 9, 0xffffffff);
	sink_patch_u64(&s, 5, UINT64_MAX);
	sink_patch_u32(&s, SIZE_MAX, 1);
	struct cursor c = cursor_over(sink_bytes(&s));
	assert_int_equal(cursor_u32(&c), 7);
	assert_int_equal(cursor_u64(&c), 8);
	sink_clear(&s);
}

static void stops_at_its_limit_and_stays_failed(void **state)
{
	(void)state;
	struct sink s = { .limit = 10 };
	sink_zeros(&s, 10);
	assert_false(sink_failed(&s));
	sink_u8(&s, 1);
	assert_true(sink_failed(&s));
	assert_int_equal(s.size, 10);
	assert_null(sink_reserve(&s, 0));

	sink_reset(&s);
	assert_false(sink_failed(&s));
	sink_u64(&s, 1);
	sink_u64(&s, 2); /* would end behind the limit: not a byte of it is written */
	assert_int_equal(s.size, 8);
	assert_true(sink_failed(&s));
	sink_clear(&s);
	assert_int_equal(s.limit, 10);
	assert_null(sink_reserve(&s, SIZE_MAX));
	sink_clear(&s);
}

static void can_be_cut(void **state)
{
	(void)state;
	struct sink s = { 0 };
	sink_text(&s, "longer");
	sink_cut(&s, 10);
	assert_int_equal(s.size, 6);
	sink_cut(&s, 4);
	sink_text(&s, "!");
	assert_int_equal(s.size, 5);
	assert_memory_equal(s.data, "long!", 5);
	sink_clear(&s);
}

static void fails_without_memory(void **state)
{
	(void)state;
	for (size_t n = 1;; n++) {
		struct sink s = { 0 };
		memory_fail_at(n);
		for (int i = 0; i < 100; i++)
			sink_printf(&s, "%0300d", i);
		assert_int_equal(sink_failed(&s), memory_has_failed());
		assert_int_equal(s.size % 300, 0);
		const bool is_done = !memory_has_failed();
		memory_fail_at(0);
		sink_clear(&s);
		if (is_done) {
			assert_true(n > 5);
			break;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_what_a_cursor_reads),
		cmocka_unit_test(formats_text_of_any_length),
		cmocka_unit_test(groups_digits_by_three),
		cmocka_unit_test(patches_only_what_is_there),
		cmocka_unit_test(stops_at_its_limit_and_stays_failed),
		cmocka_unit_test(can_be_cut),
		cmocka_unit_test(fails_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
