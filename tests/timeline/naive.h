/* naive.h - the timeline's rules, done the slow and plain way, to compare with.
 *
 * Every question replays the operations of a space from its beginning, and a
 * child begins with a copy of its parent's list. No index, no laziness, nothing
 * shared with src/timeline but the types of its header.
 */
#ifndef TESTS_TIMELINE_NAIVE_H
#define TESTS_TIMELINE_NAIVE_H

#include "timeline/timeline.h"

enum { NAIVE_OPS = 96, NAIVE_SPACES = 2 * NAIVE_OPS };

enum naive_kind {
	NAIVE_FORK,
	NAIVE_EXEC,
	NAIVE_EXIT,
	NAIVE_MAP,
	NAIVE_LOAD,
	NAIVE_UNLOAD,
	NAIVE_UNTIMED,
};

struct naive_op {
	enum naive_kind kind;
	uint32_t pid;
	uint32_t parent_pid;
	uint64_t time_ns;
	uint64_t start; /* load, map, unload, untimed */
	uint64_t size;
	uint64_t end; /* set by naive_seal() */
	uint64_t earliest_ns;
	uint64_t latest_ns;
	uint64_t file_off;
	uint32_t object;
	int space; /* set by naive_seal(); -1: none */
};

struct naive_space {
	uint32_t pid;
	int parent; /* -1: none */
	uint64_t begin_ns;
};

struct naive {
	uint64_t skew_ns;
	struct naive_op ops[NAIVE_OPS];
	int op_count;
	struct naive_space spaces[NAIVE_SPACES];
	int space_count;
};

struct naive_answer {
	struct timeline_hit hit;
	uint32_t others[NAIVE_OPS];
};

void naive_add(struct naive *n, const struct naive_op *op);
void naive_seal(struct naive *n);
void naive_find(const struct naive *n, uint32_t pid, uint64_t avma, uint64_t time_ns,
		struct naive_answer *answer);
bool naive_find_mapping(const struct naive *n, uint32_t pid, uint64_t avma, uint64_t time_ns,
			struct timeline_hit *hit);

/* Which space a pid is in, -1 for none. */
int naive_space(const struct naive *n, uint32_t pid, uint64_t time_ns);

#endif
