/* agent.h - the parts of the agent in a Python; protocol.h tells what it is for.
 *
 * The library has no C library of its own and needs none of a certain version: it calls the kernel
 * by itself, and takes what it uses of the program's (dlsym, getenv) only where it is there. So it
 * can be loaded into anything, and does nothing in what is no Python.
 */
#ifndef AGENT_PYTHON_AGENT_H
#define AGENT_PYTHON_AGENT_H

#include "agent/python/protocol.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* walk.c: memory for the walks, made once. Returns false without memory. */
bool walk_prepare(void);

/* From here on samples are walked: `ring` is mapped, `runtime` copied. NULL: no more. Also
 * forgets what was told, and who was walking: in a child by fork() nobody is.
 */
void walk_use(struct agent_ring *ring, const struct walk_runtime *runtime, uint32_t pid);

/* One signal of a sample, in its handler. Async-signal-safe, waits for nobody. */
void walk_signal(const siginfo_t *info, const void *context);

/* trap.c: SIGTRAP belongs to the agent from here on; what the program wants of it is kept and
 * done. Returns false where it cannot be had.
 */
bool trap_take(void);
void trap_give_back(void);

#endif
