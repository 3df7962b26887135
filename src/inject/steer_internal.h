/* steer_internal.h - what the files of the steering share. Not to be included elsewhere. */
#ifndef INJECT_STEER_INTERNAL_H
#define INJECT_STEER_INTERNAL_H

#include "inject/steer.h"

/* What a belief says of places where no code is. Files have BELIEF_OTHER + an id. */
enum {
	STEER_GONE = BELIEF_OTHER,
	STEER_DATA = 0xfffffffe, /* a mapping of data, of which the load takes no notice */
};

struct steer_range {
	uint64_t start_avma;
	uint64_t end_avma;
};

/* Where there is no code at all, files are left to perf. Elsewhere those of all processes are
 * followed: any of them may have a child with code.
 */
static inline bool steer_follows_files(const struct steer *steer)
{
	return steer->images->codes.count > 0;
}

/* steer.c: what is believed where the file is mapped so; BELIEF_NONE without memory. */
uint32_t steer_file_number(struct steer *steer, const char *path, uint64_t start_avma,
			   uint64_t file_off);
/* Writes an mmap event of the process, of the time given, which leads to `number`. */
int steer_put(struct steer *steer, struct steer_process *process, struct perfdata_new_mmap2 *map,
	      uint32_t number, uint64_t time_ns);
/* A part of the code, or all of it. */
int steer_show_code(struct steer *steer, struct steer_process *process, uint32_t index,
		    const struct steer_range *range, uint64_t time_ns);

/* steer_sample.c */
int steer_checks_init(struct steer *steer);
void steer_checks_clear(struct steer *steer);
/* Something changed in the range. */
void steer_touch(struct steer *steer, uint64_t start_avma, uint64_t end_avma);

#endif
