/* functions.h - the functions of a profile, each once, as reports show them.
 *
 *   struct export_functions functions = { 0 };
 *   export_functions_build(&functions, &profile, false);
 *   uint32_t id = functions.of_frame.items[frame];
 *   use(&functions.items.items[id]);
 *   export_functions_clear(&functions);
 *
 * A function has frames at many addresses and lines, and may be compiled many times. Here it is one
 * thing: what has the same name, object and runtime, as in a report. Its file is what most of its
 * frames have: where nothing tells of inlined code, lines of other files lie among its own. With
 * `by_file` such frames are a function of the same name in that file. One thread.
 */
#ifndef EXPORT_FUNCTIONS_H
#define EXPORT_FUNCTIONS_H

#include "profile/profile.h"

struct export_function {
	uint32_t name; /* strings of the profile */
	uint32_t object;
	uint32_t runtime;
	uint32_t file;  /* "": not known */
	uint32_t line;  /* the lowest of its frames in that file; 0: not known */
	uint32_t frame; /* the first of its frames */
};

struct export_functions {
	VECTOR(struct export_function) items;
	VECTOR(uint32_t) of_frame; /* by frame of the profile */
};

/* 0 or STATUS_NO_MEMORY, with nothing left to clear. */
int export_functions_build(struct export_functions *functions, const struct profile *profile,
			   bool by_file);
void export_functions_clear(struct export_functions *functions);

#endif
