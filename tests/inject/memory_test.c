/* inject_run() where each allocation fails once: it says so and leaves nothing behind. */
#include "base/status.h"
#include "failing_memory.h"
#include "inject/inject_run.h"
#include "test.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PID = 4000001, CHILD = 4000002, MS = 1000000, BASE = 1000 * MS };

static unsigned file_count;

static int count_file(const char *path, const struct stat *what, int kind)
{
	(void)path;
	(void)what;
	file_count += kind == FTW_F;
	return 0;
}

static unsigned files_in(const char *path)
{
	file_count = 0;
	(void)ftw(path, count_file, 8);
	return file_count;
}

static void make(struct recording *r)
{
	static const uint8_t tables[24] = { 0 };
	static const struct dump_line lines[] = { { 0x10000, 3, 1, "file.js" } };
	struct sink dump = { 0 };
	recording_begin(r);
	recording_mmap(r, PID, 2, 0x10000, 0x10000, "//anon");
	recording_mmap(r, PID, 3, 0x40000, 0x1000, "/nowhere/lib.so");
	recording_sample(r, PID, PID, BASE + MS, (uint64_t[]){ 0x10010, 0x10110, 0x40010 }, 3);
	recording_fork(r, PID, CHILD, BASE + 2 * MS);
	recording_mmap(r, PID, BASE + 3 * MS, 0x40000, 0x2000, "//anon");
	recording_sample(r, CHILD, CHILD, BASE + 4 * MS, (uint64_t[]){ 0x10010, 0x10110 }, 2);
	recording_sample(r, PID, PID, BASE + 50 * MS, (uint64_t[]){ 0x10090, 0x10010 }, 2);
	recording_finish_compressed(r);
	dump_begin(&dump, PID);
	dump_lines(&dump, 0x10000, lines, 1);
	dump_unwinding(&dump, (struct bytes){ tables, sizeof(tables) }, 12);
	dump_load(&dump, PID, BASE, 0x10000, 0x100, "first");
	dump_load(&dump, PID, BASE, 0x10100, 0x100, "second");
	dump_load(&dump, PID, BASE + 40 * MS, 0x10080, 0x80, "third");
	dump_unload(&dump, PID, BASE + 45 * MS, 0x10100);
	recording_file(r, "jit-4000001.dump", sink_bytes(&dump));
	sink_clear(&dump);
}

/* False when it has come to the last allocation. */
static bool fail_at(const struct recording *r, size_t n, bool all, bool has_older)
{
	struct load *load;
	struct load_error error;
	struct inject_result result;
	const char *path = inject_output_path(r);
	const struct inject_options options = { .output = path, .all = all };
	const unsigned files_before = files_in(r->dir);
	/* The load itself has tests of its own. */
	assert_int_equal(
	    load_open(&load, &(struct load_options){ .input = r->path, .keep_code = true }, &error),
	    0);
	memory_fail_at(n);
	const int got = inject_run(load, &options, &result);
	const bool has_failed = memory_has_failed();
	memory_fail_at(0);
	load_close(load);
	if (!has_failed) {
		assert_int_equal(got, 0);
		return false;
	}
	if (got != STATUS_NO_MEMORY)
		print_message("allocation %zu\n", n);
	assert_int_equal(got, STATUS_NO_MEMORY);
	assert_int_equal(files_in(r->dir), files_before);
	if (has_older) {
		struct sink old = inject_read_file(path);
		assert_int_equal(old.size, 3);
		assert_memory_equal(old.data, "old", 3);
		sink_clear(&old);
	}
	return true;
}

static void fails_at_each_allocation(void **state)
{
	(void)state;
	for (int all = 0; all < 2; all++) {
		struct recording r;
		make(&r);
		if (all)
			recording_file(&r, "out.data", (struct bytes){ (const uint8_t *)"old", 3 });
		size_t n = 1;
		while (fail_at(&r, n, all, all))
			n++;
		print_message("%zu allocations\n", n - 1);
		assert_true(n > 40);
		assert_true(files_in(r.dir) > 3);
		recording_remove(&r);
	}
}

/* Where the output cannot be written no image stays either. */
static void leaves_nothing_where_it_cannot_write(void **state)
{
	(void)state;
	struct recording r;
	struct load *load;
	struct load_error error;
	struct inject_result result;
	char command[160];
	make(&r);
	(void)snprintf(command, sizeof(command), "mkdir '%s'", inject_output_path(&r));
	assert_int_equal(system(command), 0);
	const unsigned files_before = files_in(r.dir);
	assert_int_equal(
	    load_open(&load, &(struct load_options){ .input = r.path, .keep_code = true }, &error),
	    0);
	const struct inject_options options = { .output = inject_output_path(&r) };
	errno = 0;
	assert_int_equal(inject_run(load, &options, &result), STATUS_IO);
	assert_int_equal(errno, EISDIR);
	assert_false(result.images_failed);
	assert_int_equal(files_in(r.dir), files_before);
	load_close(load);
	recording_remove(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fails_at_each_allocation),
		cmocka_unit_test(leaves_nothing_where_it_cannot_write),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
