#include "diff/match.h"

#include "base/status.h"
#include "diff/fixture.h"
#include "failing_memory.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

enum { NAMES_MOST = 16 };

struct both {
	struct profile profiles[DIFF_SIDES];
	struct diff_match match;
};

/* Lists end with NULL. */
static void match_names(struct both *b, const char *const *before, const char *const *after)
{
	memset(b, 0, sizeof(*b));
	for (size_t i = 0; before[i]; i++)
		fixture_add(&b->profiles[0], before[i], 1);
	for (size_t i = 0; after[i]; i++)
		fixture_add(&b->profiles[1], after[i], 1);
	const struct diff_side sides[] = { { &b->profiles[0], DIFF_BEFORE },
					   { &b->profiles[1], DIFF_AFTER } };
	assert_int_equal(diff_match_build(&b->match, sides, 2), 0);
}

static void clear(struct both *b)
{
	diff_match_clear(&b->match);
	profile_clear(&b->profiles[0]);
	profile_clear(&b->profiles[1]);
}

/* For each function of `before`, in its order, which one of `after` it is; -1: none. */
static void check_pairs(const struct both *b, const int *expected)
{
	for (uint32_t i = 0; i < b->profiles[0].functions.count; i++) {
		int found = -1;
		for (uint32_t j = 0; j < b->profiles[1].functions.count; j++)
			if (diff_match_of(&b->match, 0, i) == diff_match_of(&b->match, 1, j)) {
				assert_int_equal(found, -1);
				found = (int)j;
			}
		assert_int_equal(found, expected[i]);
		const struct diff_function *f =
		    &b->match.functions.items[diff_match_of(&b->match, 0, i)];
		assert_int_equal(f->is_on[DIFF_AFTER], found >= 0);
		assert_int_equal(f->found != DIFF_FOUND_ONCE, found >= 0);
	}
	/* No two have the same key. */
	for (uint32_t i = 0; i < b->match.functions.count; i++)
		for (uint32_t j = 0; j < i; j++)
			assert_int_not_equal(b->match.functions.items[i].key,
					     b->match.functions.items[j].key);
}

#define NAMES(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void check(const char *const *before, const char *const *after, const int *expected)
{
	struct both b;
	match_names(&b, before, after);
	check_pairs(&b, expected);
	clear(&b);
}

static void test_equal_names(void **state)
{
	(void)state;
	check(NAMES("alpha w.js:2:15", "(anonymous) w.js:9:1", "(anonymous) w.js:12:1", "gone"),
	      NAMES("(anonymous) w.js:12:1", "new", "(anonymous) w.js:9:1", "alpha w.js:2:15"),
	      (int[]){ 3, 2, 0, -1 });
}

static void test_a_named_function_is_found_wherever_it_went(void **state)
{
	(void)state;
	check(NAMES("alpha w.js:2:15", "beta w.js:9:15"),
	      NAMES("beta w.js:2:15", "alpha w.js:70:3"), (int[]){ 1, 0 });
}

static void test_anonymous_functions_move_with_their_file(void **state)
{
	(void)state;
	/* Three lines were put in above all, and a line more further down. The function that stood
	 * at line 12 is where one at line 15 was.
	 */
	check(NAMES("alpha w.js:2:15", "beta w.js:40:15", "(anonymous) w.js:12:5",
		    "(anonymous) w.js:15:5", "(anonymous) w.js:50:7", "(anonymous) w.js:60:7"),
	      NAMES("alpha w.js:5:15", "beta w.js:44:15", "(anonymous) w.js:15:5",
		    "(anonymous) w.js:18:5", "(anonymous) w.js:54:7", "(anonymous) w.js:64:7"),
	      (int[]){ 0, 1, 2, 3, 4, 5 });
}

static void test_where_nothing_moved_two_places_are_two_functions(void **state)
{
	(void)state;
	check(NAMES("alpha w.js:2:15", "beta w.js:9:15", "(anonymous) w.js:12:5"),
	      NAMES("alpha w.js:2:15", "beta w.js:9:15", "(anonymous) w.js:14:5"),
	      (int[]){ 0, 1, -1 });
	/* Nothing else in this file, but the program has not changed. */
	check(NAMES("alpha v.js:2:15", "(anonymous) w.js:12:5"),
	      NAMES("alpha v.js:2:15", "(anonymous) w.js:14:5"), (int[]){ 0, -1 });
	/* Nothing to go by at all: the only function of the file. */
	check(NAMES("(anonymous) w.js:12:5"), NAMES("(anonymous) w.js:14:5"), (int[]){ 0 });
	/* More of them moved than stayed. */
	check(NAMES("(anonymous) w.js:12:5", "(anonymous) w.js:17:5", "(anonymous) w.js:40:9"),
	      NAMES("(anonymous) w.js:14:5", "(anonymous) w.js:19:5", "(anonymous) w.js:42:9"),
	      (int[]){ 0, 1, 2 });
}

static void test_several_of_one_name(void **state)
{
	(void)state;
	check(NAMES("get w.js:10:3", "get w.js:20:3", "get w.js:30:3", "x w.js:1:1", "y w.js:2:1"),
	      NAMES("get w.js:12:3", "get w.js:22:3", "get w.js:32:3", "x w.js:3:1", "y w.js:4:1"),
	      (int[]){ 0, 1, 2, 3, 4 });
}

static void test_keys_are_of_one_function(void **state)
{
	(void)state;
	/* The one at 12 of before is the one at 15 of after; the one at 15 of before is gone, and
	 * must not have the key of the one at 15 of after.
	 */
	struct both b;
	match_names(
	    &b,
	    NAMES("a w.js:1:1", "b w.js:2:1", "(anonymous) w.js:12:5", "(anonymous) w.js:20:5",
		  "(anonymous) w.js:15:5"),
	    NAMES("a w.js:4:1", "b w.js:5:1", "(anonymous) w.js:15:5", "(anonymous) w.js:23:5"));
	check_pairs(&b, (int[]){ 0, 1, 2, 3, -1 });
	assert_string_equal(diff_match_key(&b.match, diff_match_of(&b.match, 1, 2)),
			    "(anonymous) w.js:15:5\t[jit]\tv8");
	assert_string_equal(diff_match_key(&b.match, diff_match_of(&b.match, 0, 4)),
			    "(anonymous) w.js:15:5\t[jit]\tv8\tbefore");
	clear(&b);
}

static struct fixture_function of(const char *name, const char *object, const char *runtime)
{
	return (struct fixture_function){ .name = name, .object = object, .runtime = runtime };
}

static void match_functions(struct both *b, const struct fixture_function *before, size_t count,
			    const struct fixture_function *after, size_t after_count)
{
	memset(b, 0, sizeof(*b));
	for (size_t i = 0; i < count; i++)
		fixture_put(&b->profiles[0], &before[i]);
	for (size_t i = 0; i < after_count; i++)
		fixture_put(&b->profiles[1], &after[i]);
	const struct diff_side sides[] = { { &b->profiles[0], DIFF_BEFORE },
					   { &b->profiles[1], DIFF_AFTER } };
	assert_int_equal(diff_match_build(&b->match, sides, 2), 0);
}

static void test_objects_and_runtimes(void **state)
{
	(void)state;
	const struct fixture_function before[] = {
		of("memcpy", "libc-2.31.so", "native"),
		of("run", "app-1", "native"),
		of("run", "[jit]", "jvm"),
		of("twice", "app-1", "native"),
		of("stays", "lib.so", "native"),
		of("A$$Lambda$1/0x00001234.run()", "[jit]", "jvm"),
		of("work.isra.0", "lib.so", "native"),
		of("work.cold", "lib.so", "native"),
	};
	const struct fixture_function after[] = {
		of("memcpy", "libc.so.6", "native"),
		of("run", "app-2", "native"),
		of("run", "[jit]", "python"),
		of("twice", "other", "native"),
		of("twice", "another", "native"),
		of("stays", "moved.so", "native"),
		of("A$$Lambda$7/0x00005678.run()", "[jit]", "jvm"),
		of("work.constprop.0", "lib.so", "native"),
		of("work.cold", "lib.so", "native"),
	};
	struct both b;
	match_functions(&b, before, 8, after, 9);
	/* "app-1" and "app-2" are one object, `lib.so` is on both sides, where `stays` has gone. */
	check_pairs(&b, (int[]){ 0, 1, -1, -1, -1, 6, 7, 8 });
	clear(&b);

	const struct fixture_function old[] = { of("run", "first", "native"),
						of("twice", "first", "native") };
	const struct fixture_function new[] = { of("run", "second", "native"),
						of("twice", "second", "native"),
						of("twice", "third", "native") };
	match_functions(&b, old, 2, new, 3);
	check_pairs(&b, (int[]){ 0, -1 });
	assert_int_equal(b.match.functions.items[diff_match_of(&b.match, 0, 0)].found,
			 DIFF_FOUND_ELSEWHERE);
	clear(&b);
}

static void test_runs_of_one_side(void **state)
{
	(void)state;
	struct profile runs[3] = { 0 };
	fixture_add(&runs[0], "a w.js:1:1", 1);
	fixture_add(&runs[1], "(anonymous) w.js:7:1", 1);
	fixture_add(&runs[1], "a w.js:1:1", 1);
	fixture_add(&runs[2], "(anonymous) w.js:7:1", 1);
	const struct diff_side sides[] = { { &runs[0], DIFF_BEFORE },
					   { &runs[1], DIFF_BEFORE },
					   { &runs[2], DIFF_AFTER } };
	struct diff_match match = { 0 };
	assert_int_equal(diff_match_build(&match, sides, 3), 0);
	assert_int_equal(match.functions.count, 2);
	assert_int_equal(diff_match_of(&match, 0, 0), diff_match_of(&match, 1, 1));
	assert_int_equal(diff_match_of(&match, 1, 0), diff_match_of(&match, 2, 0));
	diff_match_clear(&match);
	for (size_t i = 0; i < 3; i++)
		profile_clear(&runs[i]);
}

static void test_a_thousand_anonymous_functions(void **state)
{
	(void)state;
	struct profile before = { 0 };
	struct profile after = { 0 };
	char name[64];
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "(anonymous) w.js:%d:5", i * 3);
		fixture_add(&before, name, 1);
		fixture_add(&after, name, 1);
	}
	const struct diff_side sides[] = { { &before, DIFF_BEFORE }, { &after, DIFF_AFTER } };
	struct diff_match match = { 0 };
	assert_int_equal(diff_match_build(&match, sides, 2), 0);
	assert_int_equal(match.functions.count, 1000);
	diff_match_clear(&match);
	profile_clear(&before);
	profile_clear(&after);
}

static void test_without_memory(void **state)
{
	(void)state;
	struct both b;
	match_names(&b, NAMES("a w.js:1:1", "(anonymous) w.js:12:5", "(anonymous) w.js:15:5"),
		    NAMES("a w.js:4:1", "(anonymous) w.js:15:5", "(anonymous) w.js:18:5"));
	diff_match_clear(&b.match);
	const struct diff_side sides[] = { { &b.profiles[0], DIFF_BEFORE },
					   { &b.profiles[1], DIFF_AFTER } };
	for (size_t n = 1;; n++) {
		memset(&b.match, 0, sizeof(b.match));
		memory_fail_at(n);
		const int got = diff_match_build(&b.match, sides, 2);
		const bool has_failed = memory_has_failed();
		diff_match_clear(&b.match);
		assert_int_equal(got, has_failed ? STATUS_NO_MEMORY : 0);
		if (!has_failed)
			break;
	}
	memory_fail_at(0);
	memset(&b.match, 0, sizeof(b.match));
	clear(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_names),
		cmocka_unit_test(test_a_named_function_is_found_wherever_it_went),
		cmocka_unit_test(test_anonymous_functions_move_with_their_file),
		cmocka_unit_test(test_where_nothing_moved_two_places_are_two_functions),
		cmocka_unit_test(test_several_of_one_name),
		cmocka_unit_test(test_keys_are_of_one_function),
		cmocka_unit_test(test_objects_and_runtimes),
		cmocka_unit_test(test_runs_of_one_side),
		cmocka_unit_test(test_a_thousand_anonymous_functions),
		cmocka_unit_test(test_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
