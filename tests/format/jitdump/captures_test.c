/* The dumps of real runtimes in tests/data/captures. The numbers were counted by a
 * script that shares no code with the reader, and knows nothing of dirt.
 */
#include "capture.h"

#include "format/jitdump/debug.h"
#include "format/jitdump/plausible_internal.h"

struct expected {
	const char *name;
	size_t counts[5]; /* LOAD, MOVE, DEBUG_INFO, CLOSE, UNWINDING_INFO */
	size_t torn_count;
	uint64_t problem_count;
	uint64_t skipped_bytes;
	uint64_t bias;
	size_t damaged_count; /* DEBUG_INFO records with damaged names */
};

static const struct expected all[] = {
	/* writev() failed in the second record: its name is there, its code is not. */
	{ "dotnet10-azmcp-g0/jit-17773.dump.xz", { 2, 0, 0, 0, 0 }, 1, 1, 0, 0, 0 },
	{ "dotnet10-azmcp-g2/jit-18022.dump.xz", { 33241, 0, 0, 0, 0 }, 0, 0, 0, 0, 0 },
	{ "erlang25-dump/jit-2808.dump.xz", { 15881, 0, 6128, 0, 0 }, 0, 0, 0, 0, 0 },
	{ "java17-jvmti/jit-28660.dump.xz", { 636, 0, 109, 1, 0 }, 0, 0, 0, 0, 0 },
	{ "lli14-mcjit/jit-7494.dump", { 5, 0, 5, 0, 0 }, 0, 0, 0, 0x40, 0 },
	{ "node20-perf-prof/jit-23820.dump.xz", { 2560, 0, 66, 0, 2560 }, 0, 0, 0, 0x40, 29 },
	{ "node24-perf-prof/jit-25837.dump.xz", { 2618, 0, 105, 0, 2618 }, 0, 0, 0, 0x40, 34 },
	{ "php8.2-function/jit-2104.dump.xz", { 46, 0, 0, 1, 0 }, 0, 0, 0, 0, 0 },
	{ "py3.13-jitdump/jit-31542.dump.xz", { 222, 0, 0, 0, 222 }, 0, 0, 0, 0, 0 },
	{ "py3.13-jitdump-dwarf/jit-32493.dump.xz", { 220, 0, 0, 0, 220 }, 0, 0, 0, 0, 0 },
	/* The child flushed its copy of the parent's buffer: 54 bytes of half a record. */
	{ "python3.13-fork/jit-28453.dump.xz", { 216, 0, 0, 0, 216 }, 0, 1, 54, 0, 0 },
	{ "python3.13-fork/jit-28455.dump", { 2, 0, 0, 0, 2 }, 0, 0, 0, 0, 0 },
	{ "public/ddprof/jit-dotnet-partial.dump.xz", { 8425, 0, 0, 0, 0 }, 1, 1, 0, 0, 0 },
	{ "public/ddprof/jit-simple-julia.dump", { 13, 0, 8, 0, 0 }, 0, 0, 0, 0x40, 0 },
	/* Went through a text conversion: every byte above 0x7f is three others. */
	{ "public/ddprof/jit-julia-partial.dump", { 0, 0, 0, 0, 0 }, 0, 1, 5944, 0, 0 },
};

enum { CAPTURE_COUNT = sizeof(all) / sizeof(all[0]) };

static struct bytes dumps[CAPTURE_COUNT];

static int read_dumps(void **state)
{
	(void)state;
	for (size_t i = 0; i < CAPTURE_COUNT; i++) {
		char name[256];
		snprintf(name, sizeof(name), "captures/%s", all[i].name);
		dumps[i] = capture_read(name);
	}
	return 0;
}

static int free_dumps(void **state)
{
	(void)state;
	for (size_t i = 0; i < CAPTURE_COUNT; i++)
		capture_free(dumps[i]);
	return 0;
}

static void finds_every_record(void **state)
{
	(void)state;
	for (size_t i = 0; i < CAPTURE_COUNT; i++) {
		const struct bytes dump = dumps[i];
		size_t counts[5] = { 0 };
		size_t torn_count = 0;
		struct jitdump_reader reader;
		struct jitdump_record record;
		struct jitdump_record again;
		assert_int_equal(jitdump_reader_init(&reader, dump), 0);
		while (jitdump_reader_next(&reader, &record) > 0) {
			assert_true(record.id < 5);
			counts[record.id]++;
			torn_count += record.is_torn;
			assert_int_equal(jitdump_reader_at(&reader, record.offset, &again), 1);
			assert_memory_equal(&again.body, &record.body, sizeof(record.body));
		}
		print_message("%s\n", all[i].name);
		for (int id = 0; id < 5; id++)
			assert_int_equal(counts[id], all[i].counts[id]);
		assert_int_equal(torn_count, all[i].torn_count);
		assert_int_equal(reader.problem_count, all[i].problem_count);
		assert_int_equal(reader.skipped_bytes, all[i].skipped_bytes);
	}
}

/* What the search behind dirt relies on: real records satisfy the strict check,
 * and nothing inside names, code and unwinding data does.
 */
static void takes_records_and_nothing_else_for_records(void **state)
{
	(void)state;
	for (size_t i = 0; i < CAPTURE_COUNT; i++) {
		const struct bytes dump = dumps[i];
		struct jitdump_reader reader;
		struct jitdump_record record;
		assert_int_equal(jitdump_reader_init(&reader, dump), 0);
		while (jitdump_reader_next(&reader, &record) > 0) {
			const size_t offset = record.offset;
			const size_t end =
			    (size_t)(record.body.data - dump.data) + record.body.size;
			if (!record.is_torn)
				assert_int_equal(jitdump_find(&reader, offset, end), offset);
			assert_int_equal(jitdump_find(&reader, offset + 1, end), end);
		}
	}
}

static void knows_the_bias(void **state)
{
	(void)state;
	for (size_t i = 0; i < CAPTURE_COUNT; i++) {
		const struct bytes dump = dumps[i];
		assert_int_equal(jitdump_debug_style(dump).bias, all[i].bias);
	}
}

struct lines {
	size_t damaged_records;
	size_t entry_count;
	size_t repaired_count;
	size_t outside_count; /* behind the code's end */
};

/* The line records of one function, held against its LOAD. */
static void check_lines(struct lines *lines, const struct jitdump_record *debug,
			const struct jitdump_code_load *load, struct jitdump_debug_style style)
{
	struct jitdump_debug_walk walk;
	struct jitdump_debug_entry entry;
	uint64_t count = 0;
	int got;
	jitdump_debug_walk_init(&walk, debug, style);
	lines->damaged_records += walk.stride != 0;
	while ((got = jitdump_debug_entry_next(&walk, &entry)) > 0) {
		count++;
		assert_true(entry.line < 100000 && entry.column < 100000);
		/* Erlang's begin up to 51 bytes before the code, in the function's header. */
		assert_true(entry.avma + 64 > load->code_avma);
		lines->outside_count += entry.avma > load->code_avma + load->code_size;
		if (!entry.is_name_damaged)
			continue;
		const struct bytes name = jitdump_debug_repair_name(entry.file, load->name);
		assert_int_equal(name.size, strlen("/home/user/corpus/work/work.js"));
		assert_memory_equal(name.data, "/home/user/corpus/work/work.js", name.size);
		lines->repaired_count++;
	}
	assert_int_equal(got, 0);
	assert_int_equal(count, debug->debug_info.entry_count);
	lines->entry_count += count;
}

static void reads_every_line_and_repairs_every_name(void **state)
{
	(void)state;
	size_t repaired_count = 0;
	for (size_t i = 0; i < CAPTURE_COUNT; i++) {
		const struct bytes dump = dumps[i];
		const struct jitdump_debug_style style = { .bias = all[i].bias };
		struct lines lines = { 0 };
		struct jitdump_reader reader;
		struct jitdump_record record;
		struct jitdump_record debug = { .id = JITDUMP_CLOSE };
		assert_int_equal(jitdump_reader_init(&reader, dump), 0);
		while (jitdump_reader_next(&reader, &record) > 0) {
			if (record.id == JITDUMP_DEBUG_INFO) {
				debug = record;
			} else if (record.id == JITDUMP_CODE_LOAD &&
				   debug.id == JITDUMP_DEBUG_INFO) {
				assert_int_equal(debug.debug_info.code_avma,
						 record.code_load.code_avma);
				check_lines(&lines, &debug, &record.code_load, style);
				debug.id = JITDUMP_CLOSE;
			}
		}
		assert_int_equal(lines.damaged_records, all[i].damaged_count);
		assert_int_equal(lines.outside_count, 0);
		repaired_count += lines.repaired_count;
	}
	assert_int_equal(repaired_count, 1307);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_every_record),
		cmocka_unit_test(takes_records_and_nothing_else_for_records),
		cmocka_unit_test(knows_the_bias),
		cmocka_unit_test(reads_every_line_and_repairs_every_name),
	};
	return cmocka_run_group_tests(tests, read_dumps, free_dumps);
}
