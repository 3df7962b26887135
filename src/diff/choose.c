#include "base/pattern.h"
#include "diff/write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const SORT_NAMES[] = {
#define X(name, text) text,
	DIFF_SORT_LIST(X)
#undef X
};

int diff_sort_find(const char *text)
{
	for (size_t i = 0; i < sizeof(SORT_NAMES) / sizeof(SORT_NAMES[0]); i++)
		if (strcmp(text, SORT_NAMES[i]) == 0)
			return (int)i;
	return -1;
}

const char *diff_verdict(const struct diff_figure *figure)
{
	if (!figure->is_beyond)
		return "noise";
	if (!figure->count[DIFF_BEFORE])
		return "appeared";
	if (!figure->count[DIFF_AFTER])
		return "vanished";
	return diff_change(figure) > 0 ? "more" : "less";
}

struct ordering {
	const struct diff *diff;
	enum diff_sort sort;
};

/* What is larger comes first. */
static double rank_of(const struct diff_figure *figure, enum diff_sort sort)
{
	const double before = figure->value[DIFF_BEFORE];
	const double after = figure->value[DIFF_AFTER];
	switch (sort) {
	case DIFF_SORT_BEFORE:
		return before;
	case DIFF_SORT_AFTER:
		return after;
	case DIFF_SORT_RATIO:
		if (before > 0 && after > 0)
			return fabs(log(after / before));
		return before > 0 || after > 0 ? INFINITY : 0;
	case DIFF_SORT_CHANGE:
	case DIFF_SORT_SYMBOL:
		break;
	}
	return 0;
}

static int by_sort(const void *left, const void *right, void *context)
{
	const struct ordering *ordering = context;
	const struct diff *diff = ordering->diff;
	const struct diff_row *a = &diff->rows.items[*(const uint32_t *)left];
	const struct diff_row *b = &diff->rows.items[*(const uint32_t *)right];
	const double rank_a = rank_of(diff_figure(diff, a), ordering->sort);
	const double rank_b = rank_of(diff_figure(diff, b), ordering->sort);
	if (rank_a != rank_b)
		return rank_a > rank_b ? -1 : 1;
	if (ordering->sort != DIFF_SORT_SYMBOL)
		return diff_compare(diff, a, b);
	return strcmp(diff_match_key(&diff->match, a->function),
		      diff_match_key(&diff->match, b->function));
}

static bool is_chosen(const struct diff *diff, const struct diff_row *row,
		      const struct diff_choice *choice)
{
	const struct diff_figure *figure = diff_figure(diff, row);
	const struct diff_function *function = &diff->match.functions.items[row->function];
	/* Callers are shown where they are counted. */
	if (!figure->count[DIFF_BEFORE] && !figure->count[DIFF_AFTER])
		return false;
	if (choice->changed && !figure->is_beyond)
		return false;
	bool is_large = choice->percent_limit <= 0;
	bool is_named = false;
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		is_large |=
		    100 * figure->value[side] >= choice->percent_limit * diff->sides[side].value &&
		    figure->count[side];
		is_named |=
		    pattern_matches(choice->objects,
				    diff_match_text(&diff->match, function->object[side])) &&
		    pattern_matches(choice->symbols,
				    diff_match_text(&diff->match, function->name[side]));
	}
	return is_large && is_named;
}

void diff_choose(struct diff *diff, const struct diff_choice *choice)
{
	struct ordering ordering = { .diff = diff, .sort = choice->sort };
	size_t count = 0;
	for (size_t i = 0; i < diff->order.count; i++) {
		const uint32_t row = diff->order.items[i];
		if (is_chosen(diff, &diff->rows.items[row], choice))
			diff->order.items[count++] = row;
	}
	diff->order.count = count;
	if (count && choice->sort != DIFF_SORT_CHANGE)
		qsort_r(diff->order.items, count, sizeof(uint32_t), by_sort, &ordering);
	if (choice->top && diff->order.count > choice->top)
		diff->order.count = choice->top;
}
