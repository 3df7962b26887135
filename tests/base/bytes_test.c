#include "base/bytes.h"

#include "test.h"

#include <stdlib.h>

static void reads_numbers_in_turn(void **state)
{
	(void)state;
	const uint8_t data[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	struct cursor c = cursor_over((struct bytes){ data, sizeof(data) });
	assert_int_equal(cursor_u8(&c), 0x01);
	assert_int_equal(cursor_u16(&c), 0x0302);
	assert_int_equal(cursor_u32(&c), 0x07060504);
	assert_true(cursor_u64(&c) == 0x0f0e0d0c0b0a0908);
	assert_int_equal(cursor_left(&c), 0);
	assert_false(cursor_failed(&c));
}

static void swaps_where_asked(void **state)
{
	(void)state;
	const uint8_t data[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 };
	struct cursor c = cursor_over((struct bytes){ data, sizeof(data) });
	c.swap = true;
	assert_int_equal(cursor_u16(&c), 0x0102);
	assert_int_equal(cursor_u32(&c), 0x03040506);
	assert_true(cursor_u64(&c) == 0x0708090a0b0c0d0e);
}

/* The examples of DWARF 5, figures 7.1 and 7.2; padding, and what is too long for 64 bits. */
static void reads_numbers_of_seven_bits_a_byte(void **state)
{
	(void)state;
	static const struct {
		uint8_t bytes[12];
		size_t size;
		uint64_t plain;
		int64_t with_sign;
	} cases[] = {
		{ { 0x02 }, 1, 2, 2 },
		{ { 0x7f }, 1, 127, -1 },
		{ { 0x7e }, 1, 126, -2 },
		{ { 0xff, 0x00 }, 2, 127, 127 },
		{ { 0x81, 0x7f }, 2, 0x3f81, -127 },
		{ { 0x80, 0x01 }, 2, 128, 128 },
		{ { 0x80, 0x7f }, 2, 0x3f80, -128 },
		{ { 0x81, 0x80, 0x80, 0x00 }, 4, 1, 1 },
		{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01 },
		  10,
		  UINT64_MAX,
		  -1 },
		{ { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f }, 11, 0, 0 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cursor c = cursor_over((struct bytes){ cases[i].bytes, cases[i].size });
		struct cursor again = c;
		assert_true(cursor_uleb(&c) == cases[i].plain);
		assert_true(cursor_sleb(&again) == cases[i].with_sign);
		assert_int_equal(cursor_left(&c) + cursor_left(&again), 0);
		assert_false(cursor_failed(&c) || cursor_failed(&again));
		/* Without its last byte it has no end. */
		c = cursor_over((struct bytes){ cases[i].bytes, cases[i].size - 1 });
		again = c;
		assert_true(cursor_uleb(&c) == 0 && cursor_failed(&c));
		assert_true(cursor_sleb(&again) == 0 && cursor_failed(&again));
	}
}

/* Whatever is read, a read that does not fit fails, returns zero, and so do all later ones. */
static void every_short_read_fails_and_stays_failed(void **state)
{
	(void)state;
	for (size_t size = 0; size < 8; size++) {
		/* Of exact size, so that ASan sees one byte too many. */
		uint8_t *data = malloc(size ? size : 1);
		assert_non_null(data);
		memset(data, 0xff, size);
		for (size_t wanted = 1; wanted <= 8; wanted *= 2) {
			struct cursor c = cursor_over((struct bytes){ data, size });
			const uint64_t got = wanted == 1   ? cursor_u8(&c)
					     : wanted == 2 ? cursor_u16(&c)
					     : wanted == 4 ? cursor_u32(&c)
							   : cursor_u64(&c);
			assert_int_equal(cursor_failed(&c), wanted > size);
			assert_int_equal(got != 0, wanted <= size);
			if (wanted <= size)
				continue;
			assert_int_equal(cursor_left(&c), 0);
			assert_int_equal(cursor_u8(&c), 0);
			assert_int_equal(cursor_take(&c, 1).size, 0);
			assert_string_equal(cursor_cstr(&c), "");
			assert_true(cursor_failed(&c));
		}
		free(data);
	}
}

static void takes_nothing_from_nothing(void **state)
{
	(void)state;
	struct cursor c = cursor_over((struct bytes){ NULL, 0 });
	assert_int_equal(cursor_take(&c, 0).size, 0);
	assert_non_null(cursor_take(&c, 0).data);
	assert_false(cursor_failed(&c));
	assert_int_equal(cursor_take(&c, SIZE_MAX).size, 0);
	assert_true(cursor_failed(&c));
}

static void a_sub_cursor_keeps_to_its_part(void **state)
{
	(void)state;
	const uint8_t data[] = { 1, 2, 3, 4, 5, 6 };
	struct cursor c = cursor_over((struct bytes){ data, sizeof(data) });
	c.swap = true;
	struct cursor sub = cursor_sub(&c, 4);
	assert_int_equal(cursor_u16(&sub), 0x0102);
	assert_int_equal(cursor_u32(&sub), 0);
	assert_true(cursor_failed(&sub));
	assert_false(cursor_failed(&c));
	assert_int_equal(cursor_u16(&c), 0x0506);

	sub = cursor_sub(&c, 1);
	assert_true(cursor_failed(&sub));
	assert_true(cursor_failed(&c));
}

static void strings_end_inside(void **state)
{
	(void)state;
	static const char text[] = { 'a', 'b', '\0', '\0', 'c' };
	struct cursor c = cursor_over((struct bytes){ (const uint8_t *)text, sizeof(text) });
	assert_string_equal(cursor_cstr(&c), "ab");
	assert_string_equal(cursor_cstr(&c), "");
	assert_false(cursor_failed(&c));
	assert_string_equal(cursor_cstr(&c), "");
	assert_true(cursor_failed(&c));
}

static void counts_are_held_against_what_is_left(void **state)
{
	(void)state;
	const uint8_t data[17] = { 0 };
	const struct cursor c = cursor_over((struct bytes){ data, sizeof(data) });
	assert_true(cursor_can_hold(&c, 2, 8));
	assert_false(cursor_can_hold(&c, 3, 8));
	assert_false(cursor_can_hold(&c, UINT64_MAX, 8));
	assert_true(cursor_can_hold(&c, 0, 100));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_numbers_in_turn),
		cmocka_unit_test(swaps_where_asked),
		cmocka_unit_test(reads_numbers_of_seven_bits_a_byte),
		cmocka_unit_test(every_short_read_fails_and_stays_failed),
		cmocka_unit_test(takes_nothing_from_nothing),
		cmocka_unit_test(a_sub_cursor_keeps_to_its_part),
		cmocka_unit_test(strings_end_inside),
		cmocka_unit_test(counts_are_held_against_what_is_left),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
