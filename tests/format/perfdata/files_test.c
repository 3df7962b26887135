/* Whole recordings: what stock perf counted in them, every truncation, every
 * changed byte, and the other byte order.
 */
#include "format/perfdata/exercise.h"
#include "format/perfdata/swap.h"
#include "format/perfdata/wire.h"

#include "test.h"

/* Counts are those of "perf script -D" (where perf 6.1 can read the file). */
static const struct {
	const char *name;
	uint64_t records;
	uint64_t samples;
	size_t events;
	bool pipe;
	bool compressed;
	bool swappable;
} FILES[] = {
	{ "build-id-mmap.data", 24, 4, 1, false, false, true },
	{ "dwarf.data", 46, 4, 1, false, false, true },
	{ "dwarf.zstd.data", 57, 16, 1, false, true, false },
	{ "fibo.compressed2.pipe.data", 1783, 547, 2, true, true, false },
	{ "group.data", 24, 4, 2, false, false, true },
	{ "many-fields.data", 93, 9, 2, false, false, true },
	{ "sleep.compressed.data", 95, 8, 1, false, true, false },
	{ "sleep.compressed.pipe.data", 118, 8, 1, true, true, false },
	{ "sleep.compressed2.data", 20, 7, 1, false, true, false },
	{ "sleep.compressed2.pipe.data", 209, 7, 1, true, true, false },
	{ "sleep.data", 20, 7, 1, false, false, true },
	{ "tracepoint.pipe.data", 43, 3, 1, true, false, false },
	{ "two-events.data", 38, 16, 2, false, false, true },
	{ "two-events.zstd.pipe.data", 66, 20, 2, true, true, false },
};
enum { FILE_COUNT = sizeof(FILES) / sizeof(FILES[0]) };

static void test_counts(void **state)
{
	(void)state;
	for (size_t i = 0; i < FILE_COUNT; i++) {
		const struct bytes in = wire_load(FILES[i].name);
		struct perfdata *file;
		struct perfdata_record record;
		uint64_t records = 0;
		uint64_t samples = 0;
		assert_int_equal(perfdata_open(&file, in, NULL), 0);
		int got;
		while ((got = perfdata_next(file, &record)) > 0) {
			struct perfdata_sample sample;
			records++;
			if (record.type != PERFDATA_SAMPLE)
				continue;
			samples++;
			assert_int_equal(perfdata_decode_sample(file, &record, &sample), 0);
			assert_true(sample.time_ns);
			assert_int_not_equal(sample.cpumode, PERFDATA_CPUMODE_UNKNOWN);
		}
		print_message("%s: %zu records, %zu samples\n", FILES[i].name, (size_t)records,
			      (size_t)samples);
		assert_int_equal(got, 0);
		assert_int_equal(records, FILES[i].records);
		assert_int_equal(samples, FILES[i].samples);
		assert_int_equal(perfdata_event_count(file), FILES[i].events);
		assert_int_equal(perfdata_is_pipe(file), FILES[i].pipe);
		assert_int_equal(perfdata_is_compressed(file), FILES[i].compressed);
		assert_false(perfdata_is_swapped(file));
		assert_false(perfdata_is_interrupted(file));
		perfdata_close(file);
		wire_free(in);
	}
}

/* One capture has perf's own messages behind its last record. */
static void test_no_problems_but_known_ones(void **state)
{
	(void)state;
	for (size_t i = 0; i < FILE_COUNT; i++) {
		const struct bytes in = wire_load(FILES[i].name);
		const bool has_text_tail =
		    strcmp(FILES[i].name, "sleep.compressed2.pipe.data") == 0;
		const struct perfdata_exercise result = perfdata_exercise(in);
		assert_int_equal(result.status, 0);
		assert_int_equal(result.problem_count, has_text_tail ? 1 : 0);
		wire_free(in);
	}
}

static void test_swapped_files_read_the_same(void **state)
{
	(void)state;
	for (size_t i = 0; i < FILE_COUNT; i++) {
		if (!FILES[i].swappable)
			continue;
		const struct bytes in = wire_load(FILES[i].name);
		const struct bytes swapped = wire_copy(in, in.size);
		assert_true(perfdata_swap((uint8_t *)(uintptr_t)swapped.data, swapped.size));
		struct perfdata *file;
		assert_int_equal(perfdata_open(&file, swapped, NULL), 0);
		assert_true(perfdata_is_swapped(file));
		perfdata_close(file);
		const struct perfdata_exercise a = perfdata_exercise(in);
		const struct perfdata_exercise b = perfdata_exercise(swapped);
		assert_int_equal(a.status, 0);
		assert_int_equal(b.status, 0);
		assert_true(a.decoded_count > 0);
		assert_int_equal(a.decoded_count, b.decoded_count);
		assert_int_equal(b.problem_count, 0);
		assert_true(a.digest == b.digest);
		wire_free(swapped);
		wire_free(in);
	}
}

static const char *const SMALL_FILES[] = { "build-id-mmap.data", "two-events.zstd.pipe.data",
					   "group.data" };
enum { SMALL_COUNT = sizeof(SMALL_FILES) / sizeof(SMALL_FILES[0]) };

static void test_every_truncation(void **state)
{
	(void)state;
	for (size_t i = 0; i < SMALL_COUNT; i++) {
		const struct bytes in = wire_load(SMALL_FILES[i]);
		const uint64_t whole = perfdata_exercise(in).record_count;
		uint64_t before = 0;
		for (size_t size = 0; size < in.size; size++) {
			const struct bytes cut = wire_copy(in, size);
			const struct perfdata_exercise result = perfdata_exercise(cut);
			if (size < 8)
				assert_int_equal(result.status, STATUS_NOT_FORMAT);
			else if (size < 16)
				assert_int_equal(result.status, STATUS_TRUNCATED);
			/* What is there is read: a longer piece never gives fewer records. */
			assert_true(result.record_count >= before);
			assert_true(result.record_count <= whole);
			before = result.record_count;
			wire_free(cut);
		}
		assert_true(before + 1 >= whole);
		wire_free(in);
	}
}

static void test_every_changed_byte(void **state)
{
	(void)state;
	static const uint8_t CHANGES[] = { 0xff, 0x80, 0x01 };
	for (size_t i = 0; i < SMALL_COUNT; i++) {
		const struct bytes in = wire_load(SMALL_FILES[i]);
		for (size_t at = 0; at < in.size; at++) {
			const struct bytes changed = wire_copy(in, in.size);
			uint8_t *byte = (uint8_t *)(uintptr_t)changed.data + at;
			*byte ^= CHANGES[at % sizeof(CHANGES)];
			const struct perfdata_exercise result = perfdata_exercise(changed);
			assert_true(result.status <= 0);
			wire_free(changed);
		}
		wire_free(in);
	}
}

static void test_changed_bytes_of_a_swapped_file(void **state)
{
	(void)state;
	const struct bytes in = wire_load("build-id-mmap.data");
	assert_true(perfdata_swap((uint8_t *)(uintptr_t)in.data, in.size));
	for (size_t at = 0; at < in.size; at++) {
		const struct bytes changed = wire_copy(in, in.size);
		*((uint8_t *)(uintptr_t)changed.data + at) ^= 0xff;
		assert_true(perfdata_exercise(changed).status <= 0);
		wire_free(changed);
	}
	wire_free(in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_no_problems_but_known_ones),
		cmocka_unit_test(test_swapped_files_read_the_same),
		cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_every_changed_byte),
		cmocka_unit_test(test_changed_bytes_of_a_swapped_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
