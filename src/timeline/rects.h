/* rects.h - finding, among rectangles of address x time, those above an address.
 *
 * Rectangles get their number in the order in which they begin. Distinct range
 * ends cut the address line into segments; a tree over them, eight to one, keeps
 * each rectangle in the few highest nodes that it fills, as ascending numbers.
 * Those that cover an address lie in the nodes above its segment, so "the last that
 * began by t" and "the first that begins after t" are a search in each such list.
 * Most rectangles fill one segment or two, and most lists found are the leaf's.
 *
 * Everything lies in the arena given; a built index may be read by any thread.
 */
#ifndef TIMELINE_RECTS_H
#define TIMELINE_RECTS_H

#include "base/sort.h"
#include "timeline/ladder.h"

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { RECT_NONE = 0xffffffff, RECT_LEVELS = 12 };

/* A range in segments: [low, high); empty where they are equal. */
struct rect_span {
	uint32_t low;
	uint32_t high;
};

struct rect_node {
	uint32_t list;  /* where its list begins in `lists`; it ends where the next begins */
	uint32_t above; /* the nearest node above with a list, or RECT_NONE */
};

struct rects {
	struct ladder edges; /* segment i is edge i .. edge i + 1 */
	uint32_t segment_count;
	struct ladder begins; /* by rectangle: when it begins */
	uint32_t rect_count;
	struct rect_node *nodes;      /* leaves first, then each level above */
	uint32_t levels[RECT_LEVELS]; /* where each begins in `nodes` */
	uint32_t level_count;
	uint32_t *lists;
	uint32_t *first; /* by node: the lowest rectangle in or below it; NULL unless asked */
};

struct rect_neighbours {
	uint32_t at_or_before; /* the last to begin, or RECT_NONE */
	uint32_t after;        /* the next to begin, or RECT_NONE */
};

/* Ranges that are to become segments. The pairs' values are positions in spans[]. */
struct rect_ranges {
	struct pair *starts;
	struct pair *ends;
	struct pair *spare; /* for sorting */
	struct rect_span *spans;
	uint32_t count;
};

/* Makes room, in `scratch`. False without memory. */
bool rect_ranges_init(struct rect_ranges *ranges, struct arena *scratch, uint32_t count);

/* Sorts the starts and ends, sets edges and spans. False without memory. */
bool rects_rank(struct rects *rects, struct arena *arena, const struct rect_ranges *ranges);

/* The segment that begins exactly at the address, or RECT_NONE. */
uint32_t rects_segment_from(const struct rects *rects, uint64_t avma);

/* `begins` and `rect_count` must be set. `with_first` prepares rects_first_over(). */
bool rects_index(struct rects *rects, struct arena *arena, const struct rect_span *spans,
		 bool with_first);

/* How many rectangles begin at or before the time. */
uint32_t rects_begun(const struct rects *rects, uint64_t time_ns);

/* Among those that cover the address, the neighbours of the gap below number `rect`. */
struct rect_neighbours rects_around(const struct rects *rects, uint64_t avma, uint32_t rect);

/* The first to begin of all that share an address with [start, end); or RECT_NONE. */
uint32_t rects_first_over(const struct rects *rects, uint64_t start, uint64_t end);

#endif
