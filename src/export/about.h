/* about.h - what is known of a recording, apart from its samples: facts that formats name.
 *
 *   const struct export_about *about = view->about;       never NULL
 *   uint64_t start_ns = export_wall_ns(about, profile->first_ns);
 *   const struct export_object *object = export_object_of(about, frame->object_path);
 *
 * Filled by the command from the load; texts are borrowed from that, may hold any byte, and are ""
 * where nothing is known (NULL in one that was zeroed only). One thread.
 */
#ifndef EXPORT_ABOUT_H
#define EXPORT_ABOUT_H

#include "base/bytes.h"
#include "base/vector.h"

#include <stdbool.h>
#include <stdint.h>

/* How often an event was sampled, as it was asked for. */
struct export_rate {
	uint64_t period;    /* of the event's unit; 0: not known */
	uint64_t frequency; /* samples a second; 0: a fixed period, or not known */
};

/* A file whose code ran. */
struct export_object {
	uint32_t path;         /* string of the profile, as frames have it in object_path */
	struct bytes build_id; /* empty where not known, or where two files had this path */
	/* The part of the file that was mapped to be run; object_avma of frames in it lies there.
	 */
	uint64_t start_off;
	uint64_t end_off;
};

struct export_program {
	uint32_t pid;
	const char *path; /* of what it runs */
};

/* When a thread ran; a number comes again. */
struct export_life {
	uint32_t pid;
	uint32_t tid;
	uint64_t begins_ns; /* in the recording's clock; 0: before it, or not known */
	uint64_t ends_ns;   /* 0: after it, or not known */
};

struct export_about {
	const char *host;
	const char *kernel; /* its release */
	const char *arch;
	const char *cpu;
	const char *recorder;         /* the version of the program that recorded */
	VECTOR(const char *) command; /* that recorded, by argument */
	/* One moment in CLOCK_REALTIME and in the recording's clock; wall_ns 0: not known. */
	uint64_t wall_ns;
	uint64_t clock_ns;
	bool is_wall_guessed;                   /* from when the file was written */
	VECTOR(struct export_rate) rates;       /* by event of the profile */
	VECTOR(struct export_object) objects;   /* by path */
	VECTOR(struct export_program) programs; /* by pid */
	VECTOR(struct export_life) lives;       /* by tid, pid, then time */
};

void export_about_clear(struct export_about *about);

/* CLOCK_REALTIME at a time of the recording's clock; 0: not known. */
uint64_t export_wall_ns(const struct export_about *about, uint64_t time_ns);

/* NULL where it is none of the files. */
const struct export_object *export_object_of(const struct export_about *about, uint32_t path);

/* What a process ran, or "". */
const char *export_program_of(const struct export_about *about, uint32_t pid);

/* Of the thread that was there at a time; times that are not known are 0. */
struct export_life export_life_of(const struct export_about *about, uint32_t pid, uint32_t tid,
				  uint64_t time_ns);

/* All zero where not known. */
struct export_rate export_rate_of(const struct export_about *about, uint32_t event);

#endif
