/* One fault a case, put into a sound dump: lint says where, and nothing else. */
#include "check.h"
#include "format/jitdump/build_own.h"

#include "base/status.h"

enum {
	AVMA = 0x41001000,
	LINES_OFF = 40, /* of the records of start() */
	UNWINDING_OFF = 40 + 68,
	LOAD_OFF = UNWINDING_OFF + 112,
	SOUND_SIZE = LOAD_OFF + 56 + 6 + 64,
};

static const struct build_line lines[] = { { 0, 1, "a" }, { 8, 2, "a" }, { 0, 0, NULL } };

/* Lines, unwinding data and a LOAD. */
static struct build start(void)
{
	struct build b = { 0 };
	build_header(&b, 40);
	build_debug(&b, BUILD_TIME, AVMA, lines);
	assert_int_equal(b.out.size, 40 + 32 + 2 * 18);
	build_unwinding(&b, BUILD_TIME + 1);
	build_load(&b, BUILD_TIME + 2, AVMA, "alpha", 64);
	return b;
}

static struct bytes finish(struct build *b)
{
	build_close(b, BUILD_TIME + 900);
	return build_copy(b);
}

/* Ends the dump, and takes it as it is. */
static uint64_t finds(struct build *b, enum lint_kind kind, uint64_t offset)
{
	const struct bytes dump = finish(b);
	const uint64_t count = check_finds(dump, kind, offset);
	build_free(dump);
	return count;
}

static uint64_t finds_unfinished(struct build *b, enum lint_kind kind, uint64_t offset)
{
	const struct bytes dump = build_copy(b);
	const uint64_t count = check_finds(dump, kind, offset);
	build_free(dump);
	return count;
}

static void finds_nothing_in_a_sound_dump(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct build b = { .swap = swap };
		build_header(&b, 40);
		build_debug(&b, BUILD_TIME, AVMA, lines);
		build_load(&b, BUILD_TIME + 2, AVMA, "alpha", 64);
		build_move(&b, BUILD_TIME + 3, AVMA, AVMA + 4096);
		build_move(&b, BUILD_TIME + 3, AVMA + 4096, AVMA);
		const struct bytes dump = finish(&b);
		check_clean(dump);
		build_free(dump);
	}
}

static void patches_the_header(void **state)
{
	(void)state;
	static const struct {
		size_t at;
		uint32_t value;
		enum lint_kind kind;
	} cases[] = {
		{ 4, 2, LINT_VERSION },
		{ 8, 0, LINT_HEADER_SIZE },
		{ 12, 0, LINT_MACHINE },
		{ 12, 9999, LINT_MACHINE },
		{ 32, 0x30, LINT_FLAGS },
		{ 32, 1, LINT_ARCH_TIME },
		{ 28, 418155, LINT_HEADER_CLOCK },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build b = start();
		sink_patch_u32(&b.out, cases[i].at, cases[i].value);
		finds(&b, cases[i].kind, 0);
	}
	struct build b = { 0 };
	build_header(&b, 72);
	build_load(&b, BUILD_TIME, AVMA, "alpha", 64);
	finds(&b, LINT_HEADER_SIZE, 0);
}

static void finds_dirt_between_records(void **state)
{
	(void)state;
	struct build b = start();
	sink_text(&b.out, "half of a record");
	finds(&b, LINT_GARBAGE, SOUND_SIZE);

	b = start();
	build_load(&b, BUILD_TIME + 3, AVMA + 4096, "beta", 64);
	b.out.size -= 10;
	finds_unfinished(&b, LINT_CUT, SOUND_SIZE);

	b = start();
	build_load(&b, BUILD_TIME + 3, AVMA + 4096, "beta", 64);
	b.out.size -= 10;
	build_load(&b, BUILD_TIME + 4, AVMA + 8192, "gamma", 64);
	finds(&b, LINT_CUT, SOUND_SIZE);

	b = start();
	sink_zeros(&b.out, 100);
	finds_unfinished(&b, LINT_ZERO_TAIL, SOUND_SIZE);
}

static void finds_how_a_dump_ends(void **state)
{
	(void)state;
	struct build b = start();
	finds_unfinished(&b, LINT_NO_CLOSE, SOUND_SIZE);

	b = start();
	build_close(&b, BUILD_TIME + 3);
	build_load(&b, BUILD_TIME + 4, AVMA + 4096, "beta", 64);
	finds(&b, LINT_AFTER_CLOSE, SOUND_SIZE + 16);

	/* Two processes that share a dump each close it. */
	b = start();
	build_close(&b, BUILD_TIME + 3);
	const struct bytes twice = finish(&b);
	check_clean(twice);
	build_free(twice);

	b = (struct build){ 0 };
	build_header(&b, 40);
	finds(&b, LINT_NO_LOADS, 56);

	const struct bytes nothing = { .data = (const uint8_t *)"", .size = 0 };
	check_finds(nothing, LINT_EMPTY, 0);
}

static void finds_times_that_cannot_be(void **state)
{
	(void)state;
	static const struct {
		uint64_t time;
		enum lint_kind kind;
	} cases[] = {
		{ BUILD_TIME + 1, LINT_TIME_BACK },
		{ 0, LINT_TIME_ZERO },
		{ UINT64_C(1795958690410708000), LINT_TIME_FAR },
	};
	for (size_t i = 0; i < 3; i++) {
		struct build b = start();
		build_load(&b, cases[i].time, AVMA + 4096, "beta", 64);
		assert_int_equal(finds(&b, cases[i].kind, SOUND_SIZE), 1);
	}
}

/* Offsets of fields in a LOAD: tid 20, vma 24, address 32, size 40, index 48. */
static void patches_a_load(void **state)
{
	(void)state;
	static const struct {
		size_t at;
		uint64_t value;
		enum lint_kind kind;
	} cases[] = {
		{ 16, (UINT64_C(4712) << 32) | 99, LINT_PROCESS },
		{ 16, (UINT64_C(1755552640) << 32) | 4711, LINT_THREAD },
		{ 24, 0, LINT_VMA },
		{ 40, 66, LINT_NO_CODE },
		{ 48, 0, LINT_INDEX },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build b = start();
		sink_patch_u64(&b.out, LOAD_OFF + 48, 0);
		build_load(&b, BUILD_TIME + 3, AVMA + 4096, "beta", 64);
		sink_patch_u64(&b.out, SOUND_SIZE + cases[i].at, cases[i].value);
		assert_int_equal(finds(&b, cases[i].kind, SOUND_SIZE), 1);
	}
	static const uint64_t ranges[][2] = { { 0, 64 }, { AVMA, 0 }, { UINT64_MAX - 60, 64 } };
	for (size_t i = 0; i < 3; i++) {
		struct build b = start();
		build_load(&b, BUILD_TIME + 3, ranges[i][0], "beta", ranges[i][1]);
		assert_int_equal(finds(&b, LINT_CODE_RANGE, SOUND_SIZE), 1);
	}
}

static void finds_names_that_are_none(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		enum lint_kind kind;
	} cases[] = {
		{ "", LINT_NAME_EMPTY },
		{ "a\nb", LINT_NAME_NEWLINE },
		{ "a\x1b[31m", LINT_NAME_CONTROL },
		{ "gr\xf6\xdf", LINT_NAME_BYTES },
	};
	for (size_t i = 0; i < 4; i++) {
		struct build b = start();
		build_load(&b, BUILD_TIME + 3, AVMA + 4096, cases[i].name, 64);
		assert_int_equal(finds(&b, cases[i].kind, SOUND_SIZE), 1);
	}
}

static void finds_loads_in_each_others_way(void **state)
{
	(void)state;
	/* Exactly over it, into it from either side, around it. */
	static const uint64_t ranges[][2] = {
		{ 0, 64 }, { 63, 64 }, { (uint64_t)-63, 64 }, { (uint64_t)-64, 200 }
	};
	for (size_t i = 0; i < 4; i++) {
		struct build b = start();
		build_load(&b, BUILD_TIME + 3, AVMA + ranges[i][0], "beta", ranges[i][1]);
		assert_int_equal(finds(&b, LINT_OVERLAP, SOUND_SIZE), 1);
	}
	/* Side by side, or moved away before. */
	struct build b = start();
	build_load(&b, BUILD_TIME + 3, AVMA + 64, "beta", 64);
	build_load(&b, BUILD_TIME + 3, AVMA - 64, "gamma", 64);
	const struct bytes beside = finish(&b);
	check_clean(beside);
	build_free(beside);
	b = start();
	build_move(&b, BUILD_TIME + 3, AVMA, AVMA + 4096);
	build_load(&b, BUILD_TIME + 4, AVMA, "beta", 64);
	const struct bytes moved = finish(&b);
	check_clean(moved);
	build_free(moved);

	b = start();
	build_move(&b, BUILD_TIME + 3, AVMA + 1, AVMA + 4096);
	assert_int_equal(finds(&b, LINT_MOVE, SOUND_SIZE), 1);
}

static void finds_a_load_that_is_there_twice(void **state)
{
	(void)state;
	struct build b = start();
	struct build other = start();
	sink_put(&b.out, other.out.data + LOAD_OFF, SOUND_SIZE - LOAD_OFF);
	sink_clear(&other.out);
	assert_int_equal(finds(&b, LINT_REPEATED, SOUND_SIZE), 1);
}

static void finds_wrong_lines(void **state)
{
	(void)state;
	static const struct build_line high[] = { { 64, 1, "a" }, { 90, 2, "a" }, { 0, 0, NULL } };
	static const struct build_line outside[] = { { 0, 1, "a" },
						     { 65, 2, "a" },
						     { 0, 0, NULL } };

	struct build b = { 0 };
	build_header(&b, 40);
	build_debug(&b, BUILD_TIME, AVMA, high);
	build_load(&b, BUILD_TIME, AVMA, "alpha", 64);
	finds(&b, LINT_BIAS, 0);

	b = start();
	build_debug(&b, BUILD_TIME + 3, AVMA + 4096, outside);
	build_load(&b, BUILD_TIME + 3, AVMA + 4096, "beta", 64);
	assert_int_equal(finds(&b, LINT_LINES_OUTSIDE, SOUND_SIZE), 1);

	b = start();
	build_debug(&b, BUILD_TIME + 3, AVMA + 4096, lines);
	sink_patch_u64(&b.out, SOUND_SIZE + 24, 3);
	build_load(&b, BUILD_TIME + 3, AVMA + 4096, "beta", 64);
	assert_int_equal(finds(&b, LINT_LINES_CUT, SOUND_SIZE), 1);

	b = start();
	build_debug(&b, BUILD_TIME + 3, AVMA + 4096, lines);
	assert_int_equal(finds(&b, LINT_LINES_ORPHAN, SOUND_SIZE), 1);
	b = start();
	build_debug(&b, BUILD_TIME + 3, AVMA + 4096, lines);
	build_load(&b, BUILD_TIME + 3, AVMA + 8192, "beta", 64);
	assert_int_equal(finds(&b, LINT_LINES_ORPHAN, SOUND_SIZE), 1);
	b = start();
	build_unwinding(&b, BUILD_TIME + 3);
	assert_int_equal(finds(&b, LINT_LINES_ORPHAN, SOUND_SIZE), 1);
}

static void finds_damaged_file_names(void **state)
{
	(void)state;
	static const struct build_line long_name[] = { { 0, 1, "/home/u/work/work.js" },
						       { 8, 2, "/home/u/work/work.js" },
						       { 0, 0, NULL } };
	for (int has_path = 0; has_path < 2; has_path++) {
		struct build b = start();
		build_debug(&b, BUILD_TIME + 3, AVMA + 4096, long_name);
		for (size_t i = 0; i < 2; i++)
			memset(b.out.data + SOUND_SIZE + 32 + 16 + i * 37, 0, 16);
		build_load(&b, BUILD_TIME + 3, AVMA + 4096,
			   has_path ? "JS:*beta /home/u/work/work.js:2:3" : "beta", 64);
		const struct bytes dump = finish(&b);
		struct lint lint = { .limit = 0 };
		assert_int_equal(lint_file(&lint, dump), 0);
		const struct lint_finding *found = check_find(&lint, LINT_DAMAGED_FILE);
		assert_non_null(found);
		assert_int_equal(strstr(found->text, "/home/u/work/work.js") != NULL, has_path);
		lint_clear(&lint);
		assert_int_equal(check_finds(dump, LINT_DAMAGED_FILE, SOUND_SIZE), 1);
		build_free(dump);
	}
}

static void finds_odd_records(void **state)
{
	(void)state;
	struct build b = start();
	build_prefix(&b, 0x505000f1, 24, BUILD_TIME + 3);
	build_u64(&b, 1);
	assert_int_equal(finds(&b, LINT_UNKNOWN, SOUND_SIZE), 1);

	b = start();
	sink_patch_u64(&b.out, UNWINDING_OFF + 24, 69);
	finds(&b, LINT_UNWINDING, UNWINDING_OFF);
}

static void finds_what_our_own_records_get_wrong(void **state)
{
	(void)state;
	struct build b = start();
	build_unload(&b, BUILD_TIME + 3, AVMA);
	build_load(&b, BUILD_TIME + 4, AVMA, "beta", 64); /* no overlap */
	build_unload(&b, BUILD_TIME + 5, AVMA);
	build_method(&b, BUILD_TIME + 5, 0x6000);
	const size_t second_off = b.out.size;
	build_unload(&b, BUILD_TIME + 6, AVMA);
	assert_int_equal(finds(&b, LINT_UNLOAD, second_off), 1);

	b = start();
	build_move(&b, BUILD_TIME + 3, AVMA, AVMA + 4096);
	build_unload(&b, BUILD_TIME + 4, AVMA + 4096);
	build_pad(&b, BUILD_TIME + 5, 99);
	assert_int_equal(finds(&b, LINT_PADDING, SOUND_SIZE + 64 + 48), 1);

	b = start();
	build_pad(&b, BUILD_TIME + 3, 99);
	assert_int_equal(finds(&b, LINT_PADDING, SOUND_SIZE), 1);

	b = start();
	build_inlines(&b, BUILD_TIME + 3, AVMA + 4096);
	sink_patch_u32(&b.out, SOUND_SIZE + 32 + 24, 17); /* the name's place */
	build_load(&b, BUILD_TIME + 3, AVMA + 4096, "beta", 64);
	assert_int_equal(finds(&b, LINT_EXTENSION, SOUND_SIZE), 1);

	b = start();
	build_inlines(&b, BUILD_TIME + 3, AVMA + 4096);
	sink_patch_u32(&b.out, SOUND_SIZE + 32 + 8, 1); /* depth 1 without a caller */
	build_load(&b, BUILD_TIME + 3, AVMA + 4096, "beta", 64);
	assert_int_equal(finds(&b, LINT_EXTENSION, SOUND_SIZE), 1);
}

static void keeps_the_first_of_a_kind_and_counts_all(void **state)
{
	(void)state;
	struct build b = start();
	for (uint64_t i = 1; i < 10; i++)
		build_load(&b, BUILD_TIME + 3, AVMA + i * 4096, "", 64);
	const struct bytes dump = finish(&b);
	struct lint lint = { .limit = 3 };
	assert_int_equal(lint_file(&lint, dump), 0);
	assert_int_equal(lint.findings.count, 3);
	assert_int_equal(lint.findings.items[0].offset, SOUND_SIZE);
	assert_int_equal(lint.counts[LINT_NAME_EMPTY], 9);
	assert_int_equal(lint_count(&lint, LINT_SEVERITY_WARNING), 9);
	assert_int_equal(lint_count(&lint, LINT_SEVERITY_ERROR), 0);
	assert_memory_equal(lint.contents.data, "10 LOAD", 7);
	lint_clear(&lint);
	build_free(dump);
}

static void refuses_other_files(void **state)
{
	(void)state;
	static const char *const texts[] = { "\177ELF\2\1\1", "hello world\nhow are you\n",
					     "{\"a\": 1}\n", "PERFILE2 and nothing else", "DTiJ" };
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const struct bytes file = { (const uint8_t *)texts[i], strlen(texts[i]) };
		struct lint lint = { .limit = 0 };
		assert_true(lint_file(&lint, file) < 0);
		lint_clear(&lint);
	}
}

static void survives_every_truncation_and_change(void **state)
{
	(void)state;
	const struct bytes dump = build_all_kinds(false);
	for (size_t size = 0; size < dump.size; size++) {
		const struct bytes part = build_part(dump, size);
		struct lint lint = { .limit = 2 };
		(void)lint_file(&lint, part);
		lint_clear(&lint);
		build_free(part);
	}
	for (size_t at = 0; at < dump.size; at++) {
		for (int bit = 0; bit < 8; bit++) {
			const struct bytes copy = build_part(dump, dump.size);
			((uint8_t *)(uintptr_t)copy.data)[at] ^= (uint8_t)(1 << bit);
			struct lint lint = { .limit = 2 };
			(void)lint_file(&lint, copy);
			lint_clear(&lint);
			build_free(copy);
		}
	}
	build_free(dump);
}

static void finds_every_kind(void **state)
{
	(void)state;
	check_all_seen(LINT_EMPTY, LINT_NAME_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_nothing_in_a_sound_dump),
		cmocka_unit_test(patches_the_header),
		cmocka_unit_test(finds_dirt_between_records),
		cmocka_unit_test(finds_how_a_dump_ends),
		cmocka_unit_test(finds_times_that_cannot_be),
		cmocka_unit_test(patches_a_load),
		cmocka_unit_test(finds_names_that_are_none),
		cmocka_unit_test(finds_loads_in_each_others_way),
		cmocka_unit_test(finds_a_load_that_is_there_twice),
		cmocka_unit_test(finds_wrong_lines),
		cmocka_unit_test(finds_damaged_file_names),
		cmocka_unit_test(finds_odd_records),
		cmocka_unit_test(finds_what_our_own_records_get_wrong),
		cmocka_unit_test(keeps_the_first_of_a_kind_and_counts_all),
		cmocka_unit_test(refuses_other_files),
		cmocka_unit_test(survives_every_truncation_and_change),
		cmocka_unit_test(finds_every_kind),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
