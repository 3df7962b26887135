/* Each allocation of lint fails once: it says so, and leaks nothing. */
#include "failing_memory.h"
#include "format/jitdump/build.h"
#include "lint/lint.h"

#include "base/status.h"

/* Returns how many allocations there were. */
static size_t fail_each(struct bytes file)
{
	for (size_t n = 1;; n++) {
		struct lint lint = { .limit = 0 };
		memory_fail_at(n);
		const int got = lint_file(&lint, file);
		const bool has_failed = memory_has_failed();
		memory_fail_at(0);
		assert_int_equal(got, has_failed ? STATUS_NO_MEMORY : STATUS_OK);
		lint_clear(&lint);
		if (!has_failed)
			return n - 1;
	}
}

static void jitdump(void **state)
{
	(void)state;
	struct build b = { 0 };
	build_header(&b, 40);
	for (uint64_t i = 0; i < 40; i++)
		build_load(&b, BUILD_TIME - i, 0x1000 + i, "a\nb", 64);
	build_move(&b, BUILD_TIME, 0x10, 0x20);
	sink_text(&b.out, "garbage behind it");
	const struct bytes dump = build_copy(&b);
	assert_true(fail_each(dump) > 5);
	build_free(dump);
}

static void perfmap(void **state)
{
	(void)state;
	static const char text[] = "10 10 a\n10 10 b\nnonsense\n20 10 c";
	assert_true(fail_each((struct bytes){ (const uint8_t *)text, sizeof(text) - 1 }) > 3);
}

static void empty(void **state)
{
	(void)state;
	assert_true(fail_each((struct bytes){ (const uint8_t *)"", 0 }) >= 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jitdump),
		cmocka_unit_test(perfmap),
		cmocka_unit_test(empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
