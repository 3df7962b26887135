/* What is put in comes out again, read by libelf and libdw. */
#include "base/status.h"
#include "build.h"
#include "read_back.h"
#include "test.h"

#include <stdlib.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols_and_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
