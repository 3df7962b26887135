/* ranges.h - the addresses of a DIE.
 *
 * Not dwarf_ranges(): of a unit that is split, libdw 0.188 reads addresses only where it has
 * opened the .dwo itself, and it opens whatever the file names.
 */
#ifndef DEBUGINFO_RANGES_H
#define DEBUGINFO_RANGES_H

#include "debuginfo/dwarf_file.h"
#include "debuginfo/spans.h"

#include <stdbool.h>

/* What the DIEs of a unit are read with. */
struct range_reader {
	struct bytes info; /* the section that the DIEs are in */
	struct bytes ranges;
	struct bytes rnglists;
	struct bytes addr;
	uint64_t ranges_base;
	uint64_t split_ranges_base; /* before DWARF 5: of the lists that a .dwo means */
	uint64_t rnglists_base;
	uint64_t addr_base;
	uint64_t low_svma; /* of the unit: where its lists start from */
	uint16_t version;
	uint8_t address_size;
	uint8_t offset_size;
	bool swap;
	/* Addresses outside of code are those of functions that the linker threw away. */
	const struct span_table *code;
	uint64_t *budget; /* how many entries of lists may still be read in all */
};

/* For the unit whose DIE this is. False where it cannot be read. */
bool range_reader_init(struct range_reader *r, const struct dwarf_file *file, Dwarf_Die *unit);

/* Turns the reader of a skeleton into one for the unit in `dwo`. */
bool range_reader_split(struct range_reader *r, const struct dwarf_file *dwo, Dwarf_Die *unit);

/* The offset into another section that an attribute of the DIE is. */
bool range_reader_offset(const struct range_reader *r, Dwarf_Die *die, unsigned name,
			 uint64_t *offset);

/* Adds the ranges of the DIE, with the value. Returns how many, or STATUS_NO_MEMORY. */
int range_reader_add(const struct range_reader *r, Dwarf_Die *die, uint32_t value,
		     struct span_table *ranges);

#endif
