/* dwarf_file.h - a file with DWARF in it, checked and then given to libdw. */
#ifndef DEBUGINFO_DWARF_FILE_H
#define DEBUGINFO_DWARF_FILE_H

#include "base/sink.h"
#include "symbol/elf_image.h"

#include <elfutils/libdw.h>

struct dwarf_file {
	struct bytes bytes; /* of the whole file */
	struct elf_image image;
	struct sink unpacked; /* of what `image` is, where sections of the file are packed */
	Dwarf *dwarf;
	/* Sections; empty where they are not there. */
	struct bytes info;
	struct bytes line;
	struct bytes ranges;
	struct bytes rnglists;
	struct bytes addr;
	bool swap;
};

/* True if the image has DWARF of its own. */
bool dwarf_file_has_units(const struct elf_image *image);

/* Returns 0; STATUS_NOT_FOUND where there is no DWARF; STATUS_TOO_BIG where its packed sections
 * promise more than they can hold; STATUS_CORRUPT, or another negative status. The caller closes
 * the bytes, after this.
 */
int dwarf_file_open(struct dwarf_file *file, struct bytes bytes);
void dwarf_file_close(struct dwarf_file *file);

#endif
