#include "names/names.h"
#include "test.h"

struct row {
	const char *raw;
	enum runtime runtime; /* what the name alone says */
	const char *tier;
	const char *human;
	const char *place; /* NULL: none */
};

static void check_as(const struct row *row, enum runtime known)
{
	struct name_parts parts;
	struct sink human = { 0 };
	names_split((struct bytes){ (const uint8_t *)row->raw, strlen(row->raw) }, known, &parts,
		    &human);
	sink_u8(&human, '\0');
	assert_string_equal((const char *)human.data, row->human);
	assert_string_equal(parts.tier, row->tier);
	assert_string_equal(runtime_name(parts.runtime), runtime_name(row->runtime));
	const char *place = row->place ? row->place : "";
	assert_int_equal(parts.place.size, strlen(place));
	if (parts.place.size)
		assert_memory_equal(parts.place.data, place, parts.place.size);
	sink_clear(&human);
}

static void check(const struct row *rows, size_t count, enum runtime known)
{
	for (size_t i = 0; i < count; i++) {
		check_as(&rows[i], known);
		check_as(&rows[i], RUNTIME_UNKNOWN);
	}
}

#define CHECK(rows, known) check((rows), sizeof(rows) / sizeof((rows)[0]), (known))

static void test_v8(void **state)
{
	(void)state;
	static const char ALPHA[] = "/home/user/corpus/work/work.js:2:15";
	const struct row rows[] = {
		{ "JS:~alpha /home/user/corpus/work/work.js:2:15", RUNTIME_V8, "ignition",
		  "alpha work.js:2:15", ALPHA },
		{ "JS:^alpha /home/user/corpus/work/work.js:2:15", RUNTIME_V8, "sparkplug",
		  "alpha work.js:2:15", ALPHA },
		{ "JS:+'alpha /home/user/corpus/work/work.js:2:15", RUNTIME_V8, "maglev",
		  "alpha work.js:2:15", ALPHA },
		{ "JS:*'alpha /home/user/corpus/work/work.js:2:15", RUNTIME_V8, "turbofan",
		  "alpha work.js:2:15", ALPHA },
		{ "JS:o*alpha /home/user/corpus/work/work.js:2:15", RUNTIME_V8, "turbofan",
		  "alpha work.js:2:15", ALPHA },
	};
	CHECK(rows, RUNTIME_V8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_v8),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
