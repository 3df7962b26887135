/* Line entries: the format's own, and the faults of V8, LLVM and Erlang. */
#include "build.h"

#include "base/status.h"
#include "format/jitdump/debug.h"

enum { AVMA = 0x41001000 };

static const struct jitdump_debug_style plain;

static void read_first(struct bytes dump, struct jitdump_record *record)
{
	struct jitdump_reader reader;
	assert_int_equal(jitdump_reader_init(&reader, dump), 0);
	assert_int_equal(jitdump_reader_next(&reader, record), 1);
	assert_int_equal(record->id, JITDUMP_DEBUG_INFO);
}

static void assert_entry(struct jitdump_debug_walk *walk, uint64_t avma, uint32_t line,
			 const char *file)
{
	struct jitdump_debug_entry entry;
	assert_int_equal(jitdump_debug_entry_next(walk, &entry), 1);
	assert_int_equal(entry.avma, avma);
	assert_int_equal(entry.line, line);
	assert_int_equal(entry.column, 3);
	assert_int_equal(entry.file.size, strlen(file));
	assert_memory_equal(entry.file.data, file, entry.file.size);
	assert_false(entry.is_name_damaged);
}

static void reads_lines_in_both_byte_orders(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		const struct bytes dump = build_all_kinds(swap);
		struct jitdump_record record;
		struct jitdump_debug_walk walk;
		struct jitdump_debug_entry entry;
		read_first(dump, &record);
		jitdump_debug_walk_init(&walk, &record, plain);
		assert_entry(&walk, 0x7f0000001000, 10, "a.js");
		assert_entry(&walk, 0x7f0000001008, 11, "a.js"); /* "\xff": the same again */
		assert_entry(&walk, 0x7f0000001014, 12, "b.js");
		assert_int_equal(jitdump_debug_entry_next(&walk, &entry), 0);
		assert_int_equal(jitdump_debug_entry_next(&walk, &entry), 0);
		build_free(dump);
	}
}

static void keeps_entries_before_the_code(void **state)
{
	(void)state;
	static const struct build_line lines[] = {
		{ (uint64_t)-48, 187, "gen_event.erl" },
		{ 69, 191, "gen_event.erl" },
		{ 72, 0, "" },
		{ 0, 0, NULL },
	};
	struct build b = { 0 };
	build_header(&b, 40);
	build_debug(&b, BUILD_TIME, AVMA, lines);
	build_load(&b, BUILD_TIME, AVMA, "gen_event", 72);
	const struct bytes dump = build_copy(&b);
	struct jitdump_record record;
	struct jitdump_debug_walk walk;
	read_first(dump, &record);
	jitdump_debug_walk_init(&walk, &record, plain);
	assert_entry(&walk, AVMA - 48, 187, "gen_event.erl");
	assert_entry(&walk, AVMA + 69, 191, "gen_event.erl");
	assert_entry(&walk, AVMA + 72, 0, "");
	assert_int_equal(jitdump_debug_style(dump).bias, 0);
	build_free(dump);
}

/* V8's fault: 16 bytes of every name are something else, NULs included. */
static struct bytes build_damaged(size_t count, const char *name, size_t padding)
{
	static const uint8_t damage[16] = { 0x02, 0x62, 0x99, 0x14, 0, 0, 0, 0, 0xed, 0xaa, 0x2b };
	struct build b = { 0 };
	build_header(&b, 40);
	build_prefix(&b, JITDUMP_DEBUG_INFO, 32 + count * (16 + strlen(name) + 1) + padding,
		     BUILD_TIME);
	build_u64(&b, AVMA);
	build_u64(&b, count);
	for (size_t i = 0; i < count; i++) {
		build_u64(&b, AVMA + 8 * i);
		build_u32(&b, (uint32_t)i + 1);
		build_u32(&b, 3);
		const size_t at = b.out.size;
		sink_cstr(&b.out, name);
		memcpy(b.out.data + at, damage, sizeof(damage));
	}
	sink_zeros(&b.out, padding);
	build_load(&b, BUILD_TIME, AVMA, "JS:*alpha /home/u/work/work.js:2:32", 400);
	return build_copy(&b);
}

static void recovers_damaged_names_by_their_stride(void **state)
{
	(void)state;
	static const char name[] = "/home/u/work/work.js";
	const struct bytes symbol = { (const uint8_t *)"JS:*alpha /home/u/work/work.js:2:32", 35 };
	for (size_t count = 1; count < 20; count++) {
		for (size_t padding = 0; padding < 8; padding++) {
			const struct bytes dump = build_damaged(count, name, padding);
			struct jitdump_record record;
			struct jitdump_debug_walk walk;
			struct jitdump_debug_entry entry;
			read_first(dump, &record);
			jitdump_debug_walk_init(&walk, &record, plain);
			for (size_t i = 0; i < count; i++) {
				assert_int_equal(jitdump_debug_entry_next(&walk, &entry), 1);
				assert_int_equal(entry.avma, AVMA + 8 * i);
				assert_int_equal(entry.line, i + 1);
				assert_true(entry.is_name_damaged);
				const struct bytes fixed =
				    jitdump_debug_repair_name(entry.file, symbol);
				assert_int_equal(fixed.size, strlen(name));
				assert_memory_equal(fixed.data, name, fixed.size);
			}
			assert_int_equal(jitdump_debug_entry_next(&walk, &entry), 0);
			build_free(dump);
		}
	}
}

static void assert_no_repair(const char *damaged, size_t size, const char *symbol)
{
	const struct bytes name = { (const uint8_t *)damaged, size };
	const struct bytes text = { (const uint8_t *)symbol, strlen(symbol) };
	assert_int_equal(jitdump_debug_repair_name(name, text).size, 0);
}

static void repairs_no_name_from_another_file(void **state)
{
	(void)state;
	static const char damaged[] = "\2\0\0\0\0\0\0\0\1\1\1\1\1\1\1\1ork/work.js";
	const size_t size = sizeof(damaged) - 1;
	assert_no_repair(damaged, size, "JS:*alpha /home/u/work/gork.js:2:32");
	assert_no_repair(damaged, size, "JS:*alpha work.js:2:32");
	assert_no_repair(damaged, size, "");
	assert_no_repair(damaged, 16, "JS:*alpha /home/u/work/work.js:2:32");
	assert_no_repair(damaged, 0, "JS:*alpha /home/u/work/work.js:2:32");
	/* The path may not begin in the middle of a word. */
	assert_no_repair(damaged, size, "JS:*alpha x/a/very/long/path/work/work.js:2:32");
}

static struct bytes build_lines(uint32_t pad, uint64_t vma, const struct build_line *lines,
				uint64_t code_size)
{
	struct build b = { 0 };
	build_header(&b, 40);
	sink_patch_u32(&b.out, 16, pad);
	build_debug(&b, BUILD_TIME, AVMA, lines);
	build_load_full(&b, &(struct build_load){ .time = BUILD_TIME,
						  .vma = vma,
						  .code_avma = AVMA,
						  .name = "f",
						  .code_size = code_size });
	return build_copy(&b);
}

static uint64_t bias_of(uint32_t pad, uint64_t vma, const struct build_line *lines,
			uint64_t code_size)
{
	const struct bytes dump = build_lines(pad, vma, lines, code_size);
	const uint64_t bias = jitdump_debug_style(dump).bias;
	build_free(dump);
	return bias;
}

static void needs_a_tell_and_the_data_for_a_bias(void **state)
{
	(void)state;
	static const struct build_line biased[] = { { 64, 1, "a" },
						    { 90, 2, "a" },
						    { 0, 0, NULL } };
	static const struct build_line sound[] = { { 0, 1, "a" }, { 90, 2, "a" }, { 0, 0, NULL } };
	static const struct build_line none[] = { { 0, 0, NULL } };
	const uint32_t v8_pad = 0xdeadbeef;
	/* V8 by its pad, LLVM by its vma, anyone by an entry behind the code's end. */
	assert_int_equal(bias_of(v8_pad, AVMA, biased, 200), 0x40);
	assert_int_equal(bias_of(0, 0, biased, 200), 0x40);
	assert_int_equal(bias_of(0, AVMA, biased, 80), 0x40);
	/* No tell; or lines at the code's start; or no lines. */
	assert_int_equal(bias_of(0, AVMA, biased, 200), 0);
	assert_int_equal(bias_of(v8_pad, AVMA, sound, 200), 0);
	assert_int_equal(bias_of(0, 0, sound, 80), 0);
	assert_int_equal(bias_of(v8_pad, 0, none, 200), 0);
}

static void takes_the_bias_off(void **state)
{
	(void)state;
	static const struct build_line lines[] = { { 64, 1, "a" }, { 90, 2, "a" }, { 0, 0, NULL } };
	const struct bytes dump = build_lines(0xdeadbeef, AVMA, lines, 200);
	struct jitdump_record record;
	struct jitdump_debug_walk walk;
	read_first(dump, &record);
	jitdump_debug_walk_init(&walk, &record, jitdump_debug_style(dump));
	assert_entry(&walk, AVMA, 1, "a");
	assert_entry(&walk, AVMA + 26, 2, "a");
	build_free(dump);
}

/* Reads all entries of a record; they must lie in the dump, and end. */
static uint64_t read_all(struct bytes dump)
{
	struct jitdump_reader reader;
	struct jitdump_record record;
	uint64_t count = 0;
	if (jitdump_reader_init(&reader, dump) < 0)
		return 0;
	const struct jitdump_debug_style style = jitdump_debug_style(dump);
	while (jitdump_reader_next(&reader, &record) > 0) {
		struct jitdump_debug_walk walk;
		struct jitdump_debug_entry entry;
		if (record.id != JITDUMP_DEBUG_INFO)
			continue;
		jitdump_debug_walk_init(&walk, &record, style);
		while (jitdump_debug_entry_next(&walk, &entry) > 0) {
			assert_true(!entry.file.size ||
				    (entry.file.data >= dump.data &&
				     entry.file.data + entry.file.size <= dump.data + dump.size));
			count++;
		}
	}
	return count;
}

static void ends_where_the_bytes_do(void **state)
{
	(void)state;
	const struct bytes sound = build_all_kinds(false);
	const struct bytes damaged = build_damaged(3, "/home/u/work/work.js", 5);
	for (size_t size = 0; size <= sound.size; size++) {
		const struct bytes part = build_part(sound, size);
		const uint64_t count = read_all(part);
		/* The record lies at 40; its entries end at 93, 111 and 132. */
		assert_int_equal(count, (uint64_t)(size >= 93) + (size >= 111) + (size >= 132));
		build_free(part);
	}
	for (int which = 0; which < 2; which++) {
		const struct bytes dump = which ? damaged : sound;
		for (size_t at = 0; at < dump.size; at++) {
			for (int bit = 0; bit < 8; bit++) {
				const struct bytes copy = build_part(dump, dump.size);
				((uint8_t *)(uintptr_t)copy.data)[at] ^= (uint8_t)(1 << bit);
				assert_true(read_all(copy) <= 16);
				build_free(copy);
			}
		}
	}
	build_free(damaged);
	build_free(sound);
}

static void says_that_entries_are_missing(void **state)
{
	(void)state;
	static const struct build_line lines[] = { { 0, 1, "a" }, { 8, 2, "a" }, { 0, 0, NULL } };
	struct build b = { 0 };
	build_header(&b, 40);
	build_debug(&b, BUILD_TIME, AVMA, lines);
	sink_patch_u64(&b.out, 40 + 24, 3);
	const struct bytes dump = build_copy(&b);
	struct jitdump_record record;
	struct jitdump_debug_walk walk;
	struct jitdump_debug_entry entry;
	read_first(dump, &record);
	jitdump_debug_walk_init(&walk, &record, plain);
	assert_entry(&walk, AVMA, 1, "a");
	assert_entry(&walk, AVMA + 8, 2, "a");
	assert_int_equal(jitdump_debug_entry_next(&walk, &entry), STATUS_CORRUPT);
	assert_int_equal(jitdump_debug_entry_next(&walk, &entry), 0);
	build_free(dump);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_lines_in_both_byte_orders),
		cmocka_unit_test(keeps_entries_before_the_code),
		cmocka_unit_test(recovers_damaged_names_by_their_stride),
		cmocka_unit_test(repairs_no_name_from_another_file),
		cmocka_unit_test(needs_a_tell_and_the_data_for_a_bias),
		cmocka_unit_test(takes_the_bias_off),
		cmocka_unit_test(ends_where_the_bytes_do),
		cmocka_unit_test(says_that_entries_are_missing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
