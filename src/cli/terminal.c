#include "cli/terminal.h"

#include "cli/message.h"
#include "cli/pager.h"
#include "cli/parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDTH_DEFAULT = 80, WIDTH_LEAST = 20, WIDTH_MOST = 1000 };

bool terminal_is_there(void)
{
	return pager_is_running() || isatty(STDOUT_FILENO);
}

static size_t width_asked_for(void)
{
	const char *columns = getenv("COLUMNS");
	uint64_t value = 0;
	if (columns && parse_u64(columns, &value) && value)
		return (size_t)value;
	/* Behind a pager standard output is a pipe; the terminal is still on standard error. */
	struct winsize size;
	const int fd = isatty(STDOUT_FILENO) ? STDOUT_FILENO : STDERR_FILENO;
	if (terminal_is_there() && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	return WIDTH_DEFAULT;
}

size_t terminal_width(void)
{
	const size_t width = width_asked_for();
	if (width < WIDTH_LEAST)
		return WIDTH_LEAST;
	return width > WIDTH_MOST ? WIDTH_MOST : width;
}

bool terminal_flush(void)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return true;
	message_error("standard output: %s", errno ? strerror(errno) : "write error");
	return false;
}
