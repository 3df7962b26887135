/* The bar on a terminal: a pty's slave is standard error, the test reads the other end. */
#include "cli/progress.h"

#include "cli/message.h"
#include "test.h"

#include <fcntl.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { TOTAL = 100 * PROGRESS_STEP };

static struct screen {
	int terminal;
	int own_stderr;
	char text[65536]; /* all that was written */
	size_t size;
} screen;

static void read_screen(void)
{
	ssize_t got;
	while (screen.size + 1 < sizeof(screen.text) &&
	       (got = read(screen.terminal, screen.text + screen.size,
			   sizeof(screen.text) - screen.size - 1)) > 0)
		screen.size += (size_t)got;
	screen.text[screen.size] = '\0';
}

static int open_terminal(void **state)
{
	(void)state;
	int slave;
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	screen.size = 0;
	screen.text[0] = '\0';
	assert_int_equal(openpty(&screen.terminal, &slave, NULL, NULL, &size), 0);
	assert_int_equal(fcntl(screen.terminal, F_SETFL, O_NONBLOCK), 0);
	screen.own_stderr = dup(STDERR_FILENO);
	assert_int_equal(dup2(slave, STDERR_FILENO), STDERR_FILENO);
	close(slave);
	assert_int_equal(setenv("TERM", "xterm", 1), 0);
	return 0;
}

static int close_terminal(void **state)
{
	(void)state;
	assert_int_equal(dup2(screen.own_stderr, STDERR_FILENO), STDERR_FILENO);
	close(screen.own_stderr);
	close(screen.terminal);
	return 0;
}

/* Works on, a step each 10 ms, until a bar with `what` is there, for 20 seconds at most; returns
 * where the work is.
 */
static uint64_t work_until_drawn(struct progress *progress, const char *what)
{
	uint64_t done = 0;
	for (int i = 0; i < 2000; i++) {
		/* The first half of the work at an even pace; what is left never ends. */
		if (done < TOTAL / 2)
			done += PROGRESS_STEP / 4;
		progress->next = 0;
		progress_at(progress, what, done, TOTAL);
		read_screen();
		if (strstr(screen.text, what))
			return done;
		usleep(10000);
	}
	fail_msg("no bar");
	return 0;
}

static void a_bar_is_drawn_and_erased(void **state)
{
	(void)state;
	struct progress *progress = progress_bar();
	assert_non_null(progress);
	/* Nothing at once. */
	progress_at(progress, "samples", 1, TOTAL);
	read_screen();
	assert_int_equal(screen.size, 0);
	const uint64_t done = work_until_drawn(progress, "samples");
	assert_true(done > 0);
	assert_non_null(strstr(screen.text, "\rpolyperf: samples ["));
	assert_non_null(strstr(screen.text, "] "));
	assert_non_null(strstr(screen.text, " %"));
	assert_null(strchr(screen.text, '\n'));
	screen.size = 0;
	progress_done(progress, "samples", TOTAL);
	read_screen();
	assert_string_equal(screen.text, "\r\033[K");
	screen.size = 0;
	progress_done(progress, "samples", TOTAL);
	read_screen();
	assert_int_equal(screen.size, 0);
}

static void it_gives_way_to_messages_and_comes_back(void **state)
{
	(void)state;
	struct progress *progress = progress_bar();
	work_until_drawn(progress, "code");
	screen.size = 0;
	message_warning("%s", "look");
	read_screen();
	assert_string_equal(screen.text, "\r\033[Kpolyperf: warning: look\r\n");
	screen.size = 0;
	screen.text[0] = '\0';
	work_until_drawn(progress, "code");
	progress_done(progress, "code", TOTAL);
}

static void it_fits_a_narrow_terminal(void **state)
{
	(void)state;
	struct winsize size = { .ws_row = 24, .ws_col = 40 };
	assert_int_equal(ioctl(screen.terminal, TIOCSWINSZ, &size), 0);
	struct progress *progress = progress_bar();
	work_until_drawn(progress, "samples");
	assert_null(strstr(screen.text, "samples ["));
	for (const char *line = screen.text; line;) {
		const char *next = strchr(line + 1, '\r');
		const size_t length = next ? (size_t)(next - line) : strlen(line);
		assert_true(length <= strlen("\r") + 39 + strlen("\033[K"));
		line = next;
	}
	progress_done(progress, "samples", TOTAL);
}

static void no_bar_without_a_terminal(void **state)
{
	(void)state;
	setenv("TERM", "dumb", 1);
	assert_null(progress_bar());
	setenv("TERM", "xterm", 1);
	const int null = open("/dev/null", O_WRONLY);
	assert_true(null >= 0);
	const int terminal = dup(STDERR_FILENO);
	dup2(null, STDERR_FILENO);
	assert_null(progress_bar());
	dup2(terminal, STDERR_FILENO);
	close(terminal);
	close(null);
	assert_non_null(progress_bar());
}

/* These two are for good, and so come last. */
static void after_a_stop_nothing_is_drawn(void **state)
{
	(void)state;
	struct progress *progress = progress_bar();
	work_until_drawn(progress, "samples");
	screen.size = 0;
	progress_stop();
	read_screen();
	assert_string_equal(screen.text, "\r\033[K");
	screen.size = 0;
	for (int i = 1; i < 100; i++) {
		progress->next = 0;
		progress_at(progress, "samples", (uint64_t)i * PROGRESS_STEP, TOTAL);
		usleep(10000);
	}
	read_screen();
	assert_int_equal(screen.size, 0);
}

static void no_bar_when_quiet(void **state)
{
	(void)state;
	message_quiet();
	assert_null(progress_bar());
	message_note("%s", "not told");
	read_screen();
	assert_int_equal(screen.size, 0);
	message_warning("%s", "told");
	read_screen();
	assert_string_equal(screen.text, "polyperf: warning: told\r\n");
}

int main(void)
{
#define ON_TERMINAL(test) cmocka_unit_test_setup_teardown(test, open_terminal, close_terminal)
	const struct CMUnitTest tests[] = {
		ON_TERMINAL(a_bar_is_drawn_and_erased),
		ON_TERMINAL(it_gives_way_to_messages_and_comes_back),
		ON_TERMINAL(it_fits_a_narrow_terminal),
		ON_TERMINAL(no_bar_without_a_terminal),
		ON_TERMINAL(after_a_stop_nothing_is_drawn),
		ON_TERMINAL(no_bar_when_quiet),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
