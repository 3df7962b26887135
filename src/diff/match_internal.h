/* match_internal.h - a match while it is built. Not for others than this folder.
 *
 * An item is a function of one build: all functions of both sides whose names are equal when folded
 * for runs. Its `group` are those whose names are equal when folded for builds.
 */
#ifndef DIFF_MATCH_INTERNAL_H
#define DIFF_MATCH_INTERNAL_H

#include "base/idmap.h"
#include "diff/match.h"
#include "names/stable.h"

struct item {
	uint32_t key;          /* strings of the match */
	uint32_t group;        /* the key folded for builds */
	uint32_t scope;        /* of what moves together: file, object and runtime; or the group */
	uint32_t symbol;       /* name and runtime folded for builds, without the object */
	uint32_t object_group; /* the object's name folded for builds */
	uint32_t name[DIFF_SIDES];
	uint32_t object[DIFF_SIDES];
	uint32_t runtime;
	struct stable_numbers numbers;
	bool is_on[DIFF_SIDES];
	uint32_t partner; /* item + 1 that a function of `before` is on the other side; 0: none */
	bool is_taken;    /* on the other side: it is someone's partner */
	uint8_t found;
};

struct matching {
	struct diff_match *match;
	VECTOR(struct item) items;
	struct idmap by_key;
	/* Items in the order of (scope, group): the indices. */
	VECTOR(uint32_t) order;
};

static inline bool item_is_open(const struct item *item, unsigned side)
{
	return item->is_on[side] && !(side == DIFF_BEFORE ? item->partner != 0 : item->is_taken);
}

static inline void item_pair(struct matching *m, uint32_t before, uint32_t after,
			     enum diff_found found)
{
	struct item *item = &m->items.items[before];
	item->partner = after + 1;
	item->found = (uint8_t)(before == after ? DIFF_FOUND_SAME : found);
	m->items.items[after].is_taken = true;
}

/* match_moved.c: those that only their places tell apart, by how far their files moved. */
int match_moved(struct matching *m);

#endif
