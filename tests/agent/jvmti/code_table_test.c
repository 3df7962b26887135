#include "agent/jvmti/code_table.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES = 700, STEPS = 200000 };

static void test_an_entry_goes_by_its_owner(void **state)
{
	(void)state;
	struct code_table table = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct code_entry entry = { 0x1000, 64, 7, 1 };
	struct code_entry got;
	assert_false(code_table_has(&table, &entry));
	assert_false(code_table_take(&table, 0x1000, 1, &got));
	assert_true(code_table_put(&table, &entry));
	assert_true(code_table_has(&table, &entry));
	/* Another method's code lies there now; the first one's unload comes late. */
	entry = (struct code_entry){ 0x1000, 32, 8, 2 };
	assert_true(code_table_put(&table, &entry));
	assert_false(code_table_take(&table, 0x1000, 1, &got));
	assert_true(code_table_take(&table, 0x1000, 2, &got));
	assert_int_equal(got.index, 8);
	assert_int_equal(got.size, 32);
	assert_int_equal(table.count, 0);
	assert_false(code_table_put(&table, &(struct code_entry){ 0 }));
	code_table_clear(&table);
}

static void test_as_a_plain_array_does(void **state)
{
	(void)state;
	struct code_table table = { .lock = PTHREAD_MUTEX_INITIALIZER };
	static struct code_entry plain[PLACES];
	unsigned seed = 1;
	size_t count = 0;
	memset(plain, 0, sizeof(plain));
	for (int step = 0; step < STEPS; step++) {
		const size_t place = (size_t)rand_r(&seed) % PLACES;
		const uint64_t avma = 0x7f0000000000 + place * 0x1000;
		const uintptr_t owner = (uintptr_t)rand_r(&seed) % 3 + 1;
		struct code_entry *at = &plain[place];
		if (rand_r(&seed) % 2) {
			const struct code_entry entry = { avma, (uint64_t)step, (uint64_t)step,
							  owner };
			assert_true(code_table_put(&table, &entry));
			count += at->code_avma == 0;
			*at = entry;
		} else {
			struct code_entry got;
			const bool is_there = at->code_avma && at->owner == owner;
			assert_int_equal(code_table_take(&table, avma, owner, &got), is_there);
			if (is_there) {
				assert_int_equal(got.index, at->index);
				*at = (struct code_entry){ 0 };
				count--;
			}
		}
		assert_int_equal(table.count, count);
	}
	for (size_t i = 0; i < PLACES; i++)
		if (plain[i].code_avma)
			assert_true(code_table_has(&table, &plain[i]));
	code_table_clear(&table);
	assert_int_equal(table.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_entry_goes_by_its_owner),
		cmocka_unit_test(test_as_a_plain_array_does),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
