/* events.h - what became of code over a run: compiled, moved, unloaded, fell back.
 *
 *   struct profile_events events = { 0 };
 *   load_code_events(load, &profile, &events);              load/events.h
 *   for (size_t i = 0; i < events.items.count; i++)
 *           use(&profile, &events.items.items[i]);
 *   profile_events_clear(&events);
 *
 * Ascending times. Texts are strings of the profile, so they live as long as that. Which runtime
 * tells of what, and what is inferred: docs/events.md. One thread while they are filled, any number
 * after.
 */
#ifndef PROFILE_EVENTS_H
#define PROFILE_EVENTS_H

#include "profile/profile.h"

/* A key for programs, words for people. */
#define PROFILE_EVENT_LIST(X)               \
	X(COMPILED, "compiled", "compiled") \
	X(LOADED, "loaded", "loaded")       \
	X(MOVED, "moved", "moved")          \
	X(UNLOADED, "unloaded", "unloaded") \
	X(FELL_BACK, "fell_back", "fell back")

/* COMPILED: a runtime told of code that it made of a function. LOADED: of a stub, or of code that
 * was compiled ahead. UNLOADED: it said that the code is gone. FELL_BACK: a function is in a lower
 * tier than it was.
 */
enum profile_event_kind {
#define X(name, key, text) PROFILE_EVENT_##name,
	PROFILE_EVENT_LIST(X)
#undef X
	    PROFILE_EVENT_COUNT
};

const char *profile_event_key(enum profile_event_kind kind);
const char *profile_event_text(enum profile_event_kind kind);

struct profile_event {
	uint64_t time_ns;     /* in the recording's clock, as samples have it */
	uint64_t earliest_ns; /* it happened between this and time_ns; equal where it was told */
	uint64_t size_bytes;  /* of the code; FELL_BACK: 0 */
	uint32_t pid;
	uint32_t tid;  /* whose samples show it, or who told it; 0: not known */
	uint32_t name; /* strings */
	uint32_t object;
	uint32_t runtime;
	uint32_t tier;      /* of the code; FELL_BACK: the lower one */
	uint32_t from_tier; /* FELL_BACK: the higher one; else "" */
	uint32_t function;  /* of this very code, where samples hit it; else INTERN_NONE */
	uint8_t kind;       /* enum profile_event_kind */
	/* Nobody said so: it follows from what was told, or from samples. */
	bool is_inferred;
	bool is_of_thread; /* the runtime keeps code for each thread: JavaScript's workers */
};

struct profile_events {
	VECTOR(struct profile_event) items;
	/* Pieces of code that were announced without a time: nothing above is about them. */
	uint64_t untimed_count;
	/* And of what was there before the recording began, likewise. */
	uint64_t earlier_count;
};

void profile_events_clear(struct profile_events *events);

/* By time; equal times keep their order. Returns 0 or STATUS_NO_MEMORY. */
int profile_events_sort(struct profile_events *events);

/* Functions that samples show in a lower tier than before: see the samples of a run in time order,
 * then take what is found into the events.
 *
 *   struct profile_falls *falls = profile_falls_new();
 *   profile_falls_see(falls, &profile, thread, stack, time_ns);        for each sample
 *   profile_falls_take(falls, &profile, &events);                      adds and sorts
 *   profile_falls_free(falls);
 *
 * Looks at one thread at a time, at the innermost function of a runtime that takes code back, and
 * believes that it fell only where no older call of it was still running in the lower tier. Code
 * entered by on-stack replacement does not count: the next call begins in the lower tier anyway.
 * All return 0 or STATUS_NO_MEMORY.
 */
struct profile_falls;
struct profile_falls *profile_falls_new(void);
int profile_falls_see(struct profile_falls *falls, const struct profile *p, uint32_t thread,
		      uint32_t stack, uint64_t time_ns);
int profile_falls_take(struct profile_falls *falls, const struct profile *p,
		       struct profile_events *events);
void profile_falls_free(struct profile_falls *falls);

#endif
