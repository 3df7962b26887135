/* The notes of when a map's bytes were written: read, written, damaged. */
#include "test.h"

#include "base/status.h"
#include "format/perfmap/times.h"

#include <stdio.h>
#include <stdlib.h>

static struct perfmap_times over(const char *text)
{
	struct perfmap_times times;
	assert_int_equal(
	    perfmap_times_init(&times, (struct bytes){ (const uint8_t *)text, strlen(text) }), 0);
	return times;
}

static void assert_best(struct perfmap_times *times, uint64_t offset, uint64_t best_ns)
{
	struct perfmap_stretch stretch;
	assert_int_equal(perfmap_times_at(times, offset, &stretch), 1);
	assert_int_equal(stretch.best_ns, best_ns);
}

static void finds_the_stretch_of_each_byte(void **state)
{
	(void)state;
	struct perfmap_times times = over("perfmap-times 1\n"
					  "100 5 7 9\n"
					  "101 9 10 11\n"
					  "300 11 11 11\n");
	struct perfmap_stretch stretch;
	assert_best(&times, 0, 7);
	assert_best(&times, 99, 7);
	assert_best(&times, 100, 10);
	assert_best(&times, 101, 11);
	assert_best(&times, 299, 11);
	assert_int_equal(perfmap_times_at(&times, 300, &stretch), 0);
	assert_int_equal(perfmap_times_at(&times, 301, &stretch), 0);
}

static void refuses_what_is_no_sidecar(void **state)
{
	(void)state;
	struct perfmap_times times;
	static const char *const texts[] = { "", "perfmap-times 2\n", "perfmap-times 1",
					     "10 20 a\n" };
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const struct bytes text = { (const uint8_t *)texts[i], strlen(texts[i]) };
		assert_int_equal(perfmap_times_init(&times, text), STATUS_NOT_FORMAT);
	}
}

/* The bytes of a lost line count to the next, which must then begin as early. */
static void widens_the_interval_behind_a_bad_line(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"200 20 21\n",
		"200 20 21 22 23\n",
		"200 22 21 23\n",
		"100 20 21 22\n",
		"200 4 21 22\n",
		"200 20 6 22\n",
		"\n",
		"200  20 21 22\n",
		"200 20 21 22 \n",
		"-1 20 21 22\n",
		"x\n",
		"200 20 21 +22\n",
		"99999999999999999999 20 21 22\n",
		"18446744073709551616 20 21 22\n",
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[256];
		snprintf(text, sizeof(text), "perfmap-times 1\n100 5 7 9\n%s300 30 31 32\n",
			 bad[i]);
		struct perfmap_times times = over(text);
		struct perfmap_stretch stretch;
		assert_best(&times, 99, 7);
		assert_int_equal(perfmap_times_at(&times, 150, &stretch), 1);
		assert_int_equal(stretch.end_offset, 300);
		assert_int_equal(stretch.earliest_ns, 5);
		assert_int_equal(stretch.best_ns, 31);
		assert_int_equal(stretch.latest_ns, 32);
	}
}

static void reads_what_it_wrote(void **state)
{
	(void)state;
	static const struct perfmap_stretch written[] = {
		{ 1, 0, 0, 0 },
		{ 4096, 1157587810234, 1157587810300, 1157587810400 },
		{ UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX },
	};
	struct sink out = { 0 };
	perfmap_times_begin(&out);
	for (size_t i = 0; i < 3; i++)
		perfmap_times_put(&out, &written[i]);
	assert_false(sink_failed(&out));
	struct perfmap_times times;
	struct perfmap_stretch stretch;
	assert_int_equal(perfmap_times_init(&times, sink_bytes(&out)), 0);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(perfmap_times_at(&times, written[i].end_offset - 1, &stretch), 1);
		assert_memory_equal(&stretch, &written[i], sizeof(stretch));
	}
	sink_clear(&out);
}

/* Reads all of a text; the order that at() promises holds whatever it says. */
static void check_order(const char *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	assert_non_null(copy);
	memcpy(copy, data, size);
	struct perfmap_times times;
	struct perfmap_stretch stretch = { 0 };
	if (perfmap_times_init(&times, (struct bytes){ copy, size }) == 0) {
		uint64_t offset = 0;
		uint64_t best_ns = 0;
		while (perfmap_times_at(&times, offset, &stretch) > 0) {
			assert_true(stretch.end_offset > offset && stretch.best_ns >= best_ns);
			assert_true(stretch.earliest_ns <= stretch.best_ns);
			assert_true(stretch.best_ns <= stretch.latest_ns);
			offset = stretch.end_offset;
			best_ns = stretch.best_ns;
		}
	}
	free(copy);
}

static void survives_every_truncation_and_change(void **state)
{
	(void)state;
	char text[] = "perfmap-times 1\n100 5 7 9\n181 9 10 11\n300 11 11 11\n";
	static const char changes[] = { 0x01, 0x02, 0x08, 0x10, 0x2a, 0x40 };
	const size_t size = sizeof(text) - 1;
	for (size_t cut = 0; cut <= size; cut++)
		check_order(text, cut);
	for (size_t at = 0; at < size; at++) {
		for (size_t c = 0; c < sizeof(changes); c++) {
			text[at] = (char)(text[at] ^ changes[c]);
			check_order(text, size);
			text[at] = (char)(text[at] ^ changes[c]);
		}
	}
}

static void takes_no_number_that_may_go_on(void **state)
{
	(void)state;
	struct perfmap_times times = over("perfmap-times 1\n100 5 7 9\n200 9 10 11");
	struct perfmap_stretch stretch;
	assert_best(&times, 99, 7);
	assert_int_equal(perfmap_times_at(&times, 100, &stretch), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_stretch_of_each_byte),
		cmocka_unit_test(refuses_what_is_no_sidecar),
		cmocka_unit_test(widens_the_interval_behind_a_bad_line),
		cmocka_unit_test(reads_what_it_wrote),
		cmocka_unit_test(survives_every_truncation_and_change),
		cmocka_unit_test(takes_no_number_that_may_go_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
