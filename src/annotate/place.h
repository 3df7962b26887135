/* place.h - what a listing says of a place in its code. Listings may say anything. */
#ifndef ANNOTATE_PLACE_H
#define ANNOTATE_PLACE_H

#include "annotate/annotate.h"

enum { PLACE_DEPTH = 64 };

/* The notes of the bytes of a row: listing.notes from `first` up to before `end`. */
struct place_notes {
	size_t first;
	size_t end;
};
struct place_notes place_notes(const struct listing *listing, const struct annotate_row *row);
/* Those behind all rows. */
struct place_notes place_last_notes(const struct annotate_version *version);

/* The bytecode index that holds at an offset; -1: none. */
int32_t place_bytecode(const struct listing *listing, uint64_t offset);

/* Ids (index + 1) of the scopes around one, outermost first, itself last. Returns how many. */
size_t place_scopes(const struct listing *listing, uint32_t scope, uint32_t chain[PLACE_DEPTH]);

/* What one sees who goes from one scope to another. */
struct place_change {
	uint32_t entered[PLACE_DEPTH]; /* scopes, from the outer one to the inner one */
	size_t entered_count;
	size_t depth;     /* of the first of them, or of what is gone back to */
	bool is_back;     /* nothing is entered, something is left */
	uint32_t back_in; /* the scope gone back to; 0: the function itself */
};
void place_change(const struct listing *listing, uint32_t from, uint32_t to,
		  struct place_change *change);

/* The line entry of a row, or NULL; stores the file's id. */
const struct listing_line *place_line(const struct annotate_version *version,
				      const struct annotate_row *row, uint32_t *file);

/* The text of a row, as it is in the document. */
struct bytes place_text(const struct annotate *doc, const struct annotate_row *row);

/* Marks what is shown: each item that is wanted, and `context` around it. */
void place_add_context(bool *shown, size_t count, size_t context);

#endif
