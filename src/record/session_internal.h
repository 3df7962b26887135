/* session_internal.h - the parts of one recording, and the steps that share them. */
#ifndef RECORD_SESSION_INTERNAL_H
#define RECORD_SESSION_INTERNAL_H

#include "attach/attach.h"
#include "os/clock.h"
#include "record/child.h"
#include "record/headers.h"
#include "record/intervals.h"
#include "record/session.h"

#include <unistd.h>

/* A process that we attached to. */
struct attached {
	pid_t pid;
	int pid_fd;                    /* -1: the kernel has none, ask now and then */
	struct attachment *attachment; /* it tells of its code on our account; NULL: it does not */
	int events_fd;                 /* the events of a .NET process go there; -1: none */
	char *map;                     /* that it was asked to write, or NULL; owned */
};

struct session {
	const struct record_options *options;
	struct record_result *result;
	struct say say;
	struct say_kept kept;

	sigset_t old_mask;
	int signal_fd;
	struct child child;
	VECTOR(struct attached) attached;

	struct private_dir private_dir;
	struct runtimes *runtimes;
	struct collector *collector;

	struct interpreters *interpreters; /* NULL: they are not looked for */
	struct agents *agents;             /* NULL: Pythons get none */
	struct held *held;                 /* with them */

	struct event_list event_list;
	struct events events;
	struct data_file file;
	struct perfdata_layout layout;
	struct kernel_layout kernel;
	struct build_ids build_ids;
	struct bpf_programs bpf;
	struct sideband sideband;
	struct slots slots; /* where samples have copies of stacks, and nothing is walked */
	struct drain drain;

	struct intervals intervals; /* where options->intervals */

	struct os_clock_pair clock;
	struct os_cycle_pair first_cycles; /* zero: this machine has no steady counter */
	uint64_t time_conv_offset;         /* of that record in the file */
};

/* True if the command is what is recorded, not only what tells for how long. */
static inline bool session_follows_command(const struct session *s)
{
	return s->options->command && !s->options->pid_count && !s->options->system_wide;
}

/* Of the command, before runtimes add to it. */
static inline char *const *session_environment(const struct session *s)
{
	return s->options->environment ? s->options->environment : environ;
}

/* True if some event samples the kernel. */
bool session_samples_kernel(const struct session *session);

/* session_attach.c: runtimes that run already are asked to tell of their code, and to stop. The
 * collector must know of the private directory first.
 */
void session_prepare_attach(struct session *session);
void session_attach(struct session *session);
void session_detach(struct session *session);

/* session_open.c: signals, runtimes, the held command, events and rings. */
int session_open(struct session *session);
void session_close(struct session *session);

/* session_interpreters.c: whether they are walked, which the runtimes' switches depend on; and
 * where the events are open, whether all of them take the walk.
 */
int session_open_interpreters(struct session *session);
void session_open_slots(struct session *session);

/* The same for agents, once there is a private directory, or none. */
int session_open_agents(struct session *session);
void session_tell_agents(const struct session *session);
void session_tell_events(const struct session *session);

/* session_begin.c: header and synthesized records; after this only real ones follow. */
int session_begin(struct session *session);

/* What is there now, at the end of the file, with a new collector where the old one is none's but
 * ours; of processes also these.
 */
int session_put_start(struct session *session, const struct proc_ids *pids);

/* session_loop.c: runs until the command, the user or the clock ends it. */
int session_loop(struct session *session);

/* session_end.c: features, runtimes' files, the rename. */
int session_end(struct session *session);

/* What the headers tell, but for the machine. */
struct headers_facts session_facts(struct session *session);

/* Writes into its place what the cycle counter is by now. */
void session_patch_time_conv(struct session *session);

#endif
