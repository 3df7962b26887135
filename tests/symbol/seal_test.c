#include "base/status.h"
#include "symbol/table_internal.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

static const char *winner(struct symbol_candidate a, struct symbol_candidate b)
{
	static char name[64];
	struct symbol_table *table = symbol_table_new();
	struct symbol symbol;
	a.start_svma = b.start_svma = 0x1000;
	a.end_svma = b.end_svma = 0x1010;
	assert_true(symbol_add(table, &a) && symbol_add(table, &b));
	assert_int_equal(symbol_seal(table), STATUS_OK);
	assert_int_equal(symbol_count(table), 1);
	assert_true(symbol_find(table, 0x1004, &symbol));
	snprintf(name, sizeof(name), "%s", symbol.name);
	symbol_table_free(table);
	return name;
}

static void test_aliases(void **state)
{
	(void)state;
	const struct {
		const char *better;
		uint32_t better_flags;
		const char *worse;
		uint32_t worse_flags;
	} rows[] = {
		{ "sized", 0, "unsized_but_longer", SYMBOL_UNSIZED | SYMBOL_GLOBAL },
		{ "local", 0, "weak_but_longer", SYMBOL_WEAK },
		{ "glob", SYMBOL_GLOBAL, "local_but_longer", 0 },
		{ "strdup", SYMBOL_GLOBAL, "__strdup_longer", SYMBOL_GLOBAL },
		{ "_one", 0, "__two", 0 },
		{ "the_longer", SYMBOL_GLOBAL, "shorter", SYMBOL_GLOBAL },
		{ "weak", SYMBOL_WEAK, "name@plt", SYMBOL_PLT },
		{ "name@plt", SYMBOL_PLT, "", SYMBOL_BOUND },
		{ "f", SYMBOL_UNSIZED, "longer", SYMBOL_BOUND | SYMBOL_UNSIZED },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct symbol_candidate better = { .name = rows[i].better,
							 .flags = rows[i].better_flags };
		const struct symbol_candidate worse = { .name = rows[i].worse,
							.flags = rows[i].worse_flags };
		assert_string_equal(winner(better, worse), rows[i].better);
		assert_string_equal(winner(worse, better), rows[i].better);
	}
	/* All alike: the first one added stays. */
	const struct symbol_candidate one = { .name = "one" };
	const struct symbol_candidate two = { .name = "two" };
	assert_string_equal(winner(one, two), "one");
	assert_string_equal(winner(two, one), "two");
}

static void test_nested(void **state)
{
	(void)state;
	static const struct symbol_candidate ALL[] = {
		{ .start_svma = 100, .end_svma = 200, .name = "outer" },
		{ .start_svma = 120, .end_svma = 140, .name = "inner" },
		{ .start_svma = 130, .end_svma = 135, .name = "innermost" },
		{ .start_svma = 190, .end_svma = 220, .name = "across" },
		{ .start_svma = 300, .end_svma = 300, .name = "empty" },
	};
	static const struct {
		uint64_t svma;
		const char *name;
	} WANTED[] = {
		{ 99, NULL },      { 100, "outer" },     { 119, "outer" },     { 120, "inner" },
		{ 129, "inner" },  { 130, "innermost" }, { 134, "innermost" }, { 135, "inner" },
		{ 139, "inner" },  { 140, "outer" },     { 189, "outer" },     { 190, "across" },
		{ 219, "across" }, { 220, NULL },        { 300, NULL },
	};
	struct symbol_table *table = symbol_table_new();
	for (size_t i = 0; i < sizeof(ALL) / sizeof(ALL[0]); i++)
		assert_true(symbol_add(table, &ALL[i]));
	assert_int_equal(symbol_seal(table), STATUS_OK);
	for (size_t i = 0; i < sizeof(WANTED) / sizeof(WANTED[0]); i++) {
		struct symbol symbol;
		const bool found = symbol_find(table, WANTED[i].svma, &symbol);
		assert_int_equal(found, WANTED[i].name != NULL);
		if (found)
			assert_string_equal(symbol.name, WANTED[i].name);
	}
	symbol_table_free(table);
}

/* The rule in one sentence: of the sized symbols that cover the address, the one that
 * starts last; of aliases, the better one.
 */
static const struct symbol_candidate *naive(const struct symbol_candidate *all, size_t count,
					    uint64_t svma)
{
	const struct symbol_candidate *best = NULL;
	for (size_t i = 0; i < count; i++) {
		const struct symbol_candidate *c = &all[i];
		bool is_best_alias = true;
		for (size_t k = 0; k < count && is_best_alias; k++)
			is_best_alias = all[k].start_svma != c->start_svma || k == i ||
					symbol_is_better(c, &all[k]) ||
					(i < k && !symbol_is_better(&all[k], c));
		if (is_best_alias && svma >= c->start_svma && svma < c->end_svma &&
		    (!best || c->start_svma > best->start_svma))
			best = c;
	}
	return best;
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static void test_against_naive(void **state)
{
	(void)state;
	enum { MOST = 40, SPAN = 300 };
	uint64_t seed = 1;
	static char names[MOST][16];
	for (int round = 0; round < 400; round++) {
		struct symbol_candidate all[MOST];
		const size_t count = 1 + next_random(&seed) % MOST;
		/* Far apart in some rounds, so that the buckets are wide. */
		const uint64_t base = round % 3 == 0 ? 0 : next_random(&seed) << 30;
		const uint64_t far = round % 5 == 0 ? UINT64_C(1) << 40 : 0;
		struct symbol_table *table = symbol_table_new();
		for (size_t i = 0; i < count; i++) {
			snprintf(names[i], sizeof(names[i]), "f%zu", i);
			const uint64_t start = base + next_random(&seed) % SPAN +
					       (next_random(&seed) % 8 == 0 ? far : 0);
			all[i] = (struct symbol_candidate){
				.start_svma = start,
				.end_svma = start + next_random(&seed) % 60,
				.name = names[i],
				.flags = (uint32_t)(next_random(&seed) % 4),
			};
			assert_true(symbol_add(table, &all[i]));
		}
		assert_int_equal(symbol_seal(table), STATUS_OK);
		for (uint64_t i = 0; i < 2 * (SPAN + 80); i++) {
			const uint64_t svma =
			    base - 10 + i % (SPAN + 80) + (i >= SPAN + 80 ? far : 0);
			const struct symbol_candidate *wanted = naive(all, count, svma);
			struct symbol symbol;
			assert_int_equal(symbol_find(table, svma, &symbol), wanted != NULL);
			if (wanted)
				assert_string_equal(symbol.name, wanted->name);
		}
		symbol_table_free(table);
	}
}

static void test_ends_of_the_address_space(void **state)
{
	(void)state;
	struct symbol_table *table = symbol_table_new();
	const struct symbol_candidate low = { .start_svma = 0, .end_svma = 1, .name = "low" };
	const struct symbol_candidate high = { .start_svma = UINT64_MAX - 16,
					       .end_svma = UINT64_MAX,
					       .name = "high" };
	struct symbol symbol;
	assert_true(symbol_add(table, &high) && symbol_add(table, &low));
	assert_int_equal(symbol_seal(table), STATUS_OK);
	assert_true(symbol_find(table, 0, &symbol));
	assert_string_equal(symbol.name, "low");
	assert_false(symbol_find(table, 1, &symbol));
	assert_true(symbol_find(table, UINT64_MAX - 1, &symbol));
	assert_string_equal(symbol.name, "high");
	assert_false(symbol_find(table, UINT64_MAX, &symbol));
	symbol_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_against_naive),
		cmocka_unit_test(test_ends_of_the_address_space),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
