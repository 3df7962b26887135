/* build_id.h - by what one build of a PE file is told from another.
 *
 *   uint8_t id[CLR_BUILD_ID_SIZE];
 *   if (clr_build_id(&file, id))
 *           ...                       it stands where an ELF file's build id would
 *
 * PE files have no id of their own that would do: the MVID of an assembly is that of its source,
 * and stays where the same source is compiled ahead again, with other code. So it is a hash of the
 * size, of the headers (times, checksum, the sizes of all sections and directories) and of pages
 * spread over the file. Recordings hold it (docs/formats/recording.md): how it is made may not
 * change.
 */
#ifndef CLR_BUILD_ID_H
#define CLR_BUILD_ID_H

#include "base/bytes.h"

enum { CLR_BUILD_ID_SIZE = 20 };

struct clr_build_file {
	void *context;
	/* Fills the buffer with what is there; false where the file ends before. */
	bool (*read)(void *context, uint64_t off, void *buffer, size_t size);
	uint64_t size;
};

/* False where it is no PE file, or cannot be read. */
bool clr_build_id(const struct clr_build_file *file, uint8_t id[CLR_BUILD_ID_SIZE]);

/* By what one bundle of a single-file program is told from another: the program in front of it is
 * the same for all, with one build id. Of the size and the last 256 KB, where the bundle's list of
 * files is, with an id of their contents. False where it cannot be read.
 */
bool clr_bundle_id(const struct clr_build_file *file, uint8_t id[CLR_BUILD_ID_SIZE]);

/* Stands in the data of such a program, behind the 8 bytes that tell where the list is (0:
 * nowhere). */
extern const uint8_t CLR_BUNDLE_SIGNATURE[32];

/* Recordings give the id to this path behind the program's own. */
#define CLR_BUNDLE_SUFFIX "//bundle"

/* Files in memory. */
bool clr_bundle_id_of(struct bytes file, uint8_t id[CLR_BUILD_ID_SIZE]);
bool clr_build_id_of(struct bytes file, uint8_t id[CLR_BUILD_ID_SIZE]);

#endif
