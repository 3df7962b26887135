/* metadata.h - the metadata of .NET: heaps and tables of an assembly or of a portable PDB.
 *
 *   struct clr_metadata md;
 *   if (clr_metadata_open(&md, metadata) == 0)
 *           for (uint32_t row = 1; row <= clr_row_count(&md, CLR_METHOD_DEF); row++)
 *                   name = clr_string(&md, clr_get(&md, CLR_METHOD_DEF, row, CLR_METHOD_DEF_NAME));
 *
 * The struct owns nothing: it borrows the bytes, which begin at the metadata root ("BSJB"), and
 * needs no clearing. Rows count from 1, as tokens have them; row 0 means none. Whatever is not
 * there reads as zero or empty: a row, a column, an offset into a heap. So callers need only check
 * what they make of the values. Any number of threads may read.
 *
 * Sources: ECMA-335 6th edition, partition II.22 to II.24; for tables 0x30 and up
 * docs/design/specs/PortablePdb-Metadata.md of dotnet/runtime.
 */
#ifndef CLR_METADATA_H
#define CLR_METADATA_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

enum clr_table {
	CLR_MODULE,
	CLR_TYPE_REF,
	CLR_TYPE_DEF,
	CLR_FIELD_PTR,
	CLR_FIELD,
	CLR_METHOD_PTR,
	CLR_METHOD_DEF,
	CLR_PARAM_PTR,
	CLR_PARAM,
	CLR_INTERFACE_IMPL,
	CLR_MEMBER_REF,
	CLR_CONSTANT,
	CLR_CUSTOM_ATTRIBUTE,
	CLR_FIELD_MARSHAL,
	CLR_DECL_SECURITY,
	CLR_CLASS_LAYOUT,
	CLR_FIELD_LAYOUT,
	CLR_STAND_ALONE_SIG,
	CLR_EVENT_MAP,
	CLR_EVENT_PTR,
	CLR_EVENT,
	CLR_PROPERTY_MAP,
	CLR_PROPERTY_PTR,
	CLR_PROPERTY,
	CLR_METHOD_SEMANTICS,
	CLR_METHOD_IMPL,
	CLR_MODULE_REF,
	CLR_TYPE_SPEC,
	CLR_IMPL_MAP,
	CLR_FIELD_RVA,
	CLR_ENC_LOG,
	CLR_ENC_MAP,
	CLR_ASSEMBLY,
	CLR_ASSEMBLY_PROCESSOR,
	CLR_ASSEMBLY_OS,
	CLR_ASSEMBLY_REF,
	CLR_ASSEMBLY_REF_PROCESSOR,
	CLR_ASSEMBLY_REF_OS,
	CLR_FILE,
	CLR_EXPORTED_TYPE,
	CLR_MANIFEST_RESOURCE,
	CLR_NESTED_CLASS,
	CLR_GENERIC_PARAM,
	CLR_METHOD_SPEC,
	CLR_GENERIC_PARAM_CONSTRAINT,
	CLR_DOCUMENT = 0x30,
	CLR_METHOD_DEBUG_INFORMATION,
	CLR_LOCAL_SCOPE,
	CLR_LOCAL_VARIABLE,
	CLR_LOCAL_CONSTANT,
	CLR_IMPORT_SCOPE,
	CLR_STATE_MACHINE_METHOD,
	CLR_CUSTOM_DEBUG_INFORMATION,
	CLR_TABLE_COUNT,
	CLR_NO_TABLE = 0xff,
};

/* Columns count from 0 in the order of the specifications; these are the ones with a reader. */
enum {
	CLR_MODULE_NAME = 1,
	CLR_MODULE_MVID = 2,
	CLR_TYPE_REF_SCOPE = 0, /* CLR_RESOLUTION_SCOPE */
	CLR_TYPE_REF_NAME = 1,
	CLR_TYPE_REF_NAMESPACE = 2,
	CLR_TYPE_DEF_FLAGS = 0,
	CLR_TYPE_DEF_NAME = 1,
	CLR_TYPE_DEF_NAMESPACE = 2,
	CLR_TYPE_DEF_EXTENDS = 3, /* CLR_TYPE_DEF_OR_REF */
	CLR_TYPE_DEF_FIELDS = 4,
	CLR_TYPE_DEF_METHODS = 5, /* the first one's row; they end where the next type's begin */
	CLR_METHOD_DEF_RVA = 0,
	CLR_METHOD_DEF_IMPL_FLAGS = 1,
	CLR_METHOD_DEF_FLAGS = 2,
	CLR_METHOD_DEF_NAME = 3,
	CLR_METHOD_DEF_SIGNATURE = 4,
	CLR_METHOD_DEF_PARAMS = 5,
	CLR_MEMBER_REF_PARENT = 0, /* CLR_MEMBER_REF_PARENTS */
	CLR_MEMBER_REF_NAME = 1,
	CLR_MEMBER_REF_SIGNATURE = 2,
	CLR_TYPE_SPEC_SIGNATURE = 0,
	CLR_MODULE_REF_NAME = 0,
	CLR_ASSEMBLY_NAME = 7,
	CLR_ASSEMBLY_REF_NAME = 6,
	CLR_EXPORTED_TYPE_NAME = 2,
	CLR_EXPORTED_TYPE_NAMESPACE = 3,
	CLR_NESTED_CLASS_INNER = 0,
	CLR_NESTED_CLASS_OUTER = 1,
	CLR_GENERIC_PARAM_NUMBER = 0,
	CLR_GENERIC_PARAM_OWNER = 2, /* CLR_TYPE_OR_METHOD_DEF */
	CLR_GENERIC_PARAM_NAME = 3,
	CLR_METHOD_SPEC_METHOD = 0, /* CLR_METHOD_DEF_OR_REF */
	CLR_METHOD_SPEC_INSTANTIATION = 1,
	CLR_DOCUMENT_NAME = 0,
	CLR_DOCUMENT_LANGUAGE = 3,
	CLR_DEBUG_DOCUMENT = 0,
	CLR_DEBUG_SEQUENCE_POINTS = 1,
	CLR_STATE_MACHINE_MOVE_NEXT = 0,
	CLR_STATE_MACHINE_KICKOFF = 1,
	CLR_CUSTOM_DEBUG_PARENT = 0, /* CLR_HAS_CUSTOM_DEBUG_INFORMATION */
	CLR_CUSTOM_DEBUG_KIND = 1,
	CLR_CUSTOM_DEBUG_VALUE = 2,
};

enum clr_coded {
	CLR_TYPE_DEF_OR_REF,
	CLR_HAS_CONSTANT,
	CLR_HAS_CUSTOM_ATTRIBUTE,
	CLR_HAS_FIELD_MARSHAL,
	CLR_HAS_DECL_SECURITY,
	CLR_MEMBER_REF_PARENTS,
	CLR_HAS_SEMANTICS,
	CLR_METHOD_DEF_OR_REF,
	CLR_MEMBER_FORWARDED,
	CLR_IMPLEMENTATION,
	CLR_CUSTOM_ATTRIBUTE_TYPE,
	CLR_RESOLUTION_SCOPE,
	CLR_TYPE_OR_METHOD_DEF,
	CLR_HAS_CUSTOM_DEBUG_INFORMATION,
	CLR_CODED_COUNT,
};

enum { CLR_COLUMNS = 9 };

struct clr_table_rows {
	const uint8_t *rows;
	uint32_t count;
	uint8_t row_size;
	uint8_t column_count;
	uint8_t column_off[CLR_COLUMNS];
	uint8_t column_size[CLR_COLUMNS];
};

struct clr_metadata {
	struct bytes strings;
	struct bytes blobs;
	struct bytes guids;
	struct bytes pdb; /* the stream of a portable PDB's own; empty in an assembly */
	struct clr_table_rows tables[CLR_TABLE_COUNT];
};

/* Returns 0, STATUS_NOT_FORMAT (no "BSJB"), _UNSUPPORTED (tables that are not known, or the
 * uncompressed form of edit-and-continue) or _CORRUPT. All rows that are counted are there.
 */
int clr_metadata_open(struct clr_metadata *md, struct bytes metadata);

static inline uint32_t clr_row_count(const struct clr_metadata *md, enum clr_table table)
{
	return table < CLR_TABLE_COUNT ? md->tables[table].count : 0;
}

uint32_t clr_get(const struct clr_metadata *md, enum clr_table table, uint32_t row,
		 unsigned int column);
/* In a table sorted by the column: the first row whose value is not below, or one behind the last.
 */
uint32_t clr_first_row(const struct clr_metadata *md, enum clr_table table, unsigned int column,
		       uint32_t value);

/* What a column of a coded index means. Its table is CLR_NO_TABLE for a tag that is not defined;
 * the row may be 0 or beyond the table.
 */
struct clr_ref {
	enum clr_table table;
	uint32_t row;
};

struct clr_ref clr_decode(enum clr_coded kind, uint32_t value);

/* Values of a heap's columns. */
struct bytes clr_string(const struct clr_metadata *md, uint32_t off); /* without its NUL */
struct bytes clr_blob(const struct clr_metadata *md, uint32_t off);
const uint8_t *clr_guid(const struct clr_metadata *md, uint32_t index); /* 16 bytes, or NULL */

/* Numbers of one, two or four bytes in blobs (II.23.2). */
uint32_t clr_compressed(struct cursor *c);
int32_t clr_compressed_signed(struct cursor *c);

#endif
