#include "tui/browser_internal.h"

#include "base/status.h"
#include "tui/bar.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ROWS_FOR_DETAILS = 9 };

__attribute__((format(printf, 3, 0))) static void set_message(struct browser *b, bool is_error,
							      const char *format, va_list arguments)
{
	char text[512];
	(void)vsnprintf(text, sizeof(text), format, arguments);
	sink_reset(&b->message);
	sink_text(&b->message, text);
	b->message_is_error = is_error;
}

void browser_say(struct browser *b, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	set_message(b, false, format, arguments);
	va_end(arguments);
}

void browser_complain(struct browser *b, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	set_message(b, true, format, arguments);
	va_end(arguments);
}

void browser_check(struct browser *b, int status)
{
	if (status >= 0)
		return;
	b->status = status;
	b->is_over = true;
}

void browser_ask(struct browser *b, enum browser_question question, const char *label,
		 const char *text)
{
	b->question = question;
	b->prompt.label = label;
	prompt_set(&b->prompt, text);
}

static void draw_top(struct browser *b, struct canvas *canvas)
{
	const bool callers = b->model.options.tree == REPORT_TREE_CALLERS;
	sink_reset(&b->scratch);
	if (b->view == BROWSER_ANNOTATE) {
		sink_text(&b->scratch, b->code.shown.name);
		bar_draw(canvas, 0, browser_text(&b->scratch), "?:help q:back");
		return;
	}
	sink_text(&b->scratch, b->in->title);
	browser_table_path(b, &b->scratch);
	bar_draw(canvas, 0, browser_text(&b->scratch),
		 callers ? "callers  ?:help q:quit" : "callees  ?:help q:quit");
}

/* The last line: a question, else a message, else what always stands there. */
static void draw_bottom(struct browser *b, struct canvas *canvas)
{
	const unsigned row = canvas->rows - 1;
	const struct area line = { row, 0, 1, canvas->columns };
	if (b->question != BROWSER_ASKS_NOTHING && !b->message.size) {
		const unsigned column = prompt_draw(&b->prompt, canvas, &line);
		screen_cursor(b->screen, row, column);
		return;
	}
	if (b->message.size)
		bar_draw_ink(canvas, row, b->message_is_error ? INK_ERROR : INK_BAR,
			     browser_text(&b->message), NULL);
	else if (b->view == BROWSER_TABLE)
		bar_draw(canvas, row, browser_text(&b->trust), NULL);
	else
		bar_draw(canvas, row, "H:hottest Tab:next Enter:follow v:version m/a/s/b:views",
			 NULL);
}

void browser_draw(struct browser *b)
{
	struct canvas *canvas = screen_canvas(b->screen);
	struct area area = { 1, 0, canvas->rows > 2 ? canvas->rows - 2 : 0, canvas->columns };
	canvas_erase(canvas);
	draw_top(b, canvas);
	if (b->view == BROWSER_TABLE && canvas->rows >= ROWS_FOR_DETAILS) {
		area.rows--;
		browser_table_details(b, canvas, canvas->rows - 2);
	}
	if (b->view == BROWSER_TABLE)
		browser_table_draw(b, canvas, &area);
	else
		browser_annotate_draw(b, canvas, &area);
	if (canvas->rows > 1)
		draw_bottom(b, canvas);
	if (b->menu != BROWSER_NO_MENU)
		overlay_draw(&b->overlay, canvas,
			     &(struct area){ 0, 0, canvas->rows, canvas->columns });
	screen_show(b->screen);
}

static size_t cursor(const struct browser *b)
{
	return b->view == BROWSER_TABLE ? b->table.at.chosen : b->code.pane.at.chosen;
}

static void put_cursor(struct browser *b, size_t at)
{
	if (b->view == BROWSER_TABLE)
		table_choose(&b->table, at);
	else
		pane_choose(&b->code.pane, at);
}

static const char *set_search(struct browser *b, const char *expression)
{
	return b->view == BROWSER_TABLE ? table_search(&b->table, expression)
					: pane_search(&b->code.pane, expression);
}

static bool search_on(struct browser *b, bool backwards, bool stays)
{
	return b->view == BROWSER_TABLE ? table_next(&b->table, backwards, stays)
					: pane_next(&b->code.pane, backwards, stays);
}

/* While one types, from where the cursor was before. */
static void search_typed(struct browser *b)
{
	const char *text = prompt_text(&b->prompt);
	put_cursor(b, b->cursor_before);
	if (!set_search(b, text) && text[0])
		(void)search_on(b, false, true);
}

static void search_done(struct browser *b)
{
	const char *text = prompt_text(&b->prompt);
	const char *wrong = set_search(b, text);
	if (wrong)
		browser_complain(b, "%s", wrong);
	else if (text[0] && !search_on(b, false, true))
		browser_complain(b, "not found: %s", text);
}

static void answer_done(struct browser *b)
{
	const enum browser_question question = b->question;
	b->question = BROWSER_ASKS_NOTHING;
	switch (question) {
	case BROWSER_ASKS_SEARCH:
		search_done(b);
		break;
	case BROWSER_ASKS_FILE:
		sink_reset(&b->path);
		sink_text(&b->path, prompt_text(&b->prompt));
		if (b->path.size)
			browser_write(b, false);
		break;
	default:
		break;
	}
}

static void answer_given_up(struct browser *b)
{
	const enum browser_question question = b->question;
	b->question = BROWSER_ASKS_NOTHING;
	if (question == BROWSER_ASKS_SEARCH) {
		(void)set_search(b, "");
		put_cursor(b, b->cursor_before);
	} else if (question == BROWSER_ASKS_FILTER) {
		browser_table_filter(b, "");
	}
}

static void answer_key(struct browser *b, int32_t key)
{
	if (b->question == BROWSER_ASKS_REPLACE) {
		b->question = BROWSER_ASKS_NOTHING;
		if (key == 'y' || key == 'Y')
			browser_write(b, true);
		return;
	}
	switch (prompt_key(&b->prompt, key)) {
	case PROMPT_CHANGED:
		if (b->question == BROWSER_ASKS_SEARCH)
			search_typed(b);
		else if (b->question == BROWSER_ASKS_FILTER)
			browser_table_filter(b, prompt_text(&b->prompt));
		break;
	case PROMPT_DONE:
		answer_done(b);
		break;
	case PROMPT_GIVEN_UP:
		answer_given_up(b);
		break;
	case PROMPT_SAME:
		break;
	}
}

/* Keys that all views have. */
static bool common_key(struct browser *b, int32_t key)
{
	switch (key) {
	case '/':
		b->cursor_before = cursor(b);
		browser_ask(b, BROWSER_ASKS_SEARCH, "Search: ", "");
		return true;
	case 'n':
	case 'N':
		if (!search_on(b, key == 'N', false))
			browser_complain(b, "nothing found");
		return true;
	case '?':
	case KEY_IS_F1:
		browser_menu_open(b, BROWSER_HELP);
		return true;
	case 'w':
	case 'P':
		browser_write_ask(b);
		return true;
	case 'L' & 0x1f:
		screen_repair(b->screen);
		return true;
	default:
		return false;
	}
}

static void take_key(struct browser *b, int32_t key)
{
	if (key == KEY_IS_RESIZED || key == KEY_IS_REDRAW)
		return;
	sink_reset(&b->message);
	if (key == KEY_IS_END)
		b->is_over = true;
	else if (b->question != BROWSER_ASKS_NOTHING)
		answer_key(b, key);
	else if (b->menu != BROWSER_NO_MENU)
		browser_menu_key(b, key);
	else if (common_key(b, key))
		return;
	else if (b->view == BROWSER_TABLE)
		browser_table_key(b, key);
	else
		browser_annotate_key(b, key);
}

static void clear(struct browser *b)
{
	model_clear(&b->model);
	table_clear(&b->table);
	browser_annotate_clear(b);
	browser_menu_clear(b);
	prompt_clear(&b->prompt);
	struct sink *const sinks[] = { &b->trust, &b->part, &b->path, &b->message, &b->scratch };
	for (size_t i = 0; i < sizeof(sinks) / sizeof(sinks[0]); i++)
		sink_clear(sinks[i]);
}

int browser_run(struct screen *screen, const struct browser_inputs *inputs)
{
	struct browser b = {
		.screen = screen,
		.in = inputs,
		.model = { .profile = inputs->profile,
			   .event = inputs->event,
			   .options = *inputs->options,
			   .sorted_by = -1 },
	};
	if (b.model.options.tree == REPORT_TREE_NONE)
		b.model.options.tree = REPORT_TREE_CALLERS;
	browser_table_build(&b);
	while (!b.is_over) {
		browser_draw(&b);
		take_key(&b, screen_key(screen, -1));
	}
	clear(&b);
	return b.status;
}
