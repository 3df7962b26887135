#include "tui/overlay.h"

#include "shown.h"
#include "tui/bar.h"
#include "tui/keys.h"

static const struct help_line help[] = {
	{ NULL, "Moving" }, { "j", "down" }, { "PgDn", "a page" }, { "q", "leave" }, { 0 },
};

static const char *const items[] = { "samples", "name", "size" };

static void check(struct overlay *overlay, unsigned height, unsigned width, const char *expected)
{
	struct canvas canvas = { 0 };
	assert_int_equal(canvas_resize(&canvas, height, width), 0);
	overlay_draw(overlay, &canvas, &(struct area){ 0, 0, height, width });
	assert_shown(&canvas, expected);
	canvas_clear(&canvas);
}

static void help_is_shown_and_scrolls(void **state)
{
	(void)state;
	struct overlay overlay = { .title = "Keys", .help = help };
	check(&overlay, 6, 18,
	      " ┌─ Keys ───────┐\n │ Moving       │\n │ j     down   │\n"
	      " │ PgDn  a page │\n │ q     leave  │\n └──────────────┘\n");
	check(&overlay, 4, 18,
	      " ┌─ Keys ───────┐\n │ Moving       │\n │ j     down   │\n └──────────────┘\n");
	assert_int_equal(overlay_key(&overlay, KEY_IS_DOWN), OVERLAY_STAYS);
	assert_int_equal(overlay_key(&overlay, KEY_IS_PAGE_DOWN), OVERLAY_STAYS);
	check(&overlay, 4, 18,
	      " ┌─ Keys ───────┐\n │ PgDn  a page │\n │ q     leave  │\n └──────────────┘\n");
	assert_int_equal(overlay_key(&overlay, KEY_IS_RESIZED), OVERLAY_STAYS);
	assert_int_equal(overlay_key(&overlay, '?'), OVERLAY_CLOSED);
}

static void an_item_is_chosen(void **state)
{
	(void)state;
	struct overlay overlay = { .title = "Sort", .items = items, .item_count = 3 };
	check(&overlay, 5, 14,
	      " ┌─ Sort ───┐\n │ samples  │\n │ name     │\n │ size     │\n └──────────┘\n");
	assert_int_equal(overlay_key(&overlay, KEY_IS_DOWN), OVERLAY_STAYS);
	assert_int_equal(overlay_key(&overlay, KEY_IS_ENTER), OVERLAY_CHOSEN);
	assert_int_equal(overlay.at.chosen, 1);
	/* Two begin with s, one with n. */
	overlay.at.chosen = 0;
	assert_int_equal(overlay_key(&overlay, 's'), OVERLAY_STAYS);
	assert_int_equal(overlay_key(&overlay, 'N'), OVERLAY_CHOSEN);
	assert_int_equal(overlay.at.chosen, 1);
	assert_int_equal(overlay_key(&overlay, KEY_IS_ESCAPE), OVERLAY_CLOSED);
}

static void too_small_a_screen_is_no_fault(void **state)
{
	(void)state;
	for (unsigned height = 1; height < 4; height++)
		for (unsigned width = 1; width < 12; width++) {
			struct overlay overlay = { .title = "Keys", .help = help };
			struct overlay menu = { .title = "Sort", .items = items, .item_count = 3 };
			struct canvas canvas = { 0 };
			const struct area area = { 0, 0, height, width };
			assert_int_equal(canvas_resize(&canvas, height, width), 0);
			overlay_draw(&overlay, &canvas, &area);
			overlay_draw(&menu, &canvas, &area);
			(void)overlay_key(&overlay, KEY_IS_PAGE_DOWN);
			(void)overlay_key(&menu, KEY_IS_PAGE_DOWN);
			bar_draw(&canvas, 0, "left", "right");
			canvas_clear(&canvas);
		}
}

static void a_bar_keeps_room_for_the_left(void **state)
{
	(void)state;
	struct canvas canvas = { 0 };
	assert_int_equal(canvas_resize(&canvas, 1, 20), 0);
	bar_draw(&canvas, 0, "app.data", "q:quit");
	assert_shown(&canvas, "app.data      q:quit\n");
	bar_draw(&canvas, 0, "a long name of a file", "q:quit");
	assert_shown(&canvas, "a long name…  q:quit\n");
	bar_draw(&canvas, 0, "app.data", "too much to say it");
	assert_shown(&canvas, "app.data\n");
	bar_draw(&canvas, 0, NULL, "too much to say it");
	assert_shown(&canvas, "  too much to say it\n");
	canvas_clear(&canvas);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(help_is_shown_and_scrolls),
		cmocka_unit_test(an_item_is_chosen),
		cmocka_unit_test(too_small_a_screen_is_no_fault),
		cmocka_unit_test(a_bar_keeps_room_for_the_left),
	};
	return cmocka_run_group_tests(tests, use_utf8, NULL);
}
