#include "names/names.h"
#include "test.h"

#include <stdlib.h>

static void check(const char *symbol, const char *wanted)
{
	struct sink human = { 0 };
	sink_text(&human, ">");
	names_demangle(symbol, &human);
	sink_u8(&human, '\0');
	assert_string_equal((const char *)human.data + 1, wanted);
	sink_clear(&human);
}

static void test_languages(void **state)
{
	(void)state;
	check("_ZN4node5StartEiPPc", "node::Start");
	check("_ZNSt6vectorIiSaIiEE9push_backERKi",
	      "std::vector<int, std::allocator<int> >::push_back");
	check("_ZTv0_n24_NSdD0Ev", "virtual thunk to std::basic_iostream<char, "
				   "std::char_traits<char> >::~basic_iostream()");
	check("_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE",
	      "core::fmt::Formatter::write_str");
	check("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar");
	check("_RINvNtC3std3mem8align_ofNtNtC3std5boxed3BoxE",
	      "std::mem::align_of::<std::boxed::Box>");
	check("_D3std5stdio7writelnFZv", "std.stdio.writeln()");
	check("_Dmain", "D main");
}

static void test_suffixes(void **state)
{
	(void)state;
	check("_ZN4node5StartEiPPc.cold", "node::Start");
	check("_ZN4node5StartEiPPc.part.0", "node::Start");
	check("memcpy@@GLIBC_2.14", "memcpy@@GLIBC_2.14");
	check("_Znwm@@GLIBCXX_3.4", "operator new@@GLIBCXX_3.4");
	check("_Znwm@plt", "operator new@plt");
}

static void test_plain_names(void **state)
{
	(void)state;
	static const char *const PLAIN[] = { "main", "",           "_",        "_Z",
					     "_ZN",  "_R",         "_D",       "_start",
					     "_Zx",  "_R0",        "_DYNAMIC", "__libc_start_main",
					     "@@",   "alpha.cold", "_ZN1aE@" };
	for (size_t i = 0; i + 1 < sizeof(PLAIN) / sizeof(PLAIN[0]); i++)
		check(PLAIN[i], PLAIN[i]);
}

/* Each S_ doubles what it stands for; the text would fill the memory. */
static void test_names_that_swell(void **state)
{
	(void)state;
	struct sink made = { 0 };
	sink_text(&made, "_Z1fI1A");
	for (int i = 0; i < 60; i++)
		sink_printf(&made, "1BIS%c_S%c_E", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i % 36],
			    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i % 36]);
	sink_text(&made, "Evv");
	sink_u8(&made, '\0');
	struct sink human = { 0 };
	names_demangle((const char *)made.data, &human);
	assert_true(human.size <= 64 * 1024);
	sink_clear(&made);

	/* Rust: sixty tuples, each twice the one before. */
	sink_reset(&human);
	sink_text(&made, "_RINvC1c1f");
	for (int i = 0; i < 60; i++)
		sink_text(&made, "T");
	sink_text(&made, "h");
	for (int i = 0; i < 60; i++)
		sink_printf(&made, "B%cE",
			    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[i % 52]);
	sink_text(&made, "E");
	sink_u8(&made, '\0');
	names_demangle((const char *)made.data, &human);
	assert_true(human.size <= 64 * 1024);
	sink_clear(&made);
	sink_clear(&human);
}

static void test_long_names_pass(void **state)
{
	(void)state;
	enum { SIZE = 100000 };
	char *symbol = malloc(SIZE + 1);
	assert_non_null(symbol);
	memset(symbol, 'N', SIZE);
	memcpy(symbol, "_Z", 2);
	symbol[SIZE] = '\0';
	check(symbol, symbol);
	free(symbol);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_languages),       cmocka_unit_test(test_suffixes),
		cmocka_unit_test(test_plain_names),     cmocka_unit_test(test_names_that_swell),
		cmocka_unit_test(test_long_names_pass),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
