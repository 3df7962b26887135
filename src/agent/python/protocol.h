/* protocol.h - what the agent in a Python and the recorder agree on.
 *
 * The agent (libpolyperf-python.so) is loaded into programs by LD_PRELOAD. In those that have
 * CPython in them it installs a handler for SIGTRAP and says so on the recorder's socket, a
 * SOCK_SEQPACKET named by AGENT_VARIABLE:
 *
 *   agent      struct agent_hello
 *   recorder   struct agent_answer, with the ring's descriptor where it is AGENT_GO
 *   agent      struct agent_ready: the ring is mapped
 *   recorder   struct agent_answer, AGENT_STARTED
 *
 * Before its first answer the recorder opens sampling events on the process that raise SIGTRAP
 * with each sample (perf_event_attr.sigtrap), and when it hears that all is ready it switches
 * them on: never in a program that has waited long enough, and may be another one by now. Who
 * said hello and heard no AGENT_NO keeps its handler, whatever happens. The handler runs before the
 * thread is back at the sampled instruction, walks the frames as the kernel's walk does, and writes
 * records of the walk (bpf/abi.h) into the ring, each behind a struct agent_record. The agent keeps
 * no descriptor; a child by fork() says hello anew.
 *
 * Numbers are in the machine's byte order; structures have no padding. The recorder trusts
 * nothing that it reads: the ring is memory that the program can write.
 */
#ifndef AGENT_PYTHON_PROTOCOL_H
#define AGENT_PYTHON_PROTOCOL_H

#include "bpf/abi.h"

/* The path of the recorder's socket, for the agent. */
#define AGENT_VARIABLE "POLYPERF_AGENT"
#define AGENT_LIBRARY "libpolyperf-python.so"

enum {
	AGENT_MAGIC = 0x54505050, /* "PPPT" */
	AGENT_VERSION = 1,
	AGENT_DATA_OFF = 4096, /* of the ring's data, in its file */
	AGENT_DATA_BYTES = 1 << 20,
	AGENT_ENTRY_BYTES = 16 * 1024, /* no record with its head is longer */
};

/* perf_event_attr.sig_data of our events: tells our SIGTRAPs from others. */
#define AGENT_SIGNAL_DATA 0x504c59505452414bu

struct agent_hello {
	uint32_t magic;
	uint32_t version;
	uint32_t pid; /* as the process sees it */
	/* The id of the runtime that a parent by fork() was given: what is where has not changed.
	 * 0: look for it.
	 */
	uint32_t runtime;
};

enum agent_verdict {
	AGENT_NO, /* be gone: the handler is taken out again */
	AGENT_GO,
	AGENT_STARTED,
};

struct agent_ready {
	uint32_t magic;
	uint32_t pid;
};

struct agent_answer {
	uint32_t magic;
	uint32_t verdict; /* enum agent_verdict */
	struct walk_runtime runtime;
};

/* The beginning of the ring's file. Bytes are counted since the start; AGENT_DATA_BYTES are a
 * power of two. Writers are all threads of the process: they reserve room by moving `head`,
 * fill it, and write the mark last.
 */
struct agent_ring {
	uint64_t head;
	uint64_t lost;       /* stacks that found no room, or no memory to walk in */
	uint64_t late_count; /* signals that came later than their sample: SIGTRAP was blocked */
	uint64_t zero[5];
	uint64_t tail; /* the recorder's */
};

/* In the ring at a multiple of 8, may wrap around its end, followed by a record of the walk. */
struct agent_record {
	uint64_t mark;  /* its place, counted since the start, mixed by agent_mark() */
	uint32_t bytes; /* of all, with the filling up to 8 */
	uint32_t record_bytes;
	uint64_t time_ns; /* when the handler began (CLOCK_MONOTONIC) */
	/* When it began the time before in this thread: the sample is between the two. */
	uint64_t previous_ns;
};
_Static_assert(sizeof(struct agent_record) == 32, "shared with the recorder");

/* Never what was there before: places are not used twice. */
static inline uint64_t agent_mark(uint64_t place)
{
	return (place + 1) * 0x9e3779b97f4a7c15u;
}

#endif
