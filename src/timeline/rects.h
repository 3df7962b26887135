/* rects.h - finding, among rectangles of address x time, those above an address.
 *
 * Rectangles get their number in the order in which they begin. Distinct range
 * ends cut the address line into segments; a segment tree over them keeps each
 * rectangle in O(log n) nodes, as ascending numbers. Those that cover an address
 * lie in the nodes above its segment, so "the last that began by t" and "the
 * first that begins after t" are one binary search in each of these lists.
 *
 * Everything lies in the arena given; a built index may be read by any thread.
 */
#ifndef TIMELINE_RECTS_H
#define TIMELINE_RECTS_H

#include "timeline/sort.h"

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { RECT_NONE = 0xffffffff };

/* A range in segments: [low, high); empty where they are equal. */
struct rect_span {
	uint32_t low;
	uint32_t high;
};

struct rects {
	const uint64_t *edges; /* ascending; segment i is edges[i] .. edges[i + 1] */
	uint32_t segment_count;
	const uint64_t *begins; /* by rectangle: when it begins; ascending */
	uint32_t rect_count;
	uint32_t *offsets; /* by node: where its list begins in `lists` */
	uint32_t *lists;
	uint32_t *filled; /* by node: itself or the nearest above it with a list; 0: none */
	uint32_t *first;  /* by node: the lowest rectangle in or below it; NULL unless asked */
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

/* `begins` and `rect_count` must be set. `with_first` prepares rects_first_over(). */
bool rects_index(struct rects *rects, struct arena *arena, const struct rect_span *spans,
		 bool with_first);

/* How many rectangles begin at or before the time. */
uint32_t rects_begun(const struct rects *rects, uint64_t time_ns);

/* Among those that cover the address, the neighbours of the gap below number `rect`. */
struct rect_neighbours rects_around(const struct rects *rects, uint64_t avma, uint32_t rect);

/* The first to begin of all that share an address with [start, end); or RECT_NONE. */
uint32_t rects_first_over(const struct rects *rects, uint64_t start, uint64_t end);

/* The position of the last of values[] that is at most `value`; -1 where all are above. */
int64_t last_at_most(const uint64_t *values, uint32_t count, uint64_t value);

#endif
