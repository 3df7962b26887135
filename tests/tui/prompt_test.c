#include "tui/prompt.h"

#include "shown.h"
#include "tui/keys.h"

static void type(struct prompt *prompt, const char *text)
{
	for (; *text; text++)
		assert_int_equal(prompt_key(prompt, *text), PROMPT_CHANGED);
}

static void edits_a_line(void **state)
{
	(void)state;
	struct prompt prompt = { .label = "/" };
	prompt_set(&prompt, "");
	assert_string_equal(prompt_text(&prompt), "");
	type(&prompt, "fib");
	assert_int_equal(prompt_key(&prompt, KEY_IS_LEFT), PROMPT_SAME);
	assert_int_equal(prompt_key(&prompt, 0x65e5), PROMPT_CHANGED);
	assert_string_equal(prompt_text(&prompt), "fi日b");
	assert_int_equal(prompt_key(&prompt, KEY_IS_BACKSPACE), PROMPT_CHANGED);
	assert_int_equal(prompt_key(&prompt, KEY_IS_DELETE), PROMPT_CHANGED);
	assert_int_equal(prompt_key(&prompt, KEY_IS_DELETE), PROMPT_SAME);
	assert_string_equal(prompt_text(&prompt), "fi");
	assert_int_equal(prompt_key(&prompt, KEY_IS_HOME), PROMPT_SAME);
	type(&prompt, "x");
	assert_string_equal(prompt_text(&prompt), "xfi");
	assert_int_equal(prompt_key(&prompt, KEY_IS_LAST), PROMPT_SAME);
	type(&prompt, " two words");
	assert_int_equal(prompt_key(&prompt, key_control('w')), PROMPT_CHANGED);
	assert_string_equal(prompt_text(&prompt), "xfi two ");
	assert_int_equal(prompt_key(&prompt, key_control('u')), PROMPT_CHANGED);
	assert_string_equal(prompt_text(&prompt), "");
	assert_int_equal(prompt_key(&prompt, KEY_IS_BACKSPACE), PROMPT_GIVEN_UP);
	prompt_clear(&prompt);
}

static void ends(void **state)
{
	(void)state;
	struct prompt prompt = { .label = "/" };
	prompt_set(&prompt, "as it was");
	assert_string_equal(prompt_text(&prompt), "as it was");
	assert_int_equal(prompt_key(&prompt, KEY_IS_ENTER), PROMPT_DONE);
	assert_int_equal(prompt_key(&prompt, KEY_IS_ESCAPE), PROMPT_GIVEN_UP);
	assert_int_equal(prompt_key(&prompt, KEY_IS_UP), PROMPT_SAME);
	assert_int_equal(prompt_key(&prompt, 0xd800), PROMPT_SAME);
	assert_int_equal(prompt_key(&prompt, 0x9b), PROMPT_SAME);
	prompt_clear(&prompt);
}

static void has_an_end(void **state)
{
	(void)state;
	struct prompt prompt = { .label = "/" };
	prompt_set(&prompt, "");
	for (int i = 0; i < 4095; i++)
		assert_int_equal(prompt_key(&prompt, 'a'), PROMPT_CHANGED);
	assert_int_equal(prompt_key(&prompt, 'a'), PROMPT_SAME);
	assert_int_equal(strlen(prompt_text(&prompt)), 4095);
	prompt_clear(&prompt);
}

static void the_cursor_is_seen(void **state)
{
	(void)state;
	struct prompt prompt = { .label = "Find: " };
	struct canvas canvas = { 0 };
	const struct area line = { 0, 0, 1, 16 };
	assert_int_equal(canvas_resize(&canvas, 1, 16), 0);
	prompt_set(&prompt, "abc");
	assert_int_equal(prompt_draw(&prompt, &canvas, &line), 9);
	assert_shown(&canvas, "Find: abc\n");
	prompt_set(&prompt, "0123456789abcdef");
	assert_int_equal(prompt_draw(&prompt, &canvas, &line), 14);
	assert_shown(&canvas, "Find: …9abcdef\n");
	canvas_clear(&canvas);
	prompt_clear(&prompt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edits_a_line),
		cmocka_unit_test(ends),
		cmocka_unit_test(has_an_end),
		cmocka_unit_test(the_cursor_is_seen),
	};
	return cmocka_run_group_tests(tests, use_utf8, NULL);
}
