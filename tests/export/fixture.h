/* fixture.h - a profile and its samples, made by hand, for the tests of export formats.
 *
 *   struct export_fixture fixture;
 *   fixture_open(&fixture);
 *   char *text = fixture_write(&fixture, &export_folded, 0, NULL);
 *   free(text);
 *   fixture_fails(&fixture, &export_folded, 0);
 *   fixture_close(&fixture);
 *
 * It holds what formats have to tell apart: two events, threads of one name and a thread with a
 * hostile one, native, kernel, JIT-compiled (in two tiers), inlined (twice deep), interpreted,
 * builtin and unknown frames, recursion, directly and through another function, an empty stack, and
 * hostile names. fixture.c has all of it in tables. Each call asserts on what fails.
 */
#ifndef TESTS_EXPORT_FIXTURE_H
#define TESTS_EXPORT_FIXTURE_H

#include "export/export.h"
#include "export/samples.h"

/* Of code: alpha compiled twice, fallen back to its first tier and unloaded, a name that is
 * hostile, the first before all samples, the last of a process without samples.
 */
enum { FIXTURE_CODE_EVENTS = 6, FIXTURE_FIRST_EVENT_NS = 999500000 };

/* Events, by their ids. */
enum { FIXTURE_CPU_CLOCK, FIXTURE_CYCLES, FIXTURE_EVENT_COUNT };

enum { FIXTURE_LONG_NAME_BYTES = 65536 };

/* CLOCK_REALTIME at the first sample: 2023-11-14 22:13:20 UTC and some nanoseconds. */
#define FIXTURE_WALL_NS 1700000000123456789u

/* Ids of frames, and of their functions where those are named alike. */
enum fixture_frame {
	FRAME_MAIN,           /* native, app.c:10 */
	FRAME_MAIN_RETURN,    /* the same function, app.c:12 */
	FRAME_SLOW,           /* alpha in its first tier, early, app.js:3 */
	FRAME_FAST,           /* alpha in its second tier, app.js:4 */
	FRAME_BETA,           /* app.js:20, calls alpha */
	FRAME_OUTER,          /* code into which the next was inlined; called at app.js:31 */
	FRAME_MIDDLE,         /* inlined into it; called at util.js:41 */
	FRAME_INNER,          /* inlined into that, at deep.js:51 */
	FRAME_INTERPRETED,    /* Python, job.py:7 */
	FRAME_BUILTIN,        /* of Python, in C: no line */
	FRAME_KERNEL,         /* no line */
	FRAME_UNKNOWN,        /* "[unknown]" */
	FRAME_HOSTILE_TEXT,   /* separators, quotes, tags, control characters */
	FRAME_HOSTILE_NUMBER, /* its name ends as a line of folded stacks does */
	FRAME_HOSTILE_KIND,   /* its name ends as kinds do, and holds a pair of brackets */
	FRAME_HOSTILE_BYTES,  /* not UTF-8, with a mark for writing from right to left */
	FRAME_HOSTILE_SYNTAX, /* reads as a line of callgrind's; file and object too */
	FRAME_EMPTY,          /* "" */
	FRAME_LONG,           /* FIXTURE_LONG_NAME_BYTES */
	FIXTURE_FRAME_COUNT
};

struct export_fixture {
	struct profile profile; /* with rows: of each sample */
	struct export_samples *samples;
	struct export_options options;
	struct profile_events events; /* of code: FIXTURE_CODE_EVENTS */
	struct export_about about;    /* all of it is known; the wall clock is FIXTURE_WALL_NS */
};

void fixture_open(struct export_fixture *fixture);
void fixture_close(struct export_fixture *fixture);

/* What a format writes, with a NUL behind it; its size goes to *size, which may be NULL. The event
 * is one of the above, or EXPORT_ALL_EVENTS. The caller frees it.
 */
char *fixture_write(const struct export_fixture *fixture, const struct export_format *format,
		    uint32_t event, size_t *size);

/* A writer's status comes back, whichever of its calls fails. */
void fixture_fails(const struct export_fixture *fixture, const struct export_format *format,
		   uint32_t event);

/* Samples of an event, and their weight. */
uint64_t fixture_count(const struct export_fixture *fixture, uint32_t event);
uint64_t fixture_weight(const struct export_fixture *fixture, uint32_t event);

#endif
