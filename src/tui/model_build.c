/* The rows of the model: what zooms leave of the samples, summed up and sorted. */
#include "tui/model_internal.h"

#include "base/number.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

static bool is_of_thread(const struct model_zoom *zoom)
{
	return zoom->kind == MODEL_THREAD || zoom->kind == MODEL_COMM;
}

static bool keeps_sample(const struct model *model, const struct profile_row *row)
{
	const struct profile_thread *thread = &model->profile->threads.items[row->thread];
	for (size_t i = 0; i < model->zooms.count; i++) {
		const struct model_zoom *zoom = &model->zooms.items[i];
		const struct profile_thread *wanted;
		switch (zoom->kind) {
		case MODEL_THREAD:
			/* A thread that changes its name is several of the profile's. */
			wanted = &model->profile->threads.items[zoom->value];
			if (thread->pid != wanted->pid || thread->tid != wanted->tid)
				return false;
			break;
		case MODEL_COMM:
			if (thread->comm != zoom->value)
				return false;
			break;
		default:
			break;
		}
	}
	return true;
}

/* The profile with fewer rows: all else is shared. */
static bool keep_samples(struct model *model)
{
	bool chooses = false;
	model->kept = *model->profile;
	model->kept_rows.count = 0;
	for (size_t i = 0; i < model->zooms.count; i++)
		chooses |= is_of_thread(&model->zooms.items[i]);
	if (!chooses)
		return true;
	for (size_t i = 0; i < model->profile->rows.count; i++) {
		const struct profile_row *row = &model->profile->rows.items[i];
		if (!keeps_sample(model, row))
			continue;
		struct profile_row *slot = vector_push(&model->kept_rows);
		if (!slot)
			return false;
		*slot = *row;
	}
	model->kept.rows.items = model->kept_rows.items;
	model->kept.rows.count = model->kept_rows.count;
	return true;
}

static bool holds(const char *text, const char *part)
{
	return strcasestr(text, part) != NULL;
}

static bool keeps_row(const struct model *model, const struct report_group_key *key)
{
	for (size_t i = 0; i < model->zooms.count; i++) {
		const struct model_zoom *zoom = &model->zooms.items[i];
		switch (zoom->kind) {
		case MODEL_OBJECT:
			if (key->object != zoom->value)
				return false;
			break;
		case MODEL_RUNTIME:
			if (key->runtime != zoom->value)
				return false;
			break;
		case MODEL_PART:
			if (!holds(profile_text(model->profile, key->symbol), zoom->part))
				return false;
			break;
		default:
			break;
		}
	}
	return true;
}

/* Which groups have somebody above (or below) them in some stack: bytes by group. */
static uint8_t *find_who_has_more(struct model *model)
{
	const bool up = model_counts_callers(model);
	const size_t known = model->groups.items.count; /* those behind have no row */
	uint8_t *has_more = calloc(known + 1, 1);
	for (size_t r = 0; has_more && r < model->kept.rows.count; r++) {
		const struct profile_row *row = &model->kept.rows.items[r];
		if (row->event != model->event)
			continue;
		const struct profile_stack *stack = &model->kept.stacks.items[row->stack];
		const bool only_leaf = up && !model->options.children;
		const uint32_t first = up ? 0 : 1;
		uint32_t end = up && stack->depth ? stack->depth - 1 : stack->depth;
		if (only_leaf && end > 1)
			end = 1;
		for (uint32_t i = first; i < end; i++) {
			const uint32_t group =
			    report_groups_of(&model->groups, &model->kept, &model->options, row,
					     model->kept.frame_ids.items[stack->first + i]);
			if (group < known)
				has_more[group] = 1;
		}
	}
	return has_more;
}

static int make_rows(struct model *model)
{
	const size_t count = model->groups.items.count;
	uint8_t *has_more = find_who_has_more(model);
	int got = has_more ? 0 : STATUS_NO_MEMORY;
	for (size_t i = 0; got == 0 && i < model->groups.order.count; i++) {
		const uint32_t id = model->groups.order.items[i];
		const struct report_group *group = &model->groups.items.items[id];
		if (!keeps_row(model, &group->key))
			continue;
		struct model_node *node = vector_push(&model->nodes);
		if (!node) {
			got = STATUS_NO_MEMORY;
			break;
		}
		*node = (struct model_node){ .group = id,
					     .count = group->total_count,
					     .weight = group->total_weight,
					     .has_more = id < count && has_more[id] };
	}
	free(has_more);
	return got;
}

/* Texts of the column that rows are sorted by, made once. */
struct sorting {
	const struct model *model;
	const struct report_column *column;
	struct sink texts;
	VECTOR(struct sorted_row) rows;
};

struct sorted_row {
	struct model_node node;
	size_t text;
	uint64_t number;
	uint32_t place; /* as the report sorts: decides between equal ones */
};

static int by_column(const void *left, const void *right, void *context)
{
	const struct sorting *s = context;
	const struct sorted_row *a = left;
	const struct sorted_row *b = right;
	if (a->number != b->number)
		return a->number < b->number ? 1 : -1;
	if (s->column->kind == COLUMN_TEXT) {
		const char *texts = (const char *)s->texts.data;
		const int order = strcasecmp(texts + a->text, texts + b->text);
		if (order)
			return order;
	}
	return a->place < b->place ? -1 : a->place > b->place;
}

static bool add_sorted(struct sorting *s, uint32_t place)
{
	const struct model *model = s->model;
	const struct model_node *node = &model->nodes.items[place];
	const struct report_group *group = &model->groups.items.items[node->group];
	struct sorted_row *row = vector_push(&s->rows);
	if (!row)
		return false;
	*row = (struct sorted_row){ .node = *node, .text = s->texts.size, .place = place };
	s->column->put(&s->texts, &model->groups, &model->kept, group);
	if (s->column->kind == COLUMN_COUNT)
		(void)number_parse(
		    (struct bytes){ s->texts.data + row->text, s->texts.size - row->text }, 10,
		    &row->number);
	else if (s->column->kind == COLUMN_PERCENT)
		row->number =
		    strcmp(s->column->name, "self") == 0 ? group->self_weight : group->total_weight;
	sink_u8(&s->texts, 0);
	return true;
}

static int sort_rows(struct model *model)
{
	struct sorting s = { .model = model };
	bool done = true;
	if (model->sorted_by < 0 || (size_t)model->sorted_by >= model->column_count)
		return 0;
	s.column = model->columns[model->sorted_by];
	for (uint32_t i = 0; done && i < model->nodes.count; i++)
		done = add_sorted(&s, i);
	done &= !sink_failed(&s.texts);
	if (done && s.rows.count)
		qsort_r(s.rows.items, s.rows.count, sizeof(struct sorted_row), by_column, &s);
	for (size_t i = 0; done && i < s.rows.count; i++)
		model->nodes.items[i] = s.rows.items[i].node;
	vector_clear(&s.rows);
	sink_clear(&s.texts);
	return done ? 0 : STATUS_NO_MEMORY;
}

/* Are the groups those of these samples and options? Of zooms only some choose samples. */
static bool is_summed(const struct model *model)
{
	size_t at = 0;
	if (!model->summed.is_there || model->summed.keys != model->options.keys ||
	    model->summed.children != model->options.children ||
	    model->summed.event != model->event)
		return false;
	for (size_t i = 0; i < model->zooms.count; i++) {
		const struct model_zoom *zoom = &model->zooms.items[i];
		if (!is_of_thread(zoom))
			continue;
		if (at == model->summed.zooms.count ||
		    model->summed.zooms.items[at].kind != zoom->kind ||
		    model->summed.zooms.items[at].value != zoom->value)
			return false;
		at++;
	}
	return at == model->summed.zooms.count;
}

static int sum_up(struct model *model)
{
	if (is_summed(model))
		return 0;
	report_groups_clear(&model->groups);
	model->summed.is_there = false;
	model->summed.zooms.count = 0;
	if (!keep_samples(model))
		return STATUS_NO_MEMORY;
	const int got =
	    report_groups_build(&model->groups, &model->kept, model->event, &model->options);
	if (got < 0)
		return got;
	for (size_t i = 0; i < model->zooms.count; i++) {
		if (!is_of_thread(&model->zooms.items[i]))
			continue;
		struct model_zoom *slot = vector_push(&model->summed.zooms);
		if (!slot)
			return STATUS_NO_MEMORY;
		*slot = model->zooms.items[i];
	}
	model->summed.keys = model->options.keys;
	model->summed.children = model->options.children;
	model->summed.event = model->event;
	model->summed.is_there = true;
	return 0;
}

int model_build(struct model *model)
{
	model->nodes.count = model->places.count = model->shown.count = 0;
	model->column_count = report_columns(&model->options, model->columns);
	int got = sum_up(model);
	if (got == 0)
		got = make_rows(model);
	if (got == 0)
		got = sort_rows(model);
	return got == 0 ? model_list_shown(model) : got;
}
