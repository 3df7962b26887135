/* perfconfig.h - one value out of perf's configuration files.
 *
 * "[section]", then "key = value" lines; # and ; begin comments; values may be quoted. What perf
 * reads: section names in any case, keys as they are written, the last value counts, and nothing
 * after the first line that makes no sense.
 */
#ifndef INJECT_PERFCONFIG_H
#define INJECT_PERFCONFIG_H

#include "base/sink.h"

/* The value, without a NUL, in place of what is in `value`; false, and `value` untouched, if the
 * text has none.
 */
bool perfconfig_find(struct bytes text, const char *section, const char *key, struct sink *value);

#endif
