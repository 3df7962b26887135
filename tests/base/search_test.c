#include "base/search.h"

#include "test.h"

static const int SORTED[] = { 1, 3, 3, 5, 9 };

static size_t until(size_t count, int key)
{
	size_t found;
	SEARCH(found, count, i, SORTED[i] <= key);
	return found;
}

static size_t before(size_t count, int key)
{
	size_t found;
	SEARCH(found, count, i, SORTED[i] < key);
	return found;
}

/* At each key, in arrays of each length. */
static void counts_what_is_before(void **state)
{
	(void)state;
	for (size_t count = 0; count <= sizeof(SORTED) / sizeof(SORTED[0]); count++) {
		for (int key = 0; key <= 10; key++) {
			size_t lower = 0;
			size_t upper = 0;
			for (size_t i = 0; i < count; i++) {
				lower += SORTED[i] < key;
				upper += SORTED[i] <= key;
			}
			assert_int_equal(before(count, key), lower);
			assert_int_equal(until(count, key), upper);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_what_is_before),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
