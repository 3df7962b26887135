#include "annotate/arrows.h"

#include "base/status.h"

#include <stdlib.h>

enum { LONGEST = 4096 };

/* From the first row to the last that is the target or jumps to it. */
struct span {
	uint32_t first;
	uint32_t last;
	uint32_t target;
};

typedef VECTOR(struct span) spans;

static bool is_jump(const struct annotate_row *row)
{
	return row->target_row && row->is_direct &&
	       (row->flow == ANNOTATE_FLOW_JUMP || row->flow == ANNOTATE_FLOW_BRANCH);
}

/* `of_target` holds index + 1 of the span of each row. */
static int add_jump(spans *found, uint32_t *of_target, uint32_t from, uint32_t to)
{
	if (!of_target[to]) {
		struct span *span = vector_push(found);
		if (!span)
			return STATUS_NO_MEMORY;
		*span = (struct span){ to, to, to };
		of_target[to] = (uint32_t)found->count;
	}
	struct span *span = &found->items[of_target[to] - 1];
	if (from < span->first)
		span->first = from;
	if (from > span->last)
		span->last = from;
	return 0;
}

static int by_length(const void *left, const void *right)
{
	const struct span *a = left;
	const struct span *b = right;
	const uint32_t a_length = a->last - a->first;
	const uint32_t b_length = b->last - b->first;
	if (a_length != b_length)
		return a_length < b_length ? -1 : 1;
	return a->target < b->target ? -1 : a->target > b->target;
}

/* Rows of a lane that are taken, a bit each. */
struct lane {
	uint64_t *words;
};

static bool is_free(const struct lane *lane, const struct span *span)
{
	for (uint32_t row = span->first; row <= span->last;) {
		const uint64_t word = lane->words[row / 64];
		if (word >> (row % 64) & 1)
			return false;
		row = word ? row + 1 : (row | 63) + 1;
	}
	return true;
}

static void take(const struct lane *lane, const struct span *span)
{
	for (uint32_t row = span->first; row <= span->last; row++)
		lane->words[row / 64] |= UINT64_C(1) << (row % 64);
}

static void draw_end(struct annotate_row *row, size_t column, enum annotate_cell cell)
{
	row->cells[column] = (uint8_t)cell;
	for (size_t i = column + 1; i < ANNOTATE_LANES; i++) {
		if (row->cells[i] == ANNOTATE_CELL_NONE)
			row->cells[i] = ANNOTATE_CELL_ACROSS;
		else if (row->cells[i] == ANNOTATE_CELL_PASS)
			row->cells[i] = ANNOTATE_CELL_CROSS;
	}
}

static void draw(annotate_rows *rows, const struct span *span, unsigned lane)
{
	const size_t column = ANNOTATE_LANES - 1 - lane;
	for (uint32_t i = span->first; i <= span->last; i++) {
		struct annotate_row *row = &rows->items[i];
		const bool jumps = is_jump(row) && row->target_row - 1 == span->target;
		if (i == span->first)
			draw_end(row, column, ANNOTATE_CELL_FIRST);
		else if (i == span->last)
			draw_end(row, column, ANNOTATE_CELL_LAST);
		else if (i == span->target || jumps)
			draw_end(row, column, ANNOTATE_CELL_MIDDLE);
		else
			row->cells[column] = row->cells[column] == ANNOTATE_CELL_ACROSS
						 ? ANNOTATE_CELL_CROSS
						 : ANNOTATE_CELL_PASS;
	}
	rows->items[span->target].is_arrow = true;
}

static unsigned place_all(annotate_rows *rows, const spans *found, const struct lane *lanes)
{
	unsigned used = 0;
	for (size_t i = 0; i < found->count; i++) {
		const struct span *span = &found->items[i];
		const uint32_t length = span->last - span->first;
		/* A row that jumps to itself needs no line. */
		if (!length || length > LONGEST)
			continue;
		for (unsigned lane = 0; lane < ANNOTATE_LANES; lane++) {
			if (!is_free(&lanes[lane], span))
				continue;
			take(&lanes[lane], span);
			draw(rows, span, lane);
			used = lane + 1 > used ? lane + 1 : used;
			break;
		}
	}
	return used;
}

int annotate_arrows(annotate_rows *rows, unsigned *lanes)
{
	spans found = { 0 };
	int got = 0;
	const size_t words = rows->count / 64 + 1;
	uint32_t *of_target = calloc(rows->count + 1, sizeof(*of_target));
	uint64_t *bits = calloc(words * ANNOTATE_LANES, sizeof(*bits));
	if (!of_target || !bits)
		got = STATUS_NO_MEMORY;
	for (uint32_t i = 0; got == 0 && i < rows->count; i++)
		if (is_jump(&rows->items[i]))
			got = add_jump(&found, of_target, i, rows->items[i].target_row - 1);
	*lanes = 0;
	if (got == 0 && found.count) {
		struct lane all[ANNOTATE_LANES];
		for (size_t i = 0; i < ANNOTATE_LANES; i++)
			all[i].words = bits + i * words;
		qsort(found.items, found.count, sizeof(struct span), by_length);
		*lanes = place_all(rows, &found, all);
	}
	vector_clear(&found);
	free(of_target);
	free(bits);
	return got;
}
