/* attr.h - perf_event_attr as this kernel and this user can have it.
 *
 *   struct attr_support support;
 *   attr_probe(&support);
 *   struct perf_event_attr attr = attr_for_samples(&support, &event, &want);
 *
 * Old kernels refuse flags that they do not know, and unprivileged users get less:
 * each flag is tried on an event that counts nothing, so that a refusal of a real
 * event can only be about that event.
 */
#ifndef RECORD_ATTR_H
#define RECORD_ATTR_H

#include "os/perf_event.h"
#include "record/event.h"
#include "record/session.h"

struct attr_support {
	bool kernel;     /* samples in the kernel are allowed */
	bool clockid;    /* 4.1: choose the clock */
	bool comm_exec;  /* 3.16 */
	bool mmap2;      /* 3.16 */
	bool namespaces; /* 4.12, privileged */
	bool ksymbol;    /* 5.1 */
	bool bpf_event;  /* 5.1 */
	bool text_poke;  /* 5.9, privileged */
	bool lost;       /* 6.0: PERF_FORMAT_LOST */
};

/* Returns 0, or STATUS_IO (errno) where even the plainest event is refused. */
int attr_probe(struct attr_support *support);

/* What the options and the target ask of each event. */
struct attr_wants {
	enum record_stacks stacks;
	uint32_t stack_bytes;
	bool user_only;
	bool inherit;          /* follow children: of a command or a process */
	uint64_t frequency_hz; /* 0: use period */
	uint64_t period;
};

/* Both are disabled; when they start (enable_on_exec, ioctl) is the opener's business. */
struct perf_event_attr attr_for_samples(const struct attr_support *support,
					const struct event *event, const struct attr_wants *wants);

/* Samples nothing, but carries mappings, names and the lives of tasks. */
struct perf_event_attr attr_for_sideband(const struct attr_support *support,
					 const struct attr_wants *wants);

/* Of what attr_for_sideband() asks for: BPF programs alone, from the opening on. */
struct perf_event_attr attr_for_programs(const struct perf_event_attr *sideband);

/* Samples whose raw data the walk of interpreters writes; on from the opening on. They begin as all
 * samples do, up to the CPU.
 */
struct perf_event_attr attr_for_frames(const struct attr_support *support);

/* What a ring is mapped from: an event that never fires and never goes away. The
 * reader is woken when `watermark_bytes` are unread.
 */
struct perf_event_attr attr_for_ring(const struct attr_support *support, uint32_t watermark_bytes);

#endif
