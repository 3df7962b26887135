#include "tui/screen_signals.h"

#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

enum kind { ENDS, CRASHES, STOPS, CONTINUES, RESIZES };

static const struct {
	int number;
	enum kind kind;
} watched[] = {
	{ SIGINT, ENDS },      { SIGTERM, ENDS },    { SIGHUP, ENDS },    { SIGQUIT, ENDS },
	{ SIGSEGV, CRASHES },  { SIGBUS, CRASHES },  { SIGFPE, CRASHES }, { SIGILL, CRASHES },
	{ SIGABRT, CRASHES },  { SIGPIPE, CRASHES }, { SIGTSTP, STOPS },  { SIGCONT, CONTINUES },
	{ SIGWINCH, RESIZES },
};

enum { WATCHED_COUNT = sizeof(watched) / sizeof(watched[0]) };

static struct screen_signal_setup setup;
static struct sigaction before[WATCHED_COUNT];
static int wake[2] = { -1, -1 };
static volatile sig_atomic_t is_resized;
static volatile sig_atomic_t is_continued;
static volatile sig_atomic_t end_signal;

static void put(int fd, const char *data, size_t size)
{
	while (size) {
		const ssize_t got = write(fd, data, size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return;
		data += got;
		size -= (size_t)got;
	}
}

void screen_signals_put_errors(int from, int to)
{
	char block[512];
	off_t at = 0;
	for (;;) {
		const ssize_t got = pread(from, block, sizeof(block), at);
		if (got <= 0)
			return;
		put(to, block, (size_t)got);
		at += got;
	}
}

static void give_back(void)
{
	put(STDOUT_FILENO, setup.leave.data, setup.leave.size);
	(void)tcsetattr(STDIN_FILENO, TCSANOW, &setup.outside);
}

static void wake_up(void)
{
	const char byte = 0;
	/* A full pipe wakes as well. */
	const ssize_t got = write(wake[1], &byte, 1);
	(void)got;
}

/* The default action, as if nobody had looked. */
static void do_default(int number)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t set;
	sigemptyset(&action.sa_mask);
	sigemptyset(&set);
	sigaddset(&set, number);
	(void)sigaction(number, &action, NULL);
	(void)raise(number);
	(void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void on_end(int number)
{
	if (setup.keeps_signals) {
		end_signal = number;
		wake_up();
		return;
	}
	give_back();
	if (setup.errors_from >= 0)
		screen_signals_put_errors(setup.errors_from, setup.errors_to);
	do_default(number);
}

static void on_crash(int number)
{
	give_back();
	if (setup.errors_from >= 0)
		screen_signals_put_errors(setup.errors_from, setup.errors_to);
	do_default(number);
}

static void on_stop(int number);

static void watch(int number, void (*handler)(int), struct sigaction *old)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	sigemptyset(&action.sa_mask);
	(void)sigaction(number, &action, old);
}

static void on_stop(int number)
{
	const int why = errno;
	give_back();
	do_default(number); /* returns when the program goes on */
	watch(number, on_stop, NULL);
	errno = why;
}

/* Also after a SIGSTOP that nobody could see: the shell had the terminal meanwhile. */
static void on_continue(int number)
{
	const int why = errno;
	(void)number;
	(void)tcsetattr(STDIN_FILENO, TCSANOW, &setup.inside);
	put(STDOUT_FILENO, setup.enter.data, setup.enter.size);
	is_continued = 1;
	is_resized = 1;
	wake_up();
	errno = why;
}

static void on_resize(int number)
{
	const int why = errno;
	(void)number;
	is_resized = 1;
	wake_up();
	errno = why;
}

int screen_signals_start(const struct screen_signal_setup *wanted)
{
	static void (*const handlers[])(int) = {
		[ENDS] = on_end,           [CRASHES] = on_crash,  [STOPS] = on_stop,
		[CONTINUES] = on_continue, [RESIZES] = on_resize,
	};
	if (pipe2(wake, O_CLOEXEC | O_NONBLOCK) < 0)
		return STATUS_IO;
	setup = *wanted;
	is_resized = is_continued = 0;
	end_signal = 0;
	for (size_t i = 0; i < WATCHED_COUNT; i++) {
		struct sigaction old;
		(void)sigaction(watched[i].number, NULL, &old);
		before[i] = old;
		/* nohup and the like: what is ignored stays so. */
		if (old.sa_handler == SIG_IGN && watched[i].kind != RESIZES)
			continue;
		watch(watched[i].number, handlers[watched[i].kind], NULL);
	}
	return 0;
}

void screen_signals_stop(void)
{
	for (size_t i = 0; i < WATCHED_COUNT; i++)
		(void)sigaction(watched[i].number, &before[i], NULL);
	for (int i = 0; i < 2; i++) {
		(void)close(wake[i]);
		wake[i] = -1;
	}
}

int screen_signals_descriptor(void)
{
	return wake[0];
}

static void drain(void)
{
	char bytes[64];
	while (read(wake[0], bytes, sizeof(bytes)) > 0)
		continue;
}

bool screen_signals_resized(void)
{
	drain();
	const bool told = is_resized;
	is_resized = 0;
	return told;
}

bool screen_signals_continued(void)
{
	const bool told = is_continued;
	is_continued = 0;
	return told;
}

int screen_signals_end(void)
{
	return end_signal;
}
