/* diff_internal.h - samples by function and recording. Not for others than this folder. */
#ifndef DIFF_DIFF_INTERNAL_H
#define DIFF_DIFF_INTERNAL_H

#include "diff/diff.h"

/* Samples of one function in one recording, or of all functions. */
struct diff_cell {
	uint64_t count;
	double weight;
	double squares; /* sum of the squares of the samples' weights */
};

struct diff_run {
	struct diff_cell all;
	unsigned side;
	double seconds;
	double scale; /* weight / scale is in the unit of diff_by */
};

struct diff_counts {
	const struct diff_recording *recordings;
	size_t count;
	/* By recording, and in it by function of the match. */
	struct diff_cell *self;
	struct diff_cell *total;
	struct diff_run *runs; /* by recording */
};

/* noise.c: fills rows, compared, beyond and spread. 0 or STATUS_NO_MEMORY. */
int diff_weigh(struct diff *diff, const struct diff_counts *counts);

#endif
