/* Unwinding information: as libdw finds it, and where an unwinder in the process would. */
#include "build.h"
#include "read_back.h"
#include "test.h"

#include <dwarf.h>
#include <stdlib.h>

static const uint8_t CODE[512];

/* The CFA's distance from rsp; -1: nothing is known of the address. */
static int64_t cfa_offset(const struct read_back *r, uint64_t off)
{
	Dwarf_CFI *cfi = dwarf_getcfi_elf(r->elf);
	assert_non_null(cfi);
	Dwarf_Frame *frame = NULL;
	if (dwarf_cfi_addrframe(cfi, off, &frame) != 0) {
		dwarf_cfi_end(cfi);
		return -1;
	}
	Dwarf_Op *ops;
	size_t count;
	assert_int_equal(dwarf_frame_cfa(frame, &ops, &count), 0);
	assert_int_equal(count, 1);
	assert_int_equal(ops[0].atom, DW_OP_bregx);
	assert_int_equal(ops[0].number, 7);
	const int64_t offset = (int64_t)ops[0].number2;
	free(frame);
	dwarf_cfi_end(cfi);
	return offset;
}

static struct read_back finished(struct image *image)
{
	struct read_back r;
	assert_int_equal(image_finish(image), 0);
	read_back_open(&r, image);
	return r;
}

static void assert_maps_are_free(const struct image *image, uint64_t avoid, uint64_t avoid_end,
				 const uint64_t *starts, uint64_t size)
{
	for (size_t m = 0; m < image_unwind_map_count(image); m++) {
		const struct image_unwind_map map = image_unwind_map(image, m);
		assert_int_equal(map.start_avma % 4096, 0);
		assert_int_equal(map.file_off, 0);
		assert_true(map.start_avma >= avoid_end || map.start_avma + map.size <= avoid);
		for (uint32_t i = 0; i < image_function_count(image); i++)
			assert_true(map.start_avma >= starts[i] + size ||
				    map.start_avma + map.size <= starts[i]);
		for (size_t k = 0; k < m; k++) {
			const struct image_unwind_map other = image_unwind_map(image, k);
			assert_true(map.start_avma >= other.start_avma + other.size ||
				    map.start_avma + map.size <= other.start_avma);
		}
	}
}

static void test_tables(void **state)
{
	(void)state;
	enum { COUNT = 300, SIZE = 90 };
	struct image *image = build_new();
	uint64_t starts[COUNT];
	for (uint32_t i = 0; i < COUNT; i++) {
		/* Three areas, the last one of addresses that are used again. */
		starts[i] = 0x7f0000100000u + (uint64_t)(i / 100) * 0x4000000000u +
			    (uint64_t)(i % 100) * 4096;
		if (i >= 250)
			starts[i] = starts[i - 20];
		build_unwound(image, "f", starts[i], SIZE, (struct bytes){ CODE, SIZE });
	}
	const uint64_t avoid = 0x7f00000f0000;
	const uint64_t avoid_end = 0x7f0000100000;
	assert_int_equal(image_avoid(image, avoid, avoid_end - avoid), 0);
	struct read_back r = finished(image);
	for (uint32_t i = 0; i < COUNT; i++) {
		const uint64_t off = image_file_off(image, i);
		assert_int_equal(cfa_offset(&r, off + 3), 8);
		assert_int_equal(cfa_offset(&r, off + 4), 16);
		assert_int_equal(cfa_offset(&r, off + SIZE - 1), 16);
		assert_int_equal(cfa_offset(&r, off + SIZE), -1);
		const size_t map = image_unwind_map_of(image, i);
		assert_true(map < image_unwind_map_count(image));
		assert_int_equal(image_unwind_map(image, map).start_avma + off, starts[i]);
	}
	assert_in_range(image_unwind_map_count(image), 3, 8);
	uint32_t served[8] = { 0 };
	for (uint32_t i = 0; i < COUNT; i++)
		served[image_unwind_map_of(image, i)]++;
	for (size_t i = 1; i < image_unwind_map_count(image); i++)
		assert_true(served[i - 1] >= served[i]);
	assert_maps_are_free(image, avoid, avoid_end, starts, SIZE);
	/* The map holds all that is looked for in it. */
	GElf_Shdr header;
	assert_non_null(read_back_section(&r, ".eh_frame", &header));
	assert_true(header.sh_offset + header.sh_size <= image_unwind_map(image, 0).size);
	assert_true(image_file_size(image) < 64 << 20);
	read_back_close(&r);
}

/* No room: the functions are there, and their tables, but no map. */
static void test_no_room(void **state)
{
	(void)state;
	struct image *image = build_new();
	build_unwound(image, "f", 0x7f0000100000, 90, (struct bytes){ CODE, 90 });
	build_function(image, "g", 0x7f0000200000, 90, (struct bytes){ CODE, 90 });
	assert_int_equal(image_avoid(image, 0, UINT64_MAX), 0);
	struct read_back r = finished(image);
	assert_int_equal(image_unwind_map_count(image), 0);
	assert_int_equal(image_unwind_map_of(image, 0), SIZE_MAX);
	assert_int_equal(cfa_offset(&r, image_file_off(image, 0) + 50), 16);
	assert_int_equal(cfa_offset(&r, image_file_off(image, 1) + 50), -1);
	read_back_close(&r);
}

/* Nobody asked for maps: the tables are in the file, and no hole is made for them. */
static void test_not_asked(void **state)
{
	(void)state;
	struct image *image;
	assert_int_equal(image_new(&image, &(struct image_options){ .elf_machine = EM_X86_64 }), 0);
	build_unwound(image, "f", 0x7f0000100000, 90, (struct bytes){ CODE, 90 });
	build_unwound(image, "g", 0x7f0000200000, 90, (struct bytes){ CODE, 90 });
	struct read_back r = finished(image);
	assert_int_equal(image_unwind_map_count(image), 0);
	assert_int_equal(cfa_offset(&r, image_file_off(image, 0) + 50), 16);
	assert_int_equal(cfa_offset(&r, image_file_off(image, 1) + 50), 16);
	assert_in_range(image_file_off(image, 1) - image_file_off(image, 0), 90, 106);
	read_back_close(&r);
}

/* Distances from another layout: a lone entry still means the function. */
static void test_misplaced(void **state)
{
	(void)state;
	size_t hdr_size;
	struct sink blob = build_unwinding(400, &hdr_size);
	struct image *image = build_new();
	build_function(image, "f", 0x10000000, 300, (struct bytes){ CODE, 300 });
	assert_int_equal(image_unwinding(image, sink_bytes(&blob), hdr_size), 0);
	struct read_back r = finished(image);
	assert_int_equal(cfa_offset(&r, image_file_off(image, 0)), 8);
	assert_int_equal(cfa_offset(&r, image_file_off(image, 0) + 299), 16);
	read_back_close(&r);
	sink_clear(&blob);
}

/* As hostile input has it: cut everywhere, each byte changed. */
static void test_damaged(void **state)
{
	(void)state;
	enum { SIZE = 90 };
	size_t hdr_size;
	struct sink blob = build_unwinding(SIZE, &hdr_size);
	assert_true(blob.size > 0);
	for (size_t i = 0; i < 3 * blob.size; i++) {
		const size_t size = i < blob.size ? i : blob.size;
		uint8_t *copy = malloc(size ? size : 1);
		assert_non_null(copy);
		memcpy(copy, blob.data, size);
		if (i >= 2 * blob.size)
			copy[i % blob.size] = 0xff;
		else if (i >= blob.size)
			copy[i % blob.size] ^= 1;
		struct image *image = build_new();
		build_function(image, "f", 0x10000000, SIZE, (struct bytes){ CODE, SIZE });
		const size_t hdr = i < blob.size ? 0 : hdr_size;
		assert_int_equal(image_unwinding(image, (struct bytes){ copy, size }, hdr), 0);
		struct read_back r = finished(image);
		GElf_Shdr header;
		if (read_back_section(&r, ".eh_frame", &header))
			(void)dwarf_cfi_end(dwarf_getcfi_elf(r.elf));
		read_back_close(&r);
		free(copy);
	}
	sink_clear(&blob);
}

static void test_ignored(void **state)
{
	(void)state;
	size_t hdr_size;
	struct sink blob = build_unwinding(90, &hdr_size);
	struct image *image = build_new();
	assert_int_equal(image_unwinding(image, sink_bytes(&blob), hdr_size), 0);
	build_function(image, "no bytes", 0x10000, 90, (struct bytes){ 0 });
	assert_int_equal(image_unwinding(image, sink_bytes(&blob), hdr_size), 0);
	build_function(image, "header too large", 0x20000, 90, (struct bytes){ CODE, 90 });
	assert_int_equal(image_unwinding(image, sink_bytes(&blob), SIZE_MAX), 0);
	struct read_back r = finished(image);
	GElf_Shdr header;
	assert_null(read_back_section(&r, ".eh_frame", &header));
	assert_int_equal(image_unwind_map_count(image), 0);
	read_back_close(&r);
	sink_clear(&blob);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),    cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_misplaced), cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_ignored),   cmocka_unit_test(test_not_asked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
