/* Where ELF objects have their call frame information, and how it is packed. */
#include "base/status.h"
#include "os/file.h"
#include "test.h"
#include "unwind/build.h"
#include "unwind/cfi_unpack.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static struct os_file self;

static int open_self(void **state)
{
	(void)state;
	return os_file_open(&self, "/proc/self/exe", OS_FILE_PLAIN);
}

static int close_self(void **state)
{
	(void)state;
	os_file_close(&self);
	return 0;
}

static uint8_t *copy_of_self(size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	assert_non_null(copy);
	memcpy(copy, self.bytes.data, size);
	return copy;
}

/* As the kernel needs a program: all that is left is the program headers. */
static void objects_without_sections_are_read(void **state)
{
	(void)state;
	struct cfi_table *whole;
	struct cfi_table *bare;
	uint8_t *copy = copy_of_self(self.bytes.size);
	Elf64_Ehdr header;
	memcpy(&header, copy, sizeof(header));
	header.e_shoff = 0;
	header.e_shnum = header.e_shstrndx = 0;
	memcpy(copy, &header, sizeof(header));
	assert_int_equal(cfi_table_elf(&whole, self.bytes), 0);
	assert_int_equal(cfi_table_elf(&bare, (struct bytes){ copy, self.bytes.size }), 0);
	size_t compared = 0;
	for (size_t i = 0; i < cfi_table_count(bare); i++) {
		const uint64_t svma = cfi_table_start(bare, i);
		const struct cfi_row *wanted = cfi_find(whole, svma);
		const struct cfi_row *row = cfi_find(bare, svma);
		assert_int_equal(wanted != NULL, row != NULL);
		if (!wanted || !row)
			continue;
		assert_memory_equal(&wanted->cfa, &row->cfa, sizeof(row->cfa));
		assert_int_equal(wanted->ruled, row->ruled);
		compared++;
	}
	assert_true(compared > 20);
	assert_true(cfi_table_count(bare) + 4 >= cfi_table_count(whole)); /* no stubs by name */
	cfi_table_free(whole);
	cfi_table_free(bare);
	free(copy);
}

static void read_all(struct bytes image, struct bytes debug)
{
	struct cfi_table *table;
	if (cfi_table_elf_debug(&table, image, debug) < 0)
		return;
	for (size_t i = 0; i < cfi_table_count(table) && i < 50; i++)
		(void)cfi_find(table, cfi_table_start(table, i));
	cfi_table_free(table);
}

static void torn_objects_are_survived(void **state)
{
	(void)state;
	enum { HEAD = sizeof(Elf64_Ehdr) + 4 * sizeof(Elf64_Phdr), STEPS = 300 };
	const size_t step = self.bytes.size / STEPS + 1;
	for (size_t size = 0; size < self.bytes.size; size += size < HEAD ? 1 : step) {
		uint8_t *copy = copy_of_self(size);
		read_all((struct bytes){ copy, size }, (struct bytes){ 0 });
		read_all(self.bytes, (struct bytes){ copy, size });
		free(copy);
	}
}

static void changed_headers_are_survived(void **state)
{
	(void)state;
	static const uint8_t values[] = { 0x01, 0xff };
	uint8_t *copy = copy_of_self(self.bytes.size);
	Elf64_Ehdr header;
	memcpy(&header, copy, sizeof(header));
	const size_t first_end = header.e_phoff + (size_t)header.e_phnum * sizeof(Elf64_Phdr);
	const size_t last_end = header.e_shoff + (size_t)header.e_shnum * sizeof(Elf64_Shdr);
	for (size_t at = 0; at < last_end; at = at + 1 == first_end ? header.e_shoff : at + 1) {
		const uint8_t was = copy[at];
		for (size_t v = 0; v < sizeof(values); v++) {
			copy[at] = values[v];
			read_all((struct bytes){ copy, self.bytes.size }, (struct bytes){ 0 });
		}
		copy[at] = was;
	}
	free(copy);
}

static void other_machines_have_none(void **state)
{
	(void)state;
	struct cfi_table *table;
	uint8_t *copy = copy_of_self(self.bytes.size);
	const struct bytes image = { copy, self.bytes.size };
	Elf64_Ehdr header;
	memcpy(&header, copy, sizeof(header));
	header.e_machine = EM_S390;
	memcpy(copy, &header, sizeof(header));
	assert_int_equal(cfi_table_elf(&table, image), STATUS_NOT_FOUND);
	header.e_machine = EM_AARCH64;
	memcpy(copy, &header, sizeof(header));
	assert_int_equal(cfi_table_elf(&table, image), 0);
	assert_int_equal(cfi_table_machine(table), UNWIND_AARCH64);
	cfi_table_free(table);
	free(copy);
}

static const char text[] = "call frame information, call frame information, call frame information";
static const uint8_t packed[] = { 0x78, 0xda, 0x4b, 0x4e, 0xcc, 0xc9, 0x51, 0x48, 0x2b,
				  0x4a, 0xcc, 0x4d, 0x55, 0xc8, 0xcc, 0x4b, 0xcb, 0x2f,
				  0xca, 0x4d, 0x2c, 0xc9, 0xcc, 0xcf, 0xd3, 0x51, 0x48,
				  0x26, 0x49, 0x1c, 0x00, 0x9a, 0x8f, 0x1a, 0x40 };

static void put_packed(struct sink *out, bool is_old, uint64_t size)
{
	if (is_old) {
		sink_put(out, "ZLIB", 4);
		sink_u64(out, __builtin_bswap64(size));
	} else {
		sink_u32(out, ELFCOMPRESS_ZLIB);
		sink_u32(out, 0);
		sink_u64(out, size);
		sink_u64(out, 1);
	}
	sink_put(out, packed, sizeof(packed));
}

static void check_packed(bool is_old)
{
	struct sink out = { 0 };
	void *owned = NULL;
	put_packed(&out, is_old, strlen(text));
	struct bytes section = sink_bytes(&out);
	assert_int_equal(cfi_unpack(&section, &owned, is_old), 0);
	assert_int_equal(section.size, strlen(text));
	assert_memory_equal(section.data, text, section.size);
	free(owned);
	for (size_t size = 0; size < out.size; size++) {
		uint8_t *copy = malloc(size ? size : 1);
		assert_non_null(copy);
		memcpy(copy, out.data, size);
		section = (struct bytes){ copy, size };
		owned = NULL;
		const int got = cfi_unpack(&section, &owned, is_old);
		assert_true(got == 0 || !owned);
		free(owned);
		free(copy);
	}
	for (size_t at = 0; at < out.size; at++) {
		out.data[at] ^= 0x81;
		section = sink_bytes(&out);
		owned = NULL;
		(void)cfi_unpack(&section, &owned, is_old);
		free(owned);
		out.data[at] ^= 0x81;
	}
	sink_reset(&out);
	put_packed(&out, is_old, (uint64_t)1 << 40);
	section = sink_bytes(&out);
	owned = NULL;
	assert_int_equal(cfi_unpack(&section, &owned, is_old), STATUS_TOO_BIG);
	assert_null(owned);
	sink_clear(&out);
}

static void packed_sections_are_unpacked(void **state)
{
	(void)state;
	check_packed(false);
	check_packed(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_without_sections_are_read),
		cmocka_unit_test(torn_objects_are_survived),
		cmocka_unit_test(changed_headers_are_survived),
		cmocka_unit_test(other_machines_have_none),
		cmocka_unit_test(packed_sections_are_unpacked),
	};
	return cmocka_run_group_tests(tests, open_self, close_self);
}
