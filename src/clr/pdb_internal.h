/* pdb_internal.h - what the files of the PDB reader share. */
#ifndef CLR_PDB_INTERNAL_H
#define CLR_PDB_INTERNAL_H

#include "base/arena.h"
#include "clr/metadata.h"
#include "clr/pdb.h"

/* A method that was decoded. */
struct pdb_method {
	const struct clr_line *lines;
	uint32_t count;
	bool is_known;
};

/* Decoded methods lie here; when the arena is full, all are forgotten. */
struct pdb_cache {
	struct arena arena;
	struct pdb_method *methods; /* by row */
	uint32_t method_count;
};

struct clr_pdb {
	struct clr_metadata md;
	uint8_t *inflated; /* NULL: the bytes are borrowed */
	struct pdb_cache *cache;
};

/* Counts the points of a blob; or decodes them into room for so many. Negative if damaged. */
int64_t pdb_count_points(struct bytes blob, uint32_t document, uint32_t document_count);
void pdb_decode_points(struct bytes blob, uint32_t document, struct clr_line *lines);

#endif
