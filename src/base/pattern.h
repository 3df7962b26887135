/* pattern.h - lists of patterns as people type them: "node*,libc.so.?".
 *
 *   if (pattern_matches(options->objects, name))
 */
#ifndef BASE_PATTERN_H
#define BASE_PATTERN_H

#include <stdbool.h>

/* True if one of the patterns, separated by commas, matches the whole text as a shell would. NULL
 * matches everything, a pattern of more than 511 bytes nothing.
 */
bool pattern_matches(const char *patterns, const char *text);

#endif
