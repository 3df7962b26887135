#include "base/sort.h"

#include "test.h"

static uint64_t seed = 1;

static uint64_t random_below(uint64_t limit)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 11) % limit;
}

static void sorting_is_stable(void **state)
{
	(void)state;
	enum { MOST = 3000 };
	static struct pair pairs[MOST];
	static struct pair spare[MOST];
	/* Few keys with many equal; keys that differ in high bytes only; any keys. */
	static const uint64_t limits[] = { 7, 300, UINT64_MAX };
	static const unsigned shifts[] = { 0, 50, 0 };
	for (size_t kind = 0; kind < 3; kind++) {
		for (size_t count = 0; count <= MOST; count = count * 3 + 1) {
			for (uint32_t i = 0; i < count; i++)
				pairs[i] =
				    (struct pair){ random_below(limits[kind]) << shifts[kind], i };
			sort_pairs(pairs, spare, count);
			for (size_t i = 1; i < count; i++) {
				assert_true(pairs[i - 1].key <= pairs[i].key);
				if (pairs[i - 1].key == pairs[i].key)
					assert_true(pairs[i - 1].value < pairs[i].value);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(sorting_is_stable) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
