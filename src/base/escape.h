/* escape.h - names from outside, made safe for where they are shown.
 *
 * Names in dumps and maps hold any byte. Each function appends to `out`, so
 * that control sequences, quotes and separators cannot leave their field.
 * Valid UTF-8 passes; other bytes become \xNN (JSON: U+FFFD).
 */
#ifndef BASE_ESCAPE_H
#define BASE_ESCAPE_H

#include "base/sink.h"

/* Controls (C0, DEL, C1, line separators, directions of writing) become \n, \t, \xNN. For terminals
 * and plain text. */
void escape_terminal(struct sink *out, struct bytes text);

/* The inside of a JSON string, without the quotes around it. */
void escape_json(struct sink *out, struct bytes text);

/* Text between tags, or an attribute's value between double quotes. Controls as for terminals. */
void escape_html(struct sink *out, struct bytes text);

/* One CSV field (RFC 4180), quoted where needed. */
void escape_csv(struct sink *out, struct bytes text);

/* True if escape_terminal() would write the text unchanged. */
bool escape_is_plain(struct bytes text);

#endif
