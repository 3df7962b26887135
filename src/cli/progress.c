#include "cli/progress.h"

#include "base/sink.h"
#include "cli/message.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const uint64_t BEGIN_NS = 500000000; /* work that is shorter has no bar */
static const uint64_t LEFT_NS = 200000000;  /* nor has what is about to end */
static const uint64_t REDRAW_NS = 100000000;
static const uint64_t FORETELL_NS = 1500000000; /* what the first part took says little */

/* Of the last speed in what is foretold: work often begins slowly, with symbols to be read. */
static const double NEWEST = 0.2;

enum { BAR_WIDTH = 30, WIDTH_DEFAULT = 80, LINE_SIZE = 256 };

static struct {
	struct progress progress;
	const char *what; /* the part that is shown */
	uint64_t start_ns;
	uint64_t drawn_ns;
	uint64_t done;
	uint64_t drawn_done; /* at drawn_ns */
	double speed;        /* a nanosecond; smoothed */
	bool is_drawn;
	bool is_stopped;
} bar;

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void write_out(const void *data, size_t size)
{
	/* A terminal that is gone is no fault of the work. */
	const ssize_t wrote = write(STDERR_FILENO, data, size);
	(void)wrote;
}

void progress_erase(void)
{
	static const char ERASE[] = "\r\033[K";
	if (bar.is_drawn)
		write_out(ERASE, strlen(ERASE));
	bar.is_drawn = false;
}

void progress_stop(void)
{
	progress_erase();
	bar.is_stopped = true;
}

void progress_stop_for_output(void)
{
	struct stat output;
	if (fstat(STDOUT_FILENO, &output) < 0 || !S_ISREG(output.st_mode))
		progress_stop();
}

static unsigned terminal_columns(void)
{
	struct winsize size;
	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col
									   : WIDTH_DEFAULT;
}

/* 0 and what passes all bounds: not known. */
static void put_left(struct sink *line, uint64_t left_ns)
{
	if (!left_ns || left_ns == UINT64_MAX)
		return;
	const uint64_t seconds = (left_ns + 999999999) / 1000000000;
	if (seconds < 120)
		sink_printf(line, ", %" PRIu64 " s left", seconds);
	else
		sink_printf(line, ", %" PRIu64 " min left", (seconds + 59) / 60);
}

/* "polyperf: samples [=========>           ]  45 %, 3 s left", as far as it fits. */
static void draw(uint64_t done, uint64_t total, uint64_t left_ns)
{
	struct sink line = { .limit = LINE_SIZE };
	struct sink end = { .limit = LINE_SIZE };
	const double share = (double)done / (double)total;
	const unsigned columns = terminal_columns();
	sink_printf(&line, "polyperf: %s ", bar.what);
	sink_printf(&end, "%3.0f %%", 100 * share);
	put_left(&end, left_ns);
	if (line.size + end.size + BAR_WIDTH + 4 < columns) {
		const int full = (int)(share * BAR_WIDTH);
		static const char FULL[BAR_WIDTH + 1] = "==============================";
		sink_printf(&line, "[%.*s>%*s] ", full, FULL, BAR_WIDTH - full, "");
	}
	if (!sink_failed(&line) && !sink_failed(&end) && line.size + end.size < columns) {
		struct sink all = { .limit = (size_t)2 * LINE_SIZE };
		sink_text(&all, "\r");
		sink_put(&all, line.data, line.size);
		sink_put(&all, end.data, end.size);
		sink_text(&all, "\033[K");
		if (!sink_failed(&all))
			write_out(all.data, all.size);
		bar.is_drawn = true;
		sink_clear(&all);
	}
	sink_clear(&line);
	sink_clear(&end);
}

/* How long it takes yet, by the speed of late; the largest number where that is not known. */
static uint64_t measure(uint64_t time_ns, uint64_t done, uint64_t total)
{
	const double newest = (double)(done - bar.drawn_done) / (double)(time_ns - bar.drawn_ns);
	bar.speed = bar.speed > 0 ? bar.speed + NEWEST * (newest - bar.speed) : newest;
	bar.drawn_ns = time_ns;
	bar.drawn_done = done;
	const double left_ns = bar.speed > 0 ? (double)(total - done) / bar.speed : 1e18;
	return left_ns < 1e18 ? (uint64_t)left_ns : UINT64_MAX;
}

static void tell(void *context, const char *what, uint64_t done, uint64_t total)
{
	(void)context;
	if (bar.is_stopped)
		return;
	if (done >= total) {
		progress_erase();
		bar.what = NULL;
		return;
	}
	const uint64_t time_ns = now_ns();
	if (!bar.what || strcmp(bar.what, what) != 0 || done < bar.done) {
		bar.what = what;
		bar.start_ns = bar.drawn_ns = time_ns;
		bar.drawn_done = done;
		bar.speed = 0;
	}
	bar.done = done;
	if (time_ns - bar.drawn_ns < REDRAW_NS)
		return;
	const uint64_t left_ns = measure(time_ns, done, total);
	const uint64_t spent_ns = time_ns - bar.start_ns;
	if (spent_ns >= BEGIN_NS && (bar.is_drawn || left_ns >= LEFT_NS))
		draw(done, total, spent_ns >= FORETELL_NS ? left_ns : 0);
}

struct progress *progress_bar(void)
{
	const char *terminal = getenv("TERM");
	if (message_is_quiet() || !isatty(STDERR_FILENO) || !terminal ||
	    strcmp(terminal, "dumb") == 0)
		return NULL;
	bar.progress.tell = tell;
	return &bar.progress;
}
