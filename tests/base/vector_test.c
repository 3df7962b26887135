#include "base/vector.h"

#include "failing_memory.h"
#include "test.h"

struct point {
	uint64_t x;
	uint8_t y;
};

static void grows_zeroed_and_keeps_what_it_holds(void **state)
{
	(void)state;
	VECTOR(struct point) points = { 0 };
	for (uint64_t i = 0; i < 1000; i++) {
		struct point *p = vector_push(&points);
		assert_non_null(p);
		assert_true(p->x == 0 && p->y == 0);
		*p = (struct point){ i, (uint8_t)i };
	}
	assert_int_equal(points.count, 1000);
	for (uint64_t i = 0; i < 1000; i++)
		assert_true(points.items[i].x == i && points.items[i].y == (uint8_t)i);
	/* Also memory that was used before comes back zeroed. */
	points.count = 0;
	const struct point *again = vector_push(&points);
	assert_true(again->x == 0 && again->y == 0);
	vector_clear(&points);
	assert_null(points.items);
	assert_int_equal(points.count + points.capacity, 0);
}

static void reserves_and_refuses(void **state)
{
	(void)state;
	VECTOR(uint64_t) words = { 0 };
	assert_true(vector_reserve(&words, 100));
	assert_true(words.capacity >= 100);
	assert_int_equal(words.count, 0);
	const uint64_t *before = words.items;
	for (int i = 0; i < 100; i++)
		assert_non_null(vector_push(&words));
	assert_ptr_equal(before, words.items);
	assert_false(vector_reserve(&words, SIZE_MAX));
	assert_false(vector_reserve(&words, SIZE_MAX / 8));
	assert_int_equal(words.count, 100);
	vector_clear(&words);
}

static void keeps_its_items_without_memory(void **state)
{
	(void)state;
	VECTOR(uint32_t) numbers = { 0 };
	for (uint32_t i = 0; i < 500; i++) {
		memory_fail_at(1);
		uint32_t *item = vector_push(&numbers);
		if (!item) {
			assert_true(memory_has_failed());
			assert_int_equal(numbers.count, i);
			memory_fail_at(0);
			item = vector_push(&numbers);
		}
		*item = i;
	}
	memory_fail_at(0);
	for (uint32_t i = 0; i < 500; i++)
		assert_int_equal(numbers.items[i], i);
	vector_clear(&numbers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows_zeroed_and_keeps_what_it_holds),
		cmocka_unit_test(reserves_and_refuses),
		cmocka_unit_test(keeps_its_items_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
