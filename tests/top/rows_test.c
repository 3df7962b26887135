#include "top/rows.h"

#include "made.h"

static struct intern strings;
static struct live_cells cells;

static int make(void **state)
{
	(void)state;
	static const struct made made[] = {
		{ "alpha app.js:1:2", "[jit]", "v8", "node", 42, "turbofan", 60 },
		{ "memcpy", "libc.so.6", "native", "node", 42, "", 20 },
		{ "Work.alpha()", "[jit]", "java", "java", 0, "c2", 15 },
		{ "do_syscall_64", "[kernel]", "kernel", "java", 43, "", 5 },
	};
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		made_add(&cells, &strings, &made[i]);
	return 0;
}

static int clear(void **state)
{
	(void)state;
	live_cells_clear(&cells);
	intern_clear(&strings);
	return 0;
}

/* The first words of the symbols, with commas. */
static const char *shown(const struct live_rows_options *options)
{
	static char text[200];
	struct live_rows rows = { 0 };
	struct sink out = { 0 };
	assert_int_equal(live_rows_make(&rows, &cells, &strings, options), 0);
	for (size_t i = 0; i < rows.count; i++) {
		const char *symbol =
		    intern_get(&strings, cells.items.items[rows.items[i]].key.symbol);
		sink_printf(&out, "%s%.*s", i ? "," : "", (int)strcspn(symbol, " (_"), symbol);
	}
	sink_u8(&out, 0);
	memcpy(text, out.data, out.size);
	sink_clear(&out);
	live_rows_clear(&rows);
	return text;
}

static const char *filtered(const char *filter)
{
	return shown(&(struct live_rows_options){ .filter = filter });
}

static void test_words_must_all_be_somewhere(void **state)
{
	(void)state;
	assert_string_equal(filtered(NULL), "alpha,memcpy,Work.alpha,do");
	assert_string_equal(filtered(""), "alpha,memcpy,Work.alpha,do");
	assert_string_equal(filtered("ALPHA"), "alpha,Work.alpha");
	assert_string_equal(filtered("node"), "alpha,memcpy");
	assert_string_equal(filtered("node  libc "), "memcpy");
	assert_string_equal(filtered("43"), "do");
	assert_string_equal(filtered("runtime:java"), "Work.alpha");
	assert_string_equal(filtered("process:java"), "Work.alpha,do");
	assert_string_equal(filtered("!alpha"), "memcpy,do");
	assert_string_equal(filtered("java !object:kernel"), "Work.alpha");
	assert_string_equal(filtered("nothing"), "");
}

static void test_columns_to_sort_by(void **state)
{
	(void)state;
	struct live_rows_options options = { .sort = LIVE_SORT_SYMBOL };
	assert_string_equal(shown(&options), "Work.alpha,alpha,do,memcpy");
	options.sort = LIVE_SORT_PROCESS;
	assert_string_equal(shown(&options), "Work.alpha,do,alpha,memcpy");
	options.sort = LIVE_SORT_OBJECT;
	assert_string_equal(shown(&options), "alpha,Work.alpha,do,memcpy");
	enum live_sort sort = LIVE_SORT_SELF;
	assert_true(live_sort_parse("runtime", &sort));
	assert_int_equal(sort, LIVE_SORT_RUNTIME);
	assert_false(live_sort_parse("colour", &sort));
}

static void test_small_ones_are_left_out(void **state)
{
	(void)state;
	assert_string_equal(shown(&(struct live_rows_options){ .least_percent = 15 }),
			    "alpha,memcpy,Work.alpha");
	/* Callers were not counted: nobody has a total. */
	assert_string_equal(shown(&(struct live_rows_options){ .with_callers = true }), "");
}

static void test_texts(void **state)
{
	(void)state;
	struct live_cell *cell = &cells.items.items[0];
	struct sink out = { 0 };
	live_put_process(&out, cell, &strings);
	sink_text(&out, "|");
	live_put_tier(&out, cell, &strings);
	live_cell_add_tier(cell, intern_text(&strings, "maglev"), 70);
	sink_text(&out, "|");
	live_put_tier(&out, cell, &strings);
	sink_text(&out, "|");
	live_put_tiers(&out, cell, &strings);
	sink_text(&out, "|");
	live_put_line(&out, cell, &strings);
	cell->file = intern_text(&strings, "/srv/app/app.js");
	cell->line = 12;
	live_put_line(&out, cell, &strings);
	sink_text(&out, "|");
	live_put_process(&out, &cells.items.items[2], &strings);
	sink_u8(&out, 0);
	assert_string_equal((const char *)out.data,
			    "node 42|turbofan|turbofan+|maglev+turbofan|app.js:12|java");
	sink_clear(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_must_all_be_somewhere),
		cmocka_unit_test(test_columns_to_sort_by),
		cmocka_unit_test(test_small_ones_are_left_out),
		cmocka_unit_test(test_texts),
	};
	return cmocka_run_group_tests(tests, make, clear);
}
