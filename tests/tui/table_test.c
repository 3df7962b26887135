#include "tui/table.h"

#include "shown.h"
#include "tui/keys.h"

#include <stdio.h>

struct row {
	const char *share;
	const char *name;
	const char *object;
};

struct rows {
	struct row items[40];
	size_t count;
};

static size_t count_rows(void *context)
{
	return ((struct rows *)context)->count;
}

static void put_cell(void *context, size_t row, size_t column, struct sink *out)
{
	const struct row *r = &((struct rows *)context)->items[row];
	sink_text(out, column == 0 ? r->share : column == 1 ? r->name : r->object);
}

static uint64_t id_of(void *context, size_t row)
{
	return (uint64_t)(uintptr_t)((struct rows *)context)->items[row].name;
}

static const struct table_column columns[] = {
	{ .title = "Share", .is_right = true, .least = 6 },
	{ .title = "Symbol", .takes_rest = true, .is_searched = true },
	{ .title = "Object", .most = 8, .leaves = 1 },
};

static struct rows three = {
	.items = { { "50%", "fib(int)", "app" },
		   { "30%", "main", "libc.so.6.long" },
		   { "2%", "Fibre", "app" } },
	.count = 3,
};

static void make(struct table *table, struct rows *rows)
{
	*table = (struct table){ .columns = columns,
				 .column_count = 3,
				 .sorted_by = 0,
				 .source = { rows, count_rows, put_cell, NULL, id_of } };
	table_changed(table);
}

static void check(struct table *table, unsigned height, unsigned width, const char *expected)
{
	struct canvas canvas = { 0 };
	assert_int_equal(canvas_resize(&canvas, height, width), 0);
	table_draw(table, &canvas, &(struct area){ 0, 0, height, width });
	assert_shown(&canvas, expected);
	canvas_clear(&canvas);
}

static void lays_columns_out(void **state)
{
	(void)state;
	struct table table;
	make(&table, &three);
	check(&table, 5, 40,
	      "Share* Symbol             Object\n"
	      "   50% fib(int)           app\n"
	      "   30% main               libc.so.6.long\n"
	      "    2% Fibre              app\n"
	      "\n");
	/* The object leaves before the symbol has too little room. */
	check(&table, 3, 24, "Share* Symbol\n   50% fib(int)\n   30% main\n");
	check(&table, 2, 10, "Share* Sy…\n   50% fi…\n");
	check(&table, 1, 4, "Sha…\n");
	table_clear(&table);
	/* Where the symbol needs it, the object is cut. */
	struct rows rows = { .items = { { "50%", "a_name_that_is_long(int)", "libc.so.6.long" } },
			     .count = 1 };
	make(&table, &rows);
	check(&table, 2, 40,
	      "Share* Symbol                   Object\n"
	      "   50% a_name_that_is_long(int) libc.so…\n");
	table_clear(&table);
}

static void scrolls_sideways(void **state)
{
	(void)state;
	struct rows rows = { .items = { { "1%", "a_very_long_name_of_a_function", "" } },
			     .count = 1 };
	struct table table;
	make(&table, &rows);
	assert_true(table_key(&table, '>'));
	check(&table, 2, 24, "Share* Symbol\n    1% …ng_name_of_a_fu…\n");
	assert_true(table_key(&table, '<'));
	assert_true(table_key(&table, '<'));
	check(&table, 2, 24, "Share* Symbol\n    1% a_very_long_name…\n");
	table_clear(&table);
}

static struct rows many_rows(void)
{
	struct rows rows = { .count = 40 };
	static char names[40][8];
	for (size_t i = 0; i < 40; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "f%02zu", i);
		rows.items[i] = (struct row){ "", names[i], "" };
	}
	return rows;
}

static void moves_the_cursor_and_follows_it(void **state)
{
	(void)state;
	struct rows rows = many_rows();
	struct table table;
	make(&table, &rows);
	check(&table, 4, 12, "Share* Symb…\n       f00\n       f01\n       f02\n");
	assert_true(table_key(&table, KEY_IS_UP));
	assert_int_equal(table_chosen(&table), 0);
	for (int i = 0; i < 3; i++)
		assert_true(table_key(&table, i ? 'j' : KEY_IS_DOWN));
	check(&table, 4, 12, "Share* Symb…\n       f01\n       f02\n       f03\n");
	assert_true(table_key(&table, KEY_IS_PAGE_DOWN));
	assert_int_equal(table_chosen(&table), 6);
	assert_true(table_key(&table, 'G'));
	check(&table, 4, 12, "Share* Symb…\n       f37\n       f38\n       f39\n");
	assert_true(table_key(&table, KEY_IS_DOWN));
	assert_int_equal(table_chosen(&table), 39);
	assert_true(table_key(&table, KEY_IS_HOME));
	assert_int_equal(table_chosen(&table), 0);
	assert_false(table_key(&table, 'x'));
	/* Rows that go take the cursor along. */
	table_choose(&table, 39);
	rows.count = 2;
	check(&table, 4, 12, "Share* Symb…\n       f00\n       f01\n\n");
	assert_int_equal(table_chosen(&table), 1);
	table_clear(&table);
}

static void filters_by_parts_of_searched_columns(void **state)
{
	(void)state;
	struct table table;
	make(&table, &three);
	table_choose(&table, 2);
	assert_true(table_filter(&table, "FIB"));
	assert_int_equal(table_shown_count(&table), 2);
	assert_int_equal(table_chosen(&table), 2);
	check(&table, 4, 24, "Share* Symbol\n   50% fib(int)\n    2% Fibre\n\n");
	assert_true(table_key(&table, KEY_IS_UP));
	assert_int_equal(table_chosen(&table), 0);
	/* The object is not looked at. */
	assert_true(table_filter(&table, "libc"));
	assert_int_equal(table_shown_count(&table), 0);
	assert_int_equal(table_chosen(&table), SIZE_MAX);
	table.nothing = "nothing of this name";
	check(&table, 3, 30, "Share* Symbol           Object\nnothing of this name\n\n");
	assert_true(table_filter(&table, ""));
	assert_int_equal(table_shown_count(&table), 3);
	table_clear(&table);
}

static void searches_round_the_end(void **state)
{
	(void)state;
	struct table table;
	make(&table, &three);
	assert_non_null(table_search(&table, "(("));
	assert_null(table_search(&table, "^fib"));
	assert_true(table_next(&table, false, true));
	assert_int_equal(table_chosen(&table), 0);
	assert_true(table_next(&table, false, false));
	assert_int_equal(table_chosen(&table), 2);
	assert_true(table_next(&table, false, false));
	assert_int_equal(table_chosen(&table), 0);
	assert_true(table_next(&table, true, false));
	assert_int_equal(table_chosen(&table), 2);
	/* A capital letter counts. */
	assert_null(table_search(&table, "Fib"));
	assert_true(table_next(&table, false, false));
	assert_int_equal(table_chosen(&table), 2);
	assert_null(table_search(&table, "nowhere"));
	assert_false(table_next(&table, false, true));
	assert_null(table_search(&table, ""));
	assert_false(table_next(&table, false, true));
	table_clear(&table);
}

static void marks_what_matches(void **state)
{
	(void)state;
	struct table table;
	struct canvas canvas = { 0 };
	make(&table, &three);
	assert_null(table_search(&table, "ib"));
	assert_int_equal(canvas_resize(&canvas, 4, 24), 0);
	table_draw(&table, &canvas, &(struct area){ 0, 0, 4, 24 });
	assert_int_equal(canvas.cells[24 + 7].ink, INK_PLAIN);
	assert_int_equal(canvas.cells[24 + 8].ink, INK_MATCH);
	assert_int_equal(canvas.cells[24 + 9].ink, INK_MATCH);
	assert_int_equal(canvas.cells[24 + 10].ink, INK_PLAIN);
	canvas_clear(&canvas);
	table_clear(&table);
}

static void the_cursor_stays_on_what_moves(void **state)
{
	(void)state;
	struct rows rows = three;
	struct table table;
	make(&table, &rows);
	assert_true(table_key(&table, KEY_IS_DOWN));
	assert_string_equal(rows.items[table_chosen(&table)].name, "main");
	rows.items[0] = three.items[1];
	rows.items[1] = three.items[0];
	table_changed(&table);
	assert_int_equal(table_chosen(&table), 0);
	/* Also through a filter. */
	assert_true(table_filter(&table, "i"));
	rows.items[0] = three.items[2];
	rows.items[2] = three.items[1];
	table_changed(&table);
	assert_int_equal(table_chosen(&table), 2);
	table_clear(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lays_columns_out),
		cmocka_unit_test(scrolls_sideways),
		cmocka_unit_test(moves_the_cursor_and_follows_it),
		cmocka_unit_test(filters_by_parts_of_searched_columns),
		cmocka_unit_test(searches_round_the_end),
		cmocka_unit_test(marks_what_matches),
		cmocka_unit_test(the_cursor_stays_on_what_moves),
	};
	return cmocka_run_group_tests(tests, use_utf8, NULL);
}
