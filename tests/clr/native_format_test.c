/* Numbers, sparse arrays and hash tables of ReadyToRun images, written by hand. */
#include "base/status.h"
#include "clr/image_internal.h"
#include "test.h"

#define BYTES(...)                                                 \
	((struct bytes){ .data = (const uint8_t[]){ __VA_ARGS__ }, \
			 .size = sizeof((const uint8_t[]){ __VA_ARGS__ }) })

static void test_numbers(void **state)
{
	(void)state;
	static const struct {
		uint8_t bytes[5];
		size_t size;
		uint32_t value;
		int32_t with_sign;
	} cases[] = {
		{ { 0x18 }, 1, 12, 12 },
		{ { 0xfe }, 1, 127, -1 },
		{ { 0xa1, 0x0f }, 2, 1000, 1000 },
		{ { 0xfd, 0xff }, 2, 0x3fff, -1 },
		{ { 0x03, 0x00, 0x80 }, 3, 0x100000, -0x100000 },
		{ { 0x17, 0x00, 0x00, 0x40 }, 4, 0x4000001, 0x4000001 },
		{ { 0xf7, 0xff, 0xff, 0xff }, 4, 0xfffffff, -1 },
		{ { 0x0f, 0x78, 0x56, 0x34, 0x82 }, 5, 0x82345678, (int32_t)0x82345678 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cursor c = cursor_over((struct bytes){ cases[i].bytes, cases[i].size });
		struct cursor again = c;
		assert_int_equal(native_unsigned(&c), cases[i].value);
		assert_int_equal(native_signed(&again), cases[i].with_sign);
		assert_false(cursor_failed(&c));
		assert_int_equal(cursor_left(&c), 0);
		assert_int_equal(cursor_left(&again), 0);
		struct cursor cut =
		    cursor_over((struct bytes){ cases[i].bytes, cases[i].size - 1 });
		native_unsigned(&cut);
		assert_true(cursor_failed(&cut));
	}
	struct cursor longer = cursor_over(BYTES(0x1f, 0, 0, 0, 0, 0));
	native_unsigned(&longer);
	assert_true(cursor_failed(&longer));
}

/* 20 elements: the first block has a tree with 0, 1 and 15, the second 18 alone. */
static void test_array(void **state)
{
	(void)state;
	const struct bytes bytes =
	    BYTES(20 << 2 << 1,       /* and offsets of one byte, counted from behind this one */
		  2, 10,              /* where the blocks are */
		  (3 | 6 << 2) << 1,  /* 2, bit 8: both, the higher one 6 on */
		  1 << 1,             /* bit 4: the lower one */
		  1 << 1,             /* bit 2: the lower one */
		  (3 | 2 << 2) << 1,  /* bit 1: both, the higher one 2 on */
		  0xaa, 0xbb,         /* elements 0 and 1 */
		  15 << 2 << 1, 0xcc, /* 8: 15 alone */
		  2 << 2 << 1, 0xdd); /* 10: 18 alone, the third of its block */
	struct native_array array;
	uint32_t off = 0;
	assert_true(native_array_open(&array, bytes));
	assert_int_equal(array.count, 20);
	static const struct {
		uint32_t index;
		uint8_t value; /* 0: none */
	} elements[] = { { 0, 0xaa },  { 1, 0xbb },  { 2, 0 },  { 7, 0 },
			 { 14, 0 },    { 15, 0xcc }, { 16, 0 }, { 17, 0 },
			 { 18, 0xdd }, { 19, 0 },    { 20, 0 }, { UINT32_MAX, 0 } };
	for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++) {
		const bool is_there = native_array_find(&array, elements[i].index, &off);
		assert_int_equal(is_there, elements[i].value != 0);
		if (is_there)
			assert_int_equal(bytes.data[off], elements[i].value);
	}
	assert_false(native_array_open(&array, BYTES(0x06 << 1))); /* offsets of eight bytes */
	assert_false(native_array_open(&array, BYTES(0x7e, 0)));   /* two blocks, one offset */
	assert_false(native_array_open(&array, (struct bytes){ 0 }));
}

/* Two buckets: one with two entries, one with none. Entries are a hash and how far on they are. */
static void test_table(void **state)
{
	(void)state;
	struct native_table table;
	uint32_t off = 0;
	assert_true(native_table_open(
	    &table, BYTES(1 << 2, 3, 7, 7, 0x11, 3 << 1, 0x22, 2 << 1, 0xaa, 0xbb)));
	assert_int_equal(native_table_next(&table, &off), 1);
	assert_int_equal(off, 8);
	assert_int_equal(native_table_next(&table, &off), 1);
	assert_int_equal(off, 9);
	assert_int_equal(native_table_next(&table, &off), 0);
	assert_false(native_table_open(&table, BYTES(1 << 2, 3, 7)));
	assert_false(native_table_open(&table, BYTES(3, 1, 1, 1, 1, 1, 1, 1, 1)));
}

static void test_damaged_tables(void **state)
{
	(void)state;
	struct native_table table;
	uint32_t off;
	/* A bucket that begins in front of the one before, so that its bytes count twice. */
	assert_true(native_table_open(&table, BYTES(1 << 2, 3, 5, 3, 0x11, 2 << 1, 0, 0)));
	assert_int_equal(native_table_next(&table, &off), 1);
	assert_int_equal(native_table_next(&table, &off), STATUS_CORRUPT);
	/* One that ends behind the table, an entry that lies behind it, and one in front. */
	assert_true(native_table_open(&table, BYTES(0, 2, 9, 0x11, 0)));
	assert_int_equal(native_table_next(&table, &off), STATUS_CORRUPT);
	assert_true(native_table_open(&table, BYTES(0, 2, 4, 0x11, 9 << 1)));
	assert_int_equal(native_table_next(&table, &off), STATUS_CORRUPT);
	assert_true(native_table_open(&table, BYTES(0, 2, 4, 0x11, 0xf6)));
	assert_int_equal(native_table_next(&table, &off), STATUS_CORRUPT);
}

static void test_nibbles(void **state)
{
	(void)state;
	/* 5; 0b001'010 in two nibbles; then, from the next byte on, 7 */
	struct nibbles nibbles = { .bytes = cursor_over(BYTES(0x95, 0x02, 0x07)) };
	assert_int_equal(nibbles_unsigned(&nibbles), 5);
	assert_int_equal(nibbles_unsigned(&nibbles), 10);
	nibbles_align(&nibbles);
	assert_int_equal(nibbles_unsigned(&nibbles), 7);
	assert_int_equal(nibbles_unsigned(&nibbles), 0);
	assert_false(cursor_failed(&nibbles.bytes));
	nibbles_unsigned(&nibbles);
	assert_true(cursor_failed(&nibbles.bytes));
	nibbles = (struct nibbles){
		.bytes = cursor_over(BYTES(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)),
	};
	nibbles_unsigned(&nibbles); /* longer than 32 bits are */
	assert_true(cursor_failed(&nibbles.bytes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers), cmocka_unit_test(test_array),
		cmocka_unit_test(test_table),   cmocka_unit_test(test_damaged_tables),
		cmocka_unit_test(test_nibbles),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
