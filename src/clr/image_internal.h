/* image_internal.h - what the files of the image reader share; image.h is its face.
 *
 * From the outside in: pe.c finds bytes by RVA, types.c rows of metadata, r2r.c reads the compiled
 * code's tables, native_format.c the numbers, arrays and hash tables they are made of. spell.c,
 * signature.c and instance.c make names.
 */
#ifndef CLR_IMAGE_INTERNAL_H
#define CLR_IMAGE_INTERNAL_H

#include "clr/image.h"
#include "clr/metadata.h"

/* --- pe.c --- */

enum {
	PE_DIRECTORY_EXPORT = 0,
	PE_DIRECTORY_DEBUG = 6,
	PE_DIRECTORY_CLI = 14,
	PE_DIRECTORY_COUNT = 16,
	PE_SECTION_SIZE = 40,
};

enum pe_machine {
	PE_I386 = 0x014c,
	PE_ARM = 0x01c4,
	PE_RISCV64 = 0x5064,
	PE_LOONGARCH64 = 0x6264,
	PE_AMD64 = 0x8664,
	PE_ARM64 = 0xaa64,
};

struct pe_directory {
	uint32_t rva;
	uint32_t size;
};

struct pe_section {
	uint32_t rva;
	uint32_t size; /* bytes that the file has of it */
	uint32_t file_off;
};

struct pe {
	struct bytes file;
	struct bytes sections; /* the headers of all */
	enum pe_machine machine;
	struct pe_directory directories[PE_DIRECTORY_COUNT];
};

int pe_open(struct pe *pe, struct bytes file);

/* The directory's bytes; empty where they are not all in one section. */
struct bytes pe_bytes(const struct pe *pe, struct pe_directory directory);

/* Everything from an RVA to the end of its section. */
struct bytes pe_bytes_from(const struct pe *pe, uint32_t rva);

bool pe_rva_of_offset(const struct pe *pe, uint32_t file_off, uint32_t *rva);
bool pe_offset_of_rva(const struct pe *pe, uint32_t rva, uint32_t *file_off);

/* RVA of an exported symbol; false without it. */
bool pe_export(const struct pe *pe, const char *name, uint32_t *rva);

/* What the debug directory tells of symbols. */
void pe_symbols(const struct pe *pe, struct clr_identity *identity);

/* --- types.c --- */

/* A string of a row; empty without that row. */
struct bytes metadata_text(const struct clr_metadata *metadata, enum clr_table table, uint32_t row,
			   unsigned column);

/* Rows of TypeDef: the one that has a method; the one around a nested type (0: none). */
uint32_t metadata_type_of_method(const struct clr_metadata *metadata, uint32_t method);
uint32_t metadata_enclosing(const struct clr_metadata *metadata, uint32_t type);

/* --- native_format.c --- */

/* A cursor at an offset into bytes; failed if that is outside. */
struct cursor cursor_at(struct bytes bytes, size_t off);

uint32_t native_unsigned(struct cursor *c);
int32_t native_signed(struct cursor *c);

struct native_array {
	struct bytes bytes; /* all: the index, then the blocks */
	uint32_t index_off; /* offsets in the index are counted from it */
	uint32_t count;
	uint8_t offset_size;
};

/* False where the bytes cannot hold that many. */
bool native_array_open(struct native_array *array, struct bytes bytes);

/* Where an element's data is in the array's bytes; false without it. */
bool native_array_find(const struct native_array *array, uint32_t index, uint32_t *off);

/* Steps over all entries of a hash table. */
struct native_table {
	struct bytes bytes;
	uint32_t index_off;
	uint32_t bucket;
	uint32_t bucket_count;
	uint8_t offset_size;
	struct cursor entries; /* what is left of the bucket */
	uint32_t bucket_end;
};

bool native_table_open(struct native_table *table, struct bytes bytes);

/* Returns 1 with the entry's data at `off`, 0 at the end, or STATUS_CORRUPT. */
int native_table_next(struct native_table *table, uint32_t *off);

/* Numbers of four bits at a time, three of them value; aligned to bytes by nibbles_align(). */
struct nibbles {
	struct cursor bytes;
	uint8_t pending;
	bool has_pending;
};

uint32_t nibbles_unsigned(struct nibbles *nibbles);
void nibbles_align(struct nibbles *nibbles);

/* --- r2r.c --- */

enum r2r_section {
	R2R_RUNTIME_FUNCTIONS = 102,
	R2R_METHOD_ENTRY_POINTS = 103,
	R2R_DEBUG_INFO = 105,
	R2R_THUNKS = 106,
	R2R_INSTANCE_ENTRY_POINTS = 109,
	R2R_MANIFEST_METADATA = 112,
	R2R_COMPONENTS = 115,
	R2R_OWNER_COMPOSITE = 116,
	R2R_HOT_COLD_MAP = 120,
};

enum {
	R2R_NO_METHOD = UINT32_MAX,
};

/* One runtime function. Several of them make a method: what is told of it stands at its first. */
struct r2r_code {
	uint32_t rva;
	uint32_t size;
	uint32_t first; /* index of the method's first; R2R_NO_METHOD: of none that is listed */
	uint32_t token;
	uint32_t component;
	uint32_t instance_off; /* into the section of instances; 0: the token tells all */
	bool is_cold;
};

struct r2r_component {
	struct bytes header; /* its own sections */
	struct bytes name;
	struct clr_metadata own; /* where the composite image holds the assembly, too */
	const struct clr_metadata *metadata;
};

struct r2r {
	uint16_t major;
	uint16_t minor;
	struct bytes header; /* READYTORUN_CORE_HEADER up to the end of its section */
	struct bytes instances;
	struct bytes debug_info;
	struct clr_metadata manifest; /* empty without one */
	struct r2r_code *code;
	uint32_t code_count;
	struct r2r_component *components;
	uint32_t component_count;
};

struct clr_image {
	struct pe pe;
	struct clr_metadata metadata;
	bool has_metadata;
	struct clr_identity identity;
	struct r2r r2r;
};

/* Fills image->r2r from the header there. */
int r2r_open(struct clr_image *image, uint32_t header_rva);
void r2r_clear(struct r2r *r2r);

/* The bytes of one of the sections listed in a core header; empty without it. */
struct bytes r2r_section(const struct clr_image *image, struct bytes header, enum r2r_section kind);

/* --- spell.c, signature.c, instance.c: names --- */

/* Where names are written to, and what bounds them: hostile ones refer to themselves. */
struct speller {
	struct sink *out; /* NULL: nothing is written */
	uint32_t depth;
	uint32_t steps; /* types that may still be read */
	bool is_corrupt;
};

enum { SPELL_DEPTH_MOST = 64, SPELL_STEPS_MOST = 4096 };

/* Each starts a type inside others; false when there were too many. */
bool spell_enter(struct speller *speller);
void spell_leave(struct speller *speller);

void spell_bytes(struct speller *speller, struct bytes text);
void spell_text(struct speller *speller, const char *text);
void spell_number(struct speller *speller, int64_t number);

/* "System.Guid+GuidResult", as reflection names types. */
void spell_type(struct speller *speller, const struct clr_metadata *metadata, uint32_t token);

/* "[System.Runtime]System.Guid/GuidResult", as IL is written. */
void spell_il_type(struct speller *speller, const struct clr_metadata *metadata, uint32_t token);

/* TypeDef, TypeRef or TypeSpec, as packed in signatures. */
uint32_t signature_type_token(struct cursor *c);

/* A method's signature around its name. */
void spell_signature(struct speller *speller, const struct clr_metadata *metadata,
		     struct bytes blob, struct bytes name);
void spell_il_signature_type(struct speller *speller, const struct clr_metadata *metadata,
			     struct cursor *c);

/* A module that signatures of instances refer to. */
struct r2r_module {
	const struct clr_metadata *metadata; /* NULL: not here */
	struct bytes name;
	uint32_t component;
};

struct r2r_module r2r_module(const struct clr_image *image, uint32_t index);

/* A method with types of its own (docs/formats/clr-image.md, "Instances"). */
struct r2r_instance {
	struct r2r_module module; /* of the method's token */
	uint32_t token;
	bool has_owner; /* the type was written */
};

/* Reads one, writing its owner type through the speller if there is one to write to. The cursor is
 * left behind it. False: it could not be read.
 */
bool r2r_read_instance(const struct clr_image *image, struct cursor *c, struct speller *speller,
		       struct r2r_instance *instance);

#endif
