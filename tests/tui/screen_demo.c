/* A program with a screen, for tests in a real terminal: shows the keys that it gets.
 *
 *   screen_demo [keep] [mono]     q ends it, a aborts it, e writes to standard error, s spins
 */
#include "base/status.h"
#include "tui/bar.h"
#include "tui/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void draw(struct screen *screen, int32_t key, unsigned count)
{
	char text[120];
	struct canvas *canvas = screen_canvas(screen);
	struct area line = { 1, 0, 1, canvas->columns };
	canvas_erase(canvas);
	(void)snprintf(text, sizeof(text), "%u x %u %s", canvas->columns, canvas->rows,
		       screen_is_utf8(screen) ? "utf-8" : "ascii");
	bar_draw(canvas, 0, text, "q:quit");
	(void)snprintf(text, sizeof(text), "key %u: %x", count, (unsigned)key);
	(void)canvas_put_text(canvas, &line, INK_HOT, text);
	line.row = 2;
	(void)canvas_put_text(canvas, &line, INK_PLAIN, "日本 e\xcc\x81 \x1b[2J");
	line = (struct area){ canvas->rows - 1, canvas->columns - 1, 1, 1 };
	(void)canvas_put_text(canvas, &line, INK_PLAIN, "#");
	screen_show(screen);
}

static int run(struct screen *screen)
{
	int32_t key = KEY_IS_NONE;
	for (unsigned count = 0;; count++) {
		draw(screen, key, count);
		key = screen_key(screen, -1);
		if (key == 'q' || key == KEY_IS_END)
			break;
		if (key == 'a')
			abort();
		if (key == 'e')
			(void)fprintf(stderr, "said of the libraries\n");
		if (key == 's')
			for (volatile bool spins = true; spins;)
				continue;
	}
	return screen_end_signal(screen);
}

int main(int argc, char **argv)
{
	struct screen_options options = { .keeps_errors = true };
	struct screen *screen;
	for (int i = 1; i < argc; i++) {
		options.keeps_signals |= strcmp(argv[i], "keep") == 0;
		options.is_monochrome |= strcmp(argv[i], "mono") == 0;
	}
	const int got = screen_open(&screen, &options);
	if (got < 0) {
		printf("no screen: %s\n", status_text(got));
		return 3;
	}
	const int signal = run(screen);
	screen_close(screen);
	printf("ended by signal %d\n", signal);
	return 0;
}
