#include "record/covered.h"

#include "failing_memory.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { SPACE = 64 << 10 };

static unsigned random_state = 1;

static unsigned next_random(unsigned below)
{
	random_state = random_state * 1103515245u + 12345u;
	return (random_state >> 8) % below;
}

static bool naive_meets(const bool *bytes, size_t from, size_t size)
{
	for (size_t i = from; i < from + size; i++)
		if (bytes[i])
			return true;
	return false;
}

/* Random ranges, mostly of a function's size, against an array of bytes. */
static void test_against_a_naive_one(void **state)
{
	(void)state;
	static const uint64_t base = 0x7f0000000000;
	for (int round = 0; round < 50; round++) {
		struct covered covered = { 0 };
		bool bytes[SPACE] = { 0 };
		for (int i = 0; i < 200; i++) {
			const size_t limit = next_random(10) ? 300 : 3 * COVERED_PAGE_BYTES;
			const size_t size = 1 + next_random((unsigned)limit);
			const size_t from = next_random((unsigned)(SPACE - size));
			assert_int_equal(covered_meets(&covered, base + from, size),
					 naive_meets(bytes, from, size));
			if (next_random(3))
				continue;
			assert_true(covered_add(&covered, base + from, size));
			memset(bytes + from, true, size);
		}
		covered_clear(&covered);
	}
}

static void test_neighbours_do_not_meet(void **state)
{
	(void)state;
	struct covered covered = { 0 };
	assert_false(covered_meets(&covered, 0x1000, 0x1000));
	assert_true(covered_add(&covered, 0x1030, 0x41));
	assert_false(covered_meets(&covered, 0x1000, 0x30));
	assert_false(covered_meets(&covered, 0x1071, 0x1000));
	assert_true(covered_meets(&covered, 0x1000, 0x31));
	assert_true(covered_meets(&covered, 0x1070, 1));
	assert_false(covered_meets(&covered, 0x1040, 0));
	covered_clear(&covered);
}

static void test_the_ends_of_the_address_space(void **state)
{
	(void)state;
	struct covered covered = { 0 };
	assert_true(covered_add(&covered, 0, 1));
	assert_true(covered_add(&covered, UINT64_MAX - 8, 8));
	assert_true(covered_meets(&covered, 0, 4096));
	assert_true(covered_meets(&covered, UINT64_MAX - 4096, 4096));
	assert_false(covered_meets(&covered, 1, 4096));
	covered_clear(&covered);
}

static void test_merge(void **state)
{
	(void)state;
	struct covered one = { 0 };
	struct covered other = { 0 };
	assert_true(covered_add(&one, 0x1000, 16));
	assert_true(covered_add(&other, 0x1020, 16));
	assert_true(covered_add(&other, 0x9ff8, 16));
	assert_true(covered_merge(&one, &other));
	covered_clear(&other);
	assert_true(covered_meets(&one, 0x1000, 16));
	assert_false(covered_meets(&one, 0x1010, 16));
	assert_true(covered_meets(&one, 0x102f, 1));
	assert_true(covered_meets(&one, 0xa007, 1));
	assert_false(covered_meets(&one, 0xa008, 100));
	covered_clear(&one);
}

static void test_its_memory_is_bounded(void **state)
{
	(void)state;
	struct covered covered = { 0 };
	for (uint64_t i = 0; i < COVERED_PAGE_LIMIT; i++)
		assert_true(covered_add(&covered, i * 0x10000, 1));
	assert_false(covered_add(&covered, 0x1000, 1));
	assert_true(covered_add(&covered, 0x10000, 100)); /* a page that is there */
	assert_true(covered_meets(&covered, 0x10000, 100));
	covered_clear(&covered);
}

static void test_without_memory(void **state)
{
	(void)state;
	size_t n = 1;
	for (;; n++) {
		struct covered covered = { 0 };
		bool is_whole = true;
		memory_fail_at(n);
		for (uint64_t i = 0; i < 200; i++)
			is_whole &= covered_add(&covered, i * COVERED_PAGE_BYTES, 10);
		const bool has_failed = memory_has_failed();
		memory_fail_at(0);
		assert_int_equal(is_whole, !has_failed);
		covered_clear(&covered);
		if (!has_failed)
			break;
	}
	assert_true(n > 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_a_naive_one),
		cmocka_unit_test(test_neighbours_do_not_meet),
		cmocka_unit_test(test_the_ends_of_the_address_space),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_its_memory_is_bounded),
		cmocka_unit_test(test_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
