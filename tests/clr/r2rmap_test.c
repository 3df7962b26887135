#include "base/status.h"
#include "clr/r2rmap.h"
#include "test.h"

#include <stdlib.h>

static const uint8_t SIGNATURE[] = { 0x82, 0x89, 0xd0, 0x2a, 0xa4, 0x84, 0xbc, 0x70,
				     0x07, 0x3c, 0x30, 0x21, 0x6e, 0x05, 0x00, 0xbc };

/* As crossgen of SDK 10 writes it, with a line between that is none, and out of order. */
static const char TEXT[] =
    "FFFFFFFF 00 8289D02AA484BC70073C30216E0500BC\n"
    "FFFFFFFE 00 1\n"
    "FFFFFFFD 00 2\n"
    "FFFFFFFC 00 3\n"
    "FFFFFFFB 00 1\n"
    "00011390 30 Busy+P::.ctor(System.String, System.Int32)\n"
    "nothing of this kind\n"
    "00010DE0 5A9 System.Int32 Busy::Main(System.String[])\r\n"
    "00011900 11 System.Linq.IGrouping`2[System.Int32, Busy+P] Busy::Group()";

static struct bytes text_of(const char *text)
{
	return (struct bytes){ (const uint8_t *)text, strlen(text) };
}

/* The spelled name of what is there, or "-". */
static const char *at(const struct clr_r2rmap *map, uint32_t rva)
{
	static char text[256];
	struct clr_r2rmap_line line;
	struct sink name = { 0 };
	if (!clr_r2rmap_find(map, rva, &line))
		return "-";
	clr_r2rmap_spell(line.name, text_of("busy"), &name);
	sink_u8(&name, 0);
	assert_true(name.size <= sizeof(text));
	memcpy(text, name.data, name.size);
	sink_clear(&name);
	return text;
}

static void test_lines(void **state)
{
	(void)state;
	struct clr_r2rmap map = { 0 };
	assert_int_equal(clr_r2rmap_open(&map, text_of(TEXT), SIGNATURE), 0);
	assert_int_equal(map.lines.count, 3);
	assert_string_equal(at(&map, 0x10ddf), "-");
	assert_string_equal(at(&map, 0x10de0),
			    "System.Int32 [busy] Busy::Main(System.String[])[PreJIT]");
	assert_string_equal(at(&map, 0x10de0 + 0x5a8),
			    "System.Int32 [busy] Busy::Main(System.String[])[PreJIT]");
	assert_string_equal(at(&map, 0x10de0 + 0x5a9), "-");
	assert_string_equal(at(&map, 0x11390),
			    "void [busy] Busy+P::.ctor(System.String,System.Int32)[PreJIT]");
	assert_string_equal(
	    at(&map, 0x11900),
	    "System.Linq.IGrouping`2[System.Int32, Busy+P] [busy] Busy::Group()[PreJIT]");
	assert_string_equal(at(&map, UINT32_MAX), "-");
	clr_r2rmap_clear(&map);
}

static void test_others(void **state)
{
	(void)state;
	struct clr_r2rmap map = { 0 };
	uint8_t other[sizeof(SIGNATURE)];
	memcpy(other, SIGNATURE, sizeof(other));
	other[15] ^= 1;
	assert_int_equal(clr_r2rmap_open(&map, text_of(TEXT), other), STATUS_NOT_FOUND);
	assert_int_equal(clr_r2rmap_open(&map, text_of(""), SIGNATURE), STATUS_NOT_FORMAT);
	assert_int_equal(clr_r2rmap_open(&map, text_of("7f00 10 name\n"), SIGNATURE),
			 STATUS_NOT_FORMAT);
	assert_int_equal(clr_r2rmap_open(&map, text_of("FFFFFFFF 00 8289\n"), SIGNATURE),
			 STATUS_NOT_FOUND);
	assert_int_equal(map.lines.count, 0);
}

static void use(struct bytes text)
{
	struct clr_r2rmap map = { 0 };
	if (clr_r2rmap_open(&map, text, SIGNATURE) == 0)
		for (uint32_t rva = 0x10d00; rva < 0x11a00; rva += 7)
			(void)at(&map, rva);
	clr_r2rmap_clear(&map);
}

static void change_all(uint8_t *text, size_t size)
{
	static const uint8_t CHANGES[] = { 0, ' ', '\n', 'F', 0xff };
	for (size_t i = 0; i < size; i++) {
		const uint8_t before = text[i];
		for (size_t c = 0; c < sizeof(CHANGES); c++) {
			text[i] = CHANGES[c];
			use((struct bytes){ text, size });
		}
		text[i] = before;
	}
}

static void test_damage(void **state)
{
	(void)state;
	const size_t all = strlen(TEXT);
	for (size_t size = 0; size <= all; size++) {
		uint8_t *exact = malloc(size ? size : 1);
		assert_non_null(exact);
		memcpy(exact, TEXT, size);
		use((struct bytes){ exact, size });
		if (size == all)
			change_all(exact, size);
		free(exact);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_damage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
