/* groups.h - the rows of a report: samples that share what the report sorts by.
 *
 *   struct report_options options = { .keys = REPORT_DEFAULT_KEYS };
 *   struct report_groups groups = { 0 };
 *   if (report_groups_build(&groups, profile, event, &options) == 0)
 *           for (size_t i = 0; i < groups.order.count; i++)
 *                   use(&groups.items.items[groups.order.items[i]]);
 *   report_groups_clear(&groups);
 *
 * A function is one row however often it was compiled: tier and trust are told
 * for all its samples together unless they are keys. Work and memory grow with
 * the distinct stacks of the profile. One thread.
 */
#ifndef REPORT_GROUPS_H
#define REPORT_GROUPS_H

#include "profile/profile.h"

enum report_key {
	REPORT_COMM = 1 << 0,
	REPORT_PID = 1 << 1,
	REPORT_TID = 1 << 2,
	REPORT_OBJECT = 1 << 3,
	REPORT_SYMBOL = 1 << 4,
	REPORT_RUNTIME = 1 << 5,
	REPORT_TIER = 1 << 6,
	REPORT_TRUST = 1 << 7,
	REPORT_VERSION = 1 << 8,
	REPORT_SRCLINE = 1 << 9,
	REPORT_DEFAULT_KEYS = REPORT_SYMBOL | REPORT_OBJECT | REPORT_RUNTIME,
};

enum report_tree {
	REPORT_TREE_NONE,
	REPORT_TREE_CALLERS, /* under each row: who called it */
	REPORT_TREE_CALLEES, /* under each row: what it called */
};

struct report_options {
	unsigned keys; /* enum report_key, or-ed */
	bool children; /* count a function wherever it is in the stack, and sort by that */
	enum report_tree tree;
	double percent_limit; /* rows and branches below it are left out */
	/* Comma-separated patterns as in fnmatch(3); NULL shows all. */
	const char *objects;
	const char *symbols;
};

/* What a row's samples have in common; a field that is no key is 0. */
struct report_group_key {
	uint32_t comm;
	uint32_t pid;
	uint32_t tid;
	uint32_t object;
	uint32_t symbol;
	uint32_t runtime;
	uint32_t tier;
	uint32_t version;
	uint32_t trust; /* enum profile_trust + 1 */
	uint32_t file;
	uint32_t line;
};

enum { REPORT_TIERS_KEPT = 4 };

struct report_group {
	struct report_group_key key;
	uint64_t self_count;
	uint64_t self_weight;
	uint64_t total_count; /* wherever it is in the stack; children only */
	uint64_t total_weight;
	/* Of its own samples; of those it is a caller in, where it has none of its own. */
	uint64_t trust_counts[PROFILE_TRUST_COUNT];
	struct {
		uint32_t tier;
		uint64_t count;
	} tiers[REPORT_TIERS_KEPT]; /* largest first after the build */
	bool is_shown;              /* by the patterns of the options */
	uint32_t last_row;          /* internal: counts a recursive function once a stack */
};

struct report_groups {
	VECTOR(struct report_group) items;
	VECTOR(uint32_t) order; /* of the rows shown, largest first */
	uint32_t *slots;
	size_t slot_count;
	uint32_t
	    *by_frame; /* the group of a frame + 1, where threads do not matter; 0: not known */
	size_t by_frame_count;
	uint64_t total_count; /* of all samples of the event */
	uint64_t total_weight;
};

int report_groups_build(struct report_groups *groups, const struct profile *profile, uint32_t event,
			const struct report_options *options);
void report_groups_clear(struct report_groups *groups);

/* The group of a frame in a row; INTERN_NONE without memory. Always with the profile and the
 * options that the groups were built of.
 */
uint32_t report_groups_of(struct report_groups *groups, const struct profile *profile,
			  const struct report_options *options, const struct profile_row *row,
			  uint32_t frame);

/* The share of all samples, 0 to 100. */
double report_percent(const struct report_groups *groups, uint64_t weight);

#endif
