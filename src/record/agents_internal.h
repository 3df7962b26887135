/* agents_internal.h - what the files of agents.h share. */
#ifndef RECORD_AGENTS_INTERNAL_H
#define RECORD_AGENTS_INTERNAL_H

#include "agent/python/protocol.h"
#include "base/idmap.h"
#include "interp/interp.h"
#include "record/agents.h"

#define AGENTS_ALWAYS UINT64_MAX

struct agent {
	pid_t pid;
	uint32_t before; /* index + 1 of the one with this pid before; 0: none */
	uint64_t from_ns;
	uint64_t to_ns;      /* AGENTS_ALWAYS: still */
	uint64_t event_mask; /* bit n: of event n */
	struct walk_runtime runtime;
	VECTOR(int) fds;
	struct agent_ring *ring; /* NULL: closed */
	uint64_t ring_tail;      /* what is in the ring is anybody's */
	uint64_t ended_ns;       /* 0: lives, as far as we know */
};

/* A connection. */
struct guest {
	int fd;
	uint32_t agent; /* index + 1 of who is to say that it is ready; 0: has not said hello */
};

struct agents {
	struct agents_options options;
	int epoll_fd;
	int socket_fd;
	char path[108]; /* of the socket */
	VECTOR(struct guest) guests;
	VECTOR(struct agent) list;
	struct idmap by_pid; /* index + 1 of the last one */
	struct idmap hellos; /* by pid: 1 */
	size_t open_count;   /* that have a ring ... */
	size_t open_from;    /* ... and none before this has */
	bool was_failure_said;
	VECTOR(struct agents_id) ids;
	struct idmap by_id; /* index + 1 */
	bool has_event_ids; /* those of the recording's events are among them */
	VECTOR(struct interp_found) told;
	bool has_started;
	uint64_t lost_samples; /* of events that are closed */
	uint64_t lost_stacks;  /* of rings that are closed */
};

/* agents_events.c: opens what can be opened on all threads of the process, disabled. */
int agents_open_events(struct agents *agents, struct agent *agent);
void agents_enable(const struct agent *agent);
void agents_close_events(struct agents *agents, struct agent *agent);

/* agents.c: closes the rings of those that have ended a while ago. */
void agents_close_silent(struct agents *agents, uint64_t now_ns);

/* agents_ring.c: returns the ring's descriptor, to be sent and closed, or STATUS_IO. */
int agents_make_ring(struct agents *agents, struct agent *agent);
void agents_close_ring(struct agents *agents, struct agent *agent);

/* agents.c: an agent for the process; 0 with the descriptor of its ring, or a failure that was
 * said where it matters. The last of the list, which takes no sample until it is started.
 */
int agents_take(struct agents *agents, const struct agent_hello *hello, uint64_t now_ns,
		struct agent_answer *answer, int *ring_fd);

void agents_begin(struct agents *agents, struct agent *agent);
void agents_end(struct agents *agents, struct agent *agent);

/* agents_socket.c */
int agents_listen(struct agents *agents);

#endif
