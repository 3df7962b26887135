#include "diff/diff_internal.h"

#include "base/status.h"

#include <stdlib.h>
#include <string.h>

static const char *const BY_NAMES[] = {
#define X(name, text) text,
	DIFF_BY_LIST(X)
#undef X
};

enum { BY_COUNT = sizeof(BY_NAMES) / sizeof(BY_NAMES[0]) };

int diff_by_find(const char *text)
{
	for (int i = 0; i < BY_COUNT; i++)
		if (strcmp(text, BY_NAMES[i]) == 0)
			return i;
	return -1;
}

const char *diff_by_name(enum diff_by by)
{
	return (int)by < BY_COUNT ? BY_NAMES[by] : "";
}

/* "cpu-clock", "task-clock:u": nanoseconds that a processor spent. */
static bool is_processor_time(const char *event)
{
	static const char *const CLOCKS[] = { "cpu-clock", "task-clock" };
	for (size_t i = 0; i < sizeof(CLOCKS) / sizeof(CLOCKS[0]); i++) {
		const size_t size = strlen(CLOCKS[i]);
		if (strncmp(event, CLOCKS[i], size) == 0 &&
		    (event[size] == '\0' || event[size] == ':'))
			return true;
	}
	return false;
}

/* Of the first such event with samples: others of them count the same time again. */
static double cpu_seconds(const struct profile *p)
{
	uint64_t weight = 0;
	uint32_t event = INTERN_NONE;
	for (size_t i = 0; i < p->rows.count; i++) {
		const struct profile_row *row = &p->rows.items[i];
		if (event == INTERN_NONE &&
		    is_processor_time(profile_text(p, p->events.items[row->event])))
			event = row->event;
		if (row->event == event)
			weight += row->weight;
	}
	return (double)weight / 1e9;
}

static void add_cell(struct diff_cell *cell, const struct profile_row *row)
{
	cell->count += row->count;
	cell->weight += (double)row->weight;
	/* Samples of one stack have about the same period. */
	if (row->count)
		cell->squares += (double)row->weight * (double)row->weight / (double)row->count;
}

/* Counts one recording's samples by function. `last` has the row that a function was seen in. */
static void count_samples(struct diff_counts *counts, const struct diff_match *match, size_t index,
			  uint32_t *last)
{
	const struct diff_recording *recording = &counts->recordings[index];
	const struct profile *p = recording->profile;
	const size_t functions = match->functions.count;
	struct diff_cell *self = counts->self + index * functions;
	struct diff_cell *total = counts->total + index * functions;
	struct diff_run *run = &counts->runs[index];
	memset(last, 0, functions * sizeof(*last));
	for (uint32_t i = 0; i < p->rows.count; i++) {
		const struct profile_row *row = &p->rows.items[i];
		if (row->event != recording->event)
			continue;
		add_cell(&run->all, row);
		const struct profile_stack *stack = &p->stacks.items[row->stack];
		for (uint32_t depth = 0; depth < stack->depth; depth++) {
			const uint32_t frame = p->frame_ids.items[stack->first + depth];
			const uint32_t id =
			    diff_match_of(match, index, p->frames.items[frame].function);
			if (depth == 0)
				add_cell(&self[id], row);
			if (last[id] == i + 1)
				continue;
			last[id] = i + 1;
			add_cell(&total[id], row);
		}
	}
	run->side = recording->side;
	run->seconds = p->last_ns > p->first_ns ? (double)(p->last_ns - p->first_ns) / 1e9 : 0;
}

/* What a recording's weights are divided by. */
static int set_scale(struct diff_run *run, const struct profile *p, enum diff_by by)
{
	run->scale = 1;
	switch (by) {
	case DIFF_BY_SHARE:
		run->scale = run->all.weight;
		break;
	case DIFF_BY_SECOND:
		run->scale = run->seconds;
		break;
	case DIFF_BY_CPU_SECOND:
		run->scale = cpu_seconds(p);
		if (run->scale <= 0)
			return STATUS_NOT_FOUND;
		break;
	case DIFF_BY_TOTAL:
		break;
	}
	/* Nothing was recorded: all is 0. */
	if (run->scale <= 0)
		run->scale = 1;
	return 0;
}

static void sum_sides(struct diff *diff, const struct diff_counts *counts)
{
	for (size_t i = 0; i < counts->count; i++) {
		const struct diff_run *run = &counts->runs[i];
		struct diff_total *total = &diff->sides[run->side];
		total->count += run->all.count;
		total->weight += run->all.weight;
		total->value += run->all.weight / run->scale;
		total->seconds += run->seconds;
		total->recordings++;
	}
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		struct diff_total *total = &diff->sides[side];
		if (!total->recordings)
			continue;
		total->weight /= total->recordings;
		total->value /= total->recordings;
		total->seconds /= total->recordings;
	}
}

static int count_all(struct diff *diff, struct diff_counts *counts)
{
	const size_t functions = diff->match.functions.count;
	const size_t cells = functions * counts->count + 1;
	uint32_t *last = calloc(functions + 1, sizeof(*last));
	counts->self = calloc(cells, sizeof(*counts->self));
	counts->total = calloc(cells, sizeof(*counts->total));
	counts->runs = calloc(counts->count + 1, sizeof(*counts->runs));
	int got = last && counts->self && counts->total && counts->runs ? 0 : STATUS_NO_MEMORY;
	for (size_t i = 0; got == 0 && i < counts->count; i++) {
		count_samples(counts, &diff->match, i, last);
		got = set_scale(&counts->runs[i], counts->recordings[i].profile, diff->options.by);
	}
	free(last);
	return got;
}

int diff_compare(const struct diff *diff, const struct diff_row *a, const struct diff_row *b)
{
	const struct diff_figure *x = diff_figure(diff, a);
	const struct diff_figure *y = diff_figure(diff, b);
	if (x->is_beyond != y->is_beyond)
		return x->is_beyond ? -1 : 1;
	const double change_x = diff_change(x) < 0 ? -diff_change(x) : diff_change(x);
	const double change_y = diff_change(y) < 0 ? -diff_change(y) : diff_change(y);
	if (change_x != change_y)
		return change_x > change_y ? -1 : 1;
	return strcmp(diff_match_key(&diff->match, a->function),
		      diff_match_key(&diff->match, b->function));
}

static int by_change(const void *left, const void *right, void *context)
{
	const struct diff *diff = context;
	return diff_compare(diff, &diff->rows.items[*(const uint32_t *)left],
			    &diff->rows.items[*(const uint32_t *)right]);
}

static int put_in_order(struct diff *diff)
{
	if (!vector_reserve(&diff->order, diff->rows.count))
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < diff->rows.count; i++)
		diff->order.items[diff->order.count++] = i;
	if (diff->order.count)
		qsort_r(diff->order.items, diff->order.count, sizeof(uint32_t), by_change, diff);
	return 0;
}

int diff_build(struct diff *diff, const struct diff_recording *recordings, size_t count,
	       const struct diff_options *options)
{
	diff->options = *options;
	struct diff_counts counts = { .recordings = recordings, .count = count };
	struct diff_side *sides = calloc(count ? count : 1, sizeof(*sides));
	if (!sides)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < count; i++)
		sides[i] = (struct diff_side){ recordings[i].profile, recordings[i].side };
	int got = diff_match_build(&diff->match, sides, count);
	free(sides);
	if (got == 0)
		got = count_all(diff, &counts);
	if (got == 0) {
		sum_sides(diff, &counts);
		got = diff_weigh(diff, &counts);
	}
	if (got == 0)
		got = put_in_order(diff);
	free(counts.self);
	free(counts.total);
	free(counts.runs);
	return got;
}

void diff_clear(struct diff *diff)
{
	diff_match_clear(&diff->match);
	vector_clear(&diff->rows);
	vector_clear(&diff->order);
}
