/* Source lines and inlined functions, read back by libdw. */
#include "build.h"
#include "read_back.h"
#include "test.h"

#include <stdio.h>

static const uint8_t CODE[4096];

static void assert_line(const struct read_back *r, uint32_t function, uint64_t offset,
			const char *wanted)
{
	assert_string_equal(read_back_line(r, image_file_off(r->image, function) + offset), wanted);
}

static void assert_scopes(const struct read_back *r, uint32_t function, uint64_t offset,
			  const char *wanted)
{
	assert_string_equal(read_back_scopes(r, image_file_off(r->image, function) + offset),
			    wanted);
}

static struct read_back finished(struct image *image)
{
	struct read_back r;
	assert_int_equal(image_finish(image), 0);
	read_back_open(&r, image);
	return r;
}

static void test_rows(void **state)
{
	(void)state;
	struct image *image = build_new();
	build_function(image, "f", 0x1000, 1000, (struct bytes){ CODE, 1000 });
	build_line(image, 0, "a.js", 10);
	build_line(image, 4, "a.js", 11);
	build_line(image, 60, "b.js", 11);
	build_line(image, 61, "b.js", 100000);
	build_line(image, 99, "b.js", 1);
	build_line(image, 800, "a.js", UINT32_MAX / 2);
	struct read_back r = finished(image);
	assert_line(&r, 0, 0, "./a.js:10:0");
	assert_line(&r, 0, 3, "./a.js:10:0");
	assert_line(&r, 0, 4, "./a.js:11:0");
	assert_line(&r, 0, 59, "./a.js:11:0");
	assert_line(&r, 0, 60, "./b.js:11:0");
	assert_line(&r, 0, 98, "./b.js:100000:0");
	assert_line(&r, 0, 799, "./b.js:1:0");
	assert_line(&r, 0, 999, "./a.js:2147483647:0");
	assert_line(&r, 0, 1000, "?");
	read_back_close(&r);
}

/* No order, several for one offset (the last counts), outside the function, no source. */
static void test_dirt(void **state)
{
	(void)state;
	struct image *image = build_new();
	build_line(image, 0, "before any function.js", 1);
	build_function(image, "f", 0x1000, 100, (struct bytes){ CODE, 100 });
	build_line(image, 50, "a.js", 5);
	build_line(image, 20, "a.js", 1);
	build_line(image, 20, "a.js", 2);
	build_line(image, 100, "a.js", 6);
	build_line(image, UINT64_MAX, "a.js", 7);
	build_line(image, 70, "a.js", 0);
	build_line(image, 80, "", 8);
	build_line(image, 85, "a.js", (uint32_t)INT32_MAX + 1);
	build_line(image, 90, "a.js", 9);
	const struct image_line no_file = { .offset = 91, .file = 1000, .line = 1 };
	assert_int_equal(image_line(image, &no_file), 0);
	struct read_back r = finished(image);
	assert_line(&r, 0, 19, "?");
	assert_line(&r, 0, 20, "./a.js:2:0");
	assert_line(&r, 0, 50, "./a.js:5:0");
	assert_line(&r, 0, 69, "./a.js:5:0");
	assert_line(&r, 0, 70, "./a.js:0:0");
	assert_line(&r, 0, 80, "./a.js:0:0");
	assert_line(&r, 0, 85, "./a.js:0:0");
	assert_line(&r, 0, 99, "./a.js:9:0");
	read_back_close(&r);
}

static void test_columns(void **state)
{
	(void)state;
	struct image *image = build_new();
	build_function(image, "f", 0x1000, 100, (struct bytes){ CODE, 100 });
	const uint32_t file = image_source(image, (struct bytes){ (const uint8_t *)"a.js", 4 });
	for (uint32_t i = 0; i < 10; i++) {
		const struct image_line line = { (uint64_t)i * 10, file, 3, i * 8000 };
		assert_int_equal(image_line(image, &line), 0);
	}
	struct read_back r = finished(image);
	assert_line(&r, 0, 5, "./a.js:3:0");
	assert_line(&r, 0, 15, "./a.js:3:8000");
	assert_line(&r, 0, 85, "./a.js:3:64000");
	assert_line(&r, 0, 95, "./a.js:3:0"); /* 72000: more than libdw can take */
	read_back_close(&r);
}

/* Over many units, among them functions without lines and without bytes. */
static void test_many(void **state)
{
	(void)state;
	enum { COUNT = 1000 };
	struct image *image = build_new();
	char name[32];
	for (uint32_t i = 0; i < COUNT; i++) {
		(void)snprintf(name, sizeof(name), "function%u", i);
		build_function(image, name, 0x10000 + (uint64_t)(i % 200) * 64, 64,
			       (struct bytes){ CODE, i % 7 == 3 ? 0 : 64 });
		(void)snprintf(name, sizeof(name), "file%u.js", i % 50);
		for (uint32_t k = 0; k < 8 && i % 5 != 1; k++)
			build_line(image, (uint64_t)k * 8, name, 1 + i + k * (i % 40));
	}
	struct read_back r = finished(image);
	for (uint32_t i = 0; i < COUNT; i++) {
		for (uint32_t k = 0; k < 8; k++) {
			(void)snprintf(name, sizeof(name), "./file%u.js:%u:0", i % 50,
				       1 + i + k * (i % 40));
			assert_line(&r, i, (uint64_t)k * 8 + 7, i % 5 == 1 ? "?" : name);
		}
	}
	read_back_close(&r);
}

static void test_inlined(void **state)
{
	(void)state;
	struct image *image = build_new();
	build_function(image, "f", 0x1000, 100, (struct bytes){ CODE, 100 });
	build_line(image, 0, "a.js", 1);
	build_inline(image, 10, 40, 0, "outer");
	build_inline(image, 20, 10, 1, "inner");
	build_inline(image, 20, 5, 2, "innermost");
	build_inline(image, 40, 10, 1, "inner");
	build_inline(image, 60, 10, 0, "inner");
	build_function(image, "g", 0x2000, 100, (struct bytes){ CODE, 100 });
	build_inline(image, 0, 100, 0, "outer"); /* without lines */
	struct read_back r = finished(image);
	assert_scopes(&r, 0, 9, "f");
	assert_scopes(&r, 0, 10, "outer<f");
	assert_scopes(&r, 0, 20, "innermost<inner<outer<f");
	assert_scopes(&r, 0, 25, "inner<outer<f");
	assert_scopes(&r, 0, 30, "outer<f");
	assert_scopes(&r, 0, 49, "inner<outer<f");
	assert_scopes(&r, 0, 50, "f");
	assert_scopes(&r, 0, 65, "inner<f");
	assert_scopes(&r, 1, 99, "outer<g");
	read_back_close(&r);
}

/* Siblings that overlap, children beyond their parent, parents that are missing, no order. */
static void test_inlined_dirt(void **state)
{
	(void)state;
	struct image *image = build_new();
	build_inline(image, 0, 1, 0, "before any function");
	build_function(image, "f", 0x1000, 100, (struct bytes){ CODE, 100 });
	build_inline(image, 90, UINT64_MAX, 0, "too long");
	build_inline(image, 30, 20, 1, "child");
	build_inline(image, 10, 30, 0, "first");
	build_inline(image, 20, 30, 0, "second");
	build_inline(image, 60, 10, 1, "orphan");
	build_inline(image, 65, 0, 0, "empty");
	build_inline(image, 70, 5, 5000, "too deep");
	build_inline(image, 100, 5, 0, "outside");
	struct read_back r = finished(image);
	assert_scopes(&r, 0, 10, "first<f");
	assert_scopes(&r, 0, 39, "first<f");
	assert_scopes(&r, 0, 40, "child<second<f");
	assert_scopes(&r, 0, 49, "child<second<f");
	assert_scopes(&r, 0, 60, "f");
	assert_scopes(&r, 0, 65, "f");
	assert_scopes(&r, 0, 70, "f");
	assert_scopes(&r, 0, 99, "too long<f");
	read_back_close(&r);
}

static void test_deep(void **state)
{
	(void)state;
	struct image *image = build_new();
	build_function(image, "f", 0x1000, 4000, (struct bytes){ CODE, 4000 });
	for (uint32_t depth = 0; depth < 1000; depth++)
		build_inline(image, depth, 4000 - 2 * depth, depth, "i");
	struct read_back r = finished(image);
	assert_scopes(&r, 0, 2, "i<i<i<f");
	/* As deep as readers are trusted to go: names of 256 inlined functions. */
	assert_int_equal(strlen(read_back_scopes(&r, image_file_off(image, 0) + 2000)),
			 256 * 2 + 1);
	read_back_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),    cmocka_unit_test(test_dirt),
		cmocka_unit_test(test_columns), cmocka_unit_test(test_many),
		cmocka_unit_test(test_inlined), cmocka_unit_test(test_inlined_dirt),
		cmocka_unit_test(test_deep),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
