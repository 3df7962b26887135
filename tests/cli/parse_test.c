#include "cli/parse.h"

#include "test.h"

#include <string.h>

static void numbers(void **state)
{
	(void)state;
	uint64_t value = 7;
	assert_true(parse_u64("0", &value));
	assert_int_equal(value, 0);
	assert_true(parse_u64("0x1388", &value));
	assert_int_equal(value, 4999 + 1);
	assert_true(parse_u64("18446744073709551615", &value));
	assert_true(value == UINT64_MAX);

	const char *const wrong[] = {
		"", "-1", "+1", " 1", "1 ", "1x", "0x", "0xg", "x1", "1.0", "18446744073709551616"
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		value = 42;
		assert_false(parse_u64(wrong[i], &value));
		assert_int_equal(value, 42);
	}
	uint32_t small = 1;
	assert_true(parse_u32("4294967295", &small));
	assert_false(parse_u32("4294967296", &small));
	assert_int_equal(small, UINT32_MAX);
}

static void sizes(void **state)
{
	(void)state;
	uint64_t value = 0;
	assert_true(parse_size_bytes("8192", &value));
	assert_int_equal(value, 8192);
	assert_true(parse_size_bytes("64K", &value));
	assert_int_equal(value, 65536);
	assert_true(parse_size_bytes("3MiB", &value));
	assert_int_equal(value, 3 << 20);
	assert_true(parse_size_bytes("2G", &value));
	assert_true(value == 2ull << 30);
	value = 5;
	assert_false(parse_size_bytes("17179869184G", &value)); /* 2^64 bytes */
	assert_false(parse_size_bytes("1T1", &value));
	assert_false(parse_size_bytes("K", &value));
	assert_int_equal(value, 5);
}

static void durations(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint64_t ns;
	} right[] = {
		{ "0", 0 },
		{ "3", 3000000000 },
		{ "1.5s", 1500000000 },
		{ "20ms", 20000000 },
		{ "0.25ms", 250000 },
		{ "300us", 300000 },
		{ "50ns", 50 },
		{ "2m", 120000000000 },
		{ "1.5m", 90000000000 },
		{ "1h", 3600000000000 },
		{ "1.9999999999", 1999999999 },
	};
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		uint64_t value = 1;
		assert_true(parse_duration_ns(right[i].text, &value));
		assert_true(value == right[i].ns);
	}
	const char *const wrong[] = { "", "s", ".5s", "1.s", "1 s", "-1s", "1x", "99999999999s" };
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		uint64_t value = 1;
		assert_false(parse_duration_ns(wrong[i], &value));
		assert_int_equal(value, 1);
	}
}

static void seconds_are_exact(void **state)
{
	(void)state;
	uint64_t value = 0;
	assert_true(parse_seconds_ns("1234567.890123456", &value));
	assert_true(value == 1234567890123456);
	assert_false(parse_seconds_ns("1ms", &value));
}

static void percents(void **state)
{
	(void)state;
	double value = -1;
	assert_true(parse_percent("12.5%", &value));
	assert_true(value > 12.499 && value < 12.501);
	assert_true(parse_percent("100", &value));
	assert_false(parse_percent("100.1", &value));
	assert_false(parse_percent("%", &value));
}

static bool append(void *context, const char *item)
{
	char *all = context;
	const size_t used = strlen(all);
	memcpy(all + used, item, strlen(item) + 1);
	return strcmp(item, "stop") != 0;
}

static void lists(void **state)
{
	(void)state;
	char all[64] = "";
	assert_true(parse_list("a,bc,d", append, all));
	assert_string_equal(all, "abcd");
	assert_false(parse_list("", append, all));
	assert_false(parse_list("a,,b", append, all));
	assert_false(parse_list("a,", append, all));
	all[0] = '\0';
	assert_false(parse_list("x,stop,y", append, all));
	assert_string_equal(all, "xstop");
}

static void processes(void **state)
{
	pid_t pid = 7;
	(void)state;
	assert_true(parse_pid("1", &pid));
	assert_int_equal(pid, 1);
	assert_true(parse_pid("2147483647", &pid));
	assert_int_equal(pid, INT32_MAX);
	assert_false(parse_pid("0", &pid));
	assert_false(parse_pid("2147483648", &pid));
	assert_false(parse_pid("-1", &pid));
	assert_false(parse_pid("", &pid));
	assert_int_equal(pid, INT32_MAX);
}

static void words(void **state)
{
	static const char *const list[] = { "text", "csv", NULL };
	(void)state;
	assert_int_equal(parse_word("text", list), 0);
	assert_int_equal(parse_word("csv", list), 1);
	assert_int_equal(parse_word("tex", list), -1);
	assert_int_equal(parse_word("", list), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),   cmocka_unit_test(sizes),
		cmocka_unit_test(durations), cmocka_unit_test(seconds_are_exact),
		cmocka_unit_test(percents),  cmocka_unit_test(lists),
		cmocka_unit_test(processes), cmocka_unit_test(words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
