/* events.h - the open events of a recording, and the rings they write into.
 *
 *   struct events events;
 *   events_open(&events, &target, &plan, &say);
 *   events_start(&events);
 *   for (size_t i = 0; i < events.cpus.count; i++)
 *           drain(&events.cpus.items[i]);
 *   events_stop(&events);
 *   events_close(&events);
 *
 * Every CPU has two rings: one for samples, read when it is well filled; one for the
 * sideband (mappings, names, forks), read at once, so that what dies with a process
 * can still be looked at. Each ring belongs to an event that never fires; all others
 * of its CPU are redirected into it. So a ring outlives the threads that wrote in it.
 * Frames of interpreters come in the ring of samples, each stack before its sample.
 */
#ifndef RECORD_EVENTS_H
#define RECORD_EVENTS_H

#include "interp/walker.h"
#include "os/perf_ring.h"
#include "os/proc.h"
#include "record/attr.h"
#include "record/say.h"

struct open_event {
	struct event event; /* after fallbacks: what is really counted */
	struct perf_event_attr attr;
	bool is_sideband;
	/* BPF programs are told of by an event of every CPU, whoever loads them: those of single
	 * threads, which would tell of their own loads alone, leave them out.
	 */
	bool has_watch;
	/* Attached to each: the walk of interpreters; NULL: none, or this event takes no program.
	 */
	struct walker *walker;
	VECTOR(int) fds;
	VECTOR(uint64_t) ids; /* of the fds */
};

struct cpu_rings {
	int cpu;
	uint64_t frames_id; /* identifier of records of the walk in `samples`; 0: none */
	int sample_fd;      /* poll these; they are never ready for any other reason */
	int sideband_fd;
	struct perf_ring samples;
	struct perf_ring sideband;
};

struct events {
	VECTOR(struct open_event) list; /* the sideband is the last */
	struct open_event frames;       /* of the walk */
	bool has_frames;                /* it is open, and belongs into the file */
	VECTOR(struct cpu_rings) cpus;
	struct attr_support support;
	bool is_stopped;
};

/* Whom to watch: threads (as proc_tasks() lists them), or everyone. */
struct events_target {
	const struct proc_ids *tids;
	bool system_wide;
	bool on_exec; /* one thread that waits to exec: events start there by themselves */
};

struct events_plan {
	const struct event_list *events;
	struct attr_wants wants;
	uint64_t delay_ns; /* samples are started later, by events_start() */
	size_t ring_bytes; /* 0: as allowed */
	struct walker
	    *walker;     /* NULL: interpreters are not walked; borrowed as long as events open */
	bool has_agents; /* the event of frames is for what agents tell */
};

/* Returns 0 or a negative status after saying why; close in both cases. The sideband of
 * running threads is on from here.
 */
int events_open(struct events *events, const struct events_target *target,
		const struct events_plan *plan, const struct say *say);

/* Opens everything for threads more, such as those that appeared while events_open() ran. */
int events_add_threads(struct events *events, const struct proc_ids *tids);

void events_start(struct events *events);
void events_stop(struct events *events);

/* Lost records in all rings so far, or 0 where the kernel does not count them. */
uint64_t events_lost(const struct events *events);

void events_close(struct events *events);

#endif
