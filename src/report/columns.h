/* columns.h - the columns of a report's rows, the same for text, CSV and JSON. */
#ifndef REPORT_COLUMNS_H
#define REPORT_COLUMNS_H

#include "base/sink.h"
#include "report/groups.h"

enum report_column_kind {
	COLUMN_TEXT,
	COLUMN_COUNT,
	COLUMN_PERCENT,
};

struct report_column {
	const char *name; /* "overhead": CSV header and JSON key; text shows it capitalised */
	enum report_column_kind kind; /* numbers are right-aligned in text, bare in JSON */
	/* Appends the value, unescaped. */
	void (*put)(struct sink *out, const struct report_groups *groups,
		    const struct profile *profile, const struct report_group *group);
};

enum { REPORT_COLUMN_LIMIT = 16 };

/* Fills `columns` in the order in which they are shown; returns how many. */
size_t report_columns(const struct report_options *options,
		      const struct report_column *columns[REPORT_COLUMN_LIMIT]);

/* "symbol,dso,comm" to keys; returns 0 or STATUS_NOT_FOUND for an unknown word. */
int report_keys_parse(const char *text, unsigned *keys);

#endif
