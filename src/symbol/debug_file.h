/* debug_file.h - the separate debug file of an ELF object.
 *
 *   struct debug_file_search search = { &files, &image, path, use, context };
 *   struct bytes bytes;
 *   if (debug_file_find(&search, &bytes) > 0)
 *           ...                                   files.close(files.context, bytes)
 *
 * Looked for by build id below /usr/lib/debug, then by the name and CRC of .gnu_debuglink
 * beside the object, in .debug/ beside it and below /usr/lib/debug, last through
 * files.fetch_debug. A file with another build id or CRC is passed over.
 */
#ifndef SYMBOL_DEBUG_FILE_H
#define SYMBOL_DEBUG_FILE_H

#include "base/sink.h"
#include "symbol/elf_image.h"
#include "symbol/symbol.h"

struct debug_file_search {
	const struct symbol_files *files;
	const struct elf_image *image;
	const char *path; /* of the image */
	/* Positive: the file is of use, and is kept open. 0: the next one is tried. Negative: a
	 * status that ends the search. `path` is "" where no one knows it.
	 */
	int (*use)(void *context, const struct elf_image *debug, const char *path);
	void *context;
};

/* Returns what the last `use` gave: positive with *bytes to be closed, 0 where no file was of
 * use, or a negative status.
 */
int debug_file_find(const struct debug_file_search *search, struct bytes *bytes);

/* "/usr/lib/debug/.build-id/ab/cdef.debug"; false where that is no build id of a file. */
bool debug_file_path(struct bytes build_id, struct sink *path);

#endif
