/* arrows.h - the jumps of a function, as lines beside its rows.
 *
 * All jumps to one row share one line. Short ones get the inner lanes; those that find no lane, or
 * are too long to be followed by eye, are not drawn. Fills cells, is_arrow; needs target_row.
 */
#ifndef ANNOTATE_ARROWS_H
#define ANNOTATE_ARROWS_H

#include "annotate/decode.h"

/* Stores how many lanes are used. Returns 0 or STATUS_NO_MEMORY. */
int annotate_arrows(annotate_rows *rows, unsigned *lanes);

#endif
