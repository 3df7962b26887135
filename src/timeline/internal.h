/* internal.h - what the files of the timeline share.
 *
 * timeline.c logs operations; spaces.c deals them out to address spaces; code_build.c and
 * code_find.c, mapping.c and untimed.c each build and search one layer; find.c ranks their answers.
 * docs/timeline.md draws the whole.
 */
#ifndef TIMELINE_INTERNAL_H
#define TIMELINE_INTERNAL_H

#include "timeline/rects.h"
#include "timeline/timeline.h"

#include "base/vector.h"

enum {
	SPACE_NONE = 0xffffffff,
	OWNERS_LISTED = 64,
	/* How many ancestors that have something in a layer are asked, so that a made-up
	 * chain of forks cannot make each question slow. An exec begins anew.
	 */
	MAX_ANCESTORS = 1000,
};

enum op_kind {
	OP_FORK,
	OP_EXEC,
	OP_EXIT,
	OP_MAP,
	OP_LOAD,
	OP_UNLOAD,
};

struct op {
	uint64_t time_ns;
	uint64_t start_avma;
	uint64_t size;
	uint64_t earliest_ns; /* OP_MAP: the file offset */
	uint64_t latest_ns;
	uint32_t pid;
	uint32_t object; /* OP_FORK: the parent's pid */
	enum op_kind kind;
};

struct untimed_entry {
	uint64_t start_avma;
	uint64_t end_avma; /* while logged: the size */
	uint32_t object;
	uint32_t order; /* position in which it was added; top bit: see untimed.c */
};

/* Consecutive entries of one process, as they were added. */
struct untimed_run {
	uint64_t time_ns;
	uint32_t pid;
	uint32_t first;
	uint32_t count;
	uint32_t space; /* set while sealing */
};

/* One process id, with all the spaces it had. */
struct process {
	uint32_t pid;
	uint32_t space;      /* while spaces are made: the one it has now */
	uint32_t home_space; /* where its first code with a time went, or SPACE_NONE */
	bool has_exited;
	uint32_t first_space; /* index into space_order */
	uint32_t space_count;
};

struct code_layer;
struct mapping_layer;
struct untimed_layer;

/* The nearest space above that has anything in a layer, and when it was left. */
struct ancestor {
	uint32_t space; /* SPACE_NONE: none */
	uint64_t fork_ns;
};

/* One address space: a process from its fork or exec to the next one. */
struct space {
	uint32_t process;
	uint32_t parent;         /* a lower number, or SPACE_NONE */
	uint64_t begin_ns;       /* with a parent: when it was forked */
	struct code_layer *code; /* NULL: empty */
	struct mapping_layer *mapping;
	struct untimed_layer *untimed;
	struct ancestor code_above;
	struct ancestor mapping_above;
	uint32_t untimed_above;
};

struct timeline {
	uint64_t skew_ns;
	VECTOR(struct op) ops; /* freed by the sealing */
	VECTOR(struct untimed_entry) entries;
	VECTOR(struct untimed_run) runs;
	VECTOR(struct process) processes;
	VECTOR(struct space) spaces;
	uint32_t *pid_slots; /* index into processes + 1, or 0 */
	size_t pid_slot_count;
	uint32_t *space_order; /* spaces by process, then by begin */
	bool is_sealed;
	struct arena arena; /* what the sealing builds */
};

/* One question; [from, to) shrinks with each comparison that its answer rests on. */
struct query {
	const struct timeline *tl;
	uint64_t avma;
	uint64_t time_ns;
	uint64_t valid_from_ns;
	uint64_t valid_to_ns;
};

/* Is the time asked for before `bound`? All code that looks at the time asks here. */
static inline bool query_before(struct query *q, uint64_t bound_ns)
{
	if (q->time_ns < bound_ns) {
		if (bound_ns < q->valid_to_ns)
			q->valid_to_ns = bound_ns;
		return true;
	}
	if (bound_ns > q->valid_from_ns)
		q->valid_from_ns = bound_ns;
	return false;
}

/* Distinct further owners in the order in which they were met. */
struct owners {
	uint32_t count;
	uint32_t objects[OWNERS_LISTED];
};

/* spaces.c */

/* The operations of each space, in the order in which they apply. */
struct dealt_ops {
	const uint32_t *ops;     /* indices into the log, by space */
	const uint32_t *offsets; /* by space, and one more */
};

/* Makes the spaces and deals the log out to them; *dealt lies in `scratch`. */
bool spaces_build(struct timeline *tl, struct arena *scratch, struct dealt_ops *dealt);

/* The process, or NULL. */
const struct process *process_find(const struct timeline *tl, uint32_t pid);

/* The space of a pid at a time, or SPACE_NONE; narrows the query to its life. */
uint32_t space_at(struct query *q, uint32_t pid);

/* code.c */

/* Builds the layer of a space; leaves NULL where there is nothing to hold. */
bool code_build(struct timeline *tl, struct space *space, const uint32_t *ops, uint32_t count);

enum code_standing {
	CODE_NONE,
	CODE_LIVE,
	CODE_NEAR, /* not there yet, but within the skew or its own uncertainty */
	CODE_FAR,  /* nothing was ever there before it */
	CODE_STALE,
};

struct code_answer {
	enum code_standing standing;
	uint64_t start_avma;
	uint64_t end_avma;
	uint64_t early_ns;
	uint32_t object;
	bool was_unloaded; /* CODE_STALE */
};

/* Fills *answer; *owners with those that a CODE_LIVE answer may be mistaken for. */
void code_find(struct query *q, uint32_t space, struct code_answer *answer, struct owners *owners);

/* mapping.c */

bool mapping_build(struct timeline *tl, struct space *space, const uint32_t *ops, uint32_t count);
bool mapping_find(struct query *q, uint32_t space, struct timeline_hit *hit);

/* untimed.c */

/* Takes the logged entries and runs apart into one layer a space. */
bool untimed_build(struct timeline *tl);

/* Fills hit (trust included); false where no entry covers the address. */
bool untimed_find(const struct query *q, uint32_t space, struct timeline_hit *hit);

/* The further owners, as far as they can be listed. */
void untimed_owners(const struct query *q, uint32_t space, struct owners *owners);

static inline uint64_t range_end(uint64_t start, uint64_t size)
{
	return size > UINT64_MAX - start ? UINT64_MAX : start + size;
}

#endif
