/* Feature sections, in both byte orders, whole and damaged. */
#include "format/perfdata/wire.h"

#include "test.h"

static const uint64_t IDS_A[] = { 0x101, 0x102 };
static const uint64_t IDS_B[] = { 0x201 };
static const struct wire_event EVENTS[] = {
	{ .type = 1, .sample_type = PERFDATA_SAMPLE_ID, .ids = IDS_A, .id_count = 2 },
	{ .type = 1, .sample_type = PERFDATA_SAMPLE_ID, .ids = IDS_B, .id_count = 1 },
};

struct scene {
	struct wire w;
	struct bytes in;
	struct perfdata *file;
};

static void begin(struct scene *s, const unsigned *features, size_t count)
{
	wire_begin(&s->w, EVENTS, 2);
	wire_end_record(&s->w, wire_record(&s->w, PERFDATA_FINISHED_ROUND, 0));
	wire_end_data(&s->w, features, count);
}

static void open_scene(struct scene *s)
{
	s->in = wire_finish(&s->w);
	assert_int_equal(perfdata_open(&s->file, s->in, NULL), 0);
}

static void done(struct scene *s)
{
	perfdata_close(s->file);
	wire_free(s->in);
	wire_clear(&s->w);
}

static void test_texts(void **state)
{
	(void)state;
	static const unsigned FEATURES[] = { PERFDATA_FEATURE_HOSTNAME, PERFDATA_FEATURE_OSRELEASE,
					     PERFDATA_FEATURE_CPUDESC };
	for (int swap = 0; swap < 2; swap++) {
		struct scene s = { .w.swap = swap };
		begin(&s, FEATURES, 3);
		wire_feature(&s.w);
		wire_string(&s.w, "far-away", 64);
		wire_end_feature(&s.w);
		wire_feature(&s.w);
		wire_string(&s.w, "6.1.0", 5); /* no NUL */
		wire_end_feature(&s.w);
		wire_feature(&s.w);
		wire_string(&s.w, "A CPU", 6);
		wire_end_feature(&s.w);
		open_scene(&s);
		assert_string_equal(perfdata_feature_text(s.file, PERFDATA_FEATURE_HOSTNAME),
				    "far-away");
		assert_string_equal(perfdata_feature_text(s.file, PERFDATA_FEATURE_OSRELEASE), "");
		assert_string_equal(perfdata_feature_text(s.file, PERFDATA_FEATURE_CPUDESC),
				    "A CPU");
		assert_string_equal(perfdata_feature_text(s.file, PERFDATA_FEATURE_ARCH), "");
		assert_string_equal(perfdata_feature_text(s.file, 4000), "");
		assert_int_equal(perfdata_feature(s.file, PERFDATA_FEATURE_CPUDESC).size, 10);
		assert_int_equal(perfdata_end_offset(s.file), s.in.size);
		assert_int_equal(perfdata_problem_count(s.file), 0);
		done(&s);
	}
}

static void test_numbers(void **state)
{
	(void)state;
	static const unsigned FEATURES[] = {
		PERFDATA_FEATURE_NRCPUS,  PERFDATA_FEATURE_TOTAL_MEM,  PERFDATA_FEATURE_SAMPLE_TIME,
		PERFDATA_FEATURE_CLOCKID, PERFDATA_FEATURE_COMPRESSED, PERFDATA_FEATURE_CLOCK_DATA
	};
	for (int swap = 0; swap < 2; swap++) {
		struct scene s = { .w.swap = swap };
		uint32_t online;
		uint32_t available;
		uint64_t a;
		uint64_t b;
		struct perfdata_compression compression;
		struct perfdata_clock_data clocks;
		begin(&s, FEATURES, 6);
		wire_feature(&s.w);
		wire_u32(&s.w, 8);
		wire_u32(&s.w, 6);
		wire_end_feature(&s.w);
		wire_feature(&s.w);
		wire_u64(&s.w, 1 << 20);
		wire_end_feature(&s.w);
		wire_feature(&s.w);
		wire_u64(&s.w, 1000);
		wire_u64(&s.w, 2000);
		wire_end_feature(&s.w);
		wire_feature(&s.w);
		wire_u64(&s.w, 1);
		wire_end_feature(&s.w);
		wire_feature(&s.w);
		for (uint32_t i = 1; i <= 5; i++)
			wire_u32(&s.w, i);
		wire_end_feature(&s.w);
		wire_feature(&s.w);
		wire_u32(&s.w, 1);
		wire_u32(&s.w, 1);
		wire_u64(&s.w, 1700000000000000000u);
		wire_u64(&s.w, 12345);
		wire_end_feature(&s.w);
		open_scene(&s);
		assert_int_equal(perfdata_cpu_count(s.file, &online, &available), 0);
		assert_int_equal(online, 6);
		assert_int_equal(available, 8);
		assert_int_equal(perfdata_total_memory(s.file, &a), 0);
		assert_int_equal(a, 1 << 20);
		assert_int_equal(perfdata_sample_time(s.file, &a, &b), 0);
		assert_int_equal(a, 1000);
		assert_int_equal(b, 2000);
		assert_int_equal(perfdata_clock_resolution(s.file, &a), 0);
		assert_int_equal(a, 1);
		assert_int_equal(perfdata_compression(s.file, &compression), 0);
		assert_int_equal(compression.version, 1);
		assert_int_equal(compression.kind, 2);
		assert_int_equal(compression.level, 3);
		assert_int_equal(compression.ratio, 4);
		assert_int_equal(compression.block_bytes, 5);
		assert_true(perfdata_is_compressed(s.file));
		assert_int_equal(perfdata_clock_data(s.file, &clocks), 0);
		assert_int_equal(clocks.clockid, 1);
		assert_int_equal(clocks.wall_clock_ns, 1700000000000000000u);
		assert_int_equal(clocks.clockid_ns, 12345);
		done(&s);
	}
}

static void test_missing_and_short_numbers(void **state)
{
	(void)state;
	static const unsigned FEATURES[] = { PERFDATA_FEATURE_SAMPLE_TIME,
					     PERFDATA_FEATURE_CLOCK_DATA };
	struct scene s = { 0 };
	uint64_t a;
	uint64_t b;
	struct perfdata_clock_data clocks;
	begin(&s, FEATURES, 2);
	wire_feature(&s.w);
	wire_u64(&s.w, 1000);
	wire_end_feature(&s.w);
	wire_feature(&s.w);
	wire_u32(&s.w, 2); /* a version of the future */
	wire_u32(&s.w, 1);
	wire_u64(&s.w, 1);
	wire_u64(&s.w, 1);
	wire_end_feature(&s.w);
	open_scene(&s);
	assert_int_equal(perfdata_sample_time(s.file, &a, &b), STATUS_CORRUPT);
	assert_int_equal(perfdata_clock_data(s.file, &clocks), STATUS_CORRUPT);
	assert_int_equal(perfdata_total_memory(s.file, &a), STATUS_NOT_FOUND);
	done(&s);
}

static void test_cmdline(void **state)
{
	(void)state;
	static const unsigned FEATURES[] = { PERFDATA_FEATURE_CMDLINE };
	static const char *const ARGS[] = { "/usr/bin/perf", "record", "--", "" };
	for (int swap = 0; swap < 2; swap++) {
		struct scene s = { .w.swap = swap };
		begin(&s, FEATURES, 1);
		wire_feature(&s.w);
		wire_u32(&s.w, 4);
		for (size_t i = 0; i < 4; i++)
			wire_string(&s.w, ARGS[i], 64);
		wire_end_feature(&s.w);
		open_scene(&s);
		for (size_t i = 0; i < 4; i++)
			assert_string_equal(perfdata_cmdline(s.file, i), ARGS[i]);
		assert_null(perfdata_cmdline(s.file, 4));
		done(&s);
	}
}

/* A count of four thousand million must neither allocate nor loop for long. */
static void test_cmdline_that_lies(void **state)
{
	(void)state;
	static const unsigned FEATURES[] = { PERFDATA_FEATURE_CMDLINE };
	struct scene s = { 0 };
	begin(&s, FEATURES, 1);
	wire_feature(&s.w);
	wire_u32(&s.w, UINT32_MAX);
	wire_string(&s.w, "one", 4);
	wire_end_feature(&s.w);
	open_scene(&s);
	assert_string_equal(perfdata_cmdline(s.file, 0), "one");
	assert_null(perfdata_cmdline(s.file, 1));
	done(&s);
}

/* Names find their events by id, whatever the order; without ids by place. */
static void test_event_names(void **state)
{
	(void)state;
	static const unsigned FEATURES[] = { PERFDATA_FEATURE_EVENT_DESC };
	for (int way = 0; way < 4; way++) {
		struct scene s = { .w.swap = way & 1 };
		const bool has_ids = way & 2;
		begin(&s, FEATURES, 1);
		wire_feature(&s.w);
		wire_u32(&s.w, 2);
		wire_u32(&s.w, 136);
		wire_attr(&s.w, &EVENTS[1]);
		wire_u32(&s.w, has_ids ? 1 : 0);
		wire_string(&s.w, "first-told", 64);
		if (has_ids)
			wire_u64(&s.w, 0x201);
		wire_attr(&s.w, &EVENTS[0]);
		wire_u32(&s.w, has_ids ? 2 : 0);
		wire_string(&s.w, "then-told", 64);
		if (has_ids) {
			wire_u64(&s.w, 0x101);
			wire_u64(&s.w, 0x102);
		}
		wire_end_feature(&s.w);
		open_scene(&s);
		assert_string_equal(perfdata_event(s.file, has_ids)->name, "first-told");
		assert_string_equal(perfdata_event(s.file, !has_ids)->name, "then-told");
		assert_int_equal(perfdata_problem_count(s.file), 0);
		done(&s);
	}
}

static void put_build_id(struct wire *w, uint32_t type, uint16_t misc, const char *path)
{
	const size_t at = wire_record(w, type, misc);
	wire_u32(w, UINT32_MAX);
	wire_put(w, "abcdefghijklmnopqrst\x10\0\0\0", 24);
	wire_text(w, path);
	wire_end_record(w, at);
}

static void test_build_ids(void **state)
{
	(void)state;
	static const unsigned FEATURES[] = { PERFDATA_FEATURE_BUILD_ID };
	for (int swap = 0; swap < 2; swap++) {
		struct scene s = { .w.swap = swap };
		struct perfdata_build_id id;
		begin(&s, FEATURES, 1);
		wire_feature(&s.w);
		put_build_id(&s.w, 0, PERFDATA_CPUMODE_KERNEL, "[kernel.kallsyms]");
		put_build_id(&s.w, PERFDATA_HEADER_BUILD_ID,
			     PERFDATA_CPUMODE_USER | PERFDATA_MISC_BUILD_ID_SIZE, "/bin/x");
		wire_end_feature(&s.w);
		open_scene(&s);
		struct cursor c = perfdata_build_ids(s.file);
		assert_int_equal(perfdata_build_id_next(&c, &id), 1);
		assert_int_equal(id.pid, -1);
		assert_int_equal(id.build_id.size, 20);
		assert_memory_equal(id.build_id.data, "abcdefghijklmnopqrst", 20);
		assert_string_equal(id.path, "[kernel.kallsyms]");
		assert_int_equal(perfdata_build_id_next(&c, &id), 1);
		assert_int_equal(id.build_id.size, 16);
		assert_int_equal(id.misc & PERFDATA_CPUMODE_MASK, PERFDATA_CPUMODE_USER);
		assert_string_equal(id.path, "/bin/x");
		assert_int_equal(perfdata_build_id_next(&c, &id), 0);
		done(&s);
	}
}

/* A pipe's records are gathered; who reads on in what was there before is not disturbed. */
static void test_build_ids_of_a_pipe(void **state)
{
	enum { COUNT = 100 };
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct scene s = { .w = { .swap = swap } };
		struct perfdata_record record;
		struct perfdata_build_id id;
		wire_begin_pipe(&s.w);
		for (int i = 0; i < COUNT; i++)
			put_build_id(&s.w, PERFDATA_HEADER_BUILD_ID, PERFDATA_CPUMODE_USER, "path");
		/* One without its path is none. */
		const size_t at = wire_record(&s.w, PERFDATA_HEADER_BUILD_ID, 0);
		wire_u64(&s.w, 1);
		wire_end_record(&s.w, at);
		open_scene(&s);
		assert_false(perfdata_has_feature(s.file, PERFDATA_FEATURE_BUILD_ID));
		assert_int_equal(perfdata_next(s.file, &record), 1);
		struct cursor early = perfdata_build_ids(s.file);
		for (int pass = 0; pass < 2; pass++) {
			while (perfdata_next(s.file, &record) > 0)
				;
			perfdata_rewind(s.file);
		}
		assert_true(perfdata_has_feature(s.file, PERFDATA_FEATURE_BUILD_ID));
		assert_int_equal(perfdata_build_id_next(&early, &id), 1);
		assert_string_equal(id.path, "path");
		assert_int_equal(perfdata_build_id_next(&early, &id), 0);
		struct cursor c = perfdata_build_ids(s.file);
		for (int i = 0; i < COUNT; i++) {
			assert_int_equal(perfdata_build_id_next(&c, &id), 1);
			assert_memory_equal(id.build_id.data, "abcdefghijklmnopqrst", 20);
		}
		assert_int_equal(perfdata_build_id_next(&c, &id), 0);
		assert_int_equal(perfdata_problem_count(s.file), 1);
		done(&s);
	}
}

static void test_tracing_data_of_a_pipe(void **state)
{
	(void)state;
	struct scene s = { .w = { .swap = false } };
	struct perfdata_record record;
	wire_begin_pipe(&s.w);
	size_t at = wire_record(&s.w, PERFDATA_HEADER_TRACING_DATA, 0);
	wire_u32(&s.w, 5);
	wire_end_record(&s.w, at);
	wire_put(&s.w, "trace", 5);
	/* More than there is. */
	at = wire_record(&s.w, PERFDATA_HEADER_TRACING_DATA, 0);
	wire_u32(&s.w, 5);
	wire_end_record(&s.w, at);
	wire_put(&s.w, "none", 4);
	open_scene(&s);
	while (perfdata_next(s.file, &record) > 0)
		;
	const struct bytes content = perfdata_feature(s.file, PERFDATA_FEATURE_TRACING_DATA);
	assert_int_equal(content.size, 5);
	assert_memory_equal(content.data, "trace", 5);
	done(&s);
}

/* Some features are only there or not. */
static void test_features_without_content(void **state)
{
	static const unsigned FEATURES[] = { PERFDATA_FEATURE_BRANCH_STACK };
	(void)state;
	struct scene s = { .w = { .swap = false } };
	begin(&s, FEATURES, 1);
	wire_feature(&s.w);
	wire_end_feature(&s.w);
	open_scene(&s);
	assert_true(perfdata_has_feature(s.file, PERFDATA_FEATURE_BRANCH_STACK));
	assert_int_equal(perfdata_feature(s.file, PERFDATA_FEATURE_BRANCH_STACK).size, 0);
	assert_false(perfdata_has_feature(s.file, PERFDATA_FEATURE_HOSTNAME));
	assert_false(perfdata_has_feature(s.file, PERFDATA_FEATURE_LIMIT));
	done(&s);
}

static void test_damaged_build_ids(void **state)
{
	(void)state;
	static const unsigned FEATURES[] = { PERFDATA_FEATURE_BUILD_ID };
	for (int way = 0; way < 3; way++) {
		struct scene s = { 0 };
		struct perfdata_build_id id;
		begin(&s, FEATURES, 1);
		wire_feature(&s.w);
		const size_t at = s.w.out.size;
		put_build_id(&s.w, 0, PERFDATA_CPUMODE_KERNEL, "path");
		static const uint16_t SIZES[] = { 0, 20, 500 };
		memcpy(s.w.out.data + at + 6, &SIZES[way], 2);
		wire_end_feature(&s.w);
		open_scene(&s);
		struct cursor c = perfdata_build_ids(s.file);
		assert_int_equal(perfdata_build_id_next(&c, &id), STATUS_TRUNCATED);
		done(&s);
	}
}

static void test_section_outside_the_file(void **state)
{
	(void)state;
	static const unsigned FEATURES[] = { PERFDATA_FEATURE_HOSTNAME, PERFDATA_FEATURE_ARCH };
	struct scene s = { 0 };
	begin(&s, FEATURES, 2);
	wire_feature(&s.w);
	wire_string(&s.w, "host", 64);
	wire_end_feature(&s.w);
	wire_feature(&s.w);
	wire_string(&s.w, "arch", 64);
	wire_end_feature(&s.w);
	sink_patch_u64(&s.w.out, s.w.table_at, UINT64_MAX - 2);
	open_scene(&s);
	assert_string_equal(perfdata_feature_text(s.file, PERFDATA_FEATURE_HOSTNAME), "");
	assert_string_equal(perfdata_feature_text(s.file, PERFDATA_FEATURE_ARCH), "arch");
	assert_int_equal(perfdata_problem_count(s.file), 1);
	done(&s);
}

/* A 32-bit machine of the other byte order swaps halves of the bit words. */
static void test_feature_bits_of_a_32_bit_machine(void **state)
{
	(void)state;
	static const unsigned FEATURES[] = { PERFDATA_FEATURE_HOSTNAME, PERFDATA_FEATURE_PMU_CAPS };
	struct scene s = { .w.swap = true };
	begin(&s, FEATURES, 2);
	for (int i = 0; i < 2; i++) {
		wire_feature(&s.w);
		wire_string(&s.w, "text", 64);
		wire_end_feature(&s.w);
	}
	uint8_t *bits = s.w.out.data + 72;
	uint8_t halves[8];
	memcpy(halves, bits + 4, 4);
	memcpy(halves + 4, bits, 4);
	memcpy(bits, halves, 8);
	open_scene(&s);
	assert_string_equal(perfdata_feature_text(s.file, PERFDATA_FEATURE_HOSTNAME), "text");
	assert_int_equal(perfdata_feature(s.file, PERFDATA_FEATURE_PMU_CAPS).size, 68);
	done(&s);
}

/* Data of size 0 mean an interrupted recording, but not where a table of features follows. */
static void test_recording_without_records(void **state)
{
	(void)state;
	static const unsigned FEATURES[] = { PERFDATA_FEATURE_HOSTNAME, PERFDATA_FEATURE_ARCH };
	struct scene s = { 0 };
	struct perfdata_record record;
	wire_begin(&s.w, EVENTS, 2);
	wire_end_data(&s.w, FEATURES, 2);
	for (int i = 0; i < 2; i++) {
		wire_feature(&s.w);
		wire_string(&s.w, "text", 64);
		wire_end_feature(&s.w);
	}
	open_scene(&s);
	assert_false(perfdata_is_interrupted(s.file));
	assert_int_equal(perfdata_next(s.file, &record), 0);
	assert_string_equal(perfdata_feature_text(s.file, PERFDATA_FEATURE_ARCH), "text");
	assert_int_equal(perfdata_end_offset(s.file), s.in.size);
	assert_int_equal(perfdata_problem_count(s.file), 0);
	done(&s);
}

/* Perf writes its feature bits at once, the sections only at the end. */
static void test_interrupted_with_feature_bits(void **state)
{
	(void)state;
	struct scene s = { 0 };
	struct perfdata_record record;
	wire_begin(&s.w, EVENTS, 2);
	for (int i = 0; i < 10; i++)
		wire_end_record(&s.w, wire_record(&s.w, PERFDATA_FINISHED_ROUND, 0));
	sink_patch_u64(&s.w.out, 72, 0xfc);
	open_scene(&s);
	assert_true(perfdata_is_interrupted(s.file));
	for (int i = 0; i < 10; i++)
		assert_int_equal(perfdata_next(s.file, &record), 1);
	assert_int_equal(perfdata_next(s.file, &record), 0);
	assert_int_equal(perfdata_problem_count(s.file), 0);
	done(&s);
}

/* What perf itself recorded. */
static void test_real_file(void **state)
{
	(void)state;
	const struct bytes in = wire_load("two-events.data");
	struct perfdata *file;
	struct perfdata_build_id id;
	uint32_t online;
	uint32_t available;
	uint64_t first;
	uint64_t last;
	assert_int_equal(perfdata_open(&file, in, NULL), 0);
	assert_string_equal(perfdata_feature_text(file, PERFDATA_FEATURE_HOSTNAME), "example");
	assert_string_equal(perfdata_feature_text(file, PERFDATA_FEATURE_ARCH), "x86_64");
	assert_string_equal(perfdata_cmdline(file, 1), "record");
	assert_string_equal(perfdata_event(file, 0)->name, "cpu-clock");
	assert_string_equal(perfdata_event(file, 1)->name, "task-clock");
	assert_int_equal(perfdata_cpu_count(file, &online, &available), 0);
	assert_int_equal(online, 2);
	assert_int_equal(perfdata_sample_time(file, &first, &last), 0);
	assert_true(first > 0 && first < last);
	struct cursor c = perfdata_build_ids(file);
	size_t count = 0;
	while (perfdata_build_id_next(&c, &id) > 0) {
		assert_int_equal(id.build_id.size, 20);
		count++;
	}
	assert_true(count >= 2);
	perfdata_close(file);
	wire_free(in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_missing_and_short_numbers),
		cmocka_unit_test(test_cmdline),
		cmocka_unit_test(test_cmdline_that_lies),
		cmocka_unit_test(test_event_names),
		cmocka_unit_test(test_build_ids),
		cmocka_unit_test(test_build_ids_of_a_pipe),
		cmocka_unit_test(test_tracing_data_of_a_pipe),
		cmocka_unit_test(test_features_without_content),
		cmocka_unit_test(test_damaged_build_ids),
		cmocka_unit_test(test_section_outside_the_file),
		cmocka_unit_test(test_feature_bits_of_a_32_bit_machine),
		cmocka_unit_test(test_recording_without_records),
		cmocka_unit_test(test_interrupted_with_feature_bits),
		cmocka_unit_test(test_real_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
