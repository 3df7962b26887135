/* jitdump_internal.h - the checks of jitdumps: jitdump.c walks, the others look at parts. */
#ifndef LINT_JITDUMP_INTERNAL_H
#define LINT_JITDUMP_INTERNAL_H

#include "format/jitdump/debug.h"
#include "lint/lint_internal.h"

/* What is kept of a LOAD until all are known. */
struct lint_load {
	uint64_t start_avma;
	uint64_t size;
	uint64_t index;
	uint64_t time;
	uint64_t offset;
	bool is_gone; /* moved away */
};

struct lint_loads {
	struct lint_load *items;
	size_t count;
	size_t capacity;
};

struct lint_move {
	uint64_t old_avma;
	uint64_t new_avma;
	uint64_t offset;
};

struct lint_moves {
	struct lint_move *items;
	size_t count;
	size_t capacity;
};

struct lint_unload {
	uint64_t avma;
	uint64_t offset;
};

struct lint_unloads {
	struct lint_unload *items;
	size_t count;
	size_t capacity;
};

/* jitdump_code.c: findings that need all loads at once. Each sorts
 * them as it needs; indices come first, and mark what the others pass over.
 */
void lint_loads_indices(struct lint *lint, struct lint_loads *loads);
void lint_loads_moves(struct lint *lint, struct lint_loads *loads, struct lint_moves *moves);
/* After the moves, which are sorted by then. */
void lint_loads_unloads(struct lint *lint, struct lint_loads *loads, const struct lint_moves *moves,
			const struct lint_unloads *unloads);
void lint_loads_overlaps(struct lint *lint, struct lint_loads *loads, struct bytes file);

/* jitdump_own.c: the entries of records of our own. */
void lint_own_record(struct lint *lint, const struct jitdump_record *record);

/* jitdump_lines.c: the DEBUG_INFO record whose LOAD has not come yet, and the file's style. */
struct lint_lines {
	struct jitdump_debug_style style;
	bool has_pending;
	struct jitdump_record pending;
};

void lint_lines_begin(struct lint_lines *lines, struct lint *lint, struct bytes file);
void lint_lines_debug_info(struct lint_lines *lines, struct lint *lint,
			   const struct jitdump_record *record);
void lint_lines_load(struct lint_lines *lines, struct lint *lint,
		     const struct jitdump_record *record);
void lint_lines_end(struct lint_lines *lines, struct lint *lint);

#endif
