#include "made.h"

#include <stdio.h>

static void test_equal_keys_are_one(void **state)
{
	(void)state;
	struct intern strings = { 0 };
	struct live_cells cells = { 0 };
	for (int i = 0; i < 3; i++)
		made_add(&cells, &strings,
			 &(struct made){ "f", "[jit]", "v8", "node", 7, "maglev", 2 });
	made_add(&cells, &strings, &(struct made){ "f", "[jit]", "v8", "deno", 8, "", 5 });
	assert_int_equal(cells.items.count, 2);
	assert_true(made_is_near(cells.items.items[0].self, 6));
	assert_true(made_is_near(cells.weight, 11));
	live_cells_clear(&cells);
	intern_clear(&strings);
}

static void test_sums_keep_the_newest_tier_and_the_hottest_line(void **state)
{
	(void)state;
	struct intern strings = { 0 };
	struct live_cells old = { 0 };
	struct live_cells new = { 0 };
	struct live_cells sum = { 0 };
	made_add(&old, &strings, &(struct made){ "f", "[jit]", "v8", "node", 7, "sparkplug", 10 });
	old.items.items[0].line = 3;
	old.items.items[0].line_weight = 8;
	made_add(&new, &strings, &(struct made){ "f", "[jit]", "v8", "node", 7, "turbofan", 4 });
	new.items.items[0].line = 5;
	new.items.items[0].line_weight = 4;
	assert_int_equal(live_cells_add(&sum, &old, 1), 0);
	assert_int_equal(live_cells_add(&sum, &new, 1), 0);
	const struct live_cell *cell = &sum.items.items[0];
	assert_string_equal(intern_get(&strings, cell->last_tier), "turbofan");
	assert_int_equal(cell->line, 3);
	assert_true(made_is_near(cell->self, 14));
	assert_int_equal(cell->pid, 7);
	/* As time goes by the newer one is the hotter one. */
	live_cells_scale(&sum, 0.25);
	assert_int_equal(live_cells_add(&sum, &new, 1), 0);
	assert_int_equal(sum.items.items[0].line, 5);
	live_cells_clear(&old);
	live_cells_clear(&new);
	live_cells_clear(&sum);
	intern_clear(&strings);
}

static void test_several_processes_of_a_name_have_no_pid(void **state)
{
	(void)state;
	struct intern strings = { 0 };
	struct live_cells a = { 0 };
	struct live_cells b = { 0 };
	made_add(&a, &strings, &(struct made){ "f", "x", "", "php", 7, "", 1 });
	made_add(&b, &strings, &(struct made){ "f", "x", "", "php", 8, "", 1 });
	assert_int_equal(live_cells_add(&a, &b, 1), 0);
	assert_int_equal(a.items.count, 1);
	assert_int_equal(a.items.items[0].pid, 0);
	live_cells_clear(&a);
	live_cells_clear(&b);
	intern_clear(&strings);
}

static void test_the_hottest_are_left(void **state)
{
	(void)state;
	struct intern strings = { 0 };
	struct live_cells cells = { 0 };
	char name[16];
	for (int i = 1; i <= 100; i++) {
		(void)snprintf(name, sizeof(name), "f%d", i);
		made_add(&cells, &strings, &(struct made){ name, "x", "", "p", 1, "", i });
	}
	const double whole = cells.weight;
	assert_int_equal(live_cells_trim(&cells, 10, 0), 0);
	assert_int_equal(cells.items.count, 10);
	assert_true(made_is_near(cells.weight, whole));
	assert_non_null(made_find(&cells, &strings, "f91"));
	assert_null(made_find(&cells, &strings, "f90"));
	/* The table still finds what is there, and only that. */
	made_add(&cells, &strings, &(struct made){ "f100", "x", "", "p", 1, "", 1 });
	assert_int_equal(cells.items.count, 10);
	made_add(&cells, &strings, &(struct made){ "f1", "x", "", "p", 1, "", 1 });
	assert_int_equal(cells.items.count, 11);
	assert_int_equal(live_cells_trim(&cells, 100, 95), 0);
	assert_int_equal(cells.items.count, 6);
	live_cells_clear(&cells);
	intern_clear(&strings);
}

static void test_tiers_beyond_the_room_are_one(void **state)
{
	(void)state;
	struct live_cell cell = { 0 };
	for (uint32_t i = 1; i <= 6; i++)
		live_cell_add_tier(&cell, i, 1);
	double sum = 0;
	for (int i = 0; i < LIVE_TIERS; i++)
		sum += cell.tiers[i].weight;
	assert_true(made_is_near(sum, 6));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_keys_are_one),
		cmocka_unit_test(test_sums_keep_the_newest_tier_and_the_hottest_line),
		cmocka_unit_test(test_several_processes_of_a_name_have_no_pid),
		cmocka_unit_test(test_the_hottest_are_left),
		cmocka_unit_test(test_tiers_beyond_the_room_are_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
