/* Where functions lie: each in its own place, neighbours at their distance. */
#include "build.h"
#include "read_back.h"
#include "test.h"

#include "base/status.h"

#include <stdlib.h>

static const uint8_t CODE[4096];

static uint64_t random_state;

static uint64_t random_below(uint64_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % limit;
}

struct place {
	uint64_t start;
	uint64_t end;
};

static int by_start(const void *left, const void *right)
{
	const struct place *a = left;
	const struct place *b = right;
	return a->start < b->start ? -1 : a->start > b->start;
}

static void assert_own_places(const struct image *image)
{
	const uint32_t count = image_function_count(image);
	struct place *places = calloc(count, sizeof(*places));
	assert_non_null(places);
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t off = image_file_off(image, i);
		places[i] = (struct place){ off, off + image_function_size(image, i) };
	}
	qsort(places, count, sizeof(*places), by_start);
	for (uint32_t i = 0; i < count; i++) {
		assert_true(places[i].start > 64);
		assert_true(places[i].end > places[i].start);
		assert_true(i == 0 || places[i - 1].end <= places[i].start);
	}
	free(places);
}

static uint64_t distance(const struct image *image, uint32_t from, uint32_t to)
{
	return image_file_off(image, to) - image_file_off(image, from);
}

static void test_neighbours(void **state)
{
	(void)state;
	struct image *image = build_new();
	build_function(image, "b", 0x7f0000001080, 100, (struct bytes){ CODE, 100 });
	build_function(image, "a", 0x7f0000001000, 100, (struct bytes){ CODE, 100 });
	build_function(image, "c", 0x7f0000001200, 100, (struct bytes){ CODE, 100 });
	build_function(image, "far", 0x7f0000101000, 100, (struct bytes){ CODE, 100 });
	build_function(image, "b later", 0x7f0000001090, 100, (struct bytes){ CODE, 100 });
	build_function(image, "c later", 0x7f0000001200, 100, (struct bytes){ CODE, 100 });
	assert_int_equal(image_finish(image), 0);
	assert_own_places(image);
	assert_int_equal(distance(image, 1, 0), 0x80);
	assert_int_equal(distance(image, 1, 2), 0x200);
	assert_int_equal(distance(image, 4, 5), 0x170);
	assert_in_range(distance(image, 2, 3), 100, 1000);
	assert_int_equal(image_file_off(image, 3) % 16, 0);
	image_free(image);
}

static void test_random(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 60; round++) {
		random_state = 1 + round;
		struct image *image = build_new();
		const uint64_t span = (uint64_t)1 << (8 + round % 20);
		for (unsigned i = 0; i < 500; i++) {
			const uint64_t size = 1 + random_below(300);
			const uint64_t known = random_below(4) ? size : random_below(size + 1);
			build_function(image, "f", 0x10000 + random_below(span), size,
				       (struct bytes){ CODE, known });
		}
		assert_int_equal(image_finish(image), 0);
		assert_own_places(image);
		image_free(image);
	}
}

/* Nothing in the way: all of a code cache is one mirror of the memory. */
static void test_mirror(void **state)
{
	(void)state;
	struct image *image = build_new();
	random_state = 7;
	uint64_t avma[300];
	uint64_t next = 0x55550000;
	for (uint32_t i = 0; i < 300; i++) {
		const uint64_t size = 1 + random_below(200);
		avma[i] = next;
		next += size + random_below(400);
		build_function(image, "f", avma[i], size, (struct bytes){ CODE, size });
	}
	assert_int_equal(image_finish(image), 0);
	for (uint32_t i = 1; i < 300; i++)
		assert_int_equal(distance(image, 0, i), avma[i] - avma[0]);
	image_free(image);
}

/* Claims that no bytes prove are cut; the others stay as they are. */
static void test_claims(void **state)
{
	(void)state;
	struct image *image = build_new();
	build_function(image, "no end", 0x1000, UINT64_MAX, (struct bytes){ 0 });
	build_function(image, "no end, some bytes", 0x1000, UINT64_MAX, (struct bytes){ CODE, 10 });
	build_function(image, "at the end", UINT64_MAX, 1000, (struct bytes){ CODE, 1000 });
	build_function(image, "no size", 0x1000, 0, (struct bytes){ CODE, 10 });
	build_function(image, "nothing", 0x1000, 0, (struct bytes){ 0 });
	build_function(image, "too many bytes", 0x1000, 10, (struct bytes){ CODE, 20 });
	assert_int_equal(image_finish(image), 0);
	assert_own_places(image);
	assert_int_equal(image_function_size(image, 0), IMAGE_MAX_UNKNOWN_BYTES);
	assert_int_equal(image_function_size(image, 1), 10 + IMAGE_MAX_TAIL_BYTES);
	assert_int_equal(image_function_size(image, 2), 1000);
	assert_int_equal(image_function_size(image, 3), 10);
	assert_int_equal(image_function_size(image, 4), 1);
	assert_int_equal(image_function_size(image, 5), 10);
	struct read_back r;
	read_back_open(&r, image);
	read_back_close(&r);
}

static void test_hostile(void **state)
{
	(void)state;
	enum { COUNT = 100000 };
	struct image *same = build_new();
	struct image *nested = build_new();
	struct image *stairs = build_new();
	for (uint32_t i = 0; i < COUNT; i++) {
		build_function(same, "f", 0x1000, 32, (struct bytes){ CODE, 32 });
		build_function(nested, "f", 0x1000 + i, 2 * (uint64_t)(COUNT - i),
			       (struct bytes){ CODE, 1 });
		build_function(stairs, "f", 0x1000 + i, COUNT, (struct bytes){ 0 });
	}
	struct image *images[] = { same, nested, stairs };
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(image_finish(images[i]), 0);
		assert_own_places(images[i]);
		image_free(images[i]);
	}
}

static void test_too_big(void **state)
{
	(void)state;
	struct image *image = build_new();
	for (uint32_t i = 0; i < (1 << 20); i++)
		build_function(image, "f", 0x1000, UINT64_MAX, (struct bytes){ CODE, 1 });
	assert_int_equal(image_finish(image), STATUS_TOO_BIG);
	assert_int_equal(image_write(image, -1), STATUS_IO);
	image_free(image);
}

static void test_empty(void **state)
{
	(void)state;
	struct image *image = build_new();
	assert_int_equal(image_finish(image), 0);
	assert_int_equal(image_function_count(image), 0);
	assert_int_equal(image_file_off(image, 0), 0);
	struct read_back r;
	read_back_open(&r, image);
	GElf_Shdr header;
	assert_null(read_back_section(&r, ".text", &header));
	assert_null(r.dwarf);
	read_back_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_neighbours), cmocka_unit_test(test_random),
		cmocka_unit_test(test_mirror),     cmocka_unit_test(test_claims),
		cmocka_unit_test(test_hostile),    cmocka_unit_test(test_too_big),
		cmocka_unit_test(test_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
