/* debug.h - the line entries of DEBUG_INFO records, with producers' faults undone.
 *
 *   struct jitdump_debug_style style = jitdump_debug_style(file_bytes);
 *   struct jitdump_debug_walk walk;
 *   jitdump_debug_walk_init(&walk, &record, style);
 *   while (jitdump_debug_entry_next(&walk, &entry) > 0)
 *           ...
 *
 * V8 and LLVM add 0x40 to every address; the style, found once a file, takes it
 * off. V8 overwrites the first bytes of some file names (NULs included); the
 * constant stride of its entries finds the next one, and `is_name_damaged` says
 * that the name cannot be trusted.
 */
#ifndef FORMAT_JITDUMP_DEBUG_H
#define FORMAT_JITDUMP_DEBUG_H

#include "format/jitdump/reader.h"

struct jitdump_debug_style {
	uint64_t bias; /* 0 or 0x40: subtracted from every entry's address */
};

struct jitdump_debug_entry {
	uint64_t avma;     /* bias taken off; may lie before the code (Erlang) */
	uint32_t line;     /* 1-based; 0: none */
	uint32_t column;   /* the format's discriminator; V8's column */
	struct bytes file; /* "" at ends; a repeated name is given in full */
	/* The length of `file` and its bytes from the 17th on are right; the others
	 * may be anything, NULs included. See jitdump_debug_repair_name().
	 */
	bool is_name_damaged;
};

struct jitdump_debug_walk {
	struct cursor entries;
	uint64_t left;
	uint64_t code_avma;
	struct jitdump_debug_style style;
	struct bytes file;
	size_t stride; /* of an entry's bytes where names are damaged, else 0 */
};

/* Walks the file once, only as far as it must. A file without DEBUG_INFO has no bias. */
struct jitdump_debug_style jitdump_debug_style(struct bytes file);

void jitdump_debug_walk_init(struct jitdump_debug_walk *walk, const struct jitdump_record *record,
			     struct jitdump_debug_style style);

/* Returns 1 with *entry filled, 0 behind the last, or STATUS_CORRUPT where the
 * record promises more entries than its bytes hold.
 */
int jitdump_debug_entry_next(struct jitdump_debug_walk *walk, struct jitdump_debug_entry *entry);

/* How far into its code an entry is; one before the code counts as its start. */
static inline uint64_t jitdump_debug_offset(const struct jitdump_debug_walk *walk,
					    const struct jitdump_debug_entry *entry)
{
	return entry->avma > walk->code_avma ? entry->avma - walk->code_avma : 0;
}

/* V8 writes the script's path into the function's name too. Returns the part of
 * `symbol` that the damaged name was, or no bytes where the two do not fit.
 */
struct bytes jitdump_debug_repair_name(struct bytes damaged, struct bytes symbol);

#endif
