#include "top/cells.h"

#include "base/hash.h"
#include "base/status.h"

#include <stdlib.h>

static uint64_t hash_key(const struct live_key *key)
{
	return hash_mix((uint64_t)key->symbol << 32 | key->object,
			(uint64_t)key->runtime << 32 | key->process);
}

static bool same_key(const struct live_key *a, const struct live_key *b)
{
	return a->symbol == b->symbol && a->object == b->object && a->runtime == b->runtime &&
	       a->process == b->process;
}

static size_t slot_of(const struct live_cells *cells, const struct live_key *key)
{
	const size_t mask = cells->slot_count - 1;
	size_t at = hash_key(key) & mask;
	while (cells->slots[at] && !same_key(&cells->items.items[cells->slots[at] - 1].key, key))
		at = (at + 1) & mask;
	return at;
}

static int index_all(struct live_cells *cells, size_t slot_count)
{
	uint32_t *slots = calloc(slot_count, sizeof(*slots));
	if (!slots)
		return STATUS_NO_MEMORY;
	free(cells->slots);
	cells->slots = slots;
	cells->slot_count = slot_count;
	for (size_t i = 0; i < cells->items.count; i++)
		slots[slot_of(cells, &cells->items.items[i].key)] = (uint32_t)i + 1;
	return 0;
}

struct live_cell *live_cells_at(struct live_cells *cells, const struct live_key *key)
{
	if (cells->items.count * 2 >= cells->slot_count &&
	    index_all(cells, cells->slot_count ? cells->slot_count * 2 : 256) < 0)
		return NULL;
	const size_t at = slot_of(cells, key);
	if (cells->slots[at])
		return &cells->items.items[cells->slots[at] - 1];
	struct live_cell *cell = vector_push(&cells->items);
	if (!cell)
		return NULL;
	cell->key = *key;
	cells->slots[at] = (uint32_t)cells->items.count;
	return cell;
}

void live_cell_add_tier(struct live_cell *cell, uint32_t name, double weight)
{
	size_t at = 0;
	while (at + 1 < LIVE_TIERS && cell->tiers[at].name && cell->tiers[at].name != name)
		at++;
	if (!cell->tiers[at].name)
		cell->tiers[at].name = name;
	cell->tiers[at].weight += weight;
}

static void add_cell(struct live_cell *cell, const struct live_cell *more, bool is_new,
		     double factor)
{
	if (is_new) {
		cell->pid = more->pid;
		cell->is_unknown = more->is_unknown;
	} else if (cell->pid != more->pid) {
		cell->pid = 0;
	}
	const double line_weight = more->line_weight * factor;
	if (more->file == cell->file && more->line == cell->line) {
		cell->line_weight += line_weight;
	} else if (line_weight > cell->line_weight) {
		cell->file = more->file;
		cell->line = more->line;
		cell->line_weight = line_weight;
	}
	cell->self += more->self * factor;
	cell->total += more->total * factor;
	cell->samples += more->samples * factor;
	for (size_t i = 0; i < LIVE_TIERS && more->tiers[i].name; i++)
		live_cell_add_tier(cell, more->tiers[i].name, more->tiers[i].weight * factor);
	if (more->last_tier)
		cell->last_tier = more->last_tier;
}

int live_cells_add(struct live_cells *cells, const struct live_cells *more, double factor)
{
	for (size_t i = 0; i < more->items.count; i++) {
		const struct live_cell *from = &more->items.items[i];
		const size_t before = cells->items.count;
		struct live_cell *cell = live_cells_at(cells, &from->key);
		if (!cell)
			return STATUS_NO_MEMORY;
		add_cell(cell, from, cells->items.count > before, factor);
	}
	cells->weight += more->weight * factor;
	cells->samples += more->samples * factor;
	for (size_t i = 0; i < PROFILE_TRUST_COUNT; i++)
		cells->trust[i] += more->trust[i] * factor;
	cells->seconds += more->seconds * factor;
	cells->cpu_seconds += more->cpu_seconds * factor;
	cells->lost_count += more->lost_count;
	return 0;
}

void live_cells_scale(struct live_cells *cells, double factor)
{
	for (size_t i = 0; i < cells->items.count; i++) {
		struct live_cell *cell = &cells->items.items[i];
		cell->line_weight *= factor;
		cell->self *= factor;
		cell->total *= factor;
		cell->samples *= factor;
		for (size_t k = 0; k < LIVE_TIERS; k++)
			cell->tiers[k].weight *= factor;
	}
	cells->weight *= factor;
	cells->samples *= factor;
	for (size_t i = 0; i < PROFILE_TRUST_COUNT; i++)
		cells->trust[i] *= factor;
	cells->seconds *= factor;
	cells->cpu_seconds *= factor;
}

static double larger(const struct live_cell *cell)
{
	return cell->total > cell->self ? cell->total : cell->self;
}

static int by_weight(const void *left, const void *right)
{
	const double a = larger(left);
	const double b = larger(right);
	return a < b ? 1 : a > b ? -1 : 0;
}

int live_cells_trim(struct live_cells *cells, size_t limit, double least)
{
	size_t kept = 0;
	for (size_t i = 0; i < cells->items.count; i++)
		if (larger(&cells->items.items[i]) >= least)
			cells->items.items[kept++] = cells->items.items[i];
	const bool has_changed = kept != cells->items.count || kept > limit;
	cells->items.count = kept;
	if (kept > limit) {
		qsort(cells->items.items, kept, sizeof(cells->items.items[0]), by_weight);
		cells->items.count = limit;
	}
	return has_changed ? index_all(cells, cells->slot_count) : 0;
}

static bool intern_one(uint32_t *id, const struct intern *from, struct intern *to)
{
	*id = intern_bytes(to, intern_get_bytes(from, *id));
	return *id != INTERN_NONE;
}

int live_cells_intern(struct live_cells *cells, const struct intern *from, struct intern *to)
{
	bool is_done = true;
	for (size_t i = 0; i < cells->items.count; i++) {
		struct live_cell *cell = &cells->items.items[i];
		uint32_t *const ids[] = { &cell->key.symbol,  &cell->key.object, &cell->key.runtime,
					  &cell->key.process, &cell->file,       &cell->last_tier };
		for (size_t k = 0; k < sizeof(ids) / sizeof(ids[0]); k++)
			is_done &= intern_one(ids[k], from, to);
		for (size_t k = 0; k < LIVE_TIERS; k++)
			is_done &= intern_one(&cell->tiers[k].name, from, to);
	}
	if (!is_done)
		return STATUS_NO_MEMORY;
	return cells->slot_count ? index_all(cells, cells->slot_count) : 0;
}

void live_cells_clear(struct live_cells *cells)
{
	vector_clear(&cells->items);
	free(cells->slots);
	*cells = (struct live_cells){ 0 };
}
