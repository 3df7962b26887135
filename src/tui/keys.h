/* keys.h - what a person pressed: a character (its code point), or one of these. */
#ifndef TUI_KEYS_H
#define TUI_KEYS_H

#include <stdint.h>

enum key {
	KEY_IS_TAB = '\t',
	KEY_IS_ENTER = '\n',
	KEY_IS_ESCAPE = 0x1b,
	/* What no character is. */
	KEY_IS_NONE = 0x200000, /* the time is over */
	KEY_IS_RESIZED,         /* the screen has another size: draw again */
	KEY_IS_REDRAW,          /* the program was stopped and goes on: draw again */
	KEY_IS_END, /* a signal asks the program to end (screen_options.keeps_signals) */
	KEY_IS_UP,
	KEY_IS_DOWN,
	KEY_IS_LEFT,
	KEY_IS_RIGHT,
	KEY_IS_PAGE_UP,
	KEY_IS_PAGE_DOWN,
	KEY_IS_HOME,
	KEY_IS_LAST, /* "End" */
	KEY_IS_BACK_TAB,
	KEY_IS_BACKSPACE,
	KEY_IS_DELETE,
	KEY_IS_INSERT,
	KEY_IS_F1, /* KEY_IS_F1 + n is the function key n + 1, up to 12 */
	KEY_IS_F12 = KEY_IS_F1 + 11,
	KEY_IS_UNKNOWN, /* something else was pressed */
};

/* Control and a letter: key_control('l'). */
static inline int32_t key_control(char letter)
{
	return letter & 0x1f;
}

#endif
