#include "diff/unit.h"

#include <math.h>
#include <stdio.h>

const char *unit_title(const struct diff_view *view)
{
	switch (view->diff->options.by) {
	case DIFF_BY_SHARE:
		return "share of all samples";
	case DIFF_BY_TOTAL:
		return view->is_time ? "time" : "events";
	case DIFF_BY_SECOND:
		return view->is_time ? "time a second" : "events a second";
	case DIFF_BY_CPU_SECOND:
		return view->is_time ? "time a second of processor time"
				     : "events a second of processor time";
	}
	return "";
}

void unit_format(const struct diff_view *view, double value, bool has_sign, char *text, size_t size)
{
	static const char *const TIMES[] = { " ns", " us", " ms", " s" };
	static const char *const COUNTS[] = { "", " k", " M", " G", " T" };
	if (view->diff->options.by == DIFF_BY_SHARE) {
		snprintf(text, size, has_sign ? "%+.2f%%" : "%.2f%%", 100 * value);
		return;
	}
	const char *const *units = view->is_time ? TIMES : COUNTS;
	const size_t last = view->is_time ? 3 : 4;
	size_t unit = 0;
	while (unit < last && fabs(value) >= 999.5) {
		value /= 1000;
		unit++;
	}
	snprintf(text, size, has_sign ? "%+.*f%s" : "%.*f%s", unit ? 2 : 0, value, units[unit]);
}

double unit_plain(const struct diff_view *view, double value)
{
	return view->diff->options.by == DIFF_BY_SHARE ? 100 * value : value;
}
