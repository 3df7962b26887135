#include "os/proc_maps.h"

#include "os/proc.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static const char valid[] =
    "55d0c4a00000-55d0c4a05000 r-xp 00002000 fe:00 248174                     /usr/bin/sleep\n"
    "7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n"
    "7f0000002000-7f0000003000 rw-s 00001000 00:05 1234                       "
    "/memfd:doublemapper (deleted)\n"
    "7f0000004000-7f0000005000 r--p 00000000 00:2c 9                          /tmp/a\\012b c\n"
    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]";

static void open_text(struct proc_maps *maps, const char *text)
{
	proc_maps_open(maps, (struct bytes){ (const uint8_t *)text, strlen(text) });
}

static void reads_every_field(void **state)
{
	(void)state;
	struct proc_maps maps;
	struct proc_mapping map;
	open_text(&maps, valid);
	assert_true(proc_maps_next(&maps, &map));
	assert_int_equal(map.start_avma, 0x55d0c4a00000);
	assert_int_equal(map.end_avma, 0x55d0c4a05000);
	assert_int_equal(map.prot, PROT_READ | PROT_EXEC);
	assert_int_equal(map.flags, MAP_PRIVATE);
	assert_int_equal(map.file_off, 0x2000);
	assert_int_equal(map.maj, 0xfe);
	assert_int_equal(map.min, 0);
	assert_int_equal(map.inode, 248174);
	assert_string_equal(map.path, "/usr/bin/sleep");

	assert_true(proc_maps_next(&maps, &map));
	assert_int_equal(map.prot, PROT_READ | PROT_WRITE | PROT_EXEC);
	assert_string_equal(map.path, "");

	assert_true(proc_maps_next(&maps, &map));
	assert_int_equal(map.flags, MAP_SHARED);
	assert_int_equal(map.min, 5);
	assert_string_equal(map.path, "/memfd:doublemapper (deleted)");

	assert_true(proc_maps_next(&maps, &map));
	assert_string_equal(map.path, "/tmp/a\nb c");

	/* The last line has no end. */
	assert_true(proc_maps_next(&maps, &map));
	assert_string_equal(map.path, "[vsyscall]");
	assert_false(proc_maps_next(&maps, &map));
	assert_int_equal(maps.bad_lines, 0);
}

static void bad_lines_are_passed_over(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"",
		"x",
		"1000-2000",
		"1000 2000 r-xp 0 0:0 0",
		"2000-1000 r-xp 00000000 00:00 0",
		"1000-1000 r-xp 00000000 00:00 0",
		"1000-2000 r-xp 00000000 00:00",
		"1000-2000 r-x 00000000 00:00 0",
		"1000-2000 r-xp 00000000 00:00 12x /a",
		"1000-2000 r-xp 00000000 00:00 99999999999999999999 /a",
		"11111111111111111-2000 r-xp 00000000 00:00 0",
		"1000-2000 r-xp 00000000 111111111:00 0 /a",
		"-2000 r-xp 00000000 00:00 0",
		"1000-2000\tr-xp 00000000 00:00 0",
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[256];
		struct proc_maps maps;
		struct proc_mapping map;
		(void)snprintf(text, sizeof(text), "%s\n7000-8000 r-xp 00000000 00:00 0 /good\n",
			       bad[i]);
		open_text(&maps, text);
		assert_true(proc_maps_next(&maps, &map));
		assert_int_equal(map.start_avma, 0x7000);
		assert_string_equal(map.path, "/good");
		assert_int_equal(maps.bad_lines, 1);
		assert_false(proc_maps_next(&maps, &map));
	}
}

/* On copies of exact size, so that ASan sees a read behind the end. */
static size_t count_of(const char *text, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	assert_non_null(copy);
	memcpy(copy, text, size);
	struct proc_maps maps;
	struct proc_mapping map;
	size_t count = 0;
	proc_maps_open(&maps, (struct bytes){ copy, size });
	while (proc_maps_next(&maps, &map)) {
		assert_true(map.start_avma < map.end_avma);
		assert_true(strlen(map.path) < PROC_MAPS_PATH_SIZE);
		count++;
	}
	free(copy);
	return count;
}

static void every_truncation(void **state)
{
	(void)state;
	size_t last = 0;
	for (size_t size = 0; size < sizeof(valid); size++) {
		const size_t count = count_of(valid, size);
		assert_true(count >= last);
		last = count;
	}
	assert_int_equal(last, 5);
}

static void every_changed_byte(void **state)
{
	(void)state;
	static const uint8_t values[] = { 0, '\n', ' ', '-', ':', 'f', '9', 0xff };
	char text[sizeof(valid)];
	for (size_t at = 0; at < sizeof(valid) - 1; at++) {
		for (size_t i = 0; i < sizeof(values); i++) {
			memcpy(text, valid, sizeof(valid));
			text[at] = (char)values[i];
			/* One byte spoils one line, or splits it. */
			assert_in_range(count_of(text, sizeof(valid) - 1), 4, 6);
		}
	}
}

static void paths_of_any_length(void **state)
{
	(void)state;
	enum { HUGE = 3 * PROC_MAPS_PATH_SIZE };
	char *text = malloc(HUGE);
	assert_non_null(text);
	memset(text, 'a', HUGE);
	static const char start[] = "1000-2000 r-xp 00000000 00:00 7 /";
	memcpy(text, start, sizeof(start) - 1);
	assert_int_equal(count_of(text, HUGE), 1);
	free(text);
}

static void reads_our_own(void **state)
{
	(void)state;
	struct sink text = { 0 };
	assert_int_equal(proc_read(&text, "/proc/self/maps"), 0);
	struct proc_maps maps;
	struct proc_mapping map;
	bool found = false;
	proc_maps_open(&maps, sink_bytes(&text));
	while (proc_maps_next(&maps, &map))
		found |= (map.prot & PROT_EXEC) && map.start_avma <= (uintptr_t)reads_our_own &&
			 (uintptr_t)reads_our_own < map.end_avma && map.inode;
	assert_true(found);
	assert_int_equal(maps.bad_lines, 0);
	sink_clear(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_field),   cmocka_unit_test(bad_lines_are_passed_over),
		cmocka_unit_test(every_truncation),    cmocka_unit_test(every_changed_byte),
		cmocka_unit_test(paths_of_any_length), cmocka_unit_test(reads_our_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
