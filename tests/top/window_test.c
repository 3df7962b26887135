#include "top/window.h"

#include "made.h"

#include <stdio.h>

static void put(struct live_windows *w, const char *symbol, double weight)
{
	struct live_cells cells = { .seconds = 2 };
	made_add(&cells, &w->strings, &(struct made){ symbol, "x", "", "p", 1, "", weight });
	cells.lost_count = 1;
	assert_int_equal(live_windows_put(w, &cells), 0);
	assert_int_equal(cells.items.count, 0);
}

static double self_of(const struct live_windows *w, enum live_window which, const char *symbol)
{
	struct live_cells sum = { 0 };
	assert_int_equal(live_windows_sum(w, which, &sum), 0);
	const struct live_cell *cell = made_find(&sum, &w->strings, symbol);
	const double self = cell ? cell->self : -1;
	live_cells_clear(&sum);
	return self;
}

static void test_what_was_hot_leaves_the_window(void **state)
{
	(void)state;
	struct live_windows w;
	live_windows_init(&w, 10);
	for (int i = 0; i < 5; i++)
		put(&w, "old", 100);
	assert_true(made_is_near(self_of(&w, LIVE_LAST, "old"), 500));
	for (int i = 0; i < 4; i++)
		put(&w, "new", 100);
	assert_true(made_is_near(self_of(&w, LIVE_LAST, "old"), 100));
	put(&w, "new", 100);
	assert_true(self_of(&w, LIVE_LAST, "old") < 0);
	assert_true(made_is_near(self_of(&w, LIVE_LAST, "new"), 500));
	assert_true(made_is_near(self_of(&w, LIVE_ALL, "old"), 500));
	/* Ten seconds old: half. */
	const double decayed = self_of(&w, LIVE_DECAYING, "old");
	assert_true(decayed > 100 && decayed < 250);
	assert_true(self_of(&w, LIVE_DECAYING, "new") > decayed);
	live_windows_clear(&w);
}

static void test_one_interval_is_always_there(void **state)
{
	(void)state;
	struct live_windows w;
	live_windows_init(&w, 0.5);
	put(&w, "a", 1);
	put(&w, "b", 1);
	assert_true(self_of(&w, LIVE_LAST, "a") < 0);
	assert_true(made_is_near(self_of(&w, LIVE_LAST, "b"), 1));
	w.seconds = 100;
	put(&w, "c", 1);
	assert_true(made_is_near(self_of(&w, LIVE_LAST, "b"), 1));
	live_windows_clear(&w);
}

/* Days of new names: neither cells nor strings grow without end. */
static void test_memory_is_bounded(void **state)
{
	(void)state;
	struct live_windows w;
	char name[400];
	size_t most_bytes = 0;
	live_windows_init(&w, 10);
	for (int interval = 0; interval < 50; interval++) {
		struct live_cells cells = { .seconds = 2 };
		for (int i = 0; i < 5000; i++) {
			(void)snprintf(name, sizeof(name), "%0300d:%d", interval, i);
			made_add(&cells, &w.strings,
				 &(struct made){ name, "x", "", "p", 1, "tier", 1 + i });
		}
		assert_int_equal(live_windows_put(&w, &cells), 0);
		if (w.strings.arena.used > most_bytes)
			most_bytes = w.strings.arena.used;
	}
	assert_true(w.all.items.count <= (size_t)2 * LIVE_SUM_CELLS);
	assert_true(w.decaying.items.count <= LIVE_SUM_CELLS);
	assert_true(w.last.count <= 6);
	/* 50 intervals had 77 MB of names. */
	assert_true(most_bytes < 70u << 20);
	/* Names are still whole. */
	(void)snprintf(name, sizeof(name), "%0300d:%d", 49, 4999);
	assert_true(made_is_near(self_of(&w, LIVE_LAST, name), 5000));
	live_windows_clear(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_was_hot_leaves_the_window),
		cmocka_unit_test(test_one_interval_is_always_there),
		cmocka_unit_test(test_memory_is_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
