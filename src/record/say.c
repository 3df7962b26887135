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

#define SAY(name, kind)                                           \
	void name(const struct say *say, const char *format, ...) \
	{                                                         \
		va_list args;                                     \
		va_start(args, format);                           \
		say_any(say, kind, format, args);                 \
		va_end(args);                                     \
	}
SAY(say_note, RECORD_NOTE)
SAY(say_warning, RECORD_NOTE_WARNING)
SAY(say_error, RECORD_NOTE_ERROR)
SAY(say_try, RECORD_NOTE_TRY)
SAY(say_detail, RECORD_NOTE_DETAIL)
#undef SAY

void say_kept_clear(struct say_kept *kept)
{
	vector_clear(&kept->texts);
	arena_clear(&kept->arena);
}
