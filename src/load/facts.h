/* facts.h - what a recording says of itself, apart from its samples.
 *
 *   struct load_facts facts;
 *   load_facts(load, &facts);
 *   for (size_t i = 0; (argument = load_command(load, i)); i++)
 *           ...
 *
 * All texts are from outside and may hold any byte; they live as long as the load. One thread.
 */
#ifndef LOAD_FACTS_H
#define LOAD_FACTS_H

#include "load/load.h"

struct load_facts {
	/* "" where not known. */
	const char *host;
	const char *kernel; /* its release */
	const char *arch;
	const char *cpu;
	const char *recorder; /* the version of the program that recorded */
	/* One moment in two clocks: CLOCK_REALTIME, and the recording's. wall_ns is 0 where it is
	 * not known.
	 */
	uint64_t wall_ns;
	uint64_t clock_ns;
	/* From when the file was written last, as if that were the time of the last sample.
	 * clock_ns is 0 where the file does not tell that.
	 */
	bool is_wall_guessed;
};

void load_facts(const struct load *load, struct load_facts *facts);

/* Argument `index` of the command that recorded; NULL past the last. */
const char *load_command(const struct load *load, size_t index);

/* What one sample of an event of the profile stands for, as it was asked for. */
struct load_rate {
	uint64_t period;    /* of the event's unit; 0: not known */
	uint64_t frequency; /* samples a second; 0: a fixed period */
};
void load_rate(const struct load *load, uint32_t event, struct load_rate *rate);

/* A thread that began or ended while it was recorded. */
struct load_task {
	uint32_t pid;
	uint32_t tid;
	uint64_t time_ns;
	bool is_end;
};

/* False past the last. In the order of the file, which is not quite that of time. */
bool load_task_at(const struct load *load, size_t index, struct load_task *task);

/* A file that was mapped to be run. */
struct load_object {
	const char *path;      /* as frames have it in object_path */
	struct bytes build_id; /* empty where not known */
	/* The part of the file that was mapped, by offset in it; equal where it is no file. */
	uint64_t start_off;
	uint64_t end_off;
};

/* False past the last. Two objects may have one path, where a file was replaced. */
bool load_object_at(const struct load *load, size_t index, struct load_object *object);

#endif
