/* say.h - what a session tells its caller, in whole sentences.
 *
 *   say_note(say, "no hardware counters here: sampling by cpu-clock");
 *   say_error(say, "no event is named %s", name);
 *   say_try(say, "sudo sysctl kernel.perf_event_paranoid=1");
 *
 * Notes and warnings are also kept, for the recording itself. One thread.
 */
#ifndef RECORD_SAY_H
#define RECORD_SAY_H

#include "base/arena.h"
#include "base/vector.h"
#include "record/session.h"

struct say {
	void (*note)(void *context, enum record_note_kind kind, const char *text);
	void *context;
	struct say_kept *kept; /* may be NULL */
};

struct say_kept {
	struct arena arena;
	VECTOR(const char *) texts;
};

void say_note(const struct say *say, const char *format, ...) __attribute__((format(printf, 2, 3)));
void say_warning(const struct say *say, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void say_error(const struct say *say, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void say_try(const struct say *say, const char *format, ...) __attribute__((format(printf, 2, 3)));
void say_detail(const struct say *say, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void say_kept_clear(struct say_kept *kept);

#endif
