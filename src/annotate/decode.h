/* decode.h - machine code as rows: instructions, and what is none.
 *
 *   annotate_rows rows = { 0 };
 *   annotate_decode(&listing, false, &rows, &texts);
 *   use(rows.items, rows.count);
 *   vector_clear(&rows);
 *
 * Every byte of the code, up to a limit, is in exactly one row. Any bytes are taken; those that
 * do not decode become rows of one byte (x86-64) or four (aarch64), then decoding goes on.
 */
#ifndef ANNOTATE_DECODE_H
#define ANNOTATE_DECODE_H

#include "annotate/row.h"
#include "base/sink.h"
#include "profile/listing.h"

/* More than any function; a hostile one must not take all memory. */
enum { ANNOTATE_CODE_LIMIT = 1 << 20 };

typedef VECTOR(struct annotate_row) annotate_rows;

/* Appends to `rows`, and their texts to `texts`. Returns 0, STATUS_NO_MEMORY, or
 * STATUS_UNSUPPORTED for a machine whose code is not known.
 */
int annotate_decode(const struct listing *listing, bool att, annotate_rows *rows,
		    struct sink *texts);

#endif
