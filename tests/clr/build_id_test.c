#include "clr/build_id.h"
#include "test.h"

#include <stdlib.h>

enum { PAGE = 4096 };

/* A file of so many bytes, all different from their neighbours. */
static struct bytes make(size_t size)
{
	uint8_t *data = malloc(size + 1);
	assert_non_null(data);
	for (size_t i = 0; i < size; i++)
		data[i] = (uint8_t)(i * 7 + i / PAGE);
	memcpy(data, "MZ", size < 2 ? size : 2);
	return (struct bytes){ data, size };
}

static uint8_t *writable(struct bytes file)
{
	return (uint8_t *)(uintptr_t)file.data;
}

/* Recordings have it: it may not change from version to version. */
static void test_stable(void **state)
{
	(void)state;
	static const uint8_t SMALL[CLR_BUILD_ID_SIZE] = { 0xa6, 0x9e, 0xd4, 0x43, 0xf5, 0x77, 0xf3,
							  0x59, 0x8c, 0xe2, 0x4e, 0x0d, 0xda, 0xd9,
							  0x9d, 0x9c, 0x6f, 0xde, 0x70, 0x67 };
	static const uint8_t LARGE[CLR_BUILD_ID_SIZE] = { 0x85, 0x1c, 0xcf, 0xaa, 0x43, 0x4a, 0x5c,
							  0x04, 0xb3, 0x49, 0xc6, 0x9e, 0x5b, 0x21,
							  0x0f, 0x87, 0x86, 0xc5, 0xd6, 0x5c };
	uint8_t id[CLR_BUILD_ID_SIZE];
	const struct bytes small = make(100);
	const struct bytes large = make(100 * PAGE + 5);
	assert_true(clr_build_id_of(small, id));
	assert_memory_equal(id, SMALL, sizeof(id));
	assert_true(clr_build_id_of(large, id));
	assert_memory_equal(id, LARGE, sizeof(id));
	free(writable(small));
	free(writable(large));
}

/* Up to 16 pages each byte counts, and the size. */
static void test_every_byte(void **state)
{
	(void)state;
	uint8_t id[CLR_BUILD_ID_SIZE];
	uint8_t other[CLR_BUILD_ID_SIZE];
	const struct bytes file = make(15 * PAGE + 100);
	assert_true(clr_build_id_of(file, id));
	for (size_t i = 2; i < file.size; i += 41) {
		writable(file)[i] ^= 1;
		assert_true(clr_build_id_of(file, other));
		assert_memory_not_equal(id, other, sizeof(id));
		writable(file)[i] ^= 1;
	}
	assert_true(clr_build_id_of((struct bytes){ file.data, file.size - 1 }, other));
	assert_memory_not_equal(id, other, sizeof(id));
	free(writable(file));
}

/* Of larger ones the headers. */
static void test_headers(void **state)
{
	(void)state;
	uint8_t id[CLR_BUILD_ID_SIZE];
	uint8_t other[CLR_BUILD_ID_SIZE];
	const struct bytes file = make(1000 * PAGE);
	assert_true(clr_build_id_of(file, id));
	for (size_t i = 2; i < PAGE; i += 61) {
		writable(file)[i] ^= 0x80;
		assert_true(clr_build_id_of(file, other));
		assert_memory_not_equal(id, other, sizeof(id));
		writable(file)[i] ^= 0x80;
	}
	/* The second page that is read, of 16. */
	writable(file)[62 * PAGE + 17] ^= 1;
	assert_true(clr_build_id_of(file, other));
	assert_memory_not_equal(id, other, sizeof(id));
	free(writable(file));
}

static void test_none(void **state)
{
	(void)state;
	uint8_t id[CLR_BUILD_ID_SIZE];
	assert_false(clr_build_id_of((struct bytes){ 0 }, id));
	assert_false(clr_build_id_of((struct bytes){ (const uint8_t *)"M", 1 }, id));
	assert_false(clr_build_id_of((struct bytes){ (const uint8_t *)"ZM", 2 }, id));
	assert_false(clr_build_id_of((struct bytes){ (const uint8_t *)"\177ELF", 4 }, id));
	assert_true(clr_build_id_of((struct bytes){ (const uint8_t *)"MZ", 2 }, id));
}

static bool read_start(void *context, uint64_t off, void *buffer, size_t size)
{
	const struct bytes *there = context;
	if (off + size > there->size)
		return false;
	memcpy(buffer, there->data + off, size);
	return true;
}

/* The file became shorter while it was read. */
static void test_shrunk(void **state)
{
	(void)state;
	uint8_t id[CLR_BUILD_ID_SIZE];
	struct bytes there = make(8 * PAGE);
	const struct clr_build_file file = { &there, read_start, 8 * PAGE };
	assert_true(clr_build_id(&file, id));
	there.size--;
	assert_false(clr_build_id(&file, id));
	there.size = 1;
	assert_false(clr_build_id(&file, id));
	free(writable(there));
}

/* Of a bundle the end counts, and the size. */
static void test_bundle(void **state)
{
	(void)state;
	enum { TAIL = 256 << 10, SIZE = TAIL + 5000 };
	static const uint8_t STABLE[CLR_BUILD_ID_SIZE] = { 0xa3, 0x67, 0x00, 0xcc, 0x64, 0x16, 0xf9,
							   0x7f, 0x8a, 0xd8, 0xdf, 0x8c, 0x1d, 0xf7,
							   0xbc, 0xff, 0xa9, 0xd2, 0x97, 0x66 };
	uint8_t id[CLR_BUILD_ID_SIZE];
	uint8_t other[CLR_BUILD_ID_SIZE];
	const struct bytes file = make(SIZE);
	assert_true(clr_bundle_id_of(file, id));
	assert_memory_equal(id, STABLE, sizeof(id));
	static const size_t COUNTS[] = { SIZE - TAIL, SIZE - 4096, SIZE - 1 };
	for (size_t i = 0; i < 3; i++) {
		writable(file)[COUNTS[i]] ^= 1;
		assert_true(clr_bundle_id_of(file, other));
		assert_memory_not_equal(id, other, sizeof(id));
		writable(file)[COUNTS[i]] ^= 1;
	}
	assert_true(clr_bundle_id_of((struct bytes){ file.data + 1, SIZE - 1 }, other));
	assert_memory_not_equal(id, other, sizeof(id));
	const struct bytes small = { file.data, 10 };
	assert_true(clr_bundle_id_of(small, other));
	struct bytes there = { file.data, SIZE - 1 };
	assert_false(clr_bundle_id(&(struct clr_build_file){ &there, read_start, SIZE }, id));
	free(writable(file));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stable),  cmocka_unit_test(test_every_byte),
		cmocka_unit_test(test_headers), cmocka_unit_test(test_none),
		cmocka_unit_test(test_shrunk),  cmocka_unit_test(test_bundle),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
