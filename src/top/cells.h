/* cells.h - weights of functions: what one interval had, or many together.
 *
 *   struct live_cells cells = { 0 };
 *   struct live_cell *cell = live_cells_at(&cells, &key);      made on first call
 *   cell->self += weight;
 *   live_cells_add(&sum, &cells, 1.0);
 *   live_cells_clear(&cells);
 *
 * Texts are ids of a table of strings that is the caller's. One thread.
 */
#ifndef TOP_CELLS_H
#define TOP_CELLS_H

#include "base/intern.h"
#include "base/vector.h"
#include "profile/profile.h"

enum { LIVE_TIERS = 4 };

struct live_key {
	uint32_t symbol; /* strings */
	uint32_t object;
	uint32_t runtime;
	uint32_t process; /* its name */
};

struct live_cell {
	struct live_key key;
	uint32_t pid; /* 0: of several processes of this name */
	uint32_t file;
	uint32_t line; /* that had most; 0: not known */
	double line_weight;
	double self;  /* sum of periods */
	double total; /* also while those that it called ran; 0 where callers were not read */
	double samples;
	struct {
		uint32_t name;
		double weight;
	} tiers[LIVE_TIERS]; /* in the order in which they came */
	uint32_t last_tier;  /* of the newest interval that has the function */
	bool is_unknown;     /* no symbol */
};

struct live_cells {
	VECTOR(struct live_cell) items;
	uint32_t *slots; /* index + 1 */
	size_t slot_count;
	double weight; /* of all samples, those of functions that were left out, too */
	double samples;
	double trust[PROFILE_TRUST_COUNT]; /* samples */
	double seconds;     /* for how long, times the factor that they were added with */
	double cpu_seconds; /* that the programs used meanwhile; negative: not known */
	uint64_t lost_count;
};

/* NULL without memory; good until the next call. */
struct live_cell *live_cells_at(struct live_cells *cells, const struct live_key *key);

/* Adds weight that was spent in a tier; the last room is for all others. */
void live_cell_add_tier(struct live_cell *cell, uint32_t name, double weight);

/* Adds all of `more`, which is newer, times a factor. Returns 0 or STATUS_NO_MEMORY. */
int live_cells_add(struct live_cells *cells, const struct live_cells *more, double factor);

/* Multiplies all. */
void live_cells_scale(struct live_cells *cells, double factor);

/* Leaves the `limit` functions with most weight, and none that has less than `least`. Returns 0 or
 * STATUS_NO_MEMORY.
 */
int live_cells_trim(struct live_cells *cells, size_t limit, double least);

/* Gives all texts the ids that they have in another table. Returns 0 or STATUS_NO_MEMORY. */
int live_cells_intern(struct live_cells *cells, const struct intern *from, struct intern *to);

void live_cells_clear(struct live_cells *cells);

#endif
