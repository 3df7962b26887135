/* Keys of the screen of `top`. */
#include "tui/top_view_internal.h"

#include "annotate/write.h"
#include "base/status.h"
#include "tui/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct help_line help_lines[] = {
	{ NULL, "Moving" },
	{ "Up Down j k", "row" },
	{ "PgUp PgDn Home End", "page, first and last row" },
	{ "< >", "sideways" },
	{ NULL, "What is shown" },
	{ "p Space", "pause, and go on" },
	{ "s", "sort by another column" },
	{ "/", "filter: words in process, runtime, object, symbol" },
	{ "f", "search: a regular expression; n and N go on" },
	{ "c", "with and without the time of functions called" },
	{ "w", "the last seconds, decaying, or since the start" },
	{ "W", "how many seconds" },
	{ "d", "how often" },
	{ NULL, "A function" },
	{ "Enter", "its code, with the samples of the window" },
	{ "v", "there: instructions, source lines, or both" },
	{ "q Esc", "back; from the table: quit" },
	{ NULL, NULL },
};

static const char *const sort_items[LIVE_SORT_COUNT] = {
#define X(name, text) text,
	LIVE_SORT_LIST(X)
#undef X
};

static void ask(struct top_view *v, enum top_prompt what, const char *label, const char *text)
{
	v->asking = what;
	v->prompt.label = label;
	prompt_set(&v->prompt, text);
}

static void set_filter(struct top_view *v, const char *text)
{
	sink_reset(&v->filter);
	if (*text)
		sink_cstr(&v->filter, text);
	if (sink_failed(&v->filter))
		sink_reset(&v->filter);
	if (top_view_make_rows(v) < 0)
		v->message = status_text(STATUS_NO_MEMORY);
}

/* Seconds between limits; negative: the text is none. */
static double seconds_in(const char *text, double least, double most)
{
	char *end;
	const double seconds = strtod(text, &end);
	const bool is_number = end != text && *end == '\0';
	return is_number && seconds >= least && seconds <= most ? seconds : -1;
}

static void finish_prompt(struct top_view *v)
{
	const char *text = prompt_text(&v->prompt);
	double seconds;
	switch (v->asking) {
	case TOP_INTERVAL:
		seconds = seconds_in(text, 0.1, 3600);
		if (seconds < 0)
			v->message = "how often: seconds, from 0.1 to 3600";
		else
			live_set_interval(v->live, (uint64_t)(seconds * 1e9));
		break;
	case TOP_WINDOW:
		seconds = seconds_in(text, 0.1, 86400);
		if (seconds < 0)
			v->message = "the window: seconds, up to 86400";
		else
			live_set_window(v->live, seconds);
		break;
	case TOP_SEARCH:
		v->message =
		    v->is_inside ? pane_search(&v->pane, text) : table_search(&v->table, text);
		if (!v->message && *text)
			(void)(v->is_inside ? pane_next(&v->pane, false, true)
					    : table_next(&v->table, false, true));
		break;
	default:
		break;
	}
	v->asking = TOP_NO_PROMPT;
}

static enum top_outcome key_in_prompt(struct top_view *v, int32_t key)
{
	switch (prompt_key(&v->prompt, key)) {
	case PROMPT_CHANGED:
		if (v->asking == TOP_FILTER)
			set_filter(v, prompt_text(&v->prompt));
		break;
	case PROMPT_DONE:
		finish_prompt(v);
		break;
	case PROMPT_GIVEN_UP:
		if (v->asking == TOP_FILTER)
			set_filter(v, "");
		v->asking = TOP_NO_PROMPT;
		break;
	default:
		break;
	}
	return TOP_STAYS;
}

static enum top_outcome key_in_menu(struct top_view *v, int32_t key)
{
	const enum overlay_outcome outcome = overlay_key(&v->menu, key);
	if (outcome == OVERLAY_STAYS)
		return TOP_STAYS;
	v->is_menu = false;
	if (outcome != OVERLAY_CHOSEN)
		return TOP_STAYS;
	v->rows_options.sort = (enum live_sort)v->menu.at.chosen;
	if (v->rows_options.sort == LIVE_SORT_TOTAL && !v->with_callers) {
		v->with_callers = true;
		live_set_callers(v->live, true);
	}
	if (top_view_make_rows(v) < 0)
		v->message = status_text(STATUS_NO_MEMORY);
	return TOP_STAYS;
}

static void show_help(struct top_view *v)
{
	v->help = (struct overlay){ .title = "Keys", .help = help_lines };
	v->is_help = true;
}

/* Views that make sense of one function. */
static enum top_outcome next_view(struct top_view *v)
{
	v->inside_view = v->inside_view == ANNOTATE_MIXED ? ANNOTATE_ASM
			 : v->inside_view == ANNOTATE_ASM ? ANNOTATE_SOURCE
							  : ANNOTATE_MIXED;
	live_style_detail(v->live, v->inside_view, 0, v->is_ascii);
	return TOP_NOW;
}

static bool moves_on(struct top_view *v, bool backwards)
{
	return v->is_inside ? pane_next(&v->pane, backwards, false)
			    : table_next(&v->table, backwards, false);
}

static enum top_outcome key_of_both(struct top_view *v, int32_t key)
{
	switch (key) {
	case 'p':
	case ' ':
		v->is_paused = !v->is_paused;
		return v->is_paused ? TOP_STAYS : TOP_NOW;
	case '?':
	case 'h':
	case KEY_IS_F1:
		show_help(v);
		return TOP_STAYS;
	case 'n':
	case 'N':
		if (!moves_on(v, key == 'N'))
			v->message = "no match";
		return TOP_STAYS;
	case 'f':
		ask(v, TOP_SEARCH, "Search: ", "");
		return TOP_STAYS;
	default:
		return TOP_STAYS;
	}
}

static enum top_outcome key_inside(struct top_view *v, int32_t key)
{
	switch (key) {
	case 'q':
	case KEY_IS_ESCAPE:
	case KEY_IS_LEFT:
	case KEY_IS_BACKSPACE:
		top_view_leave_inside(v);
		return TOP_STAYS;
	case 'v':
		return next_view(v);
	case '/':
		ask(v, TOP_SEARCH, "Search: ", "");
		return TOP_STAYS;
	default:
		return pane_key(&v->pane, key) ? TOP_STAYS : key_of_both(v, key);
	}
}

static enum top_outcome enter(struct top_view *v)
{
	const int got = top_view_enter(v);
	live_style_detail(v->live, v->inside_view, 0, v->is_ascii);
	if (got == STATUS_UNSUPPORTED)
		v->message = "this has no name, and no code that is known";
	else if (got == STATUS_NO_MEMORY)
		v->message = status_text(got);
	return got == 0 ? TOP_NOW : TOP_STAYS;
}

static void ask_seconds(struct top_view *v, enum top_prompt what, const char *label, double seconds)
{
	char text[32];
	(void)snprintf(text, sizeof(text), "%g", seconds);
	ask(v, what, label, text);
}

static void next_window(struct top_view *v)
{
	v->window = (enum live_window)((v->window + 1) % LIVE_WINDOW_COUNT);
	v->is_paused = false;
	if (top_view_interval(v) < 0)
		v->message = status_text(STATUS_NO_MEMORY);
}

static void switch_callers(struct top_view *v)
{
	v->with_callers = !v->with_callers;
	if (!v->with_callers && v->rows_options.sort == LIVE_SORT_TOTAL)
		v->rows_options.sort = LIVE_SORT_SELF;
	live_set_callers(v->live, v->with_callers);
	if (top_view_make_rows(v) < 0)
		v->message = status_text(STATUS_NO_MEMORY);
}

static enum top_outcome key_in_table(struct top_view *v, int32_t key)
{
	switch (key) {
	case 'q':
		return TOP_LEAVES;
	case KEY_IS_ESCAPE:
		if (v->filter.size > 1) {
			set_filter(v, "");
			return TOP_STAYS;
		}
		return TOP_LEAVES;
	case KEY_IS_ENTER:
	case KEY_IS_RIGHT:
	case 'a':
		return enter(v);
	case 's':
		v->menu = (struct overlay){ .title = "Sort by",
					    .items = sort_items,
					    .item_count = LIVE_SORT_COUNT,
					    .at.chosen = v->rows_options.sort };
		v->is_menu = true;
		return TOP_STAYS;
	case '/':
		ask(v, TOP_FILTER, "Filter: ", v->filter.size ? (const char *)v->filter.data : "");
		return TOP_STAYS;
	case 'c':
		switch_callers(v);
		return TOP_STAYS;
	case 'w':
		next_window(v);
		return TOP_STAYS;
	case 'W':
		ask_seconds(v, TOP_WINDOW, "Window in seconds: ", live_window_seconds(v->live));
		return TOP_STAYS;
	case 'd':
		ask_seconds(v, TOP_INTERVAL,
			    "Seconds between tables: ", (double)live_interval_ns(v->live) / 1e9);
		return TOP_STAYS;
	default:
		return table_key(&v->table, key) ? TOP_STAYS : key_of_both(v, key);
	}
}

enum top_outcome top_view_key(struct top_view *v, int32_t key)
{
	v->message = NULL;
	if (key == KEY_IS_END)
		return TOP_LEAVES;
	if (key == KEY_IS_RESIZED || key == KEY_IS_REDRAW || key == KEY_IS_NONE)
		return TOP_STAYS;
	if (v->is_help) {
		v->is_help = overlay_key(&v->help, key) == OVERLAY_STAYS;
		return TOP_STAYS;
	}
	if (v->is_menu)
		return key_in_menu(v, key);
	if (v->asking)
		return key_in_prompt(v, key);
	return v->is_inside ? key_inside(v, key) : key_in_table(v, key);
}
