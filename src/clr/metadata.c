#include "clr/metadata.h"

#include "base/search.h"
#include "base/status.h"

enum {
	SIGNATURE = 0x424a5342, /* "BSJB" */
	STRING_LIMIT = 1 << 16,
	STREAM_NAME_LIMIT = 32,
	PDB_ID_BYTES = 20,
	HEAP_STRINGS_WIDE = 1,
	HEAP_GUIDS_WIDE = 2,
	HEAP_BLOBS_WIDE = 4,
	HEAP_HAS_EXTRA = 0x40,
	GUID_BYTES = 16,
};

/* Kinds of columns in the schema below: fixed, of a heap, a row of one table, a coded index. */
enum {
	END,
	U16,
	U32,
	STR,
	GUI,
	BLB,
	ROW = 0x40,
	COD = 0x80,
};

#define TO(table) (ROW + CLR_##table)
#define OF(coded) (COD + CLR_##coded)

static const uint8_t SCHEMA[CLR_TABLE_COUNT][CLR_COLUMNS + 1] = {
	[CLR_MODULE] = { U16, STR, GUI, GUI, GUI },
	[CLR_TYPE_REF] = { OF(RESOLUTION_SCOPE), STR, STR },
	[CLR_TYPE_DEF] = { U32, STR, STR, OF(TYPE_DEF_OR_REF), TO(FIELD), TO(METHOD_DEF) },
	[CLR_FIELD_PTR] = { TO(FIELD) },
	[CLR_FIELD] = { U16, STR, BLB },
	[CLR_METHOD_PTR] = { TO(METHOD_DEF) },
	[CLR_METHOD_DEF] = { U32, U16, U16, STR, BLB, TO(PARAM) },
	[CLR_PARAM_PTR] = { TO(PARAM) },
	[CLR_PARAM] = { U16, U16, STR },
	[CLR_INTERFACE_IMPL] = { TO(TYPE_DEF), OF(TYPE_DEF_OR_REF) },
	[CLR_MEMBER_REF] = { OF(MEMBER_REF_PARENTS), STR, BLB },
	[CLR_CONSTANT] = { U16, OF(HAS_CONSTANT), BLB },
	[CLR_CUSTOM_ATTRIBUTE] = { OF(HAS_CUSTOM_ATTRIBUTE), OF(CUSTOM_ATTRIBUTE_TYPE), BLB },
	[CLR_FIELD_MARSHAL] = { OF(HAS_FIELD_MARSHAL), BLB },
	[CLR_DECL_SECURITY] = { U16, OF(HAS_DECL_SECURITY), BLB },
	[CLR_CLASS_LAYOUT] = { U16, U32, TO(TYPE_DEF) },
	[CLR_FIELD_LAYOUT] = { U32, TO(FIELD) },
	[CLR_STAND_ALONE_SIG] = { BLB },
	[CLR_EVENT_MAP] = { TO(TYPE_DEF), TO(EVENT) },
	[CLR_EVENT_PTR] = { TO(EVENT) },
	[CLR_EVENT] = { U16, STR, OF(TYPE_DEF_OR_REF) },
	[CLR_PROPERTY_MAP] = { TO(TYPE_DEF), TO(PROPERTY) },
	[CLR_PROPERTY_PTR] = { TO(PROPERTY) },
	[CLR_PROPERTY] = { U16, STR, BLB },
	[CLR_METHOD_SEMANTICS] = { U16, TO(METHOD_DEF), OF(HAS_SEMANTICS) },
	[CLR_METHOD_IMPL] = { TO(TYPE_DEF), OF(METHOD_DEF_OR_REF), OF(METHOD_DEF_OR_REF) },
	[CLR_MODULE_REF] = { STR },
	[CLR_TYPE_SPEC] = { BLB },
	[CLR_IMPL_MAP] = { U16, OF(MEMBER_FORWARDED), STR, TO(MODULE_REF) },
	[CLR_FIELD_RVA] = { U32, TO(FIELD) },
	[CLR_ENC_LOG] = { U32, U32 },
	[CLR_ENC_MAP] = { U32 },
	[CLR_ASSEMBLY] = { U32, U16, U16, U16, U16, U32, BLB, STR, STR },
	[CLR_ASSEMBLY_PROCESSOR] = { U32 },
	[CLR_ASSEMBLY_OS] = { U32, U32, U32 },
	[CLR_ASSEMBLY_REF] = { U16, U16, U16, U16, U32, BLB, STR, STR, BLB },
	[CLR_ASSEMBLY_REF_PROCESSOR] = { U32, TO(ASSEMBLY_REF) },
	[CLR_ASSEMBLY_REF_OS] = { U32, U32, U32, TO(ASSEMBLY_REF) },
	[CLR_FILE] = { U32, STR, BLB },
	[CLR_EXPORTED_TYPE] = { U32, U32, STR, STR, OF(IMPLEMENTATION) },
	[CLR_MANIFEST_RESOURCE] = { U32, U32, STR, OF(IMPLEMENTATION) },
	[CLR_NESTED_CLASS] = { TO(TYPE_DEF), TO(TYPE_DEF) },
	[CLR_GENERIC_PARAM] = { U16, U16, OF(TYPE_OR_METHOD_DEF), STR },
	[CLR_METHOD_SPEC] = { OF(METHOD_DEF_OR_REF), BLB },
	[CLR_GENERIC_PARAM_CONSTRAINT] = { TO(GENERIC_PARAM), OF(TYPE_DEF_OR_REF) },
	[CLR_DOCUMENT] = { BLB, GUI, BLB, GUI },
	[CLR_METHOD_DEBUG_INFORMATION] = { TO(DOCUMENT), BLB },
	[CLR_LOCAL_SCOPE] = { TO(METHOD_DEF), TO(IMPORT_SCOPE), TO(LOCAL_VARIABLE),
			      TO(LOCAL_CONSTANT), U32, U32 },
	[CLR_LOCAL_VARIABLE] = { U16, U16, STR },
	[CLR_LOCAL_CONSTANT] = { STR, BLB },
	[CLR_IMPORT_SCOPE] = { TO(IMPORT_SCOPE), BLB },
	[CLR_STATE_MACHINE_METHOD] = { TO(METHOD_DEF), TO(METHOD_DEF) },
	[CLR_CUSTOM_DEBUG_INFORMATION] = { OF(HAS_CUSTOM_DEBUG_INFORMATION), GUI, BLB },
};

#undef TO
#undef OF

enum { NONE = CLR_NO_TABLE, TAGS = 32 };

/* Tables by tag; how many low bits the tag has. */
static const struct {
	uint8_t bits;
	uint8_t count;
	uint8_t tables[TAGS];
} CODED[CLR_CODED_COUNT] = {
	[CLR_TYPE_DEF_OR_REF] = { 2, 3, { CLR_TYPE_DEF, CLR_TYPE_REF, CLR_TYPE_SPEC } },
	[CLR_HAS_CONSTANT] = { 2, 3, { CLR_FIELD, CLR_PARAM, CLR_PROPERTY } },
	[CLR_HAS_CUSTOM_ATTRIBUTE] = { 5, 22, { CLR_METHOD_DEF,
						CLR_FIELD,
						CLR_TYPE_REF,
						CLR_TYPE_DEF,
						CLR_PARAM,
						CLR_INTERFACE_IMPL,
						CLR_MEMBER_REF,
						CLR_MODULE,
						CLR_DECL_SECURITY,
						CLR_PROPERTY,
						CLR_EVENT,
						CLR_STAND_ALONE_SIG,
						CLR_MODULE_REF,
						CLR_TYPE_SPEC,
						CLR_ASSEMBLY,
						CLR_ASSEMBLY_REF,
						CLR_FILE,
						CLR_EXPORTED_TYPE,
						CLR_MANIFEST_RESOURCE,
						CLR_GENERIC_PARAM,
						CLR_GENERIC_PARAM_CONSTRAINT,
						CLR_METHOD_SPEC } },
	[CLR_HAS_FIELD_MARSHAL] = { 1, 2, { CLR_FIELD, CLR_PARAM } },
	[CLR_HAS_DECL_SECURITY] = { 2, 3, { CLR_TYPE_DEF, CLR_METHOD_DEF, CLR_ASSEMBLY } },
	[CLR_MEMBER_REF_PARENTS] = { 3,
				     5,
				     { CLR_TYPE_DEF, CLR_TYPE_REF, CLR_MODULE_REF, CLR_METHOD_DEF,
				       CLR_TYPE_SPEC } },
	[CLR_HAS_SEMANTICS] = { 1, 2, { CLR_EVENT, CLR_PROPERTY } },
	[CLR_METHOD_DEF_OR_REF] = { 1, 2, { CLR_METHOD_DEF, CLR_MEMBER_REF } },
	[CLR_MEMBER_FORWARDED] = { 1, 2, { CLR_FIELD, CLR_METHOD_DEF } },
	[CLR_IMPLEMENTATION] = { 2, 3, { CLR_FILE, CLR_ASSEMBLY_REF, CLR_EXPORTED_TYPE } },
	[CLR_CUSTOM_ATTRIBUTE_TYPE] = { 3, 4, { NONE, NONE, CLR_METHOD_DEF, CLR_MEMBER_REF } },
	[CLR_RESOLUTION_SCOPE] = { 2,
				   4,
				   { CLR_MODULE, CLR_MODULE_REF, CLR_ASSEMBLY_REF, CLR_TYPE_REF } },
	[CLR_TYPE_OR_METHOD_DEF] = { 1, 2, { CLR_TYPE_DEF, CLR_METHOD_DEF } },
	[CLR_HAS_CUSTOM_DEBUG_INFORMATION] = { 5, 27, { CLR_METHOD_DEF,
							CLR_FIELD,
							CLR_TYPE_REF,
							CLR_TYPE_DEF,
							CLR_PARAM,
							CLR_INTERFACE_IMPL,
							CLR_MEMBER_REF,
							CLR_MODULE,
							CLR_DECL_SECURITY,
							CLR_PROPERTY,
							CLR_EVENT,
							CLR_STAND_ALONE_SIG,
							CLR_MODULE_REF,
							CLR_TYPE_SPEC,
							CLR_ASSEMBLY,
							CLR_ASSEMBLY_REF,
							CLR_FILE,
							CLR_EXPORTED_TYPE,
							CLR_MANIFEST_RESOURCE,
							CLR_GENERIC_PARAM,
							CLR_GENERIC_PARAM_CONSTRAINT,
							CLR_METHOD_SPEC,
							CLR_DOCUMENT,
							CLR_LOCAL_SCOPE,
							CLR_LOCAL_VARIABLE,
							CLR_LOCAL_CONSTANT,
							CLR_IMPORT_SCOPE } },
};

/* What decides how wide columns are. */
struct widths {
	uint32_t rows[64]; /* of this file, or of the assembly that a PDB belongs to */
	uint8_t heaps;
};

static bool name_is(struct bytes name, const char *text)
{
	return name.size == strlen(text) && memcmp(name.data, text, name.size) == 0;
}

/* Names of streams are padded with NULs to whole words. */
static struct bytes read_name(struct cursor *c)
{
	const char *start = cursor_cstr(c);
	const size_t size = start ? strlen(start) : 0;
	if (size >= STREAM_NAME_LIMIT)
		cursor_fail(c);
	(void)cursor_take(c, 3 - size % 4);
	return (struct bytes){ (const uint8_t *)start, size };
}

/* The first of a name counts. */
static void keep_stream(struct bytes *kept, struct bytes stream)
{
	if (!kept->data)
		*kept = stream;
}

static int read_streams(struct clr_metadata *md, struct bytes file, struct bytes *tables)
{
	struct cursor c = cursor_over(file);
	if (cursor_u32(&c) != SIGNATURE)
		return STATUS_NOT_FORMAT;
	(void)cursor_take(&c, 8);              /* versions of the root, and a reserved word */
	(void)cursor_take(&c, cursor_u32(&c)); /* the runtime's version, padded */
	(void)cursor_u16(&c);
	const uint16_t count = cursor_u16(&c);
	for (uint16_t i = 0; i < count && !cursor_failed(&c); i++) {
		const uint32_t off = cursor_u32(&c);
		const uint32_t size = cursor_u32(&c);
		const struct bytes name = read_name(&c);
		if (cursor_failed(&c) || off > file.size || size > file.size - off)
			return STATUS_CORRUPT;
		const struct bytes stream = { file.data + off, size };
		if (name_is(name, "#~"))
			keep_stream(tables, stream);
		else if (name_is(name, "#Strings"))
			keep_stream(&md->strings, stream);
		else if (name_is(name, "#Blob"))
			keep_stream(&md->blobs, stream);
		else if (name_is(name, "#GUID"))
			keep_stream(&md->guids, stream);
		else if (name_is(name, "#Pdb"))
			keep_stream(&md->pdb, stream);
		else if (name_is(name, "#-"))
			return STATUS_UNSUPPORTED;
	}
	return cursor_failed(&c) || !tables->data ? STATUS_CORRUPT : 0;
}

/* Counts of the tables whose bits are set. */
static void read_counts(struct cursor *c, uint64_t present, uint32_t counts[64])
{
	for (unsigned int table = 0; table < 64; table++)
		if (present >> table & 1)
			counts[table] = cursor_u32(c);
}

static uint8_t width_of(const struct widths *widths, uint8_t kind)
{
	switch (kind) {
	case U16:
		return 2;
	case U32:
		return 4;
	case STR:
		return widths->heaps & HEAP_STRINGS_WIDE ? 4 : 2;
	case GUI:
		return widths->heaps & HEAP_GUIDS_WIDE ? 4 : 2;
	case BLB:
		return widths->heaps & HEAP_BLOBS_WIDE ? 4 : 2;
	default:
		break;
	}
	if (kind < COD)
		return widths->rows[kind - ROW] > 0xffff ? 4 : 2;
	uint32_t most = 0;
	for (uint8_t i = 0; i < CODED[kind - COD].count; i++) {
		const uint8_t table = CODED[kind - COD].tables[i];
		if (table != NONE && widths->rows[table] > most)
			most = widths->rows[table];
	}
	return most >= 1u << (16 - CODED[kind - COD].bits) ? 4 : 2;
}

static void lay_out(struct clr_table_rows *rows, const uint8_t *schema, const struct widths *widths)
{
	for (; schema[rows->column_count]; rows->column_count++) {
		const uint8_t size = width_of(widths, schema[rows->column_count]);
		rows->column_off[rows->column_count] = rows->row_size;
		rows->column_size[rows->column_count] = size;
		rows->row_size = (uint8_t)(rows->row_size + size);
	}
}

static int read_tables(struct clr_metadata *md, struct bytes stream)
{
	struct widths widths = { 0 };
	uint32_t counts[64] = { 0 };
	struct cursor pdb = cursor_over(md->pdb);
	if (md->pdb.data) {
		(void)cursor_take(&pdb, PDB_ID_BYTES + 4); /* and the entry point */
		const uint64_t referenced = cursor_u64(&pdb);
		read_counts(&pdb, referenced, widths.rows);
	}
	struct cursor c = cursor_over(stream);
	(void)cursor_take(&c, 6); /* reserved, and the schema's version */
	widths.heaps = cursor_u8(&c);
	(void)cursor_u8(&c);
	const uint64_t present = cursor_u64(&c);
	(void)cursor_u64(&c); /* which are sorted */
	read_counts(&c, present, counts);
	if (widths.heaps & HEAP_HAS_EXTRA)
		(void)cursor_u32(&c);
	if (cursor_failed(&c) || cursor_failed(&pdb))
		return STATUS_CORRUPT;
	for (unsigned int table = 0; table < 64; table++) {
		if (counts[table])
			widths.rows[table] = counts[table];
		if (counts[table] && (table >= CLR_TABLE_COUNT || !SCHEMA[table][0]))
			return STATUS_UNSUPPORTED;
	}
	for (unsigned int table = 0; table < CLR_TABLE_COUNT; table++) {
		struct clr_table_rows *rows = &md->tables[table];
		lay_out(rows, SCHEMA[table], &widths);
		if (!counts[table])
			continue;
		if (!cursor_can_hold(&c, counts[table], rows->row_size))
			return STATUS_CORRUPT;
		rows->count = counts[table];
		rows->rows = cursor_take(&c, (size_t)rows->count * rows->row_size).data;
	}
	return 0;
}

int clr_metadata_open(struct clr_metadata *md, struct bytes metadata)
{
	struct bytes tables = { 0 };
	*md = (struct clr_metadata){ 0 };
	int result = read_streams(md, metadata, &tables);
	if (result == 0)
		result = read_tables(md, tables);
	if (result < 0)
		*md = (struct clr_metadata){ 0 };
	return result;
}

uint32_t clr_get(const struct clr_metadata *md, enum clr_table table, uint32_t row,
		 unsigned int column)
{
	if (table >= CLR_TABLE_COUNT || row == 0 || row > md->tables[table].count ||
	    column >= md->tables[table].column_count)
		return 0;
	const struct clr_table_rows *rows = &md->tables[table];
	const uint8_t *at =
	    rows->rows + (size_t)(row - 1) * rows->row_size + rows->column_off[column];
	uint32_t value = (uint32_t)(at[0] | at[1] << 8);
	if (rows->column_size[column] == 4)
		value |= (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
	return value;
}

uint32_t clr_first_row(const struct clr_metadata *md, enum clr_table table, unsigned int column,
		       uint32_t value)
{
	size_t count;
	SEARCH(count, clr_row_count(md, table), i,
	       clr_get(md, table, (uint32_t)i + 1, column) < value);
	return (uint32_t)count + 1;
}

struct clr_ref clr_decode(enum clr_coded kind, uint32_t value)
{
	if (kind >= CLR_CODED_COUNT)
		return (struct clr_ref){ CLR_NO_TABLE, 0 };
	const uint32_t tag = value & ((1u << CODED[kind].bits) - 1);
	const uint8_t table = tag < CODED[kind].count ? CODED[kind].tables[tag] : NONE;
	return (struct clr_ref){ (enum clr_table)table, value >> CODED[kind].bits };
}

struct bytes clr_string(const struct clr_metadata *md, uint32_t off)
{
	if (off >= md->strings.size)
		return (struct bytes){ 0 };
	const uint8_t *start = md->strings.data + off;
	const size_t left = md->strings.size - off;
	const uint8_t *end = memchr(start, '\0', left < STRING_LIMIT ? left : STRING_LIMIT);
	return end ? (struct bytes){ start, (size_t)(end - start) } : (struct bytes){ 0 };
}

struct bytes clr_blob(const struct clr_metadata *md, uint32_t off)
{
	if (off >= md->blobs.size)
		return (struct bytes){ 0 };
	struct cursor c = cursor_over((struct bytes){ md->blobs.data + off, md->blobs.size - off });
	const uint32_t size = clr_compressed(&c);
	return cursor_take(&c, size);
}

const uint8_t *clr_guid(const struct clr_metadata *md, uint32_t index)
{
	if (index == 0 || index > md->guids.size / GUID_BYTES)
		return NULL;
	return md->guids.data + (size_t)(index - 1) * GUID_BYTES;
}

/* The bytes that a number takes, and those of it beside the length's bits. */
static uint32_t read_compressed(struct cursor *c, unsigned int *bits)
{
	const uint8_t first = cursor_u8(c);
	if (!(first & 0x80)) {
		*bits = 7;
		return first;
	}
	const uint32_t second = cursor_u8(c);
	if (!(first & 0x40)) {
		*bits = 14;
		return (uint32_t)(first & 0x3f) << 8 | second;
	}
	const uint32_t third = cursor_u8(c);
	const uint32_t fourth = cursor_u8(c);
	if (first & 0x20)
		cursor_fail(c);
	*bits = 29;
	return (uint32_t)(first & 0x1f) << 24 | second << 16 | third << 8 | fourth;
}

uint32_t clr_compressed(struct cursor *c)
{
	unsigned int bits;
	const uint32_t value = read_compressed(c, &bits);
	return cursor_failed(c) ? 0 : value;
}

/* The sign is rotated into the lowest bit. */
int32_t clr_compressed_signed(struct cursor *c)
{
	unsigned int bits;
	const uint32_t value = read_compressed(c, &bits);
	if (cursor_failed(c))
		return 0;
	const int32_t magnitude = (int32_t)(value >> 1);
	return value & 1 ? magnitude - (int32_t)(1u << (bits - 1)) : magnitude;
}
