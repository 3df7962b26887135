#include "tui/browser_internal.h"

static const struct help_line of_table[] = {
	{ NULL, "Moving" },
	{ "Up Down j k", "a row" },
	{ "PgUp PgDn ^U ^D", "a page, half a page" },
	{ "Home End g G", "the first, the last row" },
	{ "< >", "long names sideways" },
	{ "/", "search names: a regular expression" },
	{ "n N", "the next match, the one before" },
	{ NULL, "Callers and callees" },
	{ "Enter Space", "open or close what is under the cursor" },
	{ "Right Left", "open and go in; close and go out" },
	{ "e c", "open, close the whole tree of the row" },
	{ "C", "close all trees" },
	{ "d", "the other direction: callers, callees" },
	{ NULL, "What is counted and shown" },
	{ "i", "inclusive: also while callees run" },
	{ "t v", "a row a tier, a version" },
	{ "s", "sort by another column" },
	{ "f", "only names that hold a text" },
	{ "z", "zoom: object, runtime, thread, program" },
	{ "E", "another event" },
	{ "Esc", "end of search, then back from a zoom" },
	{ NULL, "Others" },
	{ "a", "annotate: source lines and instructions" },
	{ "w P", "write what is shown to a file" },
	{ "^L", "draw the screen again" },
	{ "q", "leave" },
	{ 0 },
};

static const struct help_line of_code[] = {
	{ NULL, "Moving" },
	{ "Up Down j k", "a line" },
	{ "PgUp PgDn ^U ^D", "a page, half a page" },
	{ "Home End g G", "the first, the last line" },
	{ "Left Right < >", "long lines sideways" },
	{ "H", "the line with most samples" },
	{ "Tab Shift-Tab", "the next hottest, the one before" },
	{ "Enter", "follow a jump, or a call" },
	{ "/", "search: a regular expression" },
	{ "n N", "the next match, the one before" },
	{ NULL, "What is shown" },
	{ "m", "instructions below source lines" },
	{ "a", "instructions alone" },
	{ "s", "source lines alone" },
	{ "b", "source lines by version" },
	{ "v", "choose a version" },
	{ "[ ]", "the version before, the next one" },
	{ "r", "bytes of instructions" },
	{ NULL, "Others" },
	{ "w P", "write what is shown to a file" },
	{ "^L", "draw the screen again" },
	{ "Esc q", "back" },
	{ 0 },
};

const struct help_line *browser_help(enum browser_view view)
{
	return view == BROWSER_TABLE ? of_table : of_code;
}
