/* told.h - stacks of the walk as lines of text: definitions are kept, frames looked up.
 *
 *   struct told told = { .out = &sink };
 *   told_record(&told, raw);       appends a line for each stack
 *   told_clear(&told);
 *
 * A line:  TIME PID TID IP END FLAGS  NAME|FILE|LINE|FLAGS  NAME|...   (tabs between)
 * The innermost frame is first; owners go before names ("Class::name").
 */
#ifndef TESTS_INTERP_TOLD_H
#define TESTS_INTERP_TOLD_H

#include "base/sink.h"
#include "format/frames/store.h"

struct told {
	struct frames_store *codes; /* opened at the first record */
	struct sink *out;
	size_t stacks;
	size_t definitions;
	size_t frames;
	size_t undefined; /* frames whose code was never told */
	size_t bad;       /* records that cannot be read */
};

void told_record(struct told *told, struct bytes raw);
void told_clear(struct told *told);

#endif
