#include "shown.h"

static const struct area line = { .row = 0, .column = 0, .rows = 1, .columns = 10 };

static void make(struct canvas *canvas)
{
	*canvas = (struct canvas){ 0 };
	assert_int_equal(canvas_resize(canvas, 2, 10), 0);
}

static void check_put(const char *text, unsigned skip, const char *expected, unsigned used)
{
	struct canvas canvas;
	make(&canvas);
	assert_int_equal(canvas_put_from(&canvas, &line, INK_PLAIN, text_of(text), skip), used);
	assert_shown(&canvas, expected);
	canvas_clear(&canvas);
}

static void puts_what_fits_and_marks_what_does_not(void **state)
{
	(void)state;
	check_put("", 0, "\n\n", 0);
	check_put("abc", 0, "abc\n\n", 3);
	check_put("0123456789", 0, "0123456789\n\n", 10);
	check_put("0123456789a", 0, "012345678…\n\n", 10);
	check_put("0123456789a", 2, "…3456789a\n\n", 9);
	check_put("0123456789abcdef", 2, "…3456789a…\n\n", 10);
	check_put("abc", 5, "\n\n", 0);
}

static void never_cuts_a_wide_character_in_halves(void **state)
{
	(void)state;
	check_put("日本語", 0, "日本語\n\n", 6);
	check_put("a日本語日本", 0, "a日本語日…\n\n", 10);
	check_put("日本語日本", 0, "日本語日本\n\n", 10);
	/* Nine columns of ten, the last one would be a half. */
	check_put("日本語日a日", 0, "日本語日a…\n\n", 10);
	/* The left half of the first is left out: its right half becomes a mark. */
	check_put("日本語", 1, "…本語\n\n", 5);
}

static void keeps_few_marks_and_no_invisible_ones(void **state)
{
	(void)state;
	check_put("e\xcc\x81x", 0, "e\xcc\x81x\n\n", 2);
	check_put("e\xcc\x81\xcc\x82\xcc\x83\xcc\x84x", 0, "e\xcc\x81\xcc\x82x\n\n", 2);
	/* Nothing to combine with: not the cell before. */
	check_put("\xcc\x81x", 0, " \xcc\x81x\n\n", 2);
	check_put("a\xe2\x80\x8b\xe2\x80\x8d\xef\xbb\xbf\x62", 0, "ab\n\n", 2);
}

static void escapes_what_drives_a_terminal(void **state)
{
	(void)state;
	check_put("a\x1b[2J", 0, "a\\x1b[2J\n\n", 8);
	check_put("\xe2\x80\xae\x61", 0, "\\xe2\\x80\\…\n\n", 10);
	check_put("a\nb", 0, "a\\nb\n\n", 4);
	check_put("\xff", 0, "\\xff\n\n", 4);
}

static void says_ascii_where_the_locale_can_say_no_more(void **state)
{
	(void)state;
	struct canvas canvas;
	make(&canvas);
	canvas.is_ascii = true;
	assert_int_equal(canvas_put(&canvas, &line, INK_PLAIN, text_of("é日e\xcc\x81")), 4);
	assert_shown(&canvas, "???e\n\n");
	canvas_clear(&canvas);
}

static void writes_nothing_outside_of_its_area(void **state)
{
	(void)state;
	struct canvas canvas;
	make(&canvas);
	const struct area places[] = {
		{ 2, 0, 1, 10 }, { 0, 10, 1, 10 }, { 1, 8, 5, 50 }, { 0, 4, 1, 0 }
	};
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		(void)canvas_put(&canvas, &places[i], INK_PLAIN, text_of("abcdef"));
	assert_shown(&canvas, "\n        a…\n");
	canvas_fill(&canvas, &(struct area){ 0, 0, 100, 100 }, INK_BAR);
	canvas_choose(&canvas, &(struct area){ 1, 9, 7, 7 });
	assert_int_equal(canvas.cells[0].ink, INK_BAR);
	assert_true(canvas.cells[19].is_chosen);
	assert_false(canvas.cells[18].is_chosen);
	canvas_clear(&canvas);
}

static void writing_over_half_a_wide_character_leaves_no_other_half(void **state)
{
	(void)state;
	struct canvas canvas;
	make(&canvas);
	(void)canvas_put(&canvas, &line, INK_PLAIN, text_of("日本"));
	(void)canvas_put(&canvas, &(struct area){ 0, 1, 1, 1 }, INK_PLAIN, text_of("x"));
	assert_shown(&canvas, " x本\n\n");
	(void)canvas_put(&canvas, &(struct area){ 0, 2, 1, 1 }, INK_PLAIN, text_of("y"));
	assert_shown(&canvas, " xy\n\n");
	canvas_clear(&canvas);
}

static void aligns_right_and_frames(void **state)
{
	(void)state;
	struct canvas canvas = { 0 };
	assert_int_equal(canvas_resize(&canvas, 4, 10), 0);
	canvas_frame(&canvas, &(struct area){ 0, 0, 4, 10 }, "Keys");
	canvas_put_right(&canvas, &(struct area){ 1, 1, 1, 8 }, INK_PLAIN, text_of("日9"));
	assert_shown(&canvas, "┌─ Keys ─┐\n│     日9│\n│        │\n└────────┘\n");
	canvas_clear(&canvas);
}

static void widths_count_columns(void **state)
{
	(void)state;
	struct canvas canvas;
	make(&canvas);
	assert_int_equal(canvas_width(&canvas, text_of("")), 0);
	assert_int_equal(canvas_width(&canvas, text_of("abc")), 3);
	assert_int_equal(canvas_width(&canvas, text_of("日e\xcc\x81")), 3);
	assert_int_equal(canvas_width(&canvas, text_of("\x01")), 4);
	canvas_clear(&canvas);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(puts_what_fits_and_marks_what_does_not),
		cmocka_unit_test(never_cuts_a_wide_character_in_halves),
		cmocka_unit_test(keeps_few_marks_and_no_invisible_ones),
		cmocka_unit_test(escapes_what_drives_a_terminal),
		cmocka_unit_test(says_ascii_where_the_locale_can_say_no_more),
		cmocka_unit_test(writes_nothing_outside_of_its_area),
		cmocka_unit_test(writing_over_half_a_wide_character_leaves_no_other_half),
		cmocka_unit_test(aligns_right_and_frames),
		cmocka_unit_test(widths_count_columns),
	};
	return cmocka_run_group_tests(tests, use_utf8, NULL);
}
