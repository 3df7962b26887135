/* Which function is meant by what a person typed. */
#include "annotate/fixture.h"
#include "test.h"

static struct fixture f;

static int set_up(void **state)
{
	(void)state;
	fixture_begin(&f);
	const uint32_t main_ = fixture_function(&f, "main", "", 1);
	fixture_sample(&f, fixture_frame(&f, main_, 0, "src/main.c", 3), 50);
	static const char *const names[] = { "fib",
					     "ns::fib(int)",
					     "ns::fib(long)",
					     "other(int) const",
					     "operator()(int)",
					     "alpha work.js:2:15",
					     "alphabet work.js:9:1",
					     "(anonymous namespace)::hidden(char)",
					     "0x7f1234" };
	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const uint32_t id = fixture_function(&f, names[i], "", 1);
		fixture_sample(&f, fixture_frame(&f, id, 0, "lib/work.js", i + 1), 10 - i);
	}
	f.profile.functions.items[9].is_unknown = true;
	f.profile.functions.items[9].raw_name = intern_text(&f.profile.strings, "_Zraw");
	const uint32_t twin = fixture_function(&f, "fib", "", 1);
	f.profile.functions.items[twin].object = intern_text(&f.profile.strings, "libfib.so");
	fixture_sample(&f, fixture_frame(&f, twin, 0, "", 0), 99);
	static const char *const long_names[] = { "com.acme.Hot.spin(long)", "raw_spin_lock",
						  "deep::{lambda:3}::call(int)", "recall" };
	for (size_t i = 0; i < sizeof(long_names) / sizeof(long_names[0]); i++) {
		const uint32_t id = fixture_function(&f, long_names[i], "", 1);
		fixture_sample(&f, fixture_frame(&f, id, 0, "", 0), 1);
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fixture_end(&f);
	return 0;
}

static struct annotate_choice ask(const char *text, const char *objects, unsigned top)
{
	struct annotate_choice choice = { .kind = ANNOTATE_NOTHING };
	const struct annotate_query query = { text, objects, top };
	assert_int_equal(annotate_choose(&choice, &f.profile, 0, &query), 0);
	return choice;
}

static const char *name_of(const struct annotate_choice *choice, size_t index)
{
	return profile_text(&f.profile, choice->candidates.items[index].name);
}

static void one(const char *text, const char *name)
{
	struct annotate_choice choice = ask(text, NULL, 0);
	assert_int_equal(choice.kind, ANNOTATE_FUNCTIONS);
	assert_int_equal(choice.candidates.count, 1);
	assert_string_equal(name_of(&choice, 0), name);
	annotate_choice_clear(&choice);
}

static void several(const char *text, size_t count)
{
	struct annotate_choice choice = ask(text, NULL, 0);
	assert_int_equal(choice.kind, ANNOTATE_CANDIDATES);
	assert_int_equal(choice.candidates.count, count);
	for (size_t i = 1; i < count; i++)
		assert_true(choice.candidates.items[i - 1].count.weight >=
			    choice.candidates.items[i].count.weight);
	annotate_choice_clear(&choice);
}

static void names_from_the_narrow_to_the_wide(void **state)
{
	(void)state;
	one("main", "main");
	one("ns::fib(long)", "ns::fib(long)");
	one("other", "other(int) const");
	one("other(int)", "other(int) const");
	one("other(int) const+0x12", "other(int) const");
	one("operator()", "operator()(int)");
	one("alpha", "alpha work.js:2:15");
	one("(anonymous namespace)::hidden", "(anonymous namespace)::hidden(char)");
	one("_Zraw", "0x7f1234");
	one("ALPHABET", "alphabet work.js:9:1");
	one("*hid*", "(anonymous namespace)::hidden(char)");
	one("spin", "com.acme.Hot.spin(long)");
	one("Hot.spin(long)", "com.acme.Hot.spin(long)");
	one("call", "deep::{lambda:3}::call(int)");
	several("spi", 2);
	several("ns::fib", 2);
	several("alph", 2);
	several("*int*", 4);
}

static void an_exact_name_may_be_in_several_objects(void **state)
{
	(void)state;
	struct annotate_choice choice = ask("fib", NULL, 0);
	assert_int_equal(choice.kind, ANNOTATE_FUNCTIONS);
	assert_int_equal(choice.candidates.count, 2);
	assert_int_equal(choice.candidates.items[0].count.samples, 99);
	annotate_choice_clear(&choice);
	choice = ask("fib", "lib*", 0);
	assert_int_equal(choice.candidates.count, 1);
	assert_int_equal(choice.candidates.items[0].count.samples, 99);
	annotate_choice_clear(&choice);
	choice = ask("fib", "none", 0);
	assert_int_equal(choice.kind, ANNOTATE_NOTHING);
	annotate_choice_clear(&choice);
}

static void without_a_name_the_hottest_that_has_one(void **state)
{
	(void)state;
	struct annotate_choice choice = ask(NULL, NULL, 0);
	assert_int_equal(choice.kind, ANNOTATE_FUNCTIONS);
	assert_int_equal(choice.candidates.count, 1);
	assert_string_equal(name_of(&choice, 0), "fib");
	annotate_choice_clear(&choice);
	choice = ask(NULL, NULL, 100);
	assert_int_equal(choice.candidates.count, 14);
	for (size_t i = 0; i < 14; i++)
		assert_string_not_equal(name_of(&choice, i), "0x7f1234");
	annotate_choice_clear(&choice);
}

static void file(const char *text, const char *name, uint32_t line)
{
	struct annotate_choice choice = ask(text, NULL, 0);
	assert_int_equal(choice.kind, ANNOTATE_FILE);
	assert_int_equal(choice.file_size, strlen(name));
	assert_memory_equal(choice.file, name, choice.file_size);
	assert_int_equal(choice.line, line);
	annotate_choice_clear(&choice);
}

static void files_by_the_end_of_their_path(void **state)
{
	(void)state;
	file("work.js", "work.js", 0);
	file("lib/work.js:4", "lib/work.js", 4);
	file("main.c:3", "main.c", 3);
	one("work.js:2:15", "alpha work.js:2:15");
	struct annotate_choice choice = ask("ork.js", NULL, 0);
	assert_int_equal(choice.kind, ANNOTATE_CANDIDATES);
	annotate_choice_clear(&choice);
	choice = ask("nothing.c:7", NULL, 0);
	assert_int_equal(choice.kind, ANNOTATE_NOTHING);
	assert_int_equal(choice.candidates.count, 0);
	annotate_choice_clear(&choice);
	choice = ask("", NULL, 0);
	assert_int_equal(choice.kind, ANNOTATE_CANDIDATES);
	annotate_choice_clear(&choice);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_from_the_narrow_to_the_wide),
		cmocka_unit_test(an_exact_name_may_be_in_several_objects),
		cmocka_unit_test(without_a_name_the_hottest_that_has_one),
		cmocka_unit_test(files_by_the_end_of_their_path),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
