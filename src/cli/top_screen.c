#include "cli/top_screen.h"

#include "base/status.h"
#include "cli/command.h"
#include "cli/message.h"
#include "tui/screen.h"
#include "tui/top_view.h"

#include <stdlib.h>

struct run {
	const struct top_args *args;
	struct screen *screen;
	struct top_view view;
	uint64_t count;
	size_t notes_told;
	bool has_left;
	int status;
};

static void show(struct run *run)
{
	top_view_draw(&run->view, screen_canvas(run->screen));
	if (top_view_has_cursor(&run->view))
		screen_cursor(run->screen, run->view.cursor_row, run->view.cursor_column);
	screen_show(run->screen);
}

/* They appear when the screen is closed. */
static void tell_notes(struct run *run, const struct live *live)
{
	for (; run->notes_told < live_state(live)->note_count; run->notes_told++)
		message_warning("%s", live_note(live, run->notes_told));
}

static int on_interval(void *context, struct live *live)
{
	struct run *run = context;
	tell_notes(run, live);
	const int got = top_view_interval(&run->view);
	if (got < 0) {
		message_error("%s", status_text(got));
		run->status = EXIT_INPUT;
		return 1;
	}
	show(run);
	return ++run->count == run->args->iterations;
}

static enum record_answer on_ready(void *context, struct live *live)
{
	struct run *run = context;
	enum record_answer answer = RECORD_GO_ON;
	int32_t key;
	(void)live;
	while ((key = screen_key(run->screen, 0)) != KEY_IS_NONE) {
		switch (top_view_key(&run->view, key)) {
		case TOP_LEAVES:
			run->has_left = true;
			return RECORD_END;
		case TOP_NOW:
			answer = RECORD_TAKE_NOW;
			break;
		default:
			break;
		}
	}
	show(run);
	return answer;
}

/* What ended by itself stays to be looked at. */
static void linger(struct run *run)
{
	run->view.has_ended = true;
	for (;;) {
		show(run);
		const int32_t key = screen_key(run->screen, -1);
		if (key == KEY_IS_NONE || top_view_key(&run->view, key) == TOP_LEAVES)
			return;
	}
}

static int run_live(struct run *run, struct top_args *a, struct live *live)
{
	struct record_result result = { 0 };
	int got =
	    top_view_open(&run->view, live, &a->print.rows, a->print.window, a->live.with_callers);
	if (got == 0) {
		run->view.is_ascii = !screen_is_utf8(run->screen);
		show(run);
		got = live_run(live, &result);
		if (got == 0 && !run->has_left && !result.was_interrupted && !a->iterations &&
		    run->status == EXIT_OK)
			linger(run);
	}
	top_view_close(&run->view);
	if (got < 0)
		return result.exec_failure ? result.exec_failure : EXIT_INPUT;
	if (run->status != EXIT_OK)
		return run->status;
	return run->has_left || result.was_interrupted ? EXIT_OK : top_exit_status(a, &result);
}

int top_screen(struct top_args *a)
{
	struct run run = { .args = a };
	const char *no_color = getenv("NO_COLOR");
	const struct screen_options options = {
		.is_monochrome = no_color && *no_color,
		.keeps_signals = true,
		.keeps_errors = true,
	};
	const int opened = screen_open(&run.screen, &options);
	if (opened < 0) {
		message_error("the terminal cannot show a screen: %s", status_text(opened));
		message_try("polyperf top --stdio ...");
		return EXIT_INPUT;
	}
	int fds[2];
	struct live *live;
	screen_descriptors(run.screen, fds);
	a->live.fds = fds;
	a->live.fd_count = 2;
	a->live.on_interval = on_interval;
	a->live.on_ready = on_ready;
	a->live.context = &run;
	int status = EXIT_INPUT;
	if (live_new(&live, &a->live) == 0) {
		status = run_live(&run, a, live);
		live_free(live);
	} else {
		message_error("%s", status_text(STATUS_NO_MEMORY));
	}
	screen_close(run.screen);
	return status;
}
