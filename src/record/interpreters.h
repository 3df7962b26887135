/* interpreters.h - which processes of a recording are walked by the kernel at each sample.
 *
 *   struct interpreters *interpreters;
 *   interpreters_new(&interpreters, RECORD_INTERPRETERS_AUTO, &say);
 *   plan.walker = interpreters_walker(interpreters);     events_open() attaches it
 *   interpreters_mapping(interpreters, &file);           as records come in ...
 *   interpreters_exec(interpreters, pid);
 *   next_ns = interpreters_look(interpreters, now_ns);   ... and behind them
 *   interpreters_end(interpreters);
 *   interpreters_free(interpreters);                     after the events
 *
 * Records only mark a process; interpreters_look() reads /proc and tells the walk. A process is
 * marked by an executable mapping of a file that is not known to be without an interpreter; so
 * where programs are started all the time a look is taken at the first of each kind. A process
 * that has one is looked at again while its loader is at work, and when it loads more.
 *
 * Says once of each interpreter and version that it is walked, or why it is not. One thread.
 */
#ifndef RECORD_INTERPRETERS_H
#define RECORD_INTERPRETERS_H

#include "interp/walker.h"
#include "record/build_ids.h"
#include "record/say.h"

#include <stdint.h>
#include <sys/types.h>

struct interpreters;

/* Returns 0 also where they cannot be walked, and are only told of. With _WALK that is an error,
 * which was said: STATUS_DENIED, _UNSUPPORTED, _IO. _NO_MEMORY. `say` is borrowed.
 */
int interpreters_new(struct interpreters **interpreters, enum record_interpreters how,
		     const struct say *say);

/* The kernel takes the better part of a second to check the walk. It is loaded here, for commands
 * that are interpreters by their name, so that no sample is without it; else by the first look that
 * finds one; from interpreters_start() on in a thread, at once where one is likely to come.
 * Returns as interpreters_new().
 */
int interpreters_expect(struct interpreters *interpreters, enum record_interpreters how);
void interpreters_start(struct interpreters *interpreters, bool is_likely);

/* Agents tell of their Pythons (record/agents.h). Here is told only of one that ends without having
 * had any: its environment was another, or it may not make a socket. The agents are borrowed.
 */
struct agents;
void interpreters_leave_python(struct interpreters *interpreters, const struct agents *agents);

void interpreters_free(struct interpreters *interpreters); /* NULL is harmless */

/* NULL: none. The owner is the interpreters. */
struct walker *interpreters_walker(const struct interpreters *interpreters);

/* Loads the walk and lets it go: 0, or what hinders. */
int interpreters_try(void);

/* What hinders in words of ours; may be in `buffer`. */
const char *interpreters_reason(int status, char *buffer, size_t size);

void interpreters_mapping(struct interpreters *interpreters, const struct build_id_file *file);
void interpreters_exec(struct interpreters *interpreters, pid_t pid);
void interpreters_fork(struct interpreters *interpreters, pid_t parent_pid, pid_t pid);
void interpreters_exit(struct interpreters *interpreters, pid_t pid);

/* What is known of a process; NULL: nothing. Good until the next call of another function. */
const struct walk_process *interpreters_process(const struct interpreters *interpreters, pid_t pid);

/* Copies of stacks come with samples: slots are read from them where the walk cannot be had. */
void interpreters_have_stacks(struct interpreters *interpreters);

/* Looks at the marked processes that are due. Returns when the next is: UINT64_MAX for none. */
uint64_t interpreters_look(struct interpreters *interpreters, uint64_t now_ns);

/* Says what is still to be said. */
void interpreters_end(struct interpreters *interpreters);

#endif
