/* made.h - cells by hand. */
#ifndef TESTS_TOP_MADE_H
#define TESTS_TOP_MADE_H

#include "test.h"
#include "top/cells.h"

struct made {
	const char *symbol;
	const char *object;
	const char *runtime;
	const char *process;
	uint32_t pid;
	const char *tier;
	double self;
};

static inline void made_add(struct live_cells *cells, struct intern *strings,
			    const struct made *made)
{
	const struct live_key key = {
		intern_text(strings, made->symbol),
		intern_text(strings, made->object),
		intern_text(strings, made->runtime),
		intern_text(strings, made->process),
	};
	struct live_cell *cell = live_cells_at(cells, &key);
	assert_non_null(cell);
	cell->pid = made->pid;
	cell->self += made->self;
	cell->samples += 1;
	cell->last_tier = intern_text(strings, made->tier);
	if (*made->tier)
		live_cell_add_tier(cell, cell->last_tier, made->self);
	cells->weight += made->self;
	cells->samples += 1;
}

static inline const struct live_cell *made_find(const struct live_cells *cells,
						const struct intern *strings, const char *symbol)
{
	for (size_t i = 0; i < cells->items.count; i++)
		if (strcmp(intern_get(strings, cells->items.items[i].key.symbol), symbol) == 0)
			return &cells->items.items[i];
	return NULL;
}

static inline bool made_is_near(double a, double b)
{
	return a - b < 1e-6 && b - a < 1e-6;
}

#endif
