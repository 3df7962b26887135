/* Every allocation of the PDB reader fails once. */
#include "base/status.h"
#include "clr/pdb.h"
#include "failing_memory.h"
#include "test.h"

#include <stdio.h>

static uint8_t file[1 << 16];

static struct bytes read_corpus(const char *path)
{
	FILE *in = fopen(path, "rb");
	assert_non_null(in);
	const size_t size = fread(file, 1, sizeof(file), in);
	(void)fclose(in);
	return (struct bytes){ file, size };
}

/* Without memory a method has no lines, and has them when it is asked for again. */
static int use(const struct clr_pdb *pdb)
{
	struct clr_line line;
	struct sink text = { 0 };
	const bool has_line = clr_pdb_find(pdb, 0x06000003, 6, &line);
	const int got = clr_pdb_source(pdb, 1, &text);
	assert_true(got == 0 || got == STATUS_NO_MEMORY);
	assert_true(has_line || clr_pdb_find(pdb, 0x06000003, 6, &line));
	assert_int_equal(line.line, 100);
	sink_clear(&text);
	return has_line ? got : STATUS_NO_MEMORY;
}

static void test_all_fail(void **state)
{
	(void)state;
	const struct bytes embedded = read_corpus(TEST_DATA "/../../fuzz/corpus/clr_pdb/embedded");
	for (size_t n = 1;; n++) {
		struct clr_pdb *pdb;
		memory_fail_at(n);
		int got = clr_pdb_open_embedded(&pdb, embedded);
		assert_int_equal(got == 0, pdb != NULL);
		if (got == 0)
			got = use(pdb);
		clr_pdb_free(pdb);
		if (!memory_has_failed()) {
			assert_in_range(n, 5, 50);
			break;
		}
		assert_int_equal(got, STATUS_NO_MEMORY);
	}
	memory_fail_at(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_all_fail) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
