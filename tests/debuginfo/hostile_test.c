/* Damaged files: nothing is read outside of them, every look-up ends, every file is closed. */
#include "base/status.h"
#include "debuginfo/debuginfo.h"
#include "failing_memory.h"
#include "fixture.h"

#include <stdlib.h>

enum { CODE_ENDS_BY = 0x900 }; /* in undamaged files */

static struct debuginfo_place place;

static void use(struct memory_files *disk)
{
	const struct symbol_files files = memory_files(disk);
	struct debuginfo *info;
	disk->asked[0] = '\0';
	if (debuginfo_open(&info, &files, "/bin/a", (struct bytes){ 0 }) == STATUS_OK) {
		for (uint64_t svma = CODE_START; svma < CODE_END;
		     svma += svma < CODE_ENDS_BY ? 5 : 29) {
			if (!debuginfo_find(info, svma, &place))
				continue;
			assert_in_range(svma, place.start_svma, place.end_svma - 1);
			assert_in_range(place.scope_count, 0, DEBUGINFO_SCOPES);
		}
		debuginfo_close(info);
	}
	assert_int_equal(disk->open_count, 0);
}

static const struct {
	const char *object;
	const char *other; /* the damage is in this one, where there is one */
	const char *path;
} CASES[] = {
	{ CORPUS "gcc_dwarf4", NULL, NULL },
	{ CORPUS "gcc_dwarf5", NULL, NULL },
	{ CORPUS "clang_dwarf5", NULL, NULL },
	{ CORPUS "names_dwarf5", NULL, NULL },
	{ CORPUS "packed_zlib", NULL, NULL },
	{ DATA "split_gcc4.so", DATA "split_gcc4.dwo", "/src/split_gcc4.dwo" },
	{ DATA "split_clang5.so", DATA "split_clang5.dwo", "/src/split_clang5.dwo" },
};
enum { CASE_COUNT = sizeof(CASES) / sizeof(CASES[0]) };

/* *damaged is the entry that is to be damaged. */
static void disk_of(size_t i, struct bytes **damaged, struct memory_files *disk)
{
	*disk = (struct memory_files){ .count = 1,
				       .entries = { { "/bin/a", fixture(CASES[i].object) } } };
	*damaged = &disk->entries[0].bytes;
	if (CASES[i].other) {
		disk->count = 2;
		disk->entries[1].path = CASES[i].path;
		disk->entries[1].bytes = fixture(CASES[i].other);
		*damaged = &disk->entries[1].bytes;
	}
}

static void test_every_truncation(void **state)
{
	(void)state;
	for (size_t i = 0; i < CASE_COUNT; i++) {
		struct memory_files disk;
		struct bytes *damaged;
		disk_of(i, &damaged, &disk);
		const struct bytes whole = *damaged;
		for (size_t size = 0; size < whole.size; size++) {
			uint8_t *copy = malloc(size ? size : 1);
			assert_non_null(copy);
			memcpy(copy, whole.data, size);
			*damaged = (struct bytes){ copy, size };
			use(&disk);
			free(copy);
		}
	}
}

static void test_every_changed_byte(void **state)
{
	(void)state;
	static const uint8_t CHANGES[] = { 0x01, 0x80, 0xff };
	for (size_t i = 0; i < CASE_COUNT; i++) {
		struct memory_files disk;
		struct bytes *damaged;
		disk_of(i, &damaged, &disk);
		const struct bytes whole = *damaged;
		uint8_t *copy = malloc(whole.size);
		assert_non_null(copy);
		memcpy(copy, whole.data, whole.size);
		*damaged = (struct bytes){ copy, whole.size };
		for (size_t at = 0; at < whole.size; at++) {
			for (size_t c = 0; c < sizeof(CHANGES); c++) {
				copy[at] ^= CHANGES[c];
				use(&disk);
				copy[at] ^= CHANGES[c];
			}
		}
		free(copy);
	}
}

/* Eight bytes that promise four gigabytes. */
static void test_promises_that_cannot_be_kept(void **state)
{
	(void)state;
	const struct bytes whole = fixture(CORPUS "packed_gnu");
	uint8_t *copy = malloc(whole.size);
	assert_non_null(copy);
	memcpy(copy, whole.data, whole.size);
	const uint8_t *magic = memmem(copy, whole.size, "ZLIB\0\0\0\0", 8);
	assert_non_null(magic);
	copy[magic - copy + 7] = 1;
	struct memory_files disk = { .count = 1,
				     .entries = { { "/bin/a", { copy, whole.size } } } };
	const struct symbol_files files = memory_files(&disk);
	struct debuginfo *info;
	memory_fail_at(0);
	assert_int_equal(debuginfo_open(&info, &files, "/bin/a", (struct bytes){ 0 }),
			 STATUS_TOO_BIG);
	assert_true(memory_asked_bytes() < 1 << 20);
	assert_int_equal(disk.open_count, 0);
	free(copy);
}

/* Every allocation of ours fails once: the answer is an error, or less, and all is closed. */
static void test_without_memory(void **state)
{
	(void)state;
	for (size_t i = 0; i < CASE_COUNT; i++) {
		struct memory_files disk;
		struct bytes *unused;
		disk_of(i, &unused, &disk);
		size_t n = 1;
		for (;; n++) {
			memory_fail_at(n);
			use(&disk);
			const bool has_failed = memory_has_failed();
			memory_fail_at(0);
			if (!has_failed)
				break;
		}
		assert_true(n > 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_every_changed_byte),
		cmocka_unit_test(test_promises_that_cannot_be_kept),
		cmocka_unit_test(test_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
