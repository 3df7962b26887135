/* What terminals can do. Apart, as <term.h> takes common words for macros. */
#include "tui/screen.h"
#include "tui/screen_signals.h"

#include <unistd.h>

#include <curses.h>
#include <term.h>

/* Capabilities are NULL or -1 where the terminal has them not. */
static bool is_there(const char *capability)
{
	return capability && capability != (const char *)-1;
}

bool screen_is_possible(void)
{
	int why;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return false;
	if (setupterm(NULL, STDOUT_FILENO, &why) != OK)
		return false;
	const bool possible = is_there(cursor_address) && !generic_type && !hard_copy;
	(void)del_curterm(cur_term);
	return possible;
}

/* tputs() takes a function without a context. */
static struct screen_bytes *collected;

static int collect(int byte)
{
	if (collected->size < sizeof(collected->data))
		collected->data[collected->size++] = (char)byte;
	return byte;
}

static void collect_all(struct screen_bytes *bytes, const char *const *capabilities, size_t count)
{
	collected = bytes;
	for (size_t i = 0; i < count; i++)
		if (is_there(capabilities[i]))
			(void)tputs(capabilities[i], 1, collect);
}

void screen_sequences(int last_row, struct screen_bytes *to_leave, struct screen_bytes *to_enter)
{
	const char *const leave[] = { exit_attribute_mode, orig_pair, keypad_local, cursor_normal,
				      exit_ca_mode };
	const char *const enter[] = { enter_ca_mode, keypad_xmit, cursor_invisible };
	collect_all(to_leave, leave, sizeof(leave) / sizeof(leave[0]));
	collect_all(to_enter, enter, sizeof(enter) / sizeof(enter[0]));
	/* Without a second page the picture stays: what comes next goes below it. */
	if (!is_there(exit_ca_mode) && is_there(cursor_address)) {
		const char *const below = tiparm(cursor_address, last_row, 0);
		collect_all(to_leave, &below, 1);
		collected = to_leave;
		(void)collect('\r');
		(void)collect('\n');
	}
}
