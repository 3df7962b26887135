/* unpack.h - an ELF image whose debug sections are packed, as one where they are not. */
#ifndef DEBUGINFO_UNPACK_H
#define DEBUGINFO_UNPACK_H

#include "base/sink.h"
#include "symbol/elf_image.h"

/* True for .debug_ names and .zdebug_ names. */
bool unpack_is_debug(const char *name);

/* Returns 0 where nothing is packed; 1 with an image of all debug sections in `out`; STATUS_TOO_BIG
 * where more is promised than can be in there, STATUS_CORRUPT, _UNSUPPORTED or _NO_MEMORY.
 */
int unpack_debug_sections(const struct elf_image *image, struct sink *out);

#endif
