/* shown.h - a canvas for tests, and what is on it as text. */
#ifndef TESTS_TUI_SHOWN_H
#define TESTS_TUI_SHOWN_H

#include "test.h"
#include "tui/canvas.h"

#include <locale.h>
#include <string.h>

/* Widths of characters are the locale's. */
static inline int use_utf8(void **state)
{
	(void)state;
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	return 0;
}

/* The canvas holds exactly these lines. */
static inline void assert_shown(const struct canvas *canvas, const char *expected)
{
	struct sink out = { 0 };
	canvas_text(canvas, &out);
	sink_u8(&out, 0);
	assert_false(sink_failed(&out));
	assert_string_equal((const char *)out.data, expected);
	sink_clear(&out);
}

static inline struct bytes text_of(const char *text)
{
	return (struct bytes){ (const uint8_t *)text, strlen(text) };
}

#endif
