/* held.h - records that wait until the stacks of their samples are known.
 *
 *   struct held *held;
 *   held_new(&held, agents, &events);
 *   held_begin(held);                     a round, with the sideband's records that came
 *   held_sideband(held, records);
 *   held_ring(held, &rings);              of each CPU: read, and given back
 *   held_join(held);                      with what the agents told
 *   while (held_next(held, false, &out))  rounds that need wait no more, in order
 *           ... write out, then a FINISHED_ROUND
 *
 * An agent's stack is told a little after its sample, by the thread itself: when it runs
 * again. Each round of the rings is kept until all of its samples have theirs, or for half a
 * second. It comes out as it would have been without agents, but that
 *
 *   samples that an agent's event took as well are left out,
 *   those of agents' events bear the numbers of the recording's events,
 *   and before each is its stack, as a record of the event polyperf:frames.
 *
 * A stack belongs to the sample of its thread with its instruction pointer that was taken since
 * the signal before, and not later than it was told: there is one, since each sample raises a
 * signal before the thread goes on. (Samples of several events at one instruction share theirs.)
 * Counters interrupt a little later than they sample: theirs must be the only sample in that time.
 */
#ifndef RECORD_HELD_H
#define RECORD_HELD_H

#include "record/agents.h"

struct held;

/* Returns 0 or STATUS_NO_MEMORY. All is borrowed. */
int held_new(struct held **held, struct agents *agents, const struct events *events);
void held_free(struct held *held); /* NULL is harmless */

/* Failures (memory) stick: held_status(). */
void held_begin(struct held *held);
void held_sideband(struct held *held, struct bytes records);
void held_ring(struct held *held, struct cpu_rings *rings);
void held_join(struct held *held);
int held_status(const struct held *held);

/* True while some sample waits for its stack. */
bool held_is_waiting(const struct held *held);

struct held_round {
	struct bytes records;
	uint64_t sample_count;
	uint64_t frames_count;
	uint64_t lost_count;
	uint64_t throttle_count;
	uint64_t first_sample_ns; /* 0: none */
	uint64_t last_sample_ns;
};

/* The next round that is ready; with `all`, whatever it waits for. Valid until the next call. */
bool held_next(struct held *held, bool all, struct held_round *round);

struct held_totals {
	uint64_t joined;    /* samples with their stacks */
	uint64_t alone;     /* samples of agents' events without */
	uint64_t unmatched; /* stacks whose sample was not found: left out */
	uint64_t dropped;   /* samples that an agent's event took, too */
};

struct held_totals held_totals(const struct held *held);

#endif
