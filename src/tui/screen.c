/* What ncurses is to all others; screen_terminfo.c knows what lies below it. */
#include "tui/screen.h"

#include "base/status.h"
#include "tui/screen_signals.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define NCURSES_WIDECHAR 1
#include <curses.h>

enum { ESCAPE_WAIT_MS = 50, EMPTY_READS_MOST = 8 };

struct screen {
	SCREEN *ncurses;
	WINDOW *input; /* a pad: reading from it draws nothing */
	struct canvas canvas;
	attr_t attributes[INK_COUNT];
	short pairs[INK_COUNT];
	unsigned cursor_row;
	unsigned cursor_column;
	bool has_cursor;
	bool is_utf8;
	bool is_gone;
	unsigned empty_reads;
	int errors_from; /* -1: standard error is not kept */
	int errors_to;
};

static struct screen *the_screen;

static void choose_attributes(struct screen *screen, bool is_monochrome)
{
	static const struct {
		attr_t with_colours;
		attr_t without;
		short colour; /* -1: the terminal's own */
	} looks[INK_COUNT] = {
		[INK_PLAIN] = { A_NORMAL, A_NORMAL, -1 },
		[INK_HOT] = { A_NORMAL, A_BOLD, COLOR_RED },
		[INK_WARM] = { A_NORMAL, A_NORMAL, COLOR_GREEN },
		[INK_TITLE] = { A_BOLD, A_BOLD, -1 },
		[INK_SOURCE] = { A_NORMAL, A_NORMAL, COLOR_CYAN },
		[INK_QUIET] = { A_DIM, A_DIM, -1 },
		[INK_HEAD] = { A_REVERSE, A_REVERSE, -1 },
		[INK_BAR] = { A_REVERSE, A_REVERSE, -1 },
		[INK_ERROR] = { A_REVERSE, A_REVERSE | A_BOLD, COLOR_RED },
		[INK_MATCH] = { A_BOLD, A_UNDERLINE, COLOR_YELLOW },
	};
	const bool has_colours = !is_monochrome && has_colors() && start_color() == OK;
	const short ground = has_colours && use_default_colors() == OK ? -1 : COLOR_BLACK;
	for (int i = 0; i < INK_COUNT; i++) {
		const short colour = looks[i].colour;
		screen->attributes[i] = has_colours ? looks[i].with_colours : looks[i].without;
		if (has_colours && colour >= 0 && init_pair((short)(i + 1), colour, ground) == OK)
			screen->pairs[i] = (short)(i + 1);
	}
}

/* Standard error, where it is the terminal, goes to memory. */
static void keep_errors(struct screen *screen)
{
	if (!isatty(STDERR_FILENO))
		return;
	const int to = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	const int from = memfd_create("errors", MFD_CLOEXEC);
	if (to >= 0 && from >= 0 && fflush(stderr) == 0 && dup2(from, STDERR_FILENO) >= 0) {
		screen->errors_from = from;
		screen->errors_to = to;
		return;
	}
	if (to >= 0)
		(void)close(to);
	if (from >= 0)
		(void)close(from);
}

static void release_errors(struct screen *screen)
{
	if (screen->errors_from < 0)
		return;
	(void)fflush(stderr);
	(void)dup2(screen->errors_to, STDERR_FILENO);
	screen_signals_put_errors(screen->errors_from, STDERR_FILENO);
	(void)close(screen->errors_from);
	(void)close(screen->errors_to);
}

static void close_at_exit(void)
{
	screen_close(the_screen);
}

static void register_exit(void)
{
	static bool is_registered;
	if (!is_registered)
		is_registered = atexit(close_at_exit) == 0;
}

static int fit_canvas(struct screen *screen)
{
	const unsigned rows = LINES > 0 ? (unsigned)LINES : 1;
	const unsigned columns = COLS > 0 ? (unsigned)COLS : 1;
	return canvas_resize(&screen->canvas, rows, columns);
}

/* ncurses is open: modes, colours, signals. */
static int set_up(struct screen *screen, const struct screen_options *options,
		  const struct termios *outside)
{
	struct screen_signal_setup setup = { .keeps_signals = options->keeps_signals,
					     .outside = *outside };
	screen->input = newpad(1, 1);
	if (!screen->input || fit_canvas(screen) < 0)
		return STATUS_NO_MEMORY;
	(void)cbreak();
	(void)noecho();
	(void)nonl();
	(void)keypad(screen->input, TRUE);
	(void)nodelay(screen->input, TRUE);
	(void)set_escdelay(ESCAPE_WAIT_MS);
	(void)curs_set(0);
	choose_attributes(screen, options->is_monochrome);
	(void)refresh();
	(void)tcgetattr(STDIN_FILENO, &setup.inside);
	screen_sequences(LINES - 1, &setup.leave, &setup.enter);
	if (options->keeps_errors)
		keep_errors(screen);
	setup.errors_from = screen->errors_from;
	setup.errors_to = screen->errors_to;
	return screen_signals_start(&setup);
}

static void tear_down(struct screen *screen)
{
	if (screen->input)
		(void)delwin(screen->input);
	(void)endwin();
	delscreen(screen->ncurses);
	release_errors(screen);
	canvas_clear(&screen->canvas);
	free(screen);
}

int screen_open(struct screen **result, const struct screen_options *options)
{
	struct termios outside;
	if (the_screen || !screen_is_possible() || tcgetattr(STDIN_FILENO, &outside) < 0)
		return STATUS_UNSUPPORTED;
	struct screen *screen = calloc(1, sizeof(*screen));
	if (!screen)
		return STATUS_NO_MEMORY;
	(void)setlocale(LC_CTYPE, "");
	screen->errors_from = screen->errors_to = -1;
	screen->is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	screen->canvas.is_ascii = !screen->is_utf8;
	(void)fflush(stdout);
	/* $LINES and $COLUMNS are what a shell remembers, the terminal knows. */
	use_tioctl(TRUE);
	screen->ncurses = newterm(NULL, stdout, stdin);
	if (!screen->ncurses) {
		free(screen);
		return STATUS_UNSUPPORTED;
	}
	const int got = set_up(screen, options, &outside);
	if (got < 0) {
		tear_down(screen);
		return got;
	}
	register_exit();
	the_screen = screen;
	*result = screen;
	return 0;
}

void screen_close(struct screen *screen)
{
	if (!screen)
		return;
	the_screen = NULL;
	screen_signals_stop();
	tear_down(screen);
}

struct canvas *screen_canvas(struct screen *screen)
{
	return &screen->canvas;
}

bool screen_is_utf8(const struct screen *screen)
{
	return screen->is_utf8;
}

void screen_beep(struct screen *screen)
{
	(void)screen;
	(void)beep();
}

void screen_repair(struct screen *screen)
{
	(void)screen;
	(void)clearok(curscr, TRUE);
}

void screen_cursor(struct screen *screen, unsigned row, unsigned column)
{
	screen->cursor_row = row;
	screen->cursor_column = column;
	screen->has_cursor = true;
}

static void show_cell(const struct screen *screen, unsigned row, unsigned column)
{
	const struct canvas_cell *cell =
	    &screen->canvas.cells[(size_t)row * screen->canvas.columns + column];
	wchar_t text[CANVAS_MARKS + 2] = { (wchar_t)cell->base };
	cchar_t shown;
	if (!cell->base)
		return;
	for (size_t i = 0; i < CANVAS_MARKS; i++)
		text[i + 1] = (wchar_t)cell->marks[i];
	attr_t attributes = screen->attributes[cell->ink];
	short pair = screen->pairs[cell->ink];
	if (cell->is_chosen) {
		/* Dim or coloured text in reverse is hard to read. */
		attributes = (attributes & ~A_DIM) | A_REVERSE;
		pair = 0;
	}
	if (setcchar(&shown, text, attributes, pair, NULL) == OK)
		(void)mvadd_wch((int)row, (int)column, &shown);
}

void screen_show(struct screen *screen)
{
	for (unsigned row = 0; row < screen->canvas.rows; row++)
		for (unsigned column = 0; column < screen->canvas.columns; column++)
			show_cell(screen, row, column);
	(void)curs_set(screen->has_cursor ? 1 : 0);
	if (screen->has_cursor)
		(void)move((int)screen->cursor_row, (int)screen->cursor_column);
	screen->has_cursor = false;
	(void)refresh();
}

static int32_t key_of_code(wint_t code)
{
	static const struct {
		wint_t code;
		int32_t key;
	} keys[] = {
		{ KEY_UP, KEY_IS_UP },         { KEY_DOWN, KEY_IS_DOWN },
		{ KEY_LEFT, KEY_IS_LEFT },     { KEY_RIGHT, KEY_IS_RIGHT },
		{ KEY_PPAGE, KEY_IS_PAGE_UP }, { KEY_NPAGE, KEY_IS_PAGE_DOWN },
		{ KEY_HOME, KEY_IS_HOME },     { KEY_END, KEY_IS_LAST },
		{ KEY_BTAB, KEY_IS_BACK_TAB }, { KEY_BACKSPACE, KEY_IS_BACKSPACE },
		{ KEY_DC, KEY_IS_DELETE },     { KEY_IC, KEY_IS_INSERT },
		{ KEY_ENTER, KEY_IS_ENTER },
	};
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].code == code)
			return keys[i].key;
	if (code >= KEY_F(1) && code <= KEY_F(12))
		return KEY_IS_F1 + (int32_t)(code - KEY_F(1));
	return KEY_IS_UNKNOWN;
}

static int32_t read_key(struct screen *screen)
{
	wint_t code;
	const int got = wget_wch(screen->input, &code);
	if (got == ERR)
		return KEY_IS_NONE;
	screen->empty_reads = 0;
	if (got == KEY_CODE_YES)
		return key_of_code(code);
	if (code == '\r')
		return KEY_IS_ENTER;
	return code == 0x7f || code == '\b' ? KEY_IS_BACKSPACE : (int32_t)code;
}

/* Another size, or all again. */
static int32_t read_signals(struct screen *screen)
{
	if (screen_signals_resized()) {
		struct winsize size;
		const bool is_continued = screen_signals_continued();
		if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col)
			(void)resizeterm(size.ws_row, size.ws_col);
		/* What the terminal shows after it changed its size is anybody's guess. */
		(void)clearok(curscr, TRUE);
		if (fit_canvas(screen) < 0)
			screen->is_gone = true;
		return is_continued ? KEY_IS_REDRAW : KEY_IS_RESIZED;
	}
	if (screen->is_gone || screen_signals_end())
		return KEY_IS_END;
	return KEY_IS_NONE;
}

static int64_t now_ms(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* False when the time is over. */
static bool wait_for_input(struct screen *screen, int timeout_ms)
{
	struct pollfd fds[2] = { { .fd = STDIN_FILENO, .events = POLLIN },
				 { .fd = screen_signals_descriptor(), .events = POLLIN } };
	const int got = poll(fds, 2, timeout_ms);
	if (got == 0)
		return false;
	if (got > 0 && (fds[0].revents & POLLIN) && ++screen->empty_reads > EMPTY_READS_MOST)
		screen->is_gone = true; /* the end of input can be read for ever */
	if (got > 0 && !(fds[0].revents & POLLIN) && fds[0].revents)
		screen->is_gone = true;
	return true;
}

int32_t screen_key(struct screen *screen, int timeout_ms)
{
	const int64_t until_ms = now_ms() + timeout_ms;
	for (;;) {
		int32_t key = read_signals(screen);
		if (key == KEY_IS_NONE)
			key = read_key(screen);
		if (key != KEY_IS_NONE)
			return key;
		int64_t left_ms = timeout_ms < 0 ? -1 : until_ms - now_ms();
		if (timeout_ms >= 0 && left_ms < 0)
			left_ms = 0;
		if (!wait_for_input(screen, (int)left_ms))
			return KEY_IS_NONE;
	}
}

void screen_descriptors(const struct screen *screen, int descriptors[2])
{
	(void)screen;
	descriptors[0] = STDIN_FILENO;
	descriptors[1] = screen_signals_descriptor();
}

int screen_end_signal(const struct screen *screen)
{
	(void)screen;
	return screen_signals_end();
}
