/* pdb.h - a portable PDB: the source lines of an assembly's methods.
 *
 *   struct clr_pdb *pdb;
 *   struct clr_line line;
 *   if (clr_pdb_open(&pdb, file) == 0 && clr_pdb_find(pdb, 0x06000001, il_off, &line))
 *           ... clr_pdb_document(pdb, line.document, &path) ...
 *   clr_pdb_free(pdb);
 *
 * A line covers the IL from its own offset up to the next one's; hidden sequence points (line
 * 0xfeefee) have none. Bytes of the file are borrowed as long as the pdb lives; those of an
 * embedded one are inflated into memory of its own. Methods are decoded when they are first asked
 * for. Nothing of the file is trusted. One thread at a time.
 *
 * Source: docs/design/specs/PortablePdb-Metadata.md of dotnet/runtime, and PE-COFF.md there.
 */
#ifndef CLR_PDB_H
#define CLR_PDB_H

#include "base/bytes.h"
#include "base/sink.h"

#include <stdbool.h>
#include <stdint.h>

struct clr_pdb;

/* Returns 0, STATUS_NOT_FORMAT, _UNSUPPORTED (a Windows PDB), _CORRUPT, _TOO_BIG or _NO_MEMORY. */
int clr_pdb_open(struct clr_pdb **pdb, struct bytes file);
int clr_pdb_open_embedded(struct clr_pdb **pdb, struct bytes embedded);
void clr_pdb_free(struct clr_pdb *pdb); /* NULL is nothing to free */

/* GUID and stamp, as clr_identity.pdb_id has them. */
void clr_pdb_id(const struct clr_pdb *pdb, uint8_t id[20]);

struct clr_line {
	uint32_t il_off;
	uint32_t line; /* from 1; 0: hidden */
	uint32_t column;
	uint32_t end_line;
	uint32_t end_column;
	uint32_t document; /* from 1 */
};

/* The line of a place in a method's IL; false where there is none, or it is hidden (then the line
 * before it that is not hidden is NOT taken: the code is the compiler's own).
 */
bool clr_pdb_find(const struct clr_pdb *pdb, uint32_t token, uint32_t il_off,
		  struct clr_line *line);

/* Methods have the tokens 0x06000001 and up, one a row of the assembly; not all have lines. */
uint32_t clr_pdb_method_count(const struct clr_pdb *pdb);

/* All sequence points of a method, hidden ones too, ascending by il_off. Borrowed until another
 * method is asked for. Returns how many; none for a method that is damaged.
 */
size_t clr_pdb_lines(const struct clr_pdb *pdb, uint32_t token, const struct clr_line **lines);

/* Documents are 1 to count. The path as the compiler wrote it, appended; false without it. */
uint32_t clr_pdb_document_count(const struct clr_pdb *pdb);
bool clr_pdb_document(const struct clr_pdb *pdb, uint32_t document, struct sink *path);

/* The source text, where it is embedded: appended (inflated). Returns 0, STATUS_NOT_FOUND,
 * _CORRUPT, _TOO_BIG or _NO_MEMORY; on failure nothing was appended.
 */
int clr_pdb_source(const struct clr_pdb *pdb, uint32_t document, struct sink *text);

/* The method as written whose state machine this MoveNext is (async, iterators); 0: it is none. */
uint32_t clr_pdb_kickoff(const struct clr_pdb *pdb, uint32_t token);

#endif
