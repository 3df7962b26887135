/* What producers really do to dumps: torn, interleaved, padded, mislabelled records. */
#include "build.h"

enum { LOG_MAX = 16 };

/* All that a walk over a dump says. */
struct log {
	char names[LOG_MAX][64]; /* LOADs; "#ID" for others */
	bool is_torn[LOG_MAX];
	size_t code_bytes[LOG_MAX];
	size_t count;
	struct jitdump_problem problems[LOG_MAX];
	size_t problem_count;
};

static void note_problem(void *context, const struct jitdump_problem *problem)
{
	struct log *log = context;
	assert_non_null(problem->what);
	if (log->problem_count < LOG_MAX)
		log->problems[log->problem_count] = *problem;
	log->problem_count++;
}

/* Frees the builder. */
static struct log walk(struct build *b)
{
	const struct bytes dump = build_copy(b);
	struct log log = { 0 };
	struct jitdump_reader reader;
	struct jitdump_record record;
	assert_int_equal(jitdump_reader_init(&reader, dump), 0);
	reader.on_problem = note_problem;
	reader.context = &log;
	while (jitdump_reader_next(&reader, &record) > 0) {
		assert_true(log.count < LOG_MAX);
		const size_t i = log.count++;
		log.is_torn[i] = record.is_torn;
		if (record.id == JITDUMP_CODE_LOAD) {
			const struct bytes name = record.code_load.name;
			snprintf(log.names[i], sizeof(log.names[i]), "%.*s", (int)name.size,
				 (const char *)name.data);
			log.code_bytes[i] = record.code_load.code.size;
		} else {
			snprintf(log.names[i], sizeof(log.names[i]), "#%u", record.id);
		}
	}
	assert_int_equal(reader.problem_count, log.problem_count);
	build_free(dump);
	return log;
}

static void assert_names(const struct log *log, size_t count, const char *const *names)
{
	for (size_t i = 0; i < count && i < log->count; i++)
		assert_string_equal(log->names[i], names[i]);
	assert_int_equal(log->count, count);
}

#define ASSERT_NAMES(log, ...)                                                             \
	assert_names((log), sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *), \
		     (const char *const[]){ __VA_ARGS__ })

static void start(struct build *b)
{
	build_header(b, 40);
	build_load(b, BUILD_TIME, 0x1000, "first", 40);
}

static void takes_loads_without_code(void **state)
{
	(void)state;
	struct build b = { 0 };
	start(&b);
	build_load_full(&b, &(struct build_load){ .time = BUILD_TIME + 1,
						  .code_avma = 0x2000,
						  .name = "block",
						  .code_size = 65536,
						  .is_without_code = true });
	build_load(&b, BUILD_TIME + 2, 0x3000, "last", 40);
	const struct log log = walk(&b);
	ASSERT_NAMES(&log, "first", "block", "last");
	assert_int_equal(log.code_bytes[1], 0);
	assert_false(log.is_torn[1]);
	assert_int_equal(log.problem_count, 0);
}

/* A child process flushed its copy of the parent's buffer: half a record, then whole ones. */
static void finds_the_records_behind_half_a_record(void **state)
{
	(void)state;
	for (size_t cut = 1; cut < 56 + 7 + 40; cut++) {
		struct build other = { 0 };
		build_load(&other, BUILD_TIME - 7, 0x9000, "other:", 40);
		struct build b = { 0 };
		start(&b);
		const size_t torn_off = b.out.size;
		sink_put(&b.out, other.out.data + cut, other.out.size - cut);
		const size_t next_off = b.out.size;
		build_unwinding(&b, BUILD_TIME + 2);
		build_load(&b, BUILD_TIME + 3, 0x3000, "last", 40);
		sink_clear(&other.out);
		const struct log log = walk(&b);
		ASSERT_NAMES(&log, "first", "#4", "last");
		assert_int_equal(log.problem_count, 1);
		assert_int_equal(log.problems[0].offset, torn_off);
		assert_int_equal(log.problems[0].skipped_bytes, next_off - torn_off);
	}
}

/* A record that was never finished, and the next writer's right behind it. */
static void ends_a_record_where_the_next_one_begins(void **state)
{
	(void)state;
	const size_t named = 56 + 7;
	for (size_t there = 16; there < named + 40; there++) {
		struct build torn = { 0 };
		build_load(&torn, BUILD_TIME + 1, 0x9000, "torn()", 40);
		struct build b = { 0 };
		start(&b);
		const size_t torn_off = b.out.size;
		sink_put(&b.out, torn.out.data, there);
		sink_clear(&torn.out);
		build_load(&b, BUILD_TIME + 2, 0x2000, "next", 40);
		build_load(&b, BUILD_TIME + 3, 0x3000, "last", 40);
		const struct log log = walk(&b);
		assert_int_equal(log.problem_count, 1);
		assert_int_equal(log.problems[0].kind, JITDUMP_PROBLEM_CUT_NEXT);
		assert_int_equal(log.problems[0].offset, torn_off);
		assert_int_equal(log.problems[0].missing_bytes, named + 40 - there);
		if (there < named) {
			ASSERT_NAMES(&log, "first", "next", "last");
			assert_int_equal(log.problems[0].skipped_bytes, there);
		} else {
			ASSERT_NAMES(&log, "first", "torn()", "next", "last");
			assert_true(log.is_torn[1]);
			assert_int_equal(log.code_bytes[1], there - named);
			assert_int_equal(log.problems[0].skipped_bytes, 0);
		}
	}
}

/* .NET 10: writev() fails on the code of a reserved block; the name is there. */
static void keeps_a_last_load_whose_name_is_whole(void **state)
{
	(void)state;
	const size_t named = 56 + 5;
	for (size_t there = 1; there < named + 40; there++) {
		struct build torn = { 0 };
		build_load(&torn, BUILD_TIME + 1, 0x9000, "stub", 40);
		struct build b = { 0 };
		start(&b);
		sink_put(&b.out, torn.out.data, there);
		sink_clear(&torn.out);
		const struct log log = walk(&b);
		assert_int_equal(log.problem_count, 1);
		if (there < named) {
			ASSERT_NAMES(&log, "first");
			assert_int_equal(log.problems[0].skipped_bytes, there);
		} else {
			ASSERT_NAMES(&log, "first", "stub");
			assert_true(log.is_torn[1]);
			assert_int_equal(log.problems[0].kind, JITDUMP_PROBLEM_CUT_FILE);
		}
	}
}

static void goes_on_behind_wrong_sizes(void **state)
{
	(void)state;
	/* Nothing, too short, short of the code, past the next record, past the file. */
	static const uint32_t sizes[] = { 0, 15, 16, 40, 80, 150, 200, 0x7fffffff, 0xffffffff };
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct build b = { 0 };
		start(&b);
		const size_t at = b.out.size;
		build_load(&b, BUILD_TIME + 1, 0x2000, "wrong", 40);
		sink_patch_u32(&b.out, at + 4, sizes[i]);
		build_load(&b, BUILD_TIME + 2, 0x3000, "next", 40);
		build_unwinding(&b, BUILD_TIME + 3);
		const struct log log = walk(&b);
		assert_true(log.problem_count >= 1);
		assert_true(log.count >= 3);
		assert_string_equal(log.names[log.count - 2], "next");
		assert_string_equal(log.names[log.count - 1], "#4");
	}
}

static void invents_nothing_in_zeros(void **state)
{
	(void)state;
	for (size_t zeros = 1; zeros < 200; zeros++) {
		struct build b = { 0 };
		start(&b);
		const size_t at = b.out.size;
		sink_zeros(&b.out, zeros);
		const struct log log = walk(&b);
		ASSERT_NAMES(&log, "first");
		assert_int_equal(log.problem_count, 1);
		assert_int_equal(log.problems[0].kind, JITDUMP_PROBLEM_ZEROS);
		assert_int_equal(log.problems[0].offset, at);
		assert_int_equal(log.problems[0].skipped_bytes, zeros);
	}
}

static void finds_records_behind_zeros(void **state)
{
	(void)state;
	for (size_t zeros = 1; zeros < 40; zeros++) {
		for (int swap = 0; swap < 2; swap++) {
			struct build b = { .swap = swap };
			start(&b);
			sink_zeros(&b.out, zeros);
			build_load(&b, BUILD_TIME + 1, 0x2000, "last", 40);
			const struct log log = walk(&b);
			ASSERT_NAMES(&log, "first", "last");
			assert_int_equal(log.problems[0].skipped_bytes, zeros);
		}
	}
}

/* Code that would pass for records on a glance: small words, text, counters. */
static void invents_nothing_in_code(void **state)
{
	(void)state;
	uint64_t random = 0x123456789;
	struct build b = { 0 };
	start(&b);
	for (int i = 0; i < 40000; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		const uint64_t word = random >> 33;
		switch (word % 4) {
		case 0:
			sink_u32(&b.out, (uint32_t)(word >> 2) % 6);
			break;
		case 1:
			sink_u32(&b.out, (uint32_t)(word >> 2) % 200);
			break;
		case 2:
			sink_u64(&b.out, BUILD_TIME + word % 1000000000);
			break;
		default:
			sink_u8(&b.out, (uint8_t)(word >> 2));
			break;
		}
	}
	build_load(&b, BUILD_TIME + 1, 0x2000, "last", 40);
	const struct log log = walk(&b);
	ASSERT_NAMES(&log, "first", "last");
}

static void takes_records_far_from_the_others_in_time(void **state)
{
	(void)state;
	struct build b = { 0 };
	start(&b);
	build_load(&b, 0, 0x2000, "before recording", 40);
	build_load(&b, UINT64_C(1) << 63, 0x3000, "another clock", 40);
	build_load(&b, BUILD_TIME - 5, 0x4000, "back", 40);
	const struct log log = walk(&b);
	ASSERT_NAMES(&log, "first", "before recording", "another clock", "back");
	assert_int_equal(log.problem_count, 0);
}

static void takes_padded_loads_and_empty_unwinding(void **state)
{
	(void)state;
	struct build b = { 0 };
	start(&b);
	const size_t at = b.out.size;
	build_load(&b, BUILD_TIME + 1, 0x2000, "padded", 41);
	sink_zeros(&b.out, 5);
	sink_patch_u32(&b.out, at + 4, (uint32_t)(b.out.size - at));
	build_prefix(&b, JITDUMP_UNWINDING_INFO, 40, BUILD_TIME + 2);
	sink_zeros(&b.out, 24);
	build_load(&b, BUILD_TIME + 3, 0x3000, "", 40);
	const struct log log = walk(&b);
	ASSERT_NAMES(&log, "first", "padded", "#4", "");
	assert_int_equal(log.code_bytes[1], 41);
	assert_int_equal(log.problem_count, 0);
}

static void takes_a_file_that_begins_with_dirt(void **state)
{
	(void)state;
	struct build b = { 0 };
	build_header(&b, 40);
	sink_text(&b.out, "::_Printer.__init__:<frozen _sitebuiltins>");
	build_load(&b, BUILD_TIME, 0x1000, "first", 40);
	build_load(&b, BUILD_TIME + 1, 0x2000, "last", 40);
	const struct log log = walk(&b);
	ASSERT_NAMES(&log, "first", "last");
}

static void takes_nonsense_for_a_header_size(void **state)
{
	(void)state;
	static const uint32_t sizes[] = { 0, 39, 4097, 0xffffffff };
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct build b = { 0 };
		start(&b);
		sink_patch_u32(&b.out, 8, sizes[i]);
		const struct log log = walk(&b);
		ASSERT_NAMES(&log, "first");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_loads_without_code),
		cmocka_unit_test(finds_the_records_behind_half_a_record),
		cmocka_unit_test(ends_a_record_where_the_next_one_begins),
		cmocka_unit_test(keeps_a_last_load_whose_name_is_whole),
		cmocka_unit_test(goes_on_behind_wrong_sizes),
		cmocka_unit_test(invents_nothing_in_zeros),
		cmocka_unit_test(finds_records_behind_zeros),
		cmocka_unit_test(invents_nothing_in_code),
		cmocka_unit_test(takes_records_far_from_the_others_in_time),
		cmocka_unit_test(takes_padded_loads_and_empty_unwinding),
		cmocka_unit_test(takes_a_file_that_begins_with_dirt),
		cmocka_unit_test(takes_nonsense_for_a_header_size),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
