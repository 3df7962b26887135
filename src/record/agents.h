/* agents.h - Pythons that walk their own frames, for users whom the kernel does not let.
 *
 *   struct agents *agents;
 *   agents_new(&agents, &options);
 *   agents_serve(agents, os_clock_mono_ns());       when agents_fd(agents) is readable
 *   agents_exec(agents, pid, time_ns);              as the sideband tells
 *   agents_read(agents, until_ns, &taker);          behind the rings of the kernel
 *   agents_free(agents);
 *
 * Each Python of the command has a library in it (agent/python/protocol.h) that says hello on a
 * socket in the private directory. Events that raise SIGTRAP are opened on it then, of the same
 * kind as those that it has inherited; their samples are those of the recording from there on
 * (agents_covers()), and its library tells of the frames in a ring that we share with it.
 *
 * What a process says is trusted for nothing but itself. One thread.
 */
#ifndef RECORD_AGENTS_H
#define RECORD_AGENTS_H

#include "format/frames/reader.h"
#include "record/events.h"

struct agents;

struct agents_options {
	const char *directory; /* the private one */
	struct events *events; /* opened later, before the first agents_serve() */
	const struct say *say;
	/* Attached to the agents' events, too, so that both can be compared; NULL: no. */
	struct walker *walker;
};

/* Whether this kernel and user can have it: 0, or STATUS_UNSUPPORTED or _DENIED with *reason. */
int agents_try(const char **reason);

/* Returns 0, STATUS_IO (errno), _TOO_BIG (the directory's name) or _NO_MEMORY. Everything in the
 * options is borrowed.
 */
int agents_new(struct agents **agents, const struct agents_options *options);
void agents_free(struct agents *agents); /* NULL is harmless */

/* Readable when somebody says something. */
int agents_fd(const struct agents *agents);
void agents_serve(struct agents *agents, uint64_t now_ns);

/* True while there is some ring to be read soon. */
bool agents_are_there(const struct agents *agents);

/* True if some program of the process, also one that it ran before, said hello, whatever came of
 * it: that was told.
 */
bool agents_have(const struct agents *agents, pid_t pid);

/* As the events of the recording. */
void agents_start(struct agents *agents);
void agents_stop(struct agents *agents);

/* Samples that found no room, among those of the agents' events, and stacks. */
uint64_t agents_lost(const struct agents *agents);

/* A process runs another program, is a new one, or has ended. */
void agents_exec(struct agents *agents, pid_t pid, uint64_t time_ns);
void agents_fork(struct agents *agents, pid_t pid, uint64_t time_ns);
void agents_exit(struct agents *agents, pid_t pid);

/* What an event's number in the records means. */
struct agents_id {
	uint64_t shown; /* the number of the recording's event for that CPU */
	uint32_t event; /* its index */
	bool is_trap;   /* an agent's: has, or will have, a stack */
	bool is_early;  /* its samples may lie before where the thread was interrupted */
};

/* NULL: of no event that agents have to do with. */
const struct agents_id *agents_id(struct agents *agents, uint64_t id);

/* True where samples of user space are taken by an agent's event, not by the recording's own. */
bool agents_covers(const struct agents *agents, pid_t pid, uint32_t event, uint64_t time_ns);

struct agents_told {
	struct frames_record record; /* checked: of its process and runtime */
	struct bytes bytes;          /* the whole of it */
	pid_t pid;
	uint64_t time_ns;  /* when it was told; its sample is before ... */
	uint64_t after_ns; /* ... and after this */
};

struct agents_taker {
	void (*take)(void *context, const struct agents_told *told);
	void *context;
};

/* Gives what was told since, up to a time: what was told later may be of samples that are not read
 * yet, and is given the next time.
 */
void agents_read(struct agents *agents, uint64_t until_ns, const struct agents_taker *taker);

#endif
