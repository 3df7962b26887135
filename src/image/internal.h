/* internal.h - the parts of an image, between the files of this folder.
 *
 * Calls come function by function: image.c takes them, lines.c and scopes.c write down a
 * function's lines and inlined code when the next one comes. image_finish() then goes
 *
 *   layout.c     which functions keep their distance (clusters), in which layer
 *   place.c      where the clusters lie in the file, and where unwinders find the tables
 *   info.c       .debug_info and what belongs to it
 *   eh_frame.c   .eh_frame and its table
 *   elf.c        symbols, section and program headers, build id
 *
 * and write.c puts all that into a file.
 */
#ifndef IMAGE_INTERNAL_H
#define IMAGE_INTERNAL_H

#include "base/arena.h"
#include "base/intern.h"
#include "base/sink.h"
#include "base/status.h"
#include "base/vector.h"
#include "image/image.h"

enum {
	NONE = 0xffffffff,
	/* Functions a compilation unit. In larger units readers search long, in smaller ones
	 * the heads and file names of the units are most of the file: docs/formats/image.md.
	 */
	UNIT_FUNCTIONS = 4,
	ROW_MAX_SIZE = 32, /* of a line's code in .debug_line */
	SCOPE_DEPTH = 256, /* readers walk nested scopes by recursion */
	BUILD_ID_SIZE = 20,
	PAGE_SIZE = 4096,
};

struct function {
	uint64_t start_avma;
	uint64_t size;
	uint64_t file_off;
	struct bytes code;
	uint32_t name; /* in `names` */
	uint32_t first_fde;
	uint32_t fde_count;
	uint32_t unwind_map; /* NONE: no map */
};

/* What .debug_info tells of a function: one that has lines or scopes. */
struct described {
	size_t address_at; /* in debug_line: where its address belongs; SIZE_MAX: no lines */
	uint32_t function;
	uint32_t file; /* of its entry, as numbered in the unit; 0: not known */
	uint32_t line;
	uint32_t first_scope;
	uint32_t scope_count;
};

/* A compilation unit, over functions that came one after the other. */
struct unit {
	size_t line_at; /* its program in debug_line */
	uint32_t first_described;
	uint32_t described_count;
	uint32_t name; /* of its first file, in `sources` */
};

/* An inlined function, cleaned: inside its parent, behind its sibling, in tree order. */
struct scope {
	uint32_t offset;
	uint32_t size;
	uint32_t depth;
	uint32_t name;
	uint32_t file; /* as numbered in the unit; 0: not known */
	uint32_t line;
};

struct pending_line {
	uint32_t offset;
	uint32_t file; /* of image_source() */
	uint32_t line;
	uint32_t column;
	uint32_t order;
};

struct pending_scope {
	uint32_t offset;
	uint32_t size;
	uint32_t depth;
	uint32_t name;
	uint32_t file; /* of image_source() */
	uint32_t line;
	uint32_t order;
};

/* Rows of UNWINDING_INFO; the instructions are borrowed. */
struct fde {
	struct bytes program;
	uint32_t offset; /* into the function */
	uint32_t size;
	uint32_t cie; /* in `cies` */
};

struct range {
	uint64_t start;
	uint64_t end;
};

/* Functions that keep their distances. */
struct cluster {
	uint64_t start_avma;
	uint64_t end_avma;
	uint64_t file_off;
	uint32_t first; /* in layout.order */
	uint32_t count;
	uint32_t unwind_map;
	bool has_unwinding;
};

/* Functions of one kind (with or without bytes) and their clusters, in file order. */
struct layout {
	uint32_t *order; /* functions, by file offset */
	uint32_t count;
	VECTOR(struct cluster) clusters;
};

enum section_kind {
	SECTION_NULL,
	SECTION_NOTE,
	SECTION_EH_FRAME_HDR,
	SECTION_EH_FRAME,
	SECTION_TEXT,
	SECTION_ABSENT, /* functions without bytes */
	SECTION_SYMTAB,
	SECTION_STRTAB,
	SECTION_DEBUG_ABBREV,
	SECTION_DEBUG_INFO,
	SECTION_DEBUG_LINE,
	SECTION_DEBUG_ARANGES,
	SECTION_DEBUG_RANGES,
	SECTION_DEBUG_STR,
	SECTION_SHSTRTAB,
	SECTION_COUNT,
};

struct section {
	uint64_t off; /* and address */
	uint64_t size;
	uint32_t index; /* in the file; 0: it has none */
};

struct image {
	uint16_t elf_machine;
	bool has_unwind_maps; /* asked for */
	bool is_finished;
	char *producer;
	struct arena arena; /* what image_finish() needs */

	VECTOR(struct function) functions;
	struct intern names;
	struct intern sources;
	struct sink text; /* scratch: a name or path made safe */

	/* The function that was given last. */
	VECTOR(struct pending_line) lines;
	VECTOR(struct pending_scope) pending_scopes;
	bool lines_in_order;
	bool scopes_in_order;

	/* The unit that is being filled. */
	struct sink unit_lines;
	VECTOR(uint32_t) unit_files; /* sources, by number - 1 */
	struct unit unit;
	/* By source: its number in the unit `unit`. */
	VECTOR(struct {
		uint32_t unit;
		uint32_t number;
	})
	numbers;

	VECTOR(struct unit) units;
	VECTOR(struct described) described;
	VECTOR(struct scope) scopes;
	VECTOR(struct fde) fdes;
	struct intern cies;
	struct sink cie_scratch;

	VECTOR(struct range) avoid;
	VECTOR(struct image_unwind_map) unwind_maps;

	struct layout present;
	struct layout absent;

	/* What is written: the head, code, then sections each in its sink. */
	struct sink head;
	struct sink contents[SECTION_COUNT];
	struct sink headers;
	struct section sections[SECTION_COUNT];
	uint64_t headers_off;
	uint64_t file_size;
	uint64_t code_end;  /* behind the last function that has bytes */
	uint64_t head_size; /* of the file before code, whole pages with unwinding */
	uint8_t build_id[BUILD_ID_SIZE];
};

static inline uint64_t align_up(uint64_t value, uint64_t align)
{
	return (value + align - 1) & ~(align - 1);
}

/* NULL where there are none. */
static inline const struct scope *scopes_of(const struct image *image, const struct described *d)
{
	return d->scope_count ? &image->scopes.items[d->first_scope] : NULL;
}

/* Sections end where their 32-bit offsets do. */
static inline int sink_status(const struct sink *s)
{
	if (!s->failed)
		return 0;
	return s->limit && s->size > s->limit / 2 ? STATUS_TOO_BIG : STATUS_NO_MEMORY;
}

/* LEB128 (DWARF 4, section 7.6) at `p`, which has room for 10 bytes. Returns the end. */
static inline uint8_t *put_uleb(uint8_t *p, uint64_t value)
{
	while (value >= 0x80) {
		*p++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*p++ = (uint8_t)value;
	return p;
}

static inline uint8_t *put_sleb(uint8_t *p, int64_t value)
{
	while (value < -64 || value > 63) {
		*p++ = (uint8_t)((uint64_t)value | 0x80);
		value >>= 7;
	}
	*p++ = (uint8_t)((uint64_t)value & 0x7f);
	return p;
}

/* lines.c. The number of a source in the current unit; 0: none. False without memory. */
bool unit_file(struct image *image, uint32_t source, uint32_t *number);
int lines_close_function(struct image *image); /* writes down what came for the last function */
int lines_close_unit(struct image *image);
void lines_patch_addresses(struct image *image);

/* scopes.c: from pending_scopes to scopes; `described` is the function's. */
int scopes_close_function(struct image *image, struct described *described);

/* layout.c */
int layout_make(struct image *image);
/* place.c: file offsets of clusters, for a file whose code begins at head_size. */
int place_clusters(struct image *image);
/* Clusters one behind the other from `off` on; returns the end. */
uint64_t place_in_row(struct layout *layout, uint64_t off);
void place_functions(struct image *image, const struct layout *layout);

/* info.c */
int info_make(struct image *image);
uint64_t info_size_bound(const struct image *image);

/* eh_frame.c */
uint64_t eh_frame_size_bound(const struct image *image);
uint64_t eh_frame_hdr_size_bound(const struct image *image);
/* Both sections into the sinks of `contents`, for the offsets in `sections`. */
int eh_frame_make(struct image *image);

/* elf.c */
void elf_place_head(struct image *image);
uint64_t elf_tail_size_bound(const struct image *image);
int elf_make(struct image *image);

#endif
