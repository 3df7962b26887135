/* internal.h - a debuginfo and its units. Not for others. */
#ifndef DEBUGINFO_INTERNAL_H
#define DEBUGINFO_INTERNAL_H

#include "base/intern.h"
#include "base/sink.h"
#include "debuginfo/debuginfo.h"
#include "debuginfo/dwarf_file.h"
#include "debuginfo/ranges.h"
#include "debuginfo/spans.h"

/* From svma up to the next row: this line. */
struct line_row {
	uint64_t svma;
	const char *file; /* NULL: behind the end of a sequence nothing is known */
	uint32_t line;
	uint32_t column;
};

enum { SCOPE_NONE = UINT32_MAX };

/* A subprogram or an inlined one, somewhere in a unit. */
struct scope {
	Dwarf_Die die;
	uint32_t parent; /* index of the scope around, which comes before it; SCOPE_NONE */
	bool is_inlined;
	bool was_named; /* `told` is filled: that is done when it is first asked for */
	struct debuginfo_scope told;
};

/* A function without a linker's name, or something that one is in. */
struct named {
	const uint8_t *die;
	uint32_t around; /* index of what it is in; SCOPE_NONE */
};

struct unit {
	Dwarf_Die die;      /* with the lines; where it is split, of the skeleton */
	const char *folder; /* where it was compiled; "" */
	size_t die_off;     /* in .debug_info */
	size_t end_off;
	bool has_ranges;
	bool was_read;
	VECTOR(struct line_row) rows;
	VECTOR(struct scope) scopes;
	struct span_table spans;    /* values are indices into scopes */
	VECTOR(struct named) named; /* ascending places; of the file that the scopes are in */
	Dwarf_Files *files;         /* that calls are counted in */
	size_t file_count;
};

/* A .dwo file that was opened. */
struct split_file {
	struct dwarf_file *file;
};

struct debuginfo {
	struct symbol_files source;
	struct dwarf_file *object;    /* where the DWARF is: the object or its debug file */
	struct dwarf_file *alternate; /* what dwz moved out of it, or NULL */
	VECTOR(struct split_file) split;
	struct sink folder; /* of the object, without the last slash: .dwo files may be there */
	struct span_table code;
	VECTOR(struct unit) units;
	struct span_table unit_spans; /* values count from the last unit: the first one wins */
	struct intern paths;          /* and names, that had to be put together */
	/* Hostile files can mean the same bytes again and again; honest ones do not. */
	uint64_t range_budget;
	uint64_t die_budget;
	uint64_t name_budget; /* bytes of names */
	bool has_failed;      /* out of memory: nothing more is told */
};

/* units.c: finds all units, and which addresses are theirs. Returns 0 or STATUS_NO_MEMORY. */
int units_find(struct debuginfo *info);

/* Fills the tables of a unit. False without memory. */
bool unit_read(struct debuginfo *info, struct unit *unit);

/* A source file as far as it is known where it is: libdw leaves the names that are relative to the
 * unit's folder alone where that is relative too. Lives as long as the debuginfo; NULL is "".
 */
const char *unit_path(struct debuginfo *info, struct unit *unit, const char *file);

/* lines.c, scopes.c. The reader is for the unit that `first` belongs to. False without memory. */
bool unit_read_lines(struct debuginfo *info, struct unit *unit, const struct range_reader *reader);
struct scope_walk {
	struct debuginfo *info;
	struct unit *unit;
	const struct range_reader *reader;
	const uint8_t *end; /* of the DIEs */
};
bool unit_read_scopes(const struct scope_walk *walk, const Dwarf_Die *first);
void unit_clear(struct unit *unit);

const struct line_row *unit_row(const struct unit *unit, uint64_t svma);
const struct debuginfo_scope *unit_scope(struct debuginfo *info, struct unit *unit, uint32_t index);

/* names.c: the linker's name of a function, or its own behind what it is in ("space::type::f"); ""
 * where it has none. Lives as long as the debuginfo.
 */
const char *name_of(struct debuginfo *info, const struct unit *unit, const Dwarf_Die *die);
/* Is the name of such a DIE a part of the names of the functions in it? */
bool name_is_part(int tag);
/* Is the name of a subprogram's DIE the linker's, or told elsewhere? */
bool name_is_told(Dwarf_Die *die);

/* split.c: the unit of the .dwo that a skeleton means. False where it is not there. */
bool split_find(struct debuginfo *info, Dwarf_Die *skeleton, Dwarf_Die *unit,
		struct dwarf_file **file);

/* files.c: what dwz moved into another file. Returns 0, STATUS_NOT_FOUND, or another status. */
int alternate_open(struct debuginfo *info, const char *path);

/* Opens DWARF; with an error the bytes are closed. */
int debuginfo_file_open(struct dwarf_file **file, const struct symbol_files *source,
			struct bytes bytes);
void debuginfo_file_close(struct dwarf_file *file, const struct symbol_files *source);

#endif
