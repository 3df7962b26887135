/* refusal.h - why perf_event_open() said no, and the command that lifts it. */
#ifndef RECORD_REFUSAL_H
#define RECORD_REFUSAL_H

#include "os/perf_event.h"
#include "record/say.h"

struct refusal {
	const char *what; /* the event's name, or another noun */
	pid_t pid;        /* whose thread it was for; 0: our own or our command's */
	bool system_wide;
};

/* `error` is the errno. Says one error, and what to try where that is known. */
void refusal_explain(const struct say *say, int error, const struct refusal *refusal);

/* Why samples in the kernel are missing, as a note. */
void refusal_note_kernel(const struct say *say);

#endif
