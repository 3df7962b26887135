#include "tui/pane.h"

#include "shown.h"
#include "tui/keys.h"

static void check(struct pane *pane, unsigned height, unsigned width, const char *expected)
{
	struct canvas canvas = { 0 };
	assert_int_equal(canvas_resize(&canvas, height, width), 0);
	pane_draw(pane, &canvas, &(struct area){ 0, 0, height, width });
	assert_shown(&canvas, expected);
	canvas_clear(&canvas);
}

static void shows_colours_as_inks(void **state)
{
	(void)state;
	struct pane pane = { 0 };
	struct canvas canvas = { 0 };
	assert_int_equal(pane_set(&pane, text_of("a\x1b[31mbc\x1b[0md\n\n\x1b[2mq")), 0);
	assert_int_equal(pane.lines.count, 3);
	assert_int_equal(canvas_resize(&canvas, 3, 8), 0);
	pane_draw(&pane, &canvas, &(struct area){ 0, 0, 3, 8 });
	assert_shown(&canvas, "abcd\n\nq\n");
	assert_int_equal(canvas.cells[0].ink, INK_PLAIN);
	assert_int_equal(canvas.cells[1].ink, INK_HOT);
	assert_int_equal(canvas.cells[2].ink, INK_HOT);
	assert_int_equal(canvas.cells[3].ink, INK_PLAIN);
	assert_int_equal(canvas.cells[16].ink, INK_QUIET);
	canvas_clear(&canvas);
	pane_clear(&pane);
}

static void other_controls_stay_escaped(void **state)
{
	(void)state;
	struct pane pane = { 0 };
	assert_int_equal(pane_set(&pane, text_of("\x1b[2J\x1b[\x1b]0;x\x07\x1b[123456m\n")), 0);
	check(&pane, 1, 60, "\\x1b[2J\\x1b[\\x1b]0;x\\x07\\x1b[123456m\n");
	pane_clear(&pane);
}

static void scrolls_both_ways(void **state)
{
	(void)state;
	struct pane pane = { 0 };
	assert_int_equal(
	    pane_set(&pane, text_of("0123456789abcdefghij\n\x1b[1m01234567\x1b[0m89ab\nx\ny\n")),
	    0);
	check(&pane, 2, 10, "012345678…\n012345678…\n");
	assert_true(pane_key(&pane, KEY_IS_RIGHT));
	check(&pane, 2, 10, "…9abcdefg…\n89ab\n");
	assert_true(pane_key(&pane, KEY_IS_LEFT));
	assert_true(pane_key(&pane, 'G'));
	check(&pane, 2, 10, "x\ny\n");
	pane_choose(&pane, 0);
	check(&pane, 2, 10, "012345678…\n012345678…\n");
	assert_false(pane_key(&pane, 'z'));
	pane_clear(&pane);
}

static void searches_lines(void **state)
{
	(void)state;
	struct pane pane = { 0 };
	struct sink text = { 0 };
	assert_int_equal(pane_set(&pane, text_of("call a\nmov\nca\x1b[31mll b\x1b[0m\n")), 0);
	assert_null(pane_search(&pane, "call"));
	assert_true(pane_next(&pane, false, false));
	assert_int_equal(pane.at.chosen, 2);
	pane_line_text(&pane, 2, &text);
	assert_int_equal(text.size, 6);
	assert_memory_equal(text.data, "call b", 6);
	assert_true(pane_next(&pane, true, false));
	assert_int_equal(pane.at.chosen, 0);
	assert_non_null(pane_search(&pane, "["));
	sink_clear(&text);
	pane_clear(&pane);
}

static void another_text_keeps_the_cursor_inside(void **state)
{
	(void)state;
	struct pane pane = { 0 };
	assert_int_equal(pane_set(&pane, text_of("a\nb\nc\n")), 0);
	pane_choose(&pane, 2);
	assert_int_equal(pane_set(&pane, text_of("a\n")), 0);
	check(&pane, 2, 4, "a\n\n");
	assert_int_equal(pane.at.chosen, 0);
	assert_int_equal(pane_set(&pane, text_of("")), 0);
	check(&pane, 2, 4, "\n\n");
	assert_false(pane_next(&pane, false, true));
	pane_clear(&pane);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shows_colours_as_inks),
		cmocka_unit_test(other_controls_stay_escaped),
		cmocka_unit_test(scrolls_both_ways),
		cmocka_unit_test(searches_lines),
		cmocka_unit_test(another_text_keeps_the_cursor_inside),
	};
	return cmocka_run_group_tests(tests, use_utf8, NULL);
}
