/* table.h - rows to choose from: columns, a chosen row, scrolling, filter, search.
 *
 *   static const struct table_column columns[] = {
 *           { .title = "Overhead", .is_right = true, .least = 8 },
 *           { .title = "Symbol", .takes_rest = true, .is_searched = true },
 *           { .title = "Object", .most = 24, .leaves = 2 },
 *   };
 *   struct table table = { .columns = columns, .column_count = 3,
 *                          .source = { &data, count, cell } };
 *   table_changed(&table);                        whenever rows or columns are others
 *   table_draw(&table, canvas, &area);            the first row of the area has the titles
 *   if (!table_key(&table, key)) ...              a key that moves nothing
 *   table_clear(&table);
 *
 * Rows are numbers 0 ... count - 1 of the source, in the order in which they are shown: whoever
 * sorts sorts the source (and draws the title of that column as `sorted_by`). The table asks for
 * cells of rows that are drawn, of some to measure them, and of all where a filter or a search
 * looks at them. Texts are the source's, unescaped. Not tied to ncurses. One thread.
 *
 * To keep the cursor on a thing that moves (`top`), give the source `id`: after
 * table_changed() the chosen row is the one with the same id as before.
 */
#ifndef TUI_TABLE_H
#define TUI_TABLE_H

#include "base/vector.h"
#include "tui/canvas.h"
#include "tui/find.h"
#include "tui/scroll.h"

struct table_column {
	const char *title;
	bool is_right;    /* aligned: numbers */
	bool takes_rest;  /* of the width; one column at most; scrolls sideways */
	bool is_searched; /* filter and search look here */
	unsigned least;   /* columns of the screen, at least the title's; before others leave */
	unsigned most;    /* while there is not room for all; 0: no limit */
	/* Where there is no room, those with the largest number leave first; 0: stays. */
	unsigned leaves;
};

enum { TABLE_COLUMN_LIMIT = 24 };

struct table_source {
	void *context;
	size_t (*count)(void *context);
	/* Appends the text of a cell. */
	void (*cell)(void *context, size_t row, size_t column, struct sink *out);
	/* May be NULL: all plain. */
	enum ink (*ink)(void *context, size_t row, size_t column);
	/* What a row is of, whatever its place; may be NULL. Never UINT64_MAX. */
	uint64_t (*id)(void *context, size_t row);
};

struct table {
	/* Set by the owner. */
	const struct table_column *columns;
	size_t column_count;
	struct table_source source;
	int sorted_by;       /* index of a column, marked in its title; -1: none */
	const char *nothing; /* shown where there are no rows; NULL: nothing */
	/* The table's own. */
	struct scroll at; /* counts rows that are shown: table_chosen() is the source's */
	unsigned shift;   /* sideways */
	unsigned widths[TABLE_COLUMN_LIMIT];
	unsigned whole_widths[TABLE_COLUMN_LIMIT]; /* where no column's `most` counted */
	VECTOR(size_t) shown; /* rows that the filter lets pass; unused without one */
	bool is_filtered;
	bool is_measured;
	struct sink filter; /* its text */
	struct find find;
	uint64_t chosen_id; /* + 1; 0: none */
	struct sink scratch;
};

/* The source has other rows, or another order: filters again and measures. */
void table_changed(struct table *table);
void table_clear(struct table *table);

/* Draws titles and rows. */
void table_draw(struct table *table, struct canvas *canvas, const struct area *area);

/* Up, down, page up and down, home, end, j, k, g, G, Ctrl-D, Ctrl-U, < and > (sideways).
 * True where it took the key.
 */
bool table_key(struct table *table, int32_t key);

/* The source's row under the cursor; SIZE_MAX where nothing is shown. */
size_t table_chosen(const struct table *table);
/* Rows that the filter lets pass, and one of them as the source's. */
size_t table_shown_count(const struct table *table);
size_t table_shown(const struct table *table, size_t index);
/* Puts the cursor on a row of the source, or the nearest that is shown. */
void table_choose(struct table *table, size_t row);

/* Shows only rows whose searched columns hold the text, in either case; "" or NULL shows all.
 * For a filter while one types, call it at each key. False without memory: all are shown.
 */
bool table_filter(struct table *table, const char *text);

/* Looks for a regular expression (extended, without regard to case unless it has a capital
 * letter) in the searched columns. Returns NULL, or what is wrong with it (valid up to the next
 * call). "" ends the search.
 */
const char *table_search(struct table *table, const char *expression);
/* Goes to the next match behind (or before) the cursor, round the end; with `stays`, the
 * cursor's row counts as well. False where there is none.
 */
bool table_next(struct table *table, bool backwards, bool stays);

/* Titles and all rows that are shown, as lines of text of at most so many columns: for a file.
 * Columns do not leave, sideways scrolling does not count.
 */
void table_write(struct table *table, struct sink *out, unsigned columns, bool is_ascii);

#endif
