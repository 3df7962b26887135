/* What is put in comes out again, read by libelf and libdw. */
#include "base/status.h"
#include "build.h"
#include "read_back.h"
#include "test.h"

#include <elfutils/libdwelf.h>
#include <stdlib.h>
#include <sys/stat.h>

static const uint8_t CODE[256] = { 0x55, 0x48, 0x89, 0xe5, [100] = 7, [255] = 0xc3 };

static void test_symbols_and_bytes(void **state)
{
	(void)state;
	struct image *image = build_new();
	build_function(image, "first", 0x7f0000001000, 40, (struct bytes){ CODE, 40 });
	build_function(image, "second", 0x7f0000001040, 256, (struct bytes){ CODE, 256 });
	build_function(image, "no bytes", 0x7f0000002000, 33, (struct bytes){ 0 });
	build_function(image, "second", 0x7f0000001050, 64, (struct bytes){ CODE, 64 });
	build_function(image, "", 0x10, 1, (struct bytes){ CODE, 1 });
	assert_int_equal(image_finish(image), 0);
	struct read_back r;
	read_back_open(&r, image);
	static const struct {
		const char *name;
		uint64_t size;
		const char *section;
	} WANTED[] = { { "first", 40, ".text" },
		       { "second", 256, ".text" },
		       { "no bytes", 33, ".text.absent" },
		       { "second", 64, ".text" },
		       { "", 1, ".text" } };
	for (uint32_t i = 0; i < 5; i++) {
		const GElf_Sym symbol = read_back_symbol(&r, i);
		assert_string_equal(read_back_name(&r, &symbol), WANTED[i].name);
		assert_int_equal(symbol.st_size, WANTED[i].size);
		assert_int_equal(symbol.st_value, image_file_off(image, i));
		assert_int_equal(GELF_ST_TYPE(symbol.st_info), STT_FUNC);
		GElf_Shdr header;
		Elf_Scn *scn = read_back_section(&r, WANTED[i].section, &header);
		assert_int_equal(symbol.st_shndx, elf_ndxscn(scn));
		assert_int_equal(header.sh_addr, header.sh_offset);
		assert_in_range(symbol.st_value, header.sh_addr,
				header.sh_addr + header.sh_size - symbol.st_size);
		if (i != 2)
			assert_memory_equal(r.data + symbol.st_value, CODE, symbol.st_size);
	}
	read_back_close(&r);
}

/* Names and paths are the program's, and readers print them as they are. */
static void test_texts_drive_no_terminal(void **state)
{
	(void)state;
	struct image *image = build_new();
	const struct bytes path = { (const uint8_t *)"/a\x1b[2J/b\r.py", 12 };
	build_function(image, "\x1b]0;title\a\x1b[31mred", 0x1000, 40, (struct bytes){ CODE, 40 });
	const struct image_line line = { .file = image_source(image, path), .line = 3 };
	assert_int_equal(image_line(image, &line), 0);
	build_function(image, "two\nlines \xc2\x9b \x9b \xc3\xa9", 0x2000, 40, (struct bytes){ 0 });
	assert_int_equal(image_finish(image), 0);
	struct read_back r;
	read_back_open(&r, image);
	GElf_Sym symbol = read_back_symbol(&r, 0);
	assert_string_equal(read_back_name(&r, &symbol), "\\x1b]0;title\\x07\\x1b[31mred");
	symbol = read_back_symbol(&r, 1);
	assert_string_equal(read_back_name(&r, &symbol), "two\\nlines \\xc2\\x9b \\x9b \xc3\xa9");
	assert_string_equal(read_back_line(&r, image_file_off(image, 0)),
			    "/a\\x1b[2J/b\\x0d.py:3:0");
	read_back_close(&r);
}

/* Segments cover what perf and the dynamic loader would look for in them. */
static void test_segments(void **state)
{
	(void)state;
	struct image *image = build_everything(100, true);
	assert_int_equal(image_finish(image), 0);
	struct read_back r;
	read_back_open(&r, image);
	GElf_Ehdr header;
	assert_non_null(gelf_getehdr(r.elf, &header));
	assert_int_equal(header.e_type, ET_DYN);
	assert_int_equal(header.e_machine, EM_X86_64);
	GElf_Phdr load;
	assert_non_null(gelf_getphdr(r.elf, 0, &load));
	assert_int_equal(load.p_type, PT_LOAD);
	assert_int_equal(load.p_offset, 0);
	assert_int_equal(load.p_vaddr, 0);
	for (uint32_t i = 0; i < 100; i++) {
		const GElf_Sym symbol = read_back_symbol(&r, i);
		assert_true(symbol.st_value + symbol.st_size <= load.p_memsz);
	}
	GElf_Shdr eh_frame_hdr;
	assert_non_null(read_back_section(&r, ".eh_frame_hdr", &eh_frame_hdr));
	bool is_found = false;
	for (int i = 1; i < header.e_phnum; i++) {
		GElf_Phdr segment;
		assert_non_null(gelf_getphdr(r.elf, i, &segment));
		is_found |= segment.p_type == PT_GNU_EH_FRAME &&
			    segment.p_offset == eh_frame_hdr.sh_offset &&
			    segment.p_filesz == eh_frame_hdr.sh_size;
	}
	assert_true(is_found);
	read_back_close(&r);
}

static void test_build_id(void **state)
{
	(void)state;
	struct image *image = build_everything(30, false);
	assert_int_equal(image_finish(image), 0);
	struct read_back r;
	read_back_open(&r, image);
	const void *id;
	assert_int_equal(dwelf_elf_gnu_build_id(r.elf, &id), 20);
	assert_memory_equal(id, image_build_id(image).data, 20);
	read_back_close(&r);
}

static void test_same_bytes(void **state)
{
	(void)state;
	struct read_back r[2];
	for (unsigned i = 0; i < 2; i++) {
		struct image *image = build_everything(200, true);
		assert_int_equal(image_finish(image), 0);
		read_back_open(&r[i], image);
	}
	assert_int_equal(r[0].size, r[1].size);
	assert_memory_equal(r[0].data, r[1].data, r[0].size);
	read_back_close(&r[0]);
	read_back_close(&r[1]);
}

/* Whatever is different in the file: its id is. */
enum difference { CODE_BYTE, NAME, ADDRESS, SIZE, LINE, SOURCE, SCOPE, MACHINE, DIFFERENCE_COUNT };

static void make_id(int difference, uint8_t id[20])
{
	uint8_t code[100] = { 1, 2, 3 };
	code[99] = difference == CODE_BYTE;
	struct image *image;
	const struct image_options options = { .elf_machine =
						   difference == MACHINE ? EM_AARCH64 : EM_X86_64 };
	assert_int_equal(image_new(&image, &options), 0);
	build_function(image, difference == NAME ? "g" : "f", 0x1000, 100,
		       (struct bytes){ code, 100 });
	build_line(image, 4, difference == SOURCE ? "b.js" : "a.js", difference == LINE ? 2 : 1);
	build_inline(image, 10, 20, 0, difference == SCOPE ? "h" : "i");
	build_function(image, "second", difference == ADDRESS ? 0x1101 : 0x1100,
		       difference == SIZE ? 51 : 50, (struct bytes){ code, 50 });
	assert_int_equal(image_finish(image), 0);
	memcpy(id, image_build_id(image).data, 20);
	image_free(image);
}

static void test_every_difference_counts(void **state)
{
	(void)state;
	uint8_t ids[DIFFERENCE_COUNT + 1][20];
	for (int i = 0; i <= DIFFERENCE_COUNT; i++) {
		make_id(i, ids[i]);
		for (int k = 0; k < i; k++)
			assert_memory_not_equal(ids[i], ids[k], 20);
	}
}

/* No bytes are written where nothing is. */
static void test_holes(void **state)
{
	(void)state;
	struct image *image = build_new();
	for (uint32_t i = 0; i < 100; i++)
		build_unwound(image, "f", 0x7f0000000000u + (uint64_t)i * (1 << 20), 90,
			      (struct bytes){ CODE, 90 });
	assert_int_equal(image_finish(image), 0);
	struct read_back r;
	read_back_open(&r, image);
	struct stat st;
	assert_int_equal(fstat(r.fd, &st), 0);
	assert_true(st.st_size > 90 << 20);
	assert_true(st.st_blocks * 512 < 2 << 20);
	read_back_close(&r);
}

static void test_write_fails(void **state)
{
	(void)state;
	struct image *image = build_everything(10, false);
	assert_int_equal(image_finish(image), 0);
	assert_int_equal(image_write(image, -1), STATUS_IO);
	image_free(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols_and_bytes),
		cmocka_unit_test(test_texts_drive_no_terminal),
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_build_id),
		cmocka_unit_test(test_same_bytes),
		cmocka_unit_test(test_every_difference_counts),
		cmocka_unit_test(test_holes),
		cmocka_unit_test(test_write_fails),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
