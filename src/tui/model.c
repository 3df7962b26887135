/* Which nodes are shown, and what of them. */
#include "tui/model_internal.h"

#include "base/status.h"
#include "profile/weight.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void model_clear(struct model *model)
{
	report_groups_clear(&model->groups);
	vector_clear(&model->zooms);
	vector_clear(&model->summed.zooms);
	model->summed.is_there = false;
	vector_clear(&model->shown);
	vector_clear(&model->nodes);
	vector_clear(&model->places);
	vector_clear(&model->kept_rows);
	vector_clear(&model->child_of_group);
}

int model_list_shown(struct model *model)
{
	VECTOR(uint32_t) waiting = { 0 };
	int got = 0;
	model->shown.count = 0;
	for (uint32_t r = 0; got == 0 && r < model->nodes.count; r++) {
		if (model->nodes.items[r].parent)
			break; /* rows come first */
		uint32_t *slot = vector_push(&waiting);
		if (slot)
			*slot = r;
		while (got == 0 && waiting.count) {
			const uint32_t id = waiting.items[--waiting.count];
			const struct model_node *node = &model->nodes.items[id];
			uint32_t *shown = vector_push(&model->shown);
			if (shown)
				*shown = id;
			else
				got = STATUS_NO_MEMORY;
			for (uint32_t i = node->is_open ? node->child_count : 0; i-- > 0;) {
				slot = vector_push(&waiting);
				if (slot)
					*slot = node->first_child + i;
				else
					got = STATUS_NO_MEMORY;
			}
		}
		if (!slot)
			got = STATUS_NO_MEMORY;
	}
	vector_clear(&waiting);
	return got;
}

int model_open(struct model *model, size_t index)
{
	const uint32_t id = model->shown.items[index];
	if (!model->nodes.items[id].has_more)
		return 0;
	const int got = model_open_node(model, id);
	return got == 0 ? model_list_shown(model) : got;
}

void model_close(struct model *model, size_t index)
{
	model->nodes.items[model->shown.items[index]].is_open = false;
	(void)model_list_shown(model);
}

int model_open_all(struct model *model, size_t index, bool *is_whole)
{
	VECTOR(uint32_t) waiting = { 0 };
	uint32_t *slot = vector_push(&waiting);
	int got = slot ? 0 : STATUS_NO_MEMORY;
	size_t opened = 0;
	if (slot)
		*slot = model->shown.items[index];
	/* In the order of depth, so that a limit cuts the deepest. */
	for (size_t at = 0; got == 0 && at < waiting.count && opened < MODEL_OPEN_LIMIT; at++) {
		const uint32_t id = waiting.items[at];
		if (!model->nodes.items[id].has_more)
			continue;
		got = model_open_node(model, id);
		const struct model_node *node = &model->nodes.items[id];
		opened += node->child_count;
		for (uint32_t i = 0; got == 0 && i < node->child_count; i++) {
			slot = vector_push(&waiting);
			if (slot)
				*slot = node->first_child + i;
			else
				got = STATUS_NO_MEMORY;
		}
	}
	*is_whole = opened < MODEL_OPEN_LIMIT;
	vector_clear(&waiting);
	return got == 0 ? model_list_shown(model) : got;
}

static void close_below(struct model *model, uint32_t id)
{
	/* Children come behind their parents: what is under a closed one closes as well. */
	model->nodes.items[id].is_open = false;
	for (size_t i = id + 1; i < model->nodes.count; i++) {
		struct model_node *node = &model->nodes.items[i];
		uint32_t up = (uint32_t)i;
		while (model->nodes.items[up].parent && up != id)
			up = model->nodes.items[up].parent - 1;
		if (up == id)
			node->is_open = false;
	}
}

static uint32_t row_of(const struct model *model, size_t index)
{
	uint32_t id = model->shown.items[index];
	while (model->nodes.items[id].parent)
		id = model->nodes.items[id].parent - 1;
	return id;
}

static size_t index_of(const struct model *model, uint32_t id)
{
	for (size_t i = 0; i < model->shown.count; i++)
		if (model->shown.items[i] == id)
			return i;
	return 0;
}

size_t model_close_all(struct model *model, size_t index)
{
	const uint32_t id = row_of(model, index);
	close_below(model, id);
	(void)model_list_shown(model);
	return index_of(model, id);
}

size_t model_close_every(struct model *model, size_t index)
{
	const uint32_t id = row_of(model, index);
	for (size_t i = 0; i < model->nodes.count; i++)
		model->nodes.items[i].is_open = false;
	(void)model_list_shown(model);
	return index_of(model, id);
}

size_t model_parent(const struct model *model, size_t index)
{
	const struct model_node *node = model_node(model, index);
	while (node->parent && index > 0)
		if (model->shown.items[--index] == node->parent - 1)
			break;
	return index;
}

size_t model_find(const struct model *model, const struct report_group_key *key)
{
	for (size_t i = 0; i < model->shown.count; i++) {
		const struct model_node *node = model_node(model, i);
		const struct report_group_key *has = &model->groups.items.items[node->group].key;
		if (!node->parent && has->symbol == key->symbol && has->object == key->object &&
		    (!key->version || !has->version || has->version == key->version) &&
		    (!key->tier || !has->tier || has->tier == key->tier))
			return i;
	}
	return SIZE_MAX;
}

static bool is_column(const struct report_column *column, const char *name)
{
	return strcmp(column->name, name) == 0;
}

/* What a function is; not how its own samples are spread, which says nothing of this path. */
static void put_tree_cell(const struct model *model, const struct model_node *node,
			  const struct report_column *column, struct sink *out)
{
	if (is_column(column, "samples"))
		sink_printf(out, "%" PRIu64, node->count);
	else if (!is_column(column, "self") && !is_column(column, "trust") &&
		 (!is_column(column, "tier") || model->options.keys & REPORT_TIER))
		column->put(out, &model->groups, &model->kept,
			    &model->groups.items.items[node->group]);
}

static void put_indent(const struct model_node *node, struct sink *out)
{
	for (uint32_t i = 0; i < node->indent; i++)
		sink_text(out, "  ");
	sink_text(out, !node->has_more ? "  " : node->is_open ? "- " : "+ ");
}

void model_cell(const struct model *model, size_t index, size_t column, struct sink *out)
{
	const struct model_node *node = model_node(model, index);
	const struct report_column *c = model->columns[column];
	if (is_column(c, "symbol"))
		put_indent(node, out);
	if (c->kind == COLUMN_PERCENT && !is_column(c, "self"))
		sink_printf(out, "%.2f%%", report_percent(&model->groups, node->weight));
	else if (node->parent)
		put_tree_cell(model, node, c, out);
	else
		c->put(out, &model->groups, &model->kept, &model->groups.items.items[node->group]);
	if (c->kind == COLUMN_PERCENT && is_column(c, "self") && !node->parent)
		sink_text(out, "%");
}

static int by_share(const void *left, const void *right)
{
	const struct model_share *a = left;
	const struct model_share *b = right;
	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return a->value < b->value ? -1 : a->value > b->value;
}

/* The share of a thread: threads of one tid are one, whatever they called themselves. */
static struct model_share *find_share(const struct model *model, enum model_zoom_kind kind,
				      model_shares *shares, uint32_t thread_id)
{
	const struct profile_thread *threads = model->profile->threads.items;
	const struct profile_thread *thread = &threads[thread_id];
	for (size_t i = 0; i < shares->count; i++) {
		const uint32_t value = shares->items[i].value;
		if (kind == MODEL_COMM
			? value == thread->comm
			: threads[value].pid == thread->pid && threads[value].tid == thread->tid)
			return &shares->items[i];
	}
	struct model_share *share = vector_push(shares);
	if (share)
		share->value = kind == MODEL_COMM ? thread->comm : thread_id;
	return share;
}

int model_shares_of(const struct model *model, enum model_zoom_kind kind, model_shares *shares)
{
	const size_t count = model->profile->threads.count;
	uint64_t *weights = calloc(count + 1, sizeof(*weights));
	if (!weights)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < model->kept.rows.count; i++)
		if (model->kept.rows.items[i].event == model->event) {
			const struct profile_row *row = &model->kept.rows.items[i];
			weights[row->thread] = weight_sum(weights[row->thread], row->weight);
		}
	int got = 0;
	for (uint32_t i = 0; got == 0 && i < count; i++) {
		struct model_share *share = weights[i] ? find_share(model, kind, shares, i) : NULL;
		if (share)
			share->weight = weight_sum(share->weight, weights[i]);
		else if (weights[i])
			got = STATUS_NO_MEMORY;
	}
	free(weights);
	if (shares->count)
		qsort(shares->items, shares->count, sizeof(struct model_share), by_share);
	return got;
}
