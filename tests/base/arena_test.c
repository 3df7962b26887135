#include "base/arena.h"

#include "failing_memory.h"
#include "test.h"

static void memory_is_zeroed_and_aligned(void **state)
{
	(void)state;
	struct arena arena = { 0 };
	for (size_t i = 1; i < 500; i++) {
		const size_t align = (size_t)1 << i % 5;
		unsigned char *p = arena_alloc(&arena, i, 3, align);
		assert_non_null(p);
		assert_int_equal((uintptr_t)p % align, 0);
		for (size_t at = 0; at < i * 3; at++) {
			assert_int_equal(p[at], 0);
			p[at] = 0xff; /* the next piece must not be this one */
		}
	}
	arena_clear(&arena);
	assert_int_equal(arena.used, 0);
	assert_non_null(arena_new(&arena, uint64_t, 1));
	arena_clear(&arena);
}

static void larger_than_a_block(void **state)
{
	(void)state;
	struct arena arena = { 0 };
	uint64_t *small = arena_new(&arena, uint64_t, 1);
	*small = 42;
	uint64_t *large = arena_new(&arena, uint64_t, 100000);
	assert_non_null(large);
	large[99999] = 1;
	assert_int_equal(*small, 42);
	arena_clear(&arena);
}

static void keeps_its_limit(void **state)
{
	(void)state;
	struct arena arena;
	arena_init(&arena, 100);
	assert_non_null(arena_alloc(&arena, 1, 60, 1));
	assert_null(arena_alloc(&arena, 1, 41, 1));
	assert_non_null(arena_alloc(&arena, 1, 40, 1));
	assert_null(arena_alloc(&arena, 1, 1, 1));
	arena_clear(&arena);
	assert_non_null(arena_alloc(&arena, 1, 100, 1));
	arena_clear(&arena);
}

static void sizes_that_overflow(void **state)
{
	(void)state;
	struct arena arena = { 0 };
	assert_null(arena_alloc(&arena, SIZE_MAX / 2, 3, 8));
	assert_null(arena_alloc(&arena, SIZE_MAX, 1, 8));
	assert_null(arena_alloc(&arena, SIZE_MAX - 10, 1, 8));
	assert_int_equal(arena.used, 0);
	arena_clear(&arena);
}

static void stands_without_memory(void **state)
{
	(void)state;
	struct arena arena = { 0 };
	memory_fail_at(1);
	assert_null(arena_new(&arena, uint32_t, 4));
	assert_true(memory_has_failed());
	assert_int_equal(arena.used, 0);
	uint32_t *first = arena_new(&arena, uint32_t, 4);
	assert_non_null(first);
	memory_fail_at(1);
	assert_null(arena_new(&arena, uint32_t, 100000));
	/* What still fits in the open block needs no memory. */
	assert_non_null(arena_new(&arena, uint32_t, 4));
	memory_fail_at(0);
	arena_clear(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_zeroed_and_aligned),
		cmocka_unit_test(larger_than_a_block),
		cmocka_unit_test(keeps_its_limit),
		cmocka_unit_test(sizes_that_overflow),
		cmocka_unit_test(stands_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
