/* find.h - what a person looks for: a regular expression (extended). Capital letters count only
 * where it has some.
 */
#ifndef TUI_FIND_H
#define TUI_FIND_H

#include "base/bytes.h"

#include <regex.h>
#include <stdbool.h>

/* Texts are looked at so far: a hostile one must not take all time. */
enum { FIND_TEXT_LIMIT = 4096 };

struct find {
	regex_t pattern;
	bool is_set;
	char error[96];
};

/* NULL, or what is wrong with the expression, valid up to the next call; "" looks for nothing. */
const char *find_set(struct find *find, const char *expression);
void find_clear(struct find *find);

/* False where nothing is looked for. */
bool find_matches(const struct find *find, struct bytes text);
/* Where the first match from `from` on is: offsets in the text. */
bool find_next(const struct find *find, struct bytes text, size_t from, size_t *start, size_t *end);

#endif
