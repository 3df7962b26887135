#include "debuginfo/debuginfo.h"

#include "base/status.h"
#include "fixture.h"

#include <stdlib.h>

static struct debuginfo_place place;

/* What was seen of the code of an object. */
struct seen {
	unsigned known;
	unsigned deepest;
	bool outer_in_itself; /* an address of outer() or other() in which nothing is inlined */
	bool four_times;
	bool twice;
};

static bool is(const char *text, const char *wanted)
{
	return strcmp(text, wanted) == 0;
}

/* The calls of small.c: who is inlined where. */
static void check_scope(const struct debuginfo_scope *scope, struct seen *seen)
{
	assert_string_equal(scope->call_file, "/src/small.c");
	if (is(scope->name, "four_times")) {
		assert_int_equal(scope->call_line, 18);
		seen->four_times = true;
	} else if (is(scope->name, "outer")) {
		assert_int_equal(scope->call_line, 25);
	} else {
		assert_string_equal(scope->name, "twice");
		assert_true(scope->call_line == 9 || scope->call_line == 25);
		seen->twice = true;
	}
}

/* A line of the function that the address is in. */
static void check_line(const struct debuginfo_scope *innermost)
{
	const uint32_t line = place.line;
	assert_string_equal(place.file, "/src/small.c");
	if (!innermost || is(innermost->name, "outer"))
		assert_in_range(line, 0, 26);
	else if (is(innermost->name, "four_times"))
		assert_in_range(line, 6, 11);
	else
		assert_in_range(line, 1, 4);
}

static void check_place(struct debuginfo *info, uint64_t svma, struct seen *seen)
{
	static struct debuginfo_place again;
	assert_in_range(svma, place.start_svma, place.end_svma - 1);
	for (uint32_t i = 0; i < place.scope_count; i++)
		check_scope(&place.scopes[i], seen);
	if (place.line)
		check_line(place.scope_count ? &place.scopes[place.scope_count - 1] : NULL);
	if (place.scope_count > seen->deepest)
		seen->deepest = place.scope_count;
	seen->outer_in_itself |= place.scope_count == 0 && place.line > 12;
	seen->known++;
	/* The same at both ends of what it holds for. */
	assert_true(debuginfo_find(info, place.start_svma, &again));
	assert_memory_equal(&again, &place, offsetof(struct debuginfo_place, scopes));
	assert_true(debuginfo_find(info, place.end_svma - 1, &again));
	assert_memory_equal(&again, &place, offsetof(struct debuginfo_place, scopes));
	assert_int_equal(again.end_svma, place.end_svma);
}

static struct seen look_at_all(struct debuginfo *info)
{
	struct seen seen = { 0 };
	for (uint64_t svma = 0; svma < CODE_END; svma++)
		if (debuginfo_find(info, svma, &place))
			check_place(info, svma, &seen);
	return seen;
}

static void check_small(struct memory_files *disk)
{
	const struct symbol_files files = memory_files(disk);
	struct debuginfo *info;
	assert_int_equal(debuginfo_open(&info, &files, disk->entries[0].path, (struct bytes){ 0 }),
			 STATUS_OK);
	const struct seen seen = look_at_all(info);
	assert_in_range(seen.known, 150, 3000);
	assert_in_range(seen.deepest, 2, 4);
	assert_true(seen.outer_in_itself && seen.twice && seen.four_times);
	debuginfo_close(info);
	assert_int_equal(disk->open_count, 0);
}

static void test_versions_of_dwarf(void **state)
{
	(void)state;
	static const char *const NAMES[] = {
		CORPUS "gcc_dwarf2",   CORPUS "gcc_dwarf4",   CORPUS "gcc_dwarf5",
		CORPUS "clang_dwarf2", CORPUS "clang_dwarf4", CORPUS "clang_dwarf5",
	};
	for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
		struct memory_files disk = { .count = 1,
					     .entries = { { "/bin/a", fixture(NAMES[i]) } } };
		check_small(&disk);
		assert_string_equal(disk.asked, "/bin/a\n");
	}
}

/* zlib, as ELF has it and as GNU had it before: the same answers as of the unpacked file. */
static bool has_scope(struct debuginfo *info, const char *name)
{
	for (uint64_t svma = 0; svma < CODE_END; svma++)
		if (debuginfo_find(info, svma, &place) && place.scope_count &&
		    is(place.scopes[0].name, name))
			return true;
	return false;
}

/* Two functions of one name are not one function. */
static void test_names_that_the_linker_does_not_know(void **state)
{
	(void)state;
	static const char *const OBJECTS[] = { CORPUS "names_dwarf4", CORPUS "names_dwarf5" };
	static const char *const NAMES[] = {
		"space::(anonymous namespace)::hidden",
		"space::(anonymous namespace)::Local::member",
		"space::own",
		"_ZN5space6sharedEl",
		"plain",
		"start::{lambda:39}::operator()",
	};
	for (size_t i = 0; i < sizeof(OBJECTS) / sizeof(OBJECTS[0]); i++) {
		struct memory_files disk = { .count = 1,
					     .entries = { { "/bin/a", fixture(OBJECTS[i]) } } };
		const struct symbol_files files = memory_files(&disk);
		struct debuginfo *info;
		assert_int_equal(debuginfo_open(&info, &files, "/bin/a", (struct bytes){ 0 }),
				 STATUS_OK);
		for (size_t n = 0; n < sizeof(NAMES) / sizeof(NAMES[0]); n++)
			if (!has_scope(info, NAMES[n]))
				fail_msg("%s: nothing is called %s", OBJECTS[i], NAMES[n]);
		debuginfo_close(info);
	}
}

static void test_packed_sections(void **state)
{
	(void)state;
	static const char *const NAMES[] = { CORPUS "packed_zlib", CORPUS "packed_gnu" };
	for (size_t i = 0; i < 2; i++) {
		struct memory_files disk = { .count = 1,
					     .entries = { { "/bin/a", fixture(NAMES[i]) } } };
		check_small(&disk);
	}
}

static void test_separate_debug_file(void **state)
{
	(void)state;
	struct memory_files disk = { .count = 2,
				     .entries = { { "/bin/a", fixture(CORPUS "debuglink") },
						  { "/bin/.debug/small.debug",
						    fixture(DATA "small.debug") } } };
	check_small(&disk);
	/* One of another build is none. */
	disk.entries[1].bytes = fixture(CORPUS "gcc_dwarf4");
	const struct symbol_files files = memory_files(&disk);
	struct debuginfo *info;
	assert_int_equal(debuginfo_open(&info, &files, "/bin/a", (struct bytes){ 0 }),
			 STATUS_NOT_FOUND);
	assert_int_equal(disk.open_count, 0);
}

static void test_wrong_build_id(void **state)
{
	(void)state;
	struct memory_files disk = { .count = 1,
				     .entries = { { "/bin/a", fixture(CORPUS "gcc_dwarf5") } } };
	const struct symbol_files files = memory_files(&disk);
	const struct bytes right = symbol_build_id(disk.entries[0].bytes);
	struct debuginfo *info;
	assert_int_equal(right.size, 20);
	assert_int_equal(debuginfo_open(&info, &files, "/bin/a", right), STATUS_OK);
	debuginfo_close(info);
	const struct bytes wrong = { right.data, right.size - 1 };
	assert_int_equal(debuginfo_open(&info, &files, "/bin/a", wrong), STATUS_NOT_FOUND);
	assert_int_equal(debuginfo_open(&info, &files, "/bin/b", right), STATUS_NOT_FOUND);
	assert_int_equal(disk.open_count, 0);
}

static bool fetch(void *context, struct bytes build_id, struct bytes *bytes)
{
	struct memory_files *disk = context;
	(void)build_id;
	return memory_open(disk, "fetched", bytes);
}

static void test_fetched_debug_file(void **state)
{
	(void)state;
	struct memory_files disk = {
		.count = 2,
		.entries = { { "/bin/a", fixture(CORPUS "debuglink") },
			     { "fetched", fixture(DATA "small.debug") } },
	};
	struct symbol_files files = memory_files(&disk);
	files.fetch_debug = fetch;
	struct debuginfo *info;
	assert_int_equal(debuginfo_open(&info, &files, "/bin/a", (struct bytes){ 0 }), STATUS_OK);
	assert_true(look_at_all(info).twice);
	/* Last of all. */
	assert_string_equal(disk.asked + strlen(disk.asked) - 8, "fetched\n");
	debuginfo_close(info);
	assert_int_equal(disk.open_count, 0);
}

static const struct {
	const char *object;
	const char *split;
	const char *name;
} SPLIT[] = {
	{ DATA "split_gcc4.so", DATA "split_gcc4.dwo", "split_gcc4.dwo" },
	{ DATA "split_gcc5.so", DATA "split_gcc5.dwo", "split_gcc5.dwo" },
	{ DATA "split_clang4.so", DATA "split_clang4.dwo", "split_clang4.dwo" },
	{ DATA "split_clang5.so", DATA "split_clang5.dwo", "split_clang5.dwo" },
};
enum { SPLIT_COUNT = sizeof(SPLIT) / sizeof(SPLIT[0]) };

static void test_split_units(void **state)
{
	(void)state;
	static const char *const FOLDERS[] = { "/src", "/bin" };
	for (size_t i = 0; i < SPLIT_COUNT * 2; i++) {
		char path[64];
		snprintf(path, sizeof(path), "%s/%s", FOLDERS[i % 2], SPLIT[i / 2].name);
		struct memory_files disk = {
			.count = 2,
			.entries = { { "/bin/a", fixture(SPLIT[i / 2].object) },
				     { path, fixture(SPLIT[i / 2].split) } },
		};
		check_small(&disk);
	}
}

/* The lines are in the skeleton: only what was inlined is lost. */
static void test_split_units_without_their_file(void **state)
{
	(void)state;
	for (size_t i = 0; i < SPLIT_COUNT; i++) {
		struct memory_files disk = { .count = 2,
					     .entries = { { "/bin/a", fixture(SPLIT[i].object) },
							  { NULL, { 0 } } } };
		char path[64];
		snprintf(path, sizeof(path), "/src/%s", SPLIT[i].name);
		/* The file of another unit does not do. */
		disk.entries[1].path = path;
		disk.entries[1].bytes = fixture(SPLIT[(i + 1) % SPLIT_COUNT].split);
		const struct symbol_files files = memory_files(&disk);
		struct debuginfo *info;
		assert_int_equal(debuginfo_open(&info, &files, "/bin/a", (struct bytes){ 0 }),
				 STATUS_OK);
		unsigned known = 0;
		for (uint64_t svma = CODE_START; svma < CODE_END; svma++) {
			if (!debuginfo_find(info, svma, &place))
				continue;
			known++;
			assert_string_equal(place.file, "/src/small.c");
		}
		assert_in_range(known, 100, 3000);
		debuginfo_close(info);
		assert_int_equal(disk.open_count, 0);
	}
}

/* dwz moved names into another file, which may lie in three places. */
static void test_shared_debug_file(void **state)
{
	(void)state;
	const struct bytes shared = fixture(DATA "shared.debug");
	char by_id[128] = "/usr/lib/debug/.build-id/";
	const struct bytes id = symbol_build_id(shared);
	size_t used = strlen(by_id);
	for (size_t i = 0; i < id.size; i++)
		used += (size_t)snprintf(by_id + used, sizeof(by_id) - used, "%02x%s", id.data[i],
					 i ? "" : "/");
	snprintf(by_id + used, sizeof(by_id) - used, ".debug");
	const char *const paths[] = { "/bin/../shared.debug", by_id };
	for (size_t i = 0; i < 2; i++) {
		struct memory_files disk = {
			.count = 2,
			.entries = { { "/bin/a", fixture(DATA "dwz_a.so") }, { paths[i], shared } },
		};
		const struct symbol_files files = memory_files(&disk);
		struct debuginfo *info;
		bool found = false;
		assert_int_equal(debuginfo_open(&info, &files, "/bin/a", (struct bytes){ 0 }),
				 STATUS_OK);
		for (uint64_t svma = CODE_START; svma < CODE_END; svma++)
			found |= debuginfo_find(info, svma, &place) && place.scope_count == 1 &&
				 is(place.scopes[0].name, "inlined_function_with_a_long_name") &&
				 place.line == 11 && place.scopes[0].call_line == 21;
		assert_true(found);
		debuginfo_close(info);
		assert_int_equal(disk.open_count, 0);
	}
}

static void test_shared_debug_file_that_is_not_there(void **state)
{
	(void)state;
	struct memory_files disk = {
		.count = 2,
		.entries = { { "/bin/a", fixture(DATA "dwz_a.so") },
			     { "/bin/../shared.debug", fixture(DATA "small.debug") } },
	};
	const struct symbol_files files = memory_files(&disk);
	struct debuginfo *info;
	assert_int_equal(debuginfo_open(&info, &files, "/bin/a", (struct bytes){ 0 }),
			 STATUS_NOT_FOUND);
	assert_int_equal(disk.open_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions_of_dwarf),
		cmocka_unit_test(test_names_that_the_linker_does_not_know),
		cmocka_unit_test(test_packed_sections),
		cmocka_unit_test(test_separate_debug_file),
		cmocka_unit_test(test_wrong_build_id),
		cmocka_unit_test(test_fetched_debug_file),
		cmocka_unit_test(test_split_units),
		cmocka_unit_test(test_split_units_without_their_file),
		cmocka_unit_test(test_shared_debug_file),
		cmocka_unit_test(test_shared_debug_file_that_is_not_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
