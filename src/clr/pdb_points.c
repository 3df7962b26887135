/* Sequence points: a method's lines, each as the difference to the one before. */
#include "base/status.h"
#include "clr/pdb_internal.h"

enum {
	LINE_END = 0x20000000,
	COLUMN_END = 0x10000,
	POINTS =
	    1 << 20, /* of a method; those of the largest generated ones are some ten thousand */
};

struct points {
	struct cursor c;
	struct clr_line at; /* the one that was read last */
	uint32_t line;      /* of the last that was not hidden */
	uint32_t column;
	bool has_first;
	bool has_visible;
};

/* A method with one document has it in its row of the table, else the blob begins with it. */
static struct points points_over(struct bytes blob, uint32_t document)
{
	struct points points = { .c = cursor_over(blob) };
	(void)clr_compressed(&points.c); /* the local variables' signature */
	points.at.document = document ? document : clr_compressed(&points.c);
	return points;
}

/* Moves a place by a signed difference; the cursor fails where it leaves the range. */
static uint32_t moved(struct cursor *c, uint32_t from, int64_t by, uint32_t end)
{
	const int64_t to = (int64_t)from + by;
	if (to < 0 || to >= end) {
		cursor_fail(c);
		return 0;
	}
	return (uint32_t)to;
}

static void read_place(struct points *points)
{
	struct cursor *c = &points->c;
	const uint32_t lines = clr_compressed(c);
	const int64_t columns = lines ? clr_compressed_signed(c) : (int64_t)clr_compressed(c);
	points->at.line = points->at.column = points->at.end_line = points->at.end_column = 0;
	if (lines == 0 && columns == 0)
		return;
	if (points->has_visible) {
		points->line = moved(c, points->line, clr_compressed_signed(c), LINE_END);
		points->column = moved(c, points->column, clr_compressed_signed(c), COLUMN_END);
	} else {
		points->line = moved(c, 0, clr_compressed(c), LINE_END);
		points->column = moved(c, 0, clr_compressed(c), COLUMN_END);
	}
	points->has_visible = true;
	points->at.line = points->line;
	points->at.column = points->column;
	points->at.end_line = moved(c, points->line, lines, LINE_END);
	points->at.end_column = moved(c, points->column, columns, COLUMN_END);
}

/* False at the end, or where it is damaged: then the cursor has failed. */
static bool points_next(struct points *points)
{
	struct cursor *c = &points->c;
	if (!cursor_left(c))
		return false;
	uint32_t delta = clr_compressed(c);
	/* No distance, except of the first one, announces another document. */
	while (points->has_first && delta == 0 && !cursor_failed(c)) {
		points->at.document = clr_compressed(c);
		delta = clr_compressed(c);
	}
	if (delta > UINT32_MAX - points->at.il_off)
		cursor_fail(c);
	points->at.il_off += delta;
	points->has_first = true;
	read_place(points);
	return !cursor_failed(c);
}

int64_t pdb_count_points(struct bytes blob, uint32_t document, uint32_t document_count)
{
	struct points points = points_over(blob, document);
	int64_t count = 0;
	while (points_next(&points)) {
		if (points.at.document == 0 || points.at.document > document_count ||
		    ++count > POINTS)
			return STATUS_CORRUPT;
	}
	return cursor_failed(&points.c) ? STATUS_CORRUPT : count;
}

void pdb_decode_points(struct bytes blob, uint32_t document, struct clr_line *lines)
{
	struct points points = points_over(blob, document);
	while (points_next(&points))
		*lines++ = points.at;
}
