/* world.h - a recording of few processes in few pages, made of numbers that somebody chooses.
 *
 *   struct world w = { .next = my_numbers, .context = &my_state, .program = "/bin/true" };
 *   world_begin(&w, &(struct recording_shape){ 0 });
 *   for (int i = 0; i < 100; i++)
 *           world_step(&w);
 *   ... w.r, w.dumps and w.maps are what came of it ...
 *   world_clear(&w);
 *
 * Small enough that all meet all: code that is loaded, moved and unloaded, lines of maps,
 * mappings of files and of memory, forks, execs, and samples at the edges of all that.
 */
#ifndef TESTS_INJECT_WORLD_H
#define TESTS_INJECT_WORLD_H

#include "load/recording.h"

enum { WORLD_PIDS = 4, WORLD_FIRST_PID = 4000001, WORLD_RECENT = 16 };

struct world {
	uint32_t (*next)(void *context); /* any number */
	void *context;
	const char *program; /* an ELF file: its symbols are asked for too */
	/* Of these the recording is sealed and written by the caller. */
	struct recording r;
	struct sink dumps[WORLD_PIDS];
	struct sink maps[WORLD_PIDS];
	/* Its own. */
	bool has_unwinding; /* where samples have pieces of stack, code has tables */
	uint64_t now_ns;
	unsigned names;
	uint64_t recent[WORLD_RECENT]; /* starts and ends of code, to be met again */
};

/* IP, TID, TIME, CALLCHAIN, and a piece of stack that is empty. */
extern const uint64_t world_with_stacks;

void world_begin(struct world *w, const struct recording_shape *shape);
void world_step(struct world *w);
void world_clear(struct world *w); /* but for w->r */

#endif
