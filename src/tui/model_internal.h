/* model_internal.h - what the files of the model share. */
#ifndef TUI_MODEL_INTERNAL_H
#define TUI_MODEL_INTERNAL_H

#include "tui/model.h"

static inline bool model_counts_callers(const struct model *model)
{
	return model->options.tree == REPORT_TREE_CALLERS;
}

/* model.c: all nodes that are open, from the rows down. */
int model_list_shown(struct model *model);

/* model_tree.c: makes the children of a node; it is open if it has some. */
int model_open_node(struct model *model, uint32_t id);

#endif
