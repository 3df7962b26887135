/* Where the texts of source files are found, and which files are refused. */
#include "base/status.h"
#include "format/perfdata/features.h"
#include "format/perfdata/writer.h"
#include "load/listing.h"
#include "load/recording.h"
#include "os/file.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TEXT(text) ((struct bytes){ (const uint8_t *)(text), sizeof(text) - 1 })

/* A recording in a folder of its own, with a file beside it in `src`. */
struct sourced {
	struct recording r;
	struct load *load;
	char path[160]; /* for path_of() */
};

static const char *path_of(struct sourced *s, const char *name)
{
	(void)snprintf(s->path, sizeof(s->path), "%s/%s", s->r.dir, name);
	return s->path;
}

static void make_folder(struct sourced *s, const char *name)
{
	assert_int_equal(mkdir(path_of(s, name), 0700), 0);
}

static void open_as(struct sourced *s, const struct recording_member *members, size_t count,
		    bool self_contained)
{
	struct load_error error;
	recording_finish(&s->r);
	if (count)
		recording_members(&s->r, members, count);
	const struct load_options options = { .input = s->r.path,
					      .self_contained = self_contained };
	assert_int_equal(load_open(&s->load, &options, &error), 0);
}

static void begin(struct sourced *s)
{
	*s = (struct sourced){ 0 };
	recording_begin(&s->r);
	recording_comm(&s->r, 7, 1, "app", false);
}

static void end(struct sourced *s)
{
	load_close(s->load);
	recording_remove(&s->r);
}

static int look(struct sourced *s, const char *place, const char *file,
		struct listing_source_text *source)
{
	const struct load_source_places places = { .paths = &place, .path_count = place != NULL };
	return load_source(s->load, &places, file, source);
}

static void assert_found(struct sourced *s, const char *place, const char *file, const char *text)
{
	struct listing_source_text source;
	assert_int_equal(look(s, place, file, &source), 0);
	assert_int_equal(source.text.size, strlen(text));
	assert_memory_equal(source.text.data, text, strlen(text));
	assert_true(source.found[0] != '\0');
}

static void assert_missing(struct sourced *s, const char *place, const char *file)
{
	struct listing_source_text source;
	assert_int_equal(look(s, place, file, &source), STATUS_NOT_FOUND);
	assert_int_equal(source.text.size, 0);
}

static void the_recording_comes_first(void **state)
{
	struct sourced s;
	char folder[80];
	char file[120];
	(void)state;
	begin(&s);
	make_folder(&s, "src");
	recording_file(&s.r, "src/a.js", TEXT("beside\n"));
	(void)snprintf(folder, sizeof(folder), "%s/src", s.r.dir);
	(void)snprintf(file, sizeof(file), "%s/src/a.js", s.r.dir);
	char member[160];
	(void)snprintf(member, sizeof(member), "sources/root%s", file);
	const struct recording_member members[] = {
		{ member, TEXT("kept\n") },
		{ "sources/root/gone/b%20c.py", TEXT("gone\n") },
		{ "sources/relative/d.py", TEXT("relative\n") },
	};
	open_as(&s, members, 3, false);
	assert_found(&s, folder, file, "kept\n");
	assert_found(&s, NULL, "/gone/b c.py", "gone\n");
	assert_found(&s, NULL, "./d.py", "relative\n");
	assert_missing(&s, NULL, "/d.py");
	struct listing_source_text source;
	assert_int_equal(look(&s, folder, file, &source), 0);
	assert_string_equal(source.found, "in the recording");
	assert_false(source.is_newer);
	end(&s);
}

static void then_the_folders_then_the_path_itself(void **state)
{
	struct sourced s;
	char folder[80];
	char file[120];
	(void)state;
	begin(&s);
	make_folder(&s, "src");
	make_folder(&s, "built");
	recording_file(&s.r, "src/a.js", TEXT("in src\n"));
	recording_file(&s.r, "built/a.js", TEXT("in built\n"));
	(void)snprintf(folder, sizeof(folder), "%s/src/", s.r.dir);
	(void)snprintf(file, sizeof(file), "%s/built/a.js", s.r.dir);
	open_as(&s, NULL, 0, false);
	assert_found(&s, NULL, file, "in built\n");
	assert_found(&s, folder, file, "in src\n");
	/* What is relative was so to where the recording was made. */
	assert_found(&s, NULL, "src/a.js", "in src\n");
	assert_missing(&s, NULL, "/nowhere/a.js");
	end(&s);
}

static void self_contained_loads_take_only_what_was_given(void **state)
{
	struct sourced s;
	char folder[80];
	(void)state;
	begin(&s);
	make_folder(&s, "src");
	recording_file(&s.r, "src/a.js", TEXT("in src\n"));
	(void)snprintf(folder, sizeof(folder), "%s/src", s.r.dir);
	open_as(&s, NULL, 0, true);
	assert_missing(&s, NULL, path_of(&s, "src/a.js"));
	assert_missing(&s, NULL, "src/a.js");
	assert_found(&s, folder, "/x/a.js", "in src\n");
	end(&s);
}

/* The longest end of the path that there is, wherever it lies. */
static void folders_are_searched_by_the_end_of_the_path(void **state)
{
	struct sourced s;
	char top[80];
	(void)state;
	begin(&s);
	make_folder(&s, "top");
	make_folder(&s, "top/com");
	make_folder(&s, "top/com/acme");
	make_folder(&s, "top/lib");
	make_folder(&s, "top/lib/util");
	make_folder(&s, "top/.git");
	recording_file(&s.r, "top/com/acme/Foo.java", TEXT("acme\n"));
	recording_file(&s.r, "top/lib/util/list.c", TEXT("util\n"));
	recording_file(&s.r, "top/lib/two.erl", TEXT("lib\n"));
	recording_file(&s.r, "top/com/two.erl", TEXT("com\n"));
	recording_file(&s.r, "top/list.c", TEXT("top\n"));
	recording_file(&s.r, "top/.git/hidden.c", TEXT("hidden\n"));
	(void)snprintf(top, sizeof(top), "%s/top", s.r.dir);
	open_as(&s, NULL, 0, false);
	assert_found(&s, top, "Foo.java", "acme\n");
	assert_found(&s, top, "com/acme/Foo.java", "acme\n");
	assert_found(&s, top, "acme/Foo.java", "acme\n");
	assert_found(&s, top, "/build/x/util/list.c", "util\n");
	assert_found(&s, top, "/build/list.c", "top\n");
	assert_found(&s, top, "../lib/util/list.c", "util\n");
	assert_found(&s, top, "/build/lib/two.erl", "lib\n");
	/* Two are as good. */
	assert_missing(&s, top, "two.erl");
	assert_missing(&s, top, "hidden.c");
	/* "Foo.java" is not the end of "BigFoo.java", nor is a folder a file. */
	assert_missing(&s, top, "oo.java");
	assert_missing(&s, top, "com");
	/* Only the name is the same, and somewhere below: that is too little. */
	assert_missing(&s, top, "/other/Foo.java");
	end(&s);
}

static void rules_put_another_beginning(void **state)
{
	struct sourced s;
	char rule[120];
	(void)state;
	begin(&s);
	make_folder(&s, "new");
	recording_file(&s.r, "new/a.js", TEXT("new\n"));
	(void)snprintf(rule, sizeof(rule), "/home/old/=%s/new", s.r.dir);
	open_as(&s, NULL, 0, false);
	assert_found(&s, rule, "/home/old/a.js", "new\n");
	assert_missing(&s, rule, "/home/older/a.js");
	assert_missing(&s, rule, "/home/old");
	assert_missing(&s, rule, "a.js");
	(void)snprintf(rule, sizeof(rule), "/=%s/new", s.r.dir);
	assert_found(&s, rule, "/a.js", "new\n");
	assert_missing(&s, "=/tmp", "/a.js");
	end(&s);
}

static void what_is_no_plain_file_is_refused(void **state)
{
	struct sourced s;
	struct listing_source_text source;
	(void)state;
	begin(&s);
	recording_file(&s.r, "real.js", TEXT("real\n"));
	make_folder(&s, "dir.js");
	char real[120];
	(void)snprintf(real, sizeof(real), "%s/real.js", s.r.dir);
	assert_int_equal(symlink(real, path_of(&s, "link.js")), 0);
	assert_int_equal(mkfifo(path_of(&s, "fifo.js"), 0600), 0);
	open_as(&s, NULL, 0, false);
	assert_int_equal(strncmp(real, "/tmp/", 5), 0);
	assert_found(&s, NULL, real, "real\n");
	assert_true(look(&s, NULL, path_of(&s, "link.js"), &source) < 0);
	assert_int_equal(look(&s, NULL, path_of(&s, "fifo.js"), &source), STATUS_DENIED);
	assert_true(look(&s, NULL, path_of(&s, "dir.js"), &source) < 0);
	assert_true(look(&s, NULL, "/dev/zero", &source) < 0);
	end(&s);
}

static void large_files_are_refused(void **state)
{
	struct sourced s;
	struct listing_source_text source;
	(void)state;
	begin(&s);
	recording_file(&s.r, "large.js", TEXT(""));
	assert_int_equal(truncate(path_of(&s, "large.js"), (16 << 20) + 1), 0);
	recording_file(&s.r, "limit.js", TEXT(""));
	assert_int_equal(truncate(path_of(&s, "limit.js"), 16 << 20), 0);
	open_as(&s, NULL, 0, false);
	assert_int_equal(look(&s, NULL, path_of(&s, "large.js"), &source), STATUS_TOO_BIG);
	assert_int_equal(look(&s, NULL, path_of(&s, "limit.js"), &source), 0);
	assert_int_equal(source.text.size, 16 << 20);
	end(&s);
}

static void newer_files_are_told(void **state)
{
	struct sourced s;
	struct listing_source_text source;
	(void)state;
	begin(&s);
	recording_file(&s.r, "old.js", TEXT("old\n"));
	recording_file(&s.r, "new.js", TEXT("new\n"));
	const time_t now = time(NULL);
	const struct timespec before[2] = { { now - 60, 0 }, { now - 60, 0 } };
	const struct timespec after[2] = { { now + 60, 0 }, { now + 60, 0 } };
	assert_int_equal(utimensat(AT_FDCWD, path_of(&s, "old.js"), before, 0), 0);
	assert_int_equal(utimensat(AT_FDCWD, path_of(&s, "new.js"), after, 0), 0);
	open_as(&s, NULL, 0, false);
	assert_int_equal(look(&s, NULL, path_of(&s, "old.js"), &source), 0);
	assert_false(source.is_newer);
	assert_int_equal(look(&s, NULL, path_of(&s, "new.js"), &source), 0);
	assert_true(source.is_newer);
	end(&s);
}

/* The recording was made before the file was changed, and copied after it. */
static void the_last_sample_says_when_it_was_recorded(void **state)
{
	struct sourced s;
	struct listing_source_text source;
	(void)state;
	begin(&s);
	const uint64_t now_s = (uint64_t)time(NULL);
	s.r.features[0].feature = PERFDATA_FEATURE_CLOCK_DATA;
	perfdata_put_clock_data(&s.r.features[0].content, CLOCK_MONOTONIC,
				(now_s - 60) * 1000000000, 5000000000);
	s.r.features[1].feature = PERFDATA_FEATURE_SAMPLE_TIME;
	perfdata_put_sample_time(&s.r.features[1].content, 6000000000, 25000000000);
	recording_file(&s.r, "old.js", TEXT("old\n"));
	recording_file(&s.r, "new.js", TEXT("new\n"));
	const struct timespec before[2] = { { (time_t)now_s - 50, 0 }, { (time_t)now_s - 50, 0 } };
	const struct timespec after[2] = { { (time_t)now_s - 30, 0 }, { (time_t)now_s - 30, 0 } };
	assert_int_equal(utimensat(AT_FDCWD, path_of(&s, "old.js"), before, 0), 0);
	assert_int_equal(utimensat(AT_FDCWD, path_of(&s, "new.js"), after, 0), 0);
	open_as(&s, NULL, 0, false);
	assert_int_equal(look(&s, NULL, path_of(&s, "old.js"), &source), 0);
	assert_false(source.is_newer);
	assert_int_equal(look(&s, NULL, path_of(&s, "new.js"), &source), 0);
	assert_true(source.is_newer);
	end(&s);
}

static void names_that_are_no_paths_find_nothing(void **state)
{
	static const char *const names[] = {
		"", "node:internal/fs", "<string>", "[eval]", "https://a/b.js", "/", "..", "."
	};
	struct sourced s;
	(void)state;
	begin(&s);
	recording_file(&s.r, "a b.mjs", TEXT("spaced\n"));
	open_as(&s, NULL, 0, false);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_missing(&s, s.r.dir, names[i]);
	/* What a URL's path says. */
	assert_found(&s, NULL, path_of(&s, "a%20b.mjs"), "spaced\n");
	assert_missing(&s, NULL, path_of(&s, "a%00b.mjs"));
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_recording_comes_first),
		cmocka_unit_test(then_the_folders_then_the_path_itself),
		cmocka_unit_test(self_contained_loads_take_only_what_was_given),
		cmocka_unit_test(folders_are_searched_by_the_end_of_the_path),
		cmocka_unit_test(rules_put_another_beginning),
		cmocka_unit_test(what_is_no_plain_file_is_refused),
		cmocka_unit_test(large_files_are_refused),
		cmocka_unit_test(newer_files_are_told),
		cmocka_unit_test(the_last_sample_says_when_it_was_recorded),
		cmocka_unit_test(names_that_are_no_paths_find_nothing),
	};
	os_file_guard();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
