#include "base/status.h"
#include "elf_build.h"
#include "memory_files.h"
#include "test.h"

#include <lzma.h>
#include <stdlib.h>

static const uint8_t ID[] = { 0xab, 0xcd, 0x01, 0x02, 0x03 };
static const struct bytes BUILD_ID = { ID, sizeof(ID) };
static const char BY_ID[] = "/usr/lib/debug/.build-id/ab/cd010203.debug";

static void free_image(struct bytes image)
{
	free((void *)(uintptr_t)image.data);
}

/* What strip leaves: an exported function, and perhaps where the rest is. */
static struct bytes stripped(struct bytes build_id, const char *link, uint32_t crc)
{
	struct elf_build b;
	elf_build_start(&b, ET_DYN);
	b.build_id = build_id;
	b.debug_link = link;
	b.debug_crc = crc;
	b.symbol_type = SHT_DYNSYM;
	elf_build_symbol(&b, "exported", 0x1000, 16, STB_GLOBAL, STT_FUNC);
	return elf_build_end(&b);
}

static struct bytes debug_file(struct bytes build_id)
{
	struct elf_build b;
	elf_build_start(&b, ET_DYN);
	b.build_id = build_id;
	b.is_debug_file = true;
	elf_build_symbol(&b, "exported", 0x1000, 16, STB_GLOBAL, STT_FUNC);
	elf_build_symbol(&b, "hidden", 0x1100, 16, STB_LOCAL, STT_FUNC);
	return elf_build_end(&b);
}

/* Builds the table of entries[0]; true if it has the function of the debug file. */
static bool finds_hidden(struct memory_files *disk)
{
	const struct symbol_files files = memory_files(disk);
	struct symbol_table *table;
	struct symbol symbol;
	assert_int_equal(
	    symbol_table_file(&table, &files, disk->entries[0].path, (struct bytes){ 0 }),
	    STATUS_OK);
	assert_true(symbol_find(table, 0x1001, &symbol));
	assert_string_equal(symbol.name, "exported");
	const bool found = symbol_find(table, 0x1101, &symbol);
	assert_int_equal(disk->open_count, found && disk->count > 1 ? 2 : 1);
	if (found)
		assert_string_equal(symbol.name, "hidden");
	symbol_table_free(table);
	assert_int_equal(disk->open_count, 0);
	return found;
}

static void test_by_build_id(void **state)
{
	(void)state;
	static const uint8_t OTHER[] = { 0xab, 0xcd, 0x01, 0x02, 0x04 };
	const struct bytes program = stripped(BUILD_ID, NULL, 0);
	const struct bytes good = debug_file(BUILD_ID);
	const struct bytes wrong = debug_file((struct bytes){ OTHER, sizeof(OTHER) });
	const struct bytes none = debug_file((struct bytes){ 0 });
	struct memory_files disk = { .count = 2,
				     .entries = { { "/bin/a", program }, { BY_ID, good } } };
	assert_true(finds_hidden(&disk));
	disk.entries[1].bytes = wrong;
	assert_false(finds_hidden(&disk));
	disk.entries[1].bytes = none;
	assert_false(finds_hidden(&disk));
	disk.entries[1].bytes = (struct bytes){ (const uint8_t *)"\177ELF", 4 };
	assert_false(finds_hidden(&disk));
	free_image(program);
	free_image(good);
	free_image(wrong);
	free_image(none);
}

static void test_by_link(void **state)
{
	(void)state;
	const struct bytes debug = debug_file((struct bytes){ 0 });
	const uint32_t crc = lzma_crc32(debug.data, debug.size, 0);
	const struct bytes program = stripped((struct bytes){ 0 }, "a.debug", crc);
	struct memory_files disk = { .count = 2,
				     .entries = { { "/opt/x/a", program }, { NULL, debug } } };
	static const char *const PLACES[] = { "/opt/x/a.debug", "/opt/x/.debug/a.debug",
					      "/usr/lib/debug/opt/x/a.debug" };
	for (size_t i = 0; i < 3; i++) {
		disk.entries[1].path = PLACES[i];
		assert_true(finds_hidden(&disk));
	}
	disk.entries[1].path = "/opt/a.debug";
	disk.asked[0] = '\0';
	assert_false(finds_hidden(&disk));
	assert_string_equal(disk.asked, "/opt/x/a\n/opt/x/a.debug\n/opt/x/.debug/a.debug\n"
					"/usr/lib/debug/opt/x/a.debug\n");
	free_image(program);

	/* Another file of that name. */
	const struct bytes stale = stripped((struct bytes){ 0 }, "a.debug", crc ^ 1);
	disk.entries[0].bytes = stale;
	disk.entries[1].path = PLACES[0];
	assert_false(finds_hidden(&disk));
	free_image(stale);
	free_image(debug);
}

/* A link is a name, not a way to have any file of the machine read. */
static void test_links_that_are_paths(void **state)
{
	(void)state;
	static const char *const LINKS[] = { "../secret", "/etc/shadow", "..", "" };
	for (size_t i = 0; i < sizeof(LINKS) / sizeof(LINKS[0]); i++) {
		const struct bytes program = stripped((struct bytes){ 0 }, LINKS[i], 0);
		struct memory_files disk = { .count = 1, .entries = { { "/bin/a", program } } };
		assert_false(finds_hidden(&disk));
		assert_string_equal(disk.asked, "/bin/a\n");
		free_image(program);
	}
	/* An object that names itself is not opened twice. */
	const struct bytes program = stripped((struct bytes){ 0 }, "a", 0);
	struct memory_files disk = { .count = 1, .entries = { { "/bin/a", program } } };
	assert_false(finds_hidden(&disk));
	assert_string_equal(disk.asked, "/bin/a\n/bin/.debug/a\n/usr/lib/debug/bin/a\n");
	free_image(program);
}

static void test_own_symbols_need_no_debug_file(void **state)
{
	(void)state;
	const struct bytes program = debug_file(BUILD_ID);
	struct memory_files disk = { .count = 1, .entries = { { "/bin/a", program } } };
	assert_true(finds_hidden(&disk));
	assert_string_equal(disk.asked, "/bin/a\n");
	free_image(program);
}

static struct bytes with_mini_debug(struct bytes packed)
{
	struct elf_build b;
	elf_build_start(&b, ET_DYN);
	b.symbol_type = SHT_DYNSYM;
	b.mini_debug = packed;
	elf_build_symbol(&b, "exported", 0x1000, 16, STB_GLOBAL, STT_FUNC);
	return elf_build_end(&b);
}

static struct bytes pack(struct bytes plain)
{
	static uint8_t out[64 * 1024];
	size_t size = 0;
	assert_int_equal(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, plain.data, plain.size,
						 out, &size, sizeof(out)),
			 LZMA_OK);
	return (struct bytes){ out, size };
}

static void test_mini_debug(void **state)
{
	(void)state;
	struct elf_build b;
	elf_build_start(&b, ET_DYN);
	b.is_debug_file = true;
	elf_build_symbol(&b, "hidden", 0x1100, 16, STB_LOCAL, STT_FUNC);
	const struct bytes inner = elf_build_end(&b);
	const struct bytes packed = pack(inner);
	const struct bytes program = with_mini_debug(packed);
	struct memory_files disk = { .count = 1, .entries = { { "/bin/a", program } } };
	assert_true(finds_hidden(&disk));
	free_image(program);

	/* Damage costs the names in it alone. */
	for (size_t size = 0; size < packed.size; size += 7) {
		const struct bytes torn = with_mini_debug((struct bytes){ packed.data, size });
		disk.entries[0].bytes = torn;
		assert_false(finds_hidden(&disk));
		free_image(torn);
	}
	free_image(inner);
}

/* Seventy megabytes of zeros pack into a few thousand bytes. */
static void test_mini_debug_that_swells(void **state)
{
	(void)state;
	const size_t size = 70 << 20;
	uint8_t *zeros = calloc(1, size);
	assert_non_null(zeros);
	const struct bytes program = with_mini_debug(pack((struct bytes){ zeros, size }));
	free(zeros);
	struct memory_files disk = { .count = 1, .entries = { { "/bin/a", program } } };
	assert_false(finds_hidden(&disk));
	free_image(program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_build_id),
		cmocka_unit_test(test_by_link),
		cmocka_unit_test(test_links_that_are_paths),
		cmocka_unit_test(test_own_symbols_need_no_debug_file),
		cmocka_unit_test(test_mini_debug),
		cmocka_unit_test(test_mini_debug_that_swells),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
