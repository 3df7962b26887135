#include "record/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_SIZE = 1024 };

static void keep(struct say_kept *kept, const char *text)
{
	const size_t size = strlen(text) + 1;
	char *copy = arena_new(&kept->arena, char, size);
	const char **slot = copy ? vector_push(&kept->texts) : NULL;
	if (!slot)
		return;
	memcpy(copy, text, size);
	*slot = copy;
}

__attribute__((format(printf, 3, 0))) static void say_any(const struct say *say,
							  enum record_note_kind kind,
							  const char *format, va_list args)
{
	char text[TEXT_SIZE];
	(void)vsnprintf(text, sizeof(text), format, args);
	if (say->note)
		say->note(say->context, kind, text);
	if (say->kept && (kind == RECORD_NOTE || kind == RECORD_NOTE_WARNING))
		keep(say->kept, text);
}

void say_note(const struct say *say, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	say_any(say, RECORD_NOTE, format, args);
	va_end(args);
}

void say_warning(const struct say *say, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	say_any(say, RECORD_NOTE_WARNING, format, args);
	va_end(args);
}

void say_error(const struct say *say, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	say_any(say, RECORD_NOTE_ERROR, format, args);
	va_end(args);
}

void say_try(const struct say *say, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	say_any(say, RECORD_NOTE_TRY, format, args);
	va_end(args);
}

void say_detail(const struct say *say, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	say_any(say, RECORD_NOTE_DETAIL, format, args);
	va_end(args);
}

void say_kept_clear(struct say_kept *kept)
{
	vector_clear(&kept->texts);
	arena_clear(&kept->arena);
}
