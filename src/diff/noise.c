#include "diff/diff_internal.h"

#include "base/status.h"
#include "diff/statistics.h"

#include <math.h>
#include <stdlib.h>

/* A function with fewer samples on both sides together is never beyond noise, and so is no
 * comparison to correct for.
 */
enum { SAMPLES_LEAST = 8 };

/* In so many comparisons of equal programs is one function beyond noise. */
static const double ERROR_RATE = 1.0 / 20;

/* What all functions together say of one's variance counts as so many runs more. */
static const double PRIOR_FREEDOM = 10;

/* Functions with fewer samples a run say nothing of how much runs differ. */
enum { SPREAD_SAMPLES_LEAST = 10 };

/* One function's value on one side. */
struct side_spread {
	double mean;
	double sampling; /* mean variance of one run, as far as sampling explains it */
	double between;  /* sum of squares between runs */
	unsigned runs;
};

struct spread {
	struct side_spread sides[DIFF_SIDES];
	double freedom; /* of `between`, both sides together */
};

/* The variance of a function's value in one run that sampling explains. One sample more, with and
 * without the function, is taken to have been seen (Agresti and Caffo 2000).
 */
static double sampling_variance(const struct diff_cell *cell, const struct diff_run *run,
				enum diff_by by)
{
	const struct diff_cell *all = &run->all;
	if (!all->count)
		return 0;
	const double weight = all->weight / (double)all->count;
	const double square = all->squares / (double)all->count;
	const double squares = cell->squares + square;
	if (by != DIFF_BY_SHARE)
		return squares / (run->scale * run->scale);
	const double total = all->weight + 2 * weight;
	const double p = total > 0 ? (cell->weight + weight) / total : 0;
	const double others = all->squares + 2 * square - squares;
	return total > 0 ? ((1 - p) * (1 - p) * squares + p * p * (others > 0 ? others : 0)) /
			       (total * total)
			 : 0;
}

/* Fills the figure but for its noise. */
static void describe(const struct diff *diff, const struct diff_counts *counts,
		     const struct diff_cell *cells, size_t function, struct diff_figure *figure,
		     struct spread *spread)
{
	const size_t functions = diff->match.functions.count;
	*figure = (struct diff_figure){ 0 };
	*spread = (struct spread){ 0 };
	for (size_t i = 0; i < counts->count; i++) {
		const struct diff_run *run = &counts->runs[i];
		const struct diff_cell *cell = &cells[i * functions + function];
		struct side_spread *side = &spread->sides[run->side];
		side->runs = diff->sides[run->side].recordings;
		side->mean += cell->weight / run->scale / side->runs;
		side->sampling += sampling_variance(cell, run, diff->options.by) / side->runs;
		figure->count[run->side] += cell->count;
		figure->value[run->side] = side->mean;
	}
	for (size_t i = 0; i < counts->count; i++) {
		const struct diff_run *run = &counts->runs[i];
		struct side_spread *side = &spread->sides[run->side];
		const double far = cells[i * functions + function].weight / run->scale - side->mean;
		side->between += far * far;
	}
	for (unsigned i = 0; i < DIFF_SIDES; i++)
		spread->freedom += spread->sides[i].runs ? spread->sides[i].runs - 1 : 0;
}

/* What is expected of a side's variance where runs differ by `relative` of a function's time. */
static double expected_variance(const struct side_spread *side, double relative)
{
	return side->sampling + relative * relative * side->mean * side->mean;
}

/* Whether runs differ by more than that: most functions, the large ones counting more, are further
 * apart than half of them would be.
 */
static bool differ_by_more(const struct spread *spreads, size_t count, double relative)
{
	double above = 0;
	double all = 0;
	for (size_t i = 0; i < count; i++) {
		const struct spread *s = &spreads[i];
		double expected = 0;
		double between = 0;
		double mean = 0;
		for (unsigned side = 0; side < DIFF_SIDES; side++) {
			const struct side_spread *of_side = &s->sides[side];
			between += of_side->between;
			mean += of_side->mean;
			if (of_side->runs)
				expected +=
				    (of_side->runs - 1) * expected_variance(of_side, relative);
		}
		/* The median of a chi-squared variable, a degree of freedom. */
		const double median = pow(1 - 2 / (9 * s->freedom), 3);
		all += sqrt(mean);
		if (between > expected * median)
			above += sqrt(mean);
	}
	return above > all / 2;
}

/* By how much of a function's time runs of one program differ, beyond what sampling explains: one
 * figure for all functions, as few runs say little of one.
 */
static int measure_spread(const struct diff *diff, const struct diff_counts *counts,
			  double *relative)
{
	const size_t functions = diff->match.functions.count;
	struct spread *spreads = calloc(functions + 1, sizeof(*spreads));
	size_t count = 0;
	*relative = 0;
	if (!spreads)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < functions; i++) {
		struct diff_figure figure;
		describe(diff, counts, counts->self, i, &figure, &spreads[count]);
		count += spreads[count].freedom > 0 &&
			 figure.count[DIFF_BEFORE] + figure.count[DIFF_AFTER] >=
			     SPREAD_SAMPLES_LEAST * counts->count;
	}
	double low = 0;
	double high = 4;
	for (int i = 0; count && i < 40; i++) {
		const double middle = (low + high) / 2;
		if (differ_by_more(spreads, count, middle))
			low = middle;
		else
			high = middle;
	}
	*relative = count ? low : 0;
	free(spreads);
	return 0;
}

static double variance_of_change(const struct spread *spread, double relative)
{
	double variance = 0;
	for (unsigned i = 0; i < DIFF_SIDES; i++) {
		const struct side_spread *side = &spread->sides[i];
		double of_run = side->sampling;
		if (spread->freedom > 0) {
			const double mixed =
			    (PRIOR_FREEDOM * expected_variance(side, relative) + side->between) /
			    (PRIOR_FREEDOM + side->runs - 1);
			of_run = mixed > of_run ? mixed : of_run;
		}
		variance += side->runs ? of_run / side->runs : 0;
	}
	return variance;
}

static bool can_be_beyond(const struct diff_figure *figure)
{
	return figure->count[DIFF_BEFORE] + figure->count[DIFF_AFTER] >= SAMPLES_LEAST;
}

/* How many standard deviations noise is wide, with that many functions that can be beyond it. */
static double width_of(size_t compared, const struct spread *spread)
{
	const double p = ERROR_RATE / (double)(compared ? compared : 1);
	return spread->freedom > 0 ? student_quantile(p, PRIOR_FREEDOM + spread->freedom)
				   : normal_quantile(p);
}

/* The figures of all functions, by function: values and the standard deviation of the change. */
static size_t weigh_figures(struct diff *diff, const struct diff_counts *counts,
			    const struct diff_cell *cells, double relative,
			    struct diff_figure *figures)
{
	const size_t functions = diff->match.functions.count;
	struct spread spread = { 0 };
	size_t compared = 0;
	for (size_t i = 0; i < functions; i++) {
		describe(diff, counts, cells, i, &figures[i], &spread);
		figures[i].noise = sqrt(variance_of_change(&spread, relative));
		compared += can_be_beyond(&figures[i]);
	}
	const double width = width_of(compared, &spread);
	for (size_t i = 0; i < functions; i++) {
		figures[i].noise *= width;
		figures[i].is_beyond =
		    can_be_beyond(&figures[i]) && fabs(diff_change(&figures[i])) > figures[i].noise;
	}
	return compared;
}

int diff_weigh(struct diff *diff, const struct diff_counts *counts)
{
	const size_t functions = diff->match.functions.count;
	struct diff_figure *self = calloc(functions + 1, sizeof(*self));
	struct diff_figure *total = calloc(functions + 1, sizeof(*total));
	double relative = 0;
	int got = self && total ? measure_spread(diff, counts, &relative) : STATUS_NO_MEMORY;
	if (got == 0) {
		const size_t of_self = weigh_figures(diff, counts, counts->self, relative, self);
		const size_t of_total = weigh_figures(diff, counts, counts->total, relative, total);
		diff->compared = diff->options.children ? of_total : of_self;
		diff->spread = counts->count > DIFF_SIDES ? relative : 0;
	}
	for (size_t i = 0; got == 0 && i < functions; i++) {
		if (!total[i].count[DIFF_BEFORE] && !total[i].count[DIFF_AFTER])
			continue;
		struct diff_row *row = vector_push(&diff->rows);
		if (!row) {
			got = STATUS_NO_MEMORY;
			break;
		}
		*row = (struct diff_row){ .function = (uint32_t)i,
					  .self = self[i],
					  .total = total[i] };
		diff->beyond += diff_figure(diff, row)->is_beyond;
	}
	free(self);
	free(total);
	return got;
}
