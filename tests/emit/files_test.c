/* Where dumps and maps are made, and what is never followed or overwritten. */
#include "emit_lib.h"

#include <errno.h>

static void usual_path(char path[PATH_SIZE])
{
	(void)snprintf(path, PATH_SIZE, "%s/jit-%d.dump", dir, getpid());
}

static void map_path(char path[PATH_SIZE])
{
	(void)snprintf(path, PATH_SIZE, "%s/perf-%d.map", dir, getpid());
}

static void assert_mode(const char *path, mode_t mode)
{
	struct stat st;
	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(st.st_mode, mode);
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	fclose(file);
}

static void assert_file_is(const char *path, const char *text)
{
	char got[4096];
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	const size_t size = fread(got, 1, sizeof(got) - 1, file);
	got[size] = 0;
	fclose(file);
	assert_string_equal(got, text);
}

/* An executable mapping of the path's first page, in our own maps. */
static bool has_marker(const char *path)
{
	char line[5000];
	FILE *maps = fopen("/proc/self/maps", "r");
	bool found = false;
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		line[strcspn(line, "\n")] = 0;
		const size_t size = strlen(line);
		const size_t path_size = strlen(path);
		found |= size > path_size && strcmp(line + size - path_size, path) == 0 &&
			 strstr(line, "r-xp 00000000");
	}
	fclose(maps);
	return found;
}

static void makes_the_file_that_recorders_look_for(void **state)
{
	(void)state;
	char path[PATH_SIZE];
	char usual[PATH_SIZE];
	struct polyperf_jit *jit = open_in(dir, (struct polyperf_jit_options){ 0 });
	path_of(jit, path);
	usual_path(usual);
	assert_string_equal(path, usual);
	assert_mode(path, S_IFREG | 0600);
	assert_true(has_marker(path));
	assert_int_equal(stats_of(jit).has_marker, 1);
	assert_int_equal(load(jit, "alpha", 0x10000, 64), 0);
	polyperf_jit_close(jit);
	assert_false(has_marker(path));
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 40 + 56 + 6 + 64 + 16); /* nothing is left behind CLOSE */
}

static void check_goes_elsewhere(void)
{
	char path[PATH_SIZE];
	char usual[PATH_SIZE];
	usual_path(usual);
	struct polyperf_jit *jit = open_in(dir, (struct polyperf_jit_options){ 0 });
	path_of(jit, path);
	assert_string_not_equal(path, usual);
	const char *name = strrchr(path, '/');
	assert_string_equal(name, strrchr(usual, '/')); /* perf wants this name */
	assert_mode(path, S_IFREG | 0600);
	assert_true(has_marker(path));
	path[name - path] = 0;
	assert_mode(path, S_IFDIR | 0700);
	polyperf_jit_close(jit);
}

static void follows_no_link_that_waits_for_it(void **state)
{
	(void)state;
	char usual[PATH_SIZE];
	char victim[PATH_SIZE];
	usual_path(usual);
	(void)snprintf(victim, sizeof(victim), "%s/victim", dir);
	write_text(victim, "precious");
	assert_int_equal(symlink(victim, usual), 0);
	check_goes_elsewhere();
	assert_file_is(victim, "precious");
	assert_int_equal(unlink(victim), 0);
	check_goes_elsewhere(); /* a link that leads nowhere */
	assert_int_equal(access(victim, F_OK), -1);
}

static void overwrites_no_file(void **state)
{
	(void)state;
	char usual[PATH_SIZE];
	usual_path(usual);
	write_text(usual, "of an earlier process");
	check_goes_elsewhere();
	assert_file_is(usual, "of an earlier process");
	assert_int_equal(unlink(usual), 0);
	assert_int_equal(mkfifo(usual, 0666), 0); /* opened to be written to, it would block */
	check_goes_elsewhere();
}

static void gives_each_handle_its_own_file(void **state)
{
	(void)state;
	char first[PATH_SIZE];
	char second[PATH_SIZE];
	struct polyperf_jit *a = open_in(dir, (struct polyperf_jit_options){ 0 });
	struct polyperf_jit *b = open_in(dir, (struct polyperf_jit_options){ 0 });
	path_of(a, first);
	path_of(b, second);
	assert_string_not_equal(first, second);
	assert_int_equal(load(a, "in a", 0x10000, 64), 0);
	assert_int_equal(load(b, "in b", 0x20000, 64), 0);
	polyperf_jit_close(a);
	polyperf_jit_close(b);
	struct dump dump;
	struct jitdump_record record;
	dump_read(&dump, second);
	expect(&dump, JITDUMP_CODE_LOAD, &record);
	assert_text(record.code_load.name, "in b");
	expect(&dump, JITDUMP_CLOSE, &record);
	dump_free(&dump);
}

static void finds_its_directory_again(void **state)
{
	(void)state;
	char before[PATH_SIZE];
	char path[PATH_SIZE];
	struct polyperf_jit *jit = NULL;
	const struct polyperf_jit_options options = { .struct_size = sizeof(options),
						      .directory = "." };
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(polyperf_jit_open(&options, &jit), 0);
	assert_int_equal(chdir(before), 0);
	path_of(jit, path);
	assert_int_equal(path[0], '/');
	assert_int_equal(access(path, R_OK), 0);
	polyperf_jit_close(jit);
}

static void takes_the_directory_of_the_environment(void **state)
{
	(void)state;
	char path[PATH_SIZE];
	struct polyperf_jit *jit = NULL;
	assert_int_equal(setenv("JITDUMPDIR", dir, 1), 0);
	assert_int_equal(polyperf_jit_open(NULL, &jit), 0);
	assert_int_equal(unsetenv("JITDUMPDIR"), 0);
	path_of(jit, path);
	assert_int_equal(strncmp(path, dir, strlen(dir)), 0);
	polyperf_jit_close(jit);
}

static void writes_a_perf_map(void **state)
{
	(void)state;
	char path[PATH_SIZE];
	struct polyperf_jit *jit =
	    open_in(dir, (struct polyperf_jit_options){ .flags = POLYPERF_JIT_MAP });
	assert_int_equal(load(jit, "alpha", 0xabc000, 64), 0);
	assert_int_equal(load(jit, "two words\n0 1 forged", 0xabd000, 0x1000), 0);
	assert_int_equal(polyperf_jit_unload(jit, 0xabc000, 64, 0), 0);
	polyperf_jit_close(jit);
	map_path(path);
	assert_mode(path, S_IFREG | 0600);
	assert_file_is(path, "abc000 40 alpha\nabd000 1000 two words?0 1 forged\n");
	assert_int_equal(count_dumps(dir), 0);
}

static void writes_both(void **state)
{
	(void)state;
	char path[PATH_SIZE];
	struct polyperf_jit *jit = open_in(
	    dir, (struct polyperf_jit_options){ .flags = POLYPERF_JIT_MAP | POLYPERF_JIT_DUMP });
	assert_int_equal(load(jit, "alpha", 0xabc000, 64), 0);
	polyperf_jit_close(jit);
	map_path(path);
	assert_file_is(path, "abc000 40 alpha\n");
	assert_int_equal(count_dumps(dir), 1);
}

static void adds_to_the_map_of_another_writer(void **state)
{
	(void)state;
	char path[PATH_SIZE];
	map_path(path);
	write_text(path, "1000 20 of another engine\n");
	struct polyperf_jit *jit =
	    open_in(dir, (struct polyperf_jit_options){ .flags = POLYPERF_JIT_MAP });
	assert_int_equal(load(jit, "alpha", 0xabc000, 64), 0);
	polyperf_jit_close(jit);
	assert_file_is(path, "1000 20 of another engine\nabc000 40 alpha\n");
}

static void replaces_the_map_of_an_earlier_process(void **state)
{
	(void)state;
	char path[PATH_SIZE];
	map_path(path);
	write_text(path, "1000 20 long ago\n");
	const struct timespec old[2] = { { .tv_sec = 1000000 }, { .tv_sec = 1000000 } };
	assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
	struct polyperf_jit *jit =
	    open_in(dir, (struct polyperf_jit_options){ .flags = POLYPERF_JIT_MAP });
	assert_int_equal(load(jit, "alpha", 0xabc000, 64), 0);
	polyperf_jit_close(jit);
	assert_file_is(path, "abc000 40 alpha\n");
}

static void follows_no_link_with_a_map(void **state)
{
	(void)state;
	char path[PATH_SIZE];
	char victim[PATH_SIZE];
	map_path(path);
	(void)snprintf(victim, sizeof(victim), "%s/victim", dir);
	write_text(victim, "precious");
	assert_int_equal(symlink(victim, path), 0);
	struct polyperf_jit_options options = { .struct_size = sizeof(options),
						.flags = POLYPERF_JIT_MAP,
						.map_directory = dir };
	struct polyperf_jit *jit;
	assert_int_equal(polyperf_jit_open(&options, &jit), POLYPERF_JIT_FAILED);
	assert_null(jit);
	/* A hard link to another file is none of ours either. */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(link(victim, path), 0);
	assert_int_equal(polyperf_jit_open(&options, &jit), POLYPERF_JIT_FAILED);
	assert_file_is(victim, "precious");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(makes_the_file_that_recorders_look_for),
		CASE(follows_no_link_that_waits_for_it),
		CASE(overwrites_no_file),
		CASE(gives_each_handle_its_own_file),
		CASE(finds_its_directory_again),
		CASE(takes_the_directory_of_the_environment),
		CASE(writes_a_perf_map),
		CASE(writes_both),
		CASE(adds_to_the_map_of_another_writer),
		CASE(replaces_the_map_of_an_earlier_process),
		CASE(follows_no_link_with_a_map),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
