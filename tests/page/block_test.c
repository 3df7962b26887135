/* Blocks of columns: what is put in comes out, of every size, and nothing else is in the page. */
#include "page/block.h"

#include "base/status.h"
#include "failing_memory.h"
#include "page/reading.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static void test_every_kind(void **state)
{
	(void)state;
	const uint8_t bytes[] = { 0, 1, 255 };
	const uint16_t shorts[] = { 0, 1, 65535, 9, 10 };
	const uint32_t words[] = { 0, UINT32_MAX };
	const double reals[] = { 0.5, -1e300, 9007199254740992.0 };
	struct sink out = { 0 };
	struct page_block *block = page_block_open(&out, "a");
	page_block_u8(block, "bytes", bytes, 3);
	page_block_u16(block, "a longer name", shorts, 5);
	page_block_u32(block, "words", words, 2);
	page_block_f64(block, "reals", reals, 3);
	page_block_text(block, "", (struct bytes){ (const uint8_t *)"{\"<\":1}", 7 });
	page_block_u32(block, "empty", NULL, 0);
	assert_int_equal(page_block_close(block), 0);

	struct page_reading reading = { 0 };
	page_read(&reading, sink_bytes(&out), "a");
	assert_int_equal(reading.columns.count, 6);
	assert_int_equal(page_value(page_column(&reading, "bytes"), 2), 255);
	assert_int_equal(page_value(page_column(&reading, "a longer name"), 2), 65535);
	assert_int_equal(page_value(page_column(&reading, "words"), 1), UINT32_MAX);
	for (size_t i = 0; i < 3; i++)
		assert_true(page_value(page_column(&reading, "reals"), i) == reals[i]);
	const struct page_column *text = page_column(&reading, "");
	assert_int_equal(text->kind, PAGE_TEXT);
	assert_memory_equal(text->values.data, "{\"<\":1}", 7);
	assert_int_equal(page_column(&reading, "empty")->values.size, 0);
	page_reading_clear(&reading);
	sink_clear(&out);
}

/* Sizes around those of base64's and the buffer's pieces; noise that does not pack. */
static void test_every_size(void **state)
{
	(void)state;
	static uint8_t noise[300000];
	uint64_t random = 1;
	for (size_t i = 0; i < sizeof(noise); i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		noise[i] = (uint8_t)(random >> 56);
	}
	const size_t sizes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 49151, 49152, 49153, 98304, 300000 };
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct sink out = { 0 };
		struct page_reading reading = { 0 };
		struct page_block *block = page_block_open(&out, "n");
		page_block_u8(block, "noise", noise, sizes[i]);
		assert_int_equal(page_block_close(block), 0);
		page_read(&reading, sink_bytes(&out), "n");
		assert_int_equal(page_column(&reading, "noise")->values.size, sizes[i]);
		assert_memory_equal(page_column(&reading, "noise")->values.data, noise, sizes[i]);
		page_reading_clear(&reading);
		sink_clear(&out);
	}
}

static void test_without_memory(void **state)
{
	(void)state;
	for (size_t n = 1;; n++) {
		struct sink out = { 0 };
		memory_fail_at(n);
		struct page_block *block = page_block_open(&out, "a");
		page_block_u32(block, "words", (const uint32_t[]){ 1, 2, 3 }, 3);
		const int got = page_block_close(block);
		sink_clear(&out);
		if (!memory_has_failed())
			break;
		assert_int_equal(got, STATUS_NO_MEMORY);
	}
	memory_fail_at(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kind),
		cmocka_unit_test(test_every_size),
		cmocka_unit_test(test_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
