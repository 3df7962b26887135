/* Metadata that are made here: how wide columns are, heaps, numbers, and what cannot be. */
#include "clr/metadata.h"

#include "base/sink.h"
#include "base/status.h"
#include "test.h"

#include <stdlib.h>

enum { STRINGS_WIDE = 1, GUIDS_WIDE = 2, BLOBS_WIDE = 4, EXTRA = 0x40 };

static const uint8_t STRINGS[] = "\0Twice\0Demo";
static const uint8_t BLOBS[] = { 0, 3, 'a', 'b', 'c', 0x80, 0x05, 'x' };
static const uint8_t GUIDS[32] = { 1, [16] = 2 };

/* What goes into one: rows of the tables, in their order. */
struct recipe {
	uint8_t heaps;
	uint64_t present;
	const uint32_t *counts; /* of those that are */
	struct bytes rows;
	struct bytes pdb; /* the stream; empty: none */
	const char *tables_name;
};

static void put_stream_header(struct sink *out, const char *name, size_t *size_at)
{
	*size_at = out->size;
	sink_u32(out, 0);
	sink_u32(out, 0);
	sink_cstr(out, name);
	sink_zeros(out, 3 - strlen(name) % 4);
}

static void put_stream(struct sink *out, size_t header_at, struct bytes bytes)
{
	sink_patch_u32(out, header_at, (uint32_t)out->size);
	sink_patch_u32(out, header_at + 4, (uint32_t)bytes.size);
	sink_put(out, bytes.data, bytes.size);
}

static struct sink make_tables(const struct recipe *recipe)
{
	struct sink out = { 0 };
	size_t next = 0;
	sink_u32(&out, 0);
	sink_u8(&out, 2);
	sink_u8(&out, 0);
	sink_u8(&out, recipe->heaps);
	sink_u8(&out, 1);
	sink_u64(&out, recipe->present);
	sink_u64(&out, 0);
	for (unsigned int table = 0; table < 64; table++)
		if (recipe->present >> table & 1)
			sink_u32(&out, recipe->counts[next++]);
	if (recipe->heaps & EXTRA)
		sink_u32(&out, 0x12345678);
	sink_put(&out, recipe->rows.data, recipe->rows.size);
	return out;
}

static struct sink make(const struct recipe *recipe)
{
	struct sink out = { 0 };
	size_t at[5] = { 0 };
	sink_text(&out, "BSJB");
	sink_u16(&out, 1);
	sink_u16(&out, 1);
	sink_u32(&out, 0);
	sink_u32(&out, 12);
	sink_put(&out, "v4.0.30319\0", 12);
	sink_u16(&out, 0);
	sink_u16(&out, recipe->pdb.size ? 5 : 4);
	put_stream_header(&out, recipe->tables_name ? recipe->tables_name : "#~", &at[0]);
	put_stream_header(&out, "#Strings", &at[1]);
	put_stream_header(&out, "#Blob", &at[2]);
	put_stream_header(&out, "#GUID", &at[3]);
	if (recipe->pdb.size)
		put_stream_header(&out, "#Pdb", &at[4]);
	struct sink tables = make_tables(recipe);
	put_stream(&out, at[0], sink_bytes(&tables));
	sink_clear(&tables);
	put_stream(&out, at[1], (struct bytes){ STRINGS, sizeof(STRINGS) });
	put_stream(&out, at[2], (struct bytes){ BLOBS, sizeof(BLOBS) });
	put_stream(&out, at[3], (struct bytes){ GUIDS, sizeof(GUIDS) });
	if (recipe->pdb.size)
		put_stream(&out, at[4], recipe->pdb);
	assert_false(sink_failed(&out));
	return out;
}

static int open_result(const struct recipe *recipe)
{
	struct sink out = make(recipe);
	struct clr_metadata md;
	const int got = clr_metadata_open(&md, sink_bytes(&out));
	sink_clear(&out);
	return got;
}

static void test_narrow_columns(void **state)
{
	(void)state;
	/* Methods: address, two flags, name, signature, first parameter. */
	static const uint8_t ROWS[] = { 1, 2, 3, 4, 5, 0, 6, 0, 1, 0, 1, 0, 9, 0,
					0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 5, 0, 8, 0 };
	static const uint32_t COUNTS[] = { 2 };
	const struct recipe recipe = { .present = 1ull << CLR_METHOD_DEF,
				       .counts = COUNTS,
				       .rows = { ROWS, sizeof(ROWS) } };
	struct sink out = make(&recipe);
	struct clr_metadata md;
	assert_int_equal(clr_metadata_open(&md, sink_bytes(&out)), 0);
	assert_int_equal(clr_row_count(&md, CLR_METHOD_DEF), 2);
	assert_int_equal(clr_row_count(&md, CLR_TYPE_DEF), 0);
	assert_int_equal(clr_row_count(&md, CLR_NO_TABLE), 0);
	assert_int_equal(clr_get(&md, CLR_METHOD_DEF, 1, CLR_METHOD_DEF_RVA), 0x04030201);
	assert_int_equal(clr_get(&md, CLR_METHOD_DEF, 1, CLR_METHOD_DEF_FLAGS), 6);
	assert_int_equal(clr_get(&md, CLR_METHOD_DEF, 1, CLR_METHOD_DEF_PARAMS), 9);
	assert_int_equal(clr_get(&md, CLR_METHOD_DEF, 2, CLR_METHOD_DEF_PARAMS), 8);
	assert_int_equal(clr_get(&md, CLR_METHOD_DEF, 0, CLR_METHOD_DEF_PARAMS), 0);
	assert_int_equal(clr_get(&md, CLR_METHOD_DEF, 3, CLR_METHOD_DEF_PARAMS), 0);
	assert_int_equal(clr_get(&md, CLR_METHOD_DEF, 1, 6), 0);
	assert_int_equal(clr_get(&md, CLR_NO_TABLE, 1, 0), 0);
	const struct bytes name =
	    clr_string(&md, clr_get(&md, CLR_METHOD_DEF, 2, CLR_METHOD_DEF_NAME));
	assert_int_equal(name.size, 4);
	assert_memory_equal(name.data, "Demo", 4);
	sink_clear(&out);
}

/* All heaps are large, and so are the tables that are referred to, here and in the assembly. */
static void test_wide_columns(void **state)
{
	(void)state;
	static const uint32_t COUNTS[] = { 1, 1, 1 };
	struct sink pdb = { 0 };
	struct sink rows = { 0 };
	sink_zeros(&pdb, 24);
	sink_u64(&pdb, 1ull << CLR_METHOD_DEF | 1ull << CLR_TYPE_DEF);
	sink_u32(&pdb, 2048);    /* types: five bits of tag leave 11 for a row */
	sink_u32(&pdb, 0x10000); /* methods */
	sink_u32(&rows, 1);      /* a document: name, algorithm, hash, language */
	sink_u32(&rows, 2);
	sink_u32(&rows, 5);
	sink_u32(&rows, 2);
	sink_u32(&rows, 0x11111); /* a state machine's two methods */
	sink_u32(&rows, 0x22222);
	sink_u32(&rows, 0x33333); /* other information: owner, kind, value */
	sink_u32(&rows, 1);
	sink_u32(&rows, 1);
	const struct recipe recipe = {
		.heaps = STRINGS_WIDE | GUIDS_WIDE | BLOBS_WIDE | EXTRA,
		.present = 1ull << CLR_DOCUMENT | 1ull << CLR_STATE_MACHINE_METHOD |
			   1ull << CLR_CUSTOM_DEBUG_INFORMATION,
		.counts = COUNTS,
		.rows = sink_bytes(&rows),
		.pdb = sink_bytes(&pdb),
	};
	struct sink out = make(&recipe);
	struct clr_metadata md;
	assert_int_equal(clr_metadata_open(&md, sink_bytes(&out)), 0);
	assert_int_equal(clr_get(&md, CLR_DOCUMENT, 1, CLR_DOCUMENT_LANGUAGE), 2);
	assert_int_equal(clr_get(&md, CLR_STATE_MACHINE_METHOD, 1, CLR_STATE_MACHINE_KICKOFF),
			 0x22222);
	assert_int_equal(clr_get(&md, CLR_CUSTOM_DEBUG_INFORMATION, 1, CLR_CUSTOM_DEBUG_PARENT),
			 0x33333);
	assert_int_equal(clr_get(&md, CLR_CUSTOM_DEBUG_INFORMATION, 1, CLR_CUSTOM_DEBUG_VALUE), 1);
	/* The assembly's rows decide about widths, they are not here. */
	assert_int_equal(clr_row_count(&md, CLR_METHOD_DEF), 0);
	sink_clear(&out);
	sink_clear(&rows);
	sink_clear(&pdb);
}

static void test_heaps(void **state)
{
	(void)state;
	const struct recipe recipe = { 0 };
	struct sink out = make(&recipe);
	struct clr_metadata md;
	assert_int_equal(clr_metadata_open(&md, sink_bytes(&out)), 0);
	assert_int_equal(clr_string(&md, 0).size, 0);
	assert_int_equal(clr_string(&md, 1).size, 5);
	assert_int_equal(clr_string(&md, sizeof(STRINGS)).size, 0);
	assert_int_equal(clr_string(&md, UINT32_MAX).size, 0);
	assert_int_equal(clr_blob(&md, 0).size, 0);
	assert_int_equal(clr_blob(&md, 1).size, 3);
	assert_memory_equal(clr_blob(&md, 1).data, "abc", 3);
	assert_int_equal(clr_blob(&md, 5).size, 0); /* five bytes are not there */
	assert_int_equal(clr_blob(&md, UINT32_MAX).size, 0);
	assert_null(clr_guid(&md, 0));
	assert_int_equal(clr_guid(&md, 2)[0], 2);
	assert_null(clr_guid(&md, 3));
	sink_clear(&out);
}

static void test_what_cannot_be(void **state)
{
	(void)state;
	static const uint32_t ONE[] = { 1 };
	static const uint32_t MANY[] = { UINT32_MAX };
	static const uint8_t ROW[14];
	struct recipe recipe = { .present = 1ull << CLR_METHOD_DEF,
				 .counts = ONE,
				 .rows = { ROW, sizeof(ROW) } };
	assert_int_equal(open_result(&recipe), 0);
	recipe.rows.size--;
	assert_int_equal(open_result(&recipe), STATUS_CORRUPT);
	recipe.rows.size++;
	recipe.counts = MANY;
	assert_int_equal(open_result(&recipe), STATUS_CORRUPT);
	recipe.counts = ONE;
	recipe.tables_name = "#-";
	assert_int_equal(open_result(&recipe), STATUS_UNSUPPORTED);
	recipe.tables_name = "#Other";
	assert_int_equal(open_result(&recipe), STATUS_CORRUPT);
	recipe.tables_name = NULL;
	recipe.present = 1ull << 0x2d;
	assert_int_equal(open_result(&recipe), STATUS_UNSUPPORTED);
	recipe.present = 1ull << 63;
	assert_int_equal(open_result(&recipe), STATUS_UNSUPPORTED);
}

static void test_coded_indices(void **state)
{
	(void)state;
	struct clr_ref ref = clr_decode(CLR_TYPE_DEF_OR_REF, 5 << 2 | 2);
	assert_int_equal(ref.table, CLR_TYPE_SPEC);
	assert_int_equal(ref.row, 5);
	ref = clr_decode(CLR_CUSTOM_ATTRIBUTE_TYPE, 7 << 3 | 3);
	assert_int_equal(ref.table, CLR_MEMBER_REF);
	assert_int_equal(ref.row, 7);
	ref = clr_decode(CLR_HAS_CUSTOM_DEBUG_INFORMATION, 9 << 5 | 22);
	assert_int_equal(ref.table, CLR_DOCUMENT);
	assert_int_equal(clr_decode(CLR_CUSTOM_ATTRIBUTE_TYPE, 0).table, CLR_NO_TABLE);
	assert_int_equal(clr_decode(CLR_HAS_CUSTOM_ATTRIBUTE, 31).table, CLR_NO_TABLE);
	assert_int_equal(clr_decode(CLR_CODED_COUNT, 0).table, CLR_NO_TABLE);
}

static uint32_t number_of(const char *text, size_t size)
{
	struct cursor c = cursor_over((struct bytes){ (const uint8_t *)text, size });
	const uint32_t value = clr_compressed(&c);
	assert_false(cursor_failed(&c));
	assert_int_equal(cursor_left(&c), 0);
	return value;
}

static int32_t signed_of(const char *text, size_t size)
{
	struct cursor c = cursor_over((struct bytes){ (const uint8_t *)text, size });
	const int32_t value = clr_compressed_signed(&c);
	assert_false(cursor_failed(&c));
	return value;
}

/* The examples of II.23.2. */
static void test_numbers(void **state)
{
	(void)state;
	assert_int_equal(number_of("\x03", 1), 0x03);
	assert_int_equal(number_of("\x7f", 1), 0x7f);
	assert_int_equal(number_of("\x80\x80", 2), 0x80);
	assert_int_equal(number_of("\xae\x57", 2), 0x2e57);
	assert_int_equal(number_of("\xbf\xff", 2), 0x3fff);
	assert_int_equal(number_of("\xc0\x00\x40\x00", 4), 0x4000);
	assert_int_equal(number_of("\xdf\xff\xff\xff", 4), 0x1fffffff);
	assert_int_equal(signed_of("\x06", 1), 3);
	assert_int_equal(signed_of("\x7b", 1), -3);
	assert_int_equal(signed_of("\x80\x80", 2), 64);
	assert_int_equal(signed_of("\x01", 1), -64);
	assert_int_equal(signed_of("\xc0\x00\x40\x00", 4), 8192);
	assert_int_equal(signed_of("\x80\x01", 2), -8192);
	assert_int_equal(signed_of("\xdf\xff\xff\xfe", 4), 268435455);
	assert_int_equal(signed_of("\xc0\x00\x00\x01", 4), -268435456);
}

static void test_damaged_numbers(void **state)
{
	(void)state;
	static const char *const DAMAGED[] = { "", "\x80", "\xc0\x01\x01", "\xff",
					       "\xe0\x01\x01\x01" };
	for (size_t i = 0; i < sizeof(DAMAGED) / sizeof(DAMAGED[0]); i++) {
		struct cursor c =
		    cursor_over((struct bytes){ (const uint8_t *)DAMAGED[i], strlen(DAMAGED[i]) });
		assert_int_equal(clr_compressed(&c), 0);
		assert_true(cursor_failed(&c));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_narrow_columns),  cmocka_unit_test(test_wide_columns),
		cmocka_unit_test(test_heaps),           cmocka_unit_test(test_what_cannot_be),
		cmocka_unit_test(test_coded_indices),   cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_damaged_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
