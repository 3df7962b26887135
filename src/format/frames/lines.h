/* lines.h - from a place in interpreted code to its line.
 *
 *   int32_t line = frames_line(kind, table, first_line, position);
 *
 * A table is what a definition and its pieces hold, put together; one that was cut answers
 * for the positions that it has. Owns nothing, keeps nothing; any thread.
 */
#ifndef FORMAT_FRAMES_LINES_H
#define FORMAT_FRAMES_LINES_H

#include "base/bytes.h"
#include "bpf/abi.h"

/* The line, or 0 where the table does not say. A position before the first instruction, or a
 * table that is none, gives `first_line`.
 */
int32_t frames_line(enum walk_table_kind kind, struct bytes table, int32_t first_line,
		    int32_t position);

#endif
