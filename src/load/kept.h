/* kept.h - what one load leaves for the next one, of the same processes a little later.
 *
 *   struct load_kept *kept = load_kept_new(keep_loads);
 *   options.kept = kept;  load_open(&load, &options, &error); ... load_close(load);     each time
 *   load_kept_free(kept);
 *
 * Symbols and debug information of objects, the kernel's symbols, and of each jitdump where it was
 * read to, and what in it still matters (digest.h). Code that ended is forgotten after
 * `keep_loads` loads more. What a load did not need for long is dropped. The loads must be closed
 * before. One thread.
 */
#ifndef LOAD_KEPT_H
#define LOAD_KEPT_H

#include "load/digest.h"
#include "symbol/symbol.h"

#include <sys/types.h>

struct load_kept;

/* NULL without memory. */
struct load_kept *load_kept_new(uint32_t keep_loads);
void load_kept_free(struct load_kept *kept); /* NULL is harmless */

/* By load/ alone: */

struct debuginfo;

/* An object by its path and build id; owned by the kept. */
struct load_kept_object {
	const char *path;
	struct bytes build_id;
	dev_t device; /* of the file at the path when it was opened */
	ino_t inode;
	int64_t mtime_ns;
	uint32_t used;                   /* the last load that did */
	bool has_symbols, has_debuginfo; /* they were looked for */
	int symbols_status;
	struct symbol_table *symbols; /* NULL: there are none */
	struct debuginfo *debuginfo;
};

/* A load begins. */
void load_kept_begin(struct load_kept *kept);

/* NULL without memory; good until the next call. */
struct load_kept_object *load_kept_object(struct load_kept *kept, const char *path,
					  struct bytes build_id);

/* Whose files stay open as long as the kept. */
struct symbol_files load_kept_files(struct load_kept *kept);

/* A copy of what symbols are read from, where the load has it only as long as itself. False without
 * memory.
 */
bool load_kept_image(struct load_kept *kept, struct bytes *image);

/* The running kernel's, or NULL. */
struct symbol_table *load_kept_kallsyms(struct load_kept *kept);

/* Brought up to the dump's end by a reader that was just made; NULL without memory. */
struct digest *load_kept_dump(struct load_kept *kept, const char *name,
			      struct jitdump_reader *reader);

/* The same of a map; `times` may be NULL. */
struct digest *load_kept_map(struct load_kept *kept, const char *name, struct bytes map,
			     struct perfmap_times *times);

#endif
