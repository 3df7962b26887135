/* table_internal.h - a symbol table while it is built, and what it is built from.
 *
 * Readers add what they find, in any order; seal() sorts, chooses between aliases
 * and lays the survivors out so that a look-up is one binary search.
 */
#ifndef SYMBOL_TABLE_INTERNAL_H
#define SYMBOL_TABLE_INTERNAL_H

#include "base/arena.h"
#include "base/intern.h"
#include "base/vector.h"
#include "symbol/symbol.h"

/* How much a name is worth against another at the same address. */
enum symbol_flags {
	SYMBOL_WEAK = 1,
	SYMBOL_GLOBAL = 2,
	SYMBOL_UNSIZED = 4, /* reaches up to the next one, at most to end_svma */
	SYMBOL_BOUND = 8,   /* not a function: only ends what is in front of it */
	SYMBOL_PLT = 16,
	SYMBOL_INDIRECT = 32, /* the name of an indirect function, at its resolver */
};

struct symbol_candidate {
	uint64_t start_svma;
	uint64_t end_svma;
	const char *name;
	uint32_t module; /* an id in symbol_table.modules */
	uint32_t flags;
};

struct symbol_load {
	uint64_t file_off;
	uint64_t size;
	uint64_t svma;
	bool is_executable;
};

/* From svma up to the next span the address belongs to one function, or to nobody. */
struct symbol_span {
	uint64_t svma;
	uint64_t start_svma; /* of the function; before svma where another lies inside it */
	const char *name;    /* NULL: a gap */
	uint32_t size;
	uint32_t module;
};

struct symbol_range {
	uint64_t start_svma;
	uint64_t size;
};

struct symbol_table {
	VECTOR(struct symbol_candidate) candidates; /* freed by seal */
	VECTOR(struct symbol_load) loads;
	struct bytes image;         /* the object itself; borrowed */
	struct assembly *assembly;  /* has the symbols of a PE file, which has no spans; or NULL */
	struct single_file *single; /* has those behind the ELF part; or NULL */
	uint16_t machine;
	struct symbol_range managed[2]; /* sections with NativeAOT's methods; empty ones */
	bool prefers_later;             /* of aliases, instead of the longer name */

	/* By svma. buckets[k] is the first span at or above lowest + (k << bucket_shift): a
	 * look-up searches the few spans of one bucket instead of all.
	 */
	struct symbol_span *spans;
	size_t span_count;
	uint32_t *buckets; /* bucket_count + 1 */
	size_t bucket_count;
	unsigned bucket_shift;
	size_t named_count; /* addresses with a name */

	struct intern modules;
	struct arena names; /* names that stand in no file */
	struct symbol_files files;
	struct bytes opened[2]; /* the object and its debug file, closed with the table */
	size_t opened_count;
	uint8_t *unpacked; /* .gnu_debugdata, unpacked */
};

struct symbol_table *symbol_table_new(void);

/* True if `other` is the better name for the address that both are at. */
bool symbol_is_better(const struct symbol_candidate *other, const struct symbol_candidate *best);

/* False without memory. */
bool symbol_add(struct symbol_table *table, const struct symbol_candidate *candidate);

/* Ends the building. Returns 0 or STATUS_NO_MEMORY. */
int symbol_seal(struct symbol_table *table);

/* Opens through `files`, to be closed with the table; false where there is no such file. */
bool symbol_open(struct symbol_table *table, const char *path, struct bytes *bytes);

/* A file that `files` opened for it, to be closed with the table. */
void symbol_keep(struct symbol_table *table, struct bytes bytes);

#endif
