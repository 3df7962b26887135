#include "cli/message.h"

#include "base/escape.h"
#include "base/sink.h"
#include "base/status.h"
#include "cli/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_quiet;

void message_quiet(void)
{
	is_quiet = true;
}

bool message_is_quiet(void)
{
	return is_quiet;
}

/* The line is built first and written in one call, so that threads and children
 * that share standard error do not mix theirs into it.
 */
__attribute__((format(printf, 2, 0))) static void say(const char *start, const char *format,
						      va_list args)
{
	char text[4096];
	const int got = vsnprintf(text, sizeof(text), format, args);
	const size_t size = got < 0 ? 0 : strnlen(text, sizeof(text));
	struct sink line = { 0 };
	sink_text(&line, start);
	escape_terminal(&line, (struct bytes){ (const uint8_t *)text, size });
	sink_text(&line, "\n");
	progress_erase();
	fflush(stdout);
	if (!sink_failed(&line))
		fwrite(line.data, 1, line.size, stderr);
	else
		fputs("polyperf: out of memory\n", stderr);
	sink_clear(&line);
}

void message_error(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	say("polyperf: ", format, args);
	va_end(args);
}

void message_warning(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	say("polyperf: warning: ", format, args);
	va_end(args);
}

void message_note(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	if (!is_quiet)
		say("polyperf: ", format, args);
	va_end(args);
}

void message_try(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	say("  try: ", format, args);
	va_end(args);
}

void message_file(const char *path, int status)
{
	const int reason = errno;
	if (status == STATUS_IO && reason)
		message_error("%s: %s", path, strerror(reason));
	else
		message_error("%s: %s", path, status_text(status));
}

void message_file_at(const char *path, uint64_t offset, const char *reason)
{
	message_error("%s: byte %" PRIu64 ": %s", path, offset, reason);
}
