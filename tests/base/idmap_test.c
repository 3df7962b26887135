#include "base/idmap.h"

#include "base/hash.h"
#include "test.h"

static void finds_what_was_put(void **state)
{
	(void)state;
	enum { COUNT = 5000 };
	struct idmap map = { 0 };
	assert_int_equal(idmap_get(&map, 7), 0);
	for (uint64_t i = 0; i < COUNT; i++) {
		uint32_t *slot = idmap_put(&map, i * i);
		assert_non_null(slot);
		assert_int_equal(*slot, 0);
		*slot = (uint32_t)i + 1;
	}
	for (uint64_t i = 0; i < COUNT; i++) {
		assert_int_equal(idmap_get(&map, i * i), i + 1);
		assert_int_equal(*idmap_put(&map, i * i), i + 1);
	}
	assert_int_equal(idmap_get(&map, 3), 0);
	assert_int_equal(idmap_get(&map, UINT64_MAX), 0);
	assert_int_equal(map.used, COUNT);
	idmap_clear(&map);
	assert_int_equal(idmap_get(&map, 4), 0);
}

/* Key 0 and values of 0 are as good as any. */
static void zero_is_a_key(void **state)
{
	(void)state;
	struct idmap map = { 0 };
	assert_non_null(idmap_put(&map, 0));
	assert_int_equal(map.used, 1);
	*idmap_put(&map, 0) = 9;
	assert_int_equal(idmap_get(&map, 0), 9);
	assert_int_equal(map.used, 1);
	idmap_clear(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_was_put),
		cmocka_unit_test(zero_is_a_key),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
