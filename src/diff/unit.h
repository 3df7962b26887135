/* unit.h - figures of a diff as people read them. Not for others than this folder. */
#ifndef DIFF_UNIT_H
#define DIFF_UNIT_H

#include "diff/write.h"

/* "share of all samples", "seconds", "events a second": what the numbers of the table are. */
const char *unit_title(const struct diff_view *view);

/* "12.34%", "+1.234 s", "5.67 M": fits a buffer of 32 bytes. */
void unit_format(const struct diff_view *view, double value, bool has_sign, char *text,
		 size_t size);

/* What CSV and JSON have: shares in percent, else the value itself. */
double unit_plain(const struct diff_view *view, double value);

#endif
