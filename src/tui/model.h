/* model.h - what the browser of a report shows: rows, and trees of callers or callees under
 * them.
 *
 *   struct model model = { .profile = profile, .event = event, .options = options };
 *   model_build(&model);                      again after options, zooms or sorting are others
 *   model_open(&model, index);
 *   for (size_t i = 0; i < model.shown.count; i++)
 *           use(model_node(&model, i));
 *   model_clear(&model);
 *
 * Rows are those of report/groups.h. A tree is made as far as it is opened: opening a node looks
 * at the stacks that lead through it, opening a row at all stacks once. Not tied to ncurses; one
 * thread. Each call that can fail returns 0 or STATUS_NO_MEMORY, and then shows what it has.
 */
#ifndef TUI_MODEL_H
#define TUI_MODEL_H

#include "report/columns.h"
#include "report/groups.h"

enum { MODEL_OPEN_LIMIT = 10000 }; /* nodes that one key opens at most */

/* What is left out. Threads and programs choose samples, as --tid and --comm; the others rows, as
 * --dso.
 */
enum model_zoom_kind {
	MODEL_THREAD,  /* value: of the profile's threads */
	MODEL_COMM,    /* value: string */
	MODEL_OBJECT,  /* value: string */
	MODEL_RUNTIME, /* value: string */
	MODEL_PART,    /* `part` of the symbol's name, in either case */
};

struct model_zoom {
	enum model_zoom_kind kind;
	uint32_t value;
	const char *part; /* borrowed */
};

/* A stack that leads through a node. */
struct model_place {
	uint32_t row; /* of kept.rows */
	uint32_t at;  /* in its stack, leaf first */
};

struct model_node {
	uint32_t group;
	uint32_t parent; /* node + 1; 0: a row of the table */
	uint32_t depth;  /* 0: a row of the table */
	uint32_t indent; /* grows where ways part: who is alone stays below its parent */
	uint32_t first_child;
	uint32_t child_count;
	uint32_t first_place; /* of rows: unset until they are opened */
	uint32_t place_count;
	uint64_t count;
	uint64_t weight;
	bool has_more; /* it can be opened */
	bool is_known; /* its children are made */
	bool is_open;
};

struct model {
	/* Set by the owner. */
	const struct profile *profile;
	uint32_t event;
	struct report_options options; /* tree: the direction, never NONE */
	VECTOR(struct model_zoom) zooms;
	int sorted_by; /* index of report_columns(); -1: as the report does */
	/* Read by the owner. */
	VECTOR(uint32_t) shown; /* nodes from top to bottom */
	struct report_groups groups;
	const struct report_column *columns[REPORT_COLUMN_LIMIT];
	size_t column_count;
	struct profile kept; /* the profile with the samples that are not left out */
	/* The model's own. */
	VECTOR(struct model_node) nodes;
	VECTOR(struct model_place) places;
	VECTOR(struct profile_row) kept_rows;
	VECTOR(uint32_t) child_of_group; /* scratch of opening */
	/* What the groups were summed up for: they stay while it is the same. */
	struct {
		bool is_there;
		bool children;
		unsigned keys;
		uint32_t event;
		VECTOR(struct model_zoom) zooms;
	} summed;
};

int model_build(struct model *model);
void model_clear(struct model *model);

static inline const struct model_node *model_node(const struct model *model, size_t index)
{
	return &model->nodes.items[model->shown.items[index]];
}

/* Opens or closes the node at an index of `shown`. */
int model_open(struct model *model, size_t index);
void model_close(struct model *model, size_t index);
/* With all below it, as far as MODEL_OPEN_LIMIT goes; true in *is_whole where that was enough. */
int model_open_all(struct model *model, size_t index, bool *is_whole);
/* Closes the tree around a node and all in it; returns the index of its row. */
size_t model_close_all(struct model *model, size_t index);
/* Closes every tree; returns the new index of the row that the node was under. */
size_t model_close_every(struct model *model, size_t index);
/* The index of the node above; the same for rows. */
size_t model_parent(const struct model *model, size_t index);

/* The index of the row whose group has this key; SIZE_MAX where there is none. */
size_t model_find(const struct model *model, const struct report_group_key *key);

/* The text of a column, unescaped; of nodes in trees what is theirs alone. */
void model_cell(const struct model *model, size_t index, size_t column, struct sink *out);

/* Shares of samples, largest first, of what one can zoom into: threads or programs. */
struct model_share {
	uint32_t value; /* as in struct model_zoom */
	uint64_t weight;
};
typedef VECTOR(struct model_share) model_shares;
int model_shares_of(const struct model *model, enum model_zoom_kind kind, model_shares *shares);

#endif
