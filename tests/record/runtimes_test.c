#include "record/runtimes.h"

#include "base/status.h"
#include "record/private_dir.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A place of programs of our own, so that no test depends on what is installed. */
struct place {
	struct private_dir dir;
	char root[64];
	char path_variable[128];
	char start[256]; /* the current directory before */
};

static void put_file(const struct place *place, const char *name, const char *content)
{
	char path[256];
	(void)snprintf(path, sizeof(path), "%s/%s", place->root, name);
	for (char *slash = path + strlen(place->root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		(void)mkdir(path, 0755);
		*slash = '/';
	}
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, strlen(content)), strlen(content));
	close(fd);
}

static int setup(void **state)
{
	struct place *place = calloc(1, sizeof(*place));
	(void)snprintf(place->root, sizeof(place->root), "/tmp/runtimes_test-XXXXXX");
	if (!mkdtemp(place->root) || private_dir_make(&place->dir) < 0 ||
	    !getcwd(place->start, sizeof(place->start)) || chdir(place->root) != 0)
		return -1;
	(void)snprintf(place->path_variable, sizeof(place->path_variable), "PATH=%s/bin",
		       place->root);
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	struct place *place = *state;
	private_dir_remove(&place->dir);
	struct private_dir whole = { .root = strdup(place->root) };
	private_dir_remove(&whole);
	const int got = chdir(place->start);
	free(place);
	return got;
}

static struct runtimes *make(struct place *place, struct runtimes_options options)
{
	static char *nothing[2];
	nothing[0] = place->path_variable;
	if (!options.environment)
		options.environment = nothing;
	options.private_dir = place->dir.path;
	struct runtimes *runtimes;
	assert_int_equal(runtimes_new(&runtimes, &options), 0);
	return runtimes;
}

static const char *value_of(const struct runtimes *runtimes, const char *name)
{
	char *const *environment = runtimes_environment(runtimes);
	const size_t size = strlen(name);
	const char *found = NULL;
	for (size_t i = 0; environment[i]; i++) {
		if (strncmp(environment[i], name, size) != 0 || environment[i][size] != '=')
			continue;
		assert_null(found); /* never twice */
		found = environment[i] + size + 1;
	}
	return found;
}

static void expect_variable(const struct runtimes *runtimes, const char *name, const char *value)
{
	const char *got = value_of(runtimes, name);
	assert_non_null(got);
	assert_string_equal(got, value);
}

static void test_empty_environment_gets_all(void **state)
{
	struct place *place = *state;
	struct runtimes *runtimes = make(place, (struct runtimes_options){ 0 });
	char expected[256];
	expect_variable(runtimes, "NODE_OPTIONS",
			"--perf-prof --perf-basic-prof --interpreted-frames-native-stack");
	expect_variable(runtimes, "DOTNET_PerfMapEnabled", "1");
	expect_variable(runtimes, "DOTNET_PerfMapStubGranularity", "2");
	expect_variable(runtimes, "DOTNET_PerfMapJitDumpPath", place->dir.path);
	expect_variable(runtimes, "BUN_JSC_jitDumpDirectory", place->dir.path);
	expect_variable(runtimes, "MONO_ENV_OPTIONS", "--jitmap");
	expect_variable(runtimes, "PYTHONPERFSUPPORT", "1");
	expect_variable(runtimes, "JITDUMPDIR", place->dir.path);
	(void)snprintf(expected, sizeof(expected), ":%s", place->dir.path);
	expect_variable(runtimes, "PHP_INI_SCAN_DIR", expected);
	assert_null(value_of(runtimes, "PYTHON_PERF_JIT_SUPPORT"));
	/* There is neither an erl nor a ruby. */
	assert_null(value_of(runtimes, "ERL_FLAGS"));
	assert_null(value_of(runtimes, "RUBYOPT"));
	assert_non_null(value_of(runtimes, "PATH"));
	runtimes_free(runtimes);
}

static void test_what_the_user_has_stays(void **state)
{
	struct place *place = *state;
	char *environment[] = {
		place->path_variable,
		(char *)"NODE_OPTIONS=--max-old-space-size=100 --perf-prof",
		(char *)"JAVA_TOOL_OPTIONS=-XX:-PreserveFramePointer",
		(char *)"DENO_V8_FLAGS=--stack-size=900",
		(char *)"DOTNET_PerfMapEnabled=3",
		(char *)"PHP_INI_SCAN_DIR=/etc/mine",
		(char *)"UNRELATED=a=b",
		NULL,
	};
	struct runtimes *runtimes =
	    make(place, (struct runtimes_options){ .environment = environment });
	char expected[512];
	expect_variable(runtimes, "NODE_OPTIONS",
			"--perf-basic-prof --interpreted-frames-native-stack "
			"--max-old-space-size=100 --perf-prof");
	/* The JVM takes the last of two: the user's. */
	expect_variable(runtimes, "JAVA_TOOL_OPTIONS",
			"-XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions "
			"-XX:+DumpPerfMapAtExit -XX:+PreserveFramePointer "
			"-XX:-PreserveFramePointer");
	(void)snprintf(
	    expected, sizeof(expected),
	    "--perf-prof,--perf-prof-path=%s,--perf-basic-prof,--interpreted-frames-native-stack,"
	    "--no-logfile-per-isolate,--logfile=%s/v8.log,--stack-size=900",
	    place->dir.path, place->dir.path);
	expect_variable(runtimes, "DENO_V8_FLAGS", expected);
	expect_variable(runtimes, "DOTNET_PerfMapEnabled", "3");
	(void)snprintf(expected, sizeof(expected), "/etc/mine:%s", place->dir.path);
	expect_variable(runtimes, "PHP_INI_SCAN_DIR", expected);
	expect_variable(runtimes, "UNRELATED", "a=b");
	for (size_t i = 0; i < runtimes_count(runtimes); i++)
		if (strcmp(runtimes_setting(runtimes, i).variable, "DOTNET_PerfMapEnabled") == 0)
			assert_string_equal(runtimes_setting(runtimes, i).added, "");
	runtimes_free(runtimes);
}

/* .NET's events: all settings are ours, or none. */
static void test_events_of_the_user_are_his(void **state)
{
	struct place *place = *state;
	static const char *const HIS[] = { "DOTNET_EnableEventPipe=1", "DOTNET_EventPipeConfig=x",
					   "COMPlus_EnableEventPipe=0",
					   "COMPlus_EventPipeOutputPath=y" };
	char expected[256];
	struct runtimes *runtimes = make(place, (struct runtimes_options){ 0 });
	(void)snprintf(expected, sizeof(expected), "%s/clr-{pid}.nettrace", place->dir.path);
	expect_variable(runtimes, "DOTNET_EnableEventPipe", "1");
	expect_variable(runtimes, "DOTNET_EventPipeOutputPath", expected);
	expect_variable(runtimes, "DOTNET_EventPipeOutputStreaming", "1");
	expect_variable(runtimes, "DOTNET_EventPipeConfig", RUNTIMES_CLR_EVENTS);
	runtimes_free(runtimes);
	for (size_t i = 0; i < sizeof(HIS) / sizeof(HIS[0]); i++) {
		char his[64];
		(void)snprintf(his, sizeof(his), "%s", HIS[i]);
		private_dir_remove(&place->dir); /* its files are made once */
		assert_int_equal(private_dir_make(&place->dir), 0);
		char *environment[] = { place->path_variable, his, NULL };
		runtimes = make(place, (struct runtimes_options){ .environment = environment });
		assert_null(value_of(runtimes, "DOTNET_EventPipeOutputStreaming"));
		expect_variable(runtimes, "DOTNET_PerfMapEnabled", "1");
		runtimes_free(runtimes);
	}
}

static void test_no_ini_directory_stays_none(void **state)
{
	struct place *place = *state;
	char *environment[] = { place->path_variable, (char *)"PHP_INI_SCAN_DIR=", NULL };
	struct runtimes *runtimes =
	    make(place, (struct runtimes_options){ .environment = environment });
	expect_variable(runtimes, "PHP_INI_SCAN_DIR", place->dir.path);
	runtimes_free(runtimes);
}

static void test_lua_init_is_chained(void **state)
{
	struct place *place = *state;
	char *file[] = { place->path_variable, (char *)"LUA_INIT=@/home/\"me\"/init.lua", NULL };
	struct runtimes *runtimes = make(place, (struct runtimes_options){ .environment = file });
	const char *value = value_of(runtimes, "LUA_INIT");
	assert_non_null(value);
	assert_memory_equal(value, "if jit then", strlen("if jit then"));
	assert_string_equal(strchr(value, '\n'), "\ndofile(\"/home/\\\"me\\\"/init.lua\")");
	runtimes_free(runtimes);

	char *source[] = { place->path_variable, (char *)"LUA_INIT=x = 1", NULL };
	struct private_dir second;
	assert_int_equal(private_dir_make(&second), 0);
	struct runtimes_options options = { .environment = source, .private_dir = second.path };
	assert_int_equal(runtimes_new(&runtimes, &options), 0);
	assert_string_equal(strchr(value_of(runtimes, "LUA_INIT"), '\n'), "\nx = 1");
	runtimes_free(runtimes);
	private_dir_remove(&second);
}

static void test_off_and_no_auto(void **state)
{
	struct place *place = *state;
	static const char *const off[] = { "node", "java" };
	struct runtimes *runtimes =
	    make(place, (struct runtimes_options){ .off = off, .off_count = 2 });
	assert_null(value_of(runtimes, "NODE_OPTIONS"));
	assert_null(value_of(runtimes, "JAVA_TOOL_OPTIONS"));
	assert_non_null(value_of(runtimes, "MONO_ENV_OPTIONS"));
	runtimes_free(runtimes);

	runtimes = make(place, (struct runtimes_options){ .no_auto = true });
	assert_int_equal(runtimes_count(runtimes), 0);
	assert_null(value_of(runtimes, "MONO_ENV_OPTIONS"));
	runtimes_free(runtimes);

	static const char *const unknown[] = { "cobol" };
	struct runtimes_options options = { .off = unknown, .off_count = 1 };
	assert_int_equal(runtimes_new(&runtimes, &options), STATUS_NOT_FOUND);
}

static void test_a_python_that_is_walked_needs_no_variable(void **state)
{
	static const char *const known[] = { "python3.13", "x.py", NULL };
	struct place *place = *state;
	put_file(place, "bin/python3.13", "\177ELF");
	struct runtimes *runtimes = make(
	    place,
	    (struct runtimes_options){ .is_walked = true, .dwarf_stacks = true, .command = known });
	assert_null(value_of(runtimes, "PYTHONPERFSUPPORT"));
	assert_null(value_of(runtimes, "PYTHON_PERF_JIT_SUPPORT"));
	expect_variable(runtimes, "MONO_ENV_OPTIONS", "--jitmap");
	runtimes_free(runtimes);
}

/* The library lies beside polyperf, not beside this test: there is nothing to load. */
static void test_a_python_with_an_agent_needs_no_variable_of_its_own(void **state)
{
	struct place *place = *state;
	put_file(place, "bin/python3.13", "\177ELF");
	struct runtimes *runtimes =
	    make(place, (struct runtimes_options){ .has_agents = true, .dwarf_stacks = true });
	assert_null(value_of(runtimes, "PYTHONPERFSUPPORT"));
	assert_null(value_of(runtimes, "PYTHON_PERF_JIT_SUPPORT"));
	assert_null(value_of(runtimes, "LD_PRELOAD"));
	assert_null(value_of(runtimes, "POLYPERF_AGENT"));
	runtimes_free(runtimes);
}

/* One that is newer than the walk has nothing else. */
static void test_a_newer_python_has_its_variable(void **state)
{
	static const char *const newer[] = { "python3.19", "x.py", NULL };
	struct place *place = *state;
	put_file(place, "bin/python3.19", "\177ELF");
	struct runtimes *runtimes =
	    make(place, (struct runtimes_options){ .is_walked = true, .command = newer });
	expect_variable(runtimes, "PYTHONPERFSUPPORT", "1");
	runtimes_free(runtimes);
}

static void test_interpreters_are_expected_by_name(void **state)
{
	struct place *place = *state;
	char script[128];
	char *environment[] = { place->path_variable, NULL };
	put_file(place, "script", "#!/usr/bin/env perl\n");
	(void)snprintf(script, sizeof(script), "%s/script", place->root);
	const struct {
		const char *command[4];
		bool is_interpreted;
		bool starts_others;
	} CASES[] = {
		{ { "python3.11", "x.py" }, true, false },
		{ { "/usr/bin/perl" }, true, false },
		{ { "irb" }, true, false },
		{ { script }, true, true },
		{ { "sh", "-c", "php x.php" }, true, true },
		{ { "make", "all" }, false, true },
		{ { "node", "x.js" }, false, false },
		{ { "gcc", "perl.c" }, false, false },
	};
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		const char *const *command = CASES[i].command;
		if (runtimes_are_interpreted(command, environment) != CASES[i].is_interpreted ||
		    runtimes_starts_others(command, environment) != CASES[i].starts_others)
			fail_msg("case %zu: %s", i, command[0]);
	}
}

static void test_unwind_tables_want_the_jitdump_of_python(void **state)
{
	struct place *place = *state;
	struct runtimes *runtimes = make(place, (struct runtimes_options){ .dwarf_stacks = true });
	expect_variable(runtimes, "PYTHON_PERF_JIT_SUPPORT", "1");
	expect_variable(runtimes, "PYTHONPERFSUPPORT", "1");
	runtimes_free(runtimes);
}

static void test_ruby_by_version(void **state)
{
	struct place *place = *state;
	static const struct {
		const char *target;
		const char *option; /* NULL: left alone */
	} CASES[] = {
		{ "opt/ruby3.1", "--yjit-exec-mem-size=64 -r" },
		{ "opt/versions/3.3.4/bin/ruby", "--yjit-perf" },
		{ "opt/ruby2.7", NULL },
		{ "opt/shims/ruby", "-r" },
	};
	put_file(place, "bin/x", "");
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		char link[128];
		char target[128];
		(void)snprintf(link, sizeof(link), "%s/bin/ruby", place->root);
		(void)snprintf(target, sizeof(target), "../%s", CASES[i].target);
		put_file(place, CASES[i].target, "#!/bin/sh\n");
		(void)unlink(link);
		assert_int_equal(symlink(target, link), 0);
		struct private_dir dir;
		assert_int_equal(private_dir_make(&dir), 0);
		char *environment[] = { place->path_variable, (char *)"RUBYOPT=-W0", NULL };
		struct runtimes *runtimes;
		assert_int_equal(
		    runtimes_new(&runtimes, &(struct runtimes_options){ .environment = environment,
									.private_dir = dir.path }),
		    0);
		const char *value = value_of(runtimes, "RUBYOPT");
		if (CASES[i].option) {
			assert_memory_equal(value, CASES[i].option, strlen(CASES[i].option));
			assert_non_null(strstr(value, " -W0"));
		} else {
			assert_string_equal(value, "-W0");
		}
		runtimes_free(runtimes);
		private_dir_remove(&dir);
	}
}

static void test_erlang_by_release(void **state)
{
	struct place *place = *state;
	put_file(place, "bin/erl", "#!/bin/sh\n");
	put_file(place, "releases/start_erl.data", "12.3.2 24");
	static const char *const command[] = { "iex", NULL };
	struct runtimes *runtimes = make(place, (struct runtimes_options){ .command = command });
	assert_null(value_of(runtimes, "ERL_FLAGS"));
	assert_int_equal(runtimes_note_count(runtimes), 1);
	assert_string_equal(runtimes_note(runtimes, 0).runtime, "erlang");
	runtimes_free(runtimes);
	put_file(place, "releases/start_erl.data", "13.1.5 25");

	struct private_dir dir;
	assert_int_equal(private_dir_make(&dir), 0);
	char *environment[] = { place->path_variable, (char *)"ERL_FLAGS=+JPperf map +S 2", NULL };
	struct runtimes_options options = { .environment = environment, .private_dir = dir.path };
	assert_int_equal(runtimes_new(&runtimes, &options), 0);
	expect_variable(runtimes, "ERL_FLAGS", "+JPperf map +S 2"); /* settled by the user */
	runtimes_free(runtimes);
	private_dir_remove(&dir);
}

static bool expects(struct place *place, const char *const *command, const char *runtime)
{
	struct private_dir dir;
	assert_int_equal(private_dir_make(&dir), 0);
	char *environment[] = { place->path_variable, NULL };
	struct runtimes_options options = { .environment = environment,
					    .private_dir = dir.path,
					    .command = command };
	struct runtimes *runtimes;
	assert_int_equal(runtimes_new(&runtimes, &options), 0);
	bool is_expected = false;
	for (size_t i = 0; i < runtimes_count(runtimes); i++) {
		const struct runtimes_setting setting = runtimes_setting(runtimes, i);
		is_expected |= setting.is_expected && strcmp(setting.runtime, runtime) == 0;
	}
	runtimes_free(runtimes);
	private_dir_remove(&dir);
	return is_expected;
}

static void test_commands_are_recognised(void **state)
{
	struct place *place = *state;
	put_file(place, "script", "#!/usr/bin/env python3.13\nprint(1)\n");
	put_file(place, "other", "#!/bin/sh\nnode x\n");
	char script[128];
	char other[128];
	(void)snprintf(script, sizeof(script), "%s/script", place->root);
	(void)snprintf(other, sizeof(other), "%s/other", place->root);
	const struct {
		const char *command[6];
		const char *runtime;
		bool is_expected;
	} CASES[] = {
		{ { "node", "app.js" }, "node", true },
		{ { "/usr/bin/node-24", "app.js" }, "node", true },
		{ { "nodemon", "app.js" }, "node", false },
		{ { "npx", "vite" }, "node", true },
		{ { "env", "A=1", "timeout", "5", "java" }, "java", true },
		{ { "sh", "-c", "cd /tmp && exec php x.php" }, "php", true },
		{ { "bash", "-c", "\"bun\" run x; true" }, "bun", true },
		{ { "grep", "node", "file" }, "node", false },
		{ { script }, "python", true },
		{ { "time", script }, "python", true },
		{ { other }, "node", false }, /* what a shell script starts is not read */
	};
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
		if (expects(place, CASES[i].command, CASES[i].runtime) != CASES[i].is_expected)
			fail_msg("case %zu: %s", i, CASES[i].command[0]);
}

static void test_a_node_gets_options_of_its_own(void **state)
{
	struct place *place = *state;
	put_file(place, "bin/node", "\177ELF and --perf_prof_path somewhere");
	static const char *const command[] = { "node", "app.js", NULL };
	struct runtimes *runtimes = make(place, (struct runtimes_options){ .command = command });
	char *const *longer = runtimes_command(runtimes);
	char option[256];
	assert_string_equal(longer[0], "node");
	assert_string_equal(longer[1], "--no-logfile-per-isolate");
	(void)snprintf(option, sizeof(option), "--logfile=%s/v8.log", place->dir.path);
	assert_string_equal(longer[2], option);
	assert_string_equal(longer[3], "--perf-prof");
	(void)snprintf(option, sizeof(option), "--perf-prof-path=%s", place->dir.path);
	assert_string_equal(longer[4], option);
	assert_string_equal(longer[5], "--perf-basic-prof");
	assert_string_equal(longer[6], "--interpreted-frames-native-stack");
	assert_string_equal(longer[7], "app.js");
	assert_null(longer[8]);
	runtimes_free(runtimes);
}

static void test_a_launcher_called_node_gets_none(void **state)
{
	struct place *place = *state;
	put_file(place, "bin/node", "#!/bin/sh\nexec asdf node\n");
	static const char *const command[] = { "node", "app.js", NULL };
	struct runtimes *runtimes = make(place, (struct runtimes_options){ .command = command });
	assert_string_equal(runtimes_command(runtimes)[1], "app.js");
	runtimes_free(runtimes);
}

static void test_installed_runtimes_are_found(void **state)
{
	struct place *place = *state;
	put_file(place, "lib/php8.2", "");
	put_file(place, "bin/x", "");
	char link[128];
	(void)snprintf(link, sizeof(link), "%s/bin/php", place->root);
	assert_int_equal(symlink("../lib/php8.2", link), 0);
	put_file(place, "bin/java", "");
	put_file(place, "release", "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"17.0.15\"\n");
	struct arena arena = { 0 };
	struct runtimes_installed *found;
	assert_int_equal(runtimes_find_installed(&arena, place->path_variable + strlen("PATH="),
						 &(struct runtimes_options){ .is_walked = false },
						 &found),
			 2);
	assert_string_equal(found[0].runtime, "java");
	assert_string_equal(found[0].version, "17.0.15");
	assert_string_equal(found[1].runtime, "php");
	assert_string_equal(found[1].version, "8.2");
	assert_non_null(strstr(found[1].how, "PHP_INI_SCAN_DIR"));
	arena_clear(&arena);
}

static void test_an_unwritable_directory_saves_nodes_output(void **state)
{
	struct place *place = *state;
	if (geteuid() == 0)
		skip_because("nothing is unwritable for root");
	assert_int_equal(chmod(place->root, 0555), 0);
	struct runtimes *runtimes = make(place, (struct runtimes_options){ 0 });
	assert_null(value_of(runtimes, "NODE_OPTIONS"));
	assert_int_equal(runtimes_note_count(runtimes), 1);
	runtimes_free(runtimes);
	assert_int_equal(chmod(place->root, 0755), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_empty_environment_gets_all),
		TEST(test_what_the_user_has_stays),
		TEST(test_events_of_the_user_are_his),
		TEST(test_no_ini_directory_stays_none),
		TEST(test_lua_init_is_chained),
		TEST(test_off_and_no_auto),
		TEST(test_unwind_tables_want_the_jitdump_of_python),
		TEST(test_a_python_that_is_walked_needs_no_variable),
		TEST(test_a_python_with_an_agent_needs_no_variable_of_its_own),
		TEST(test_a_newer_python_has_its_variable),
		TEST(test_interpreters_are_expected_by_name),
		TEST(test_ruby_by_version),
		TEST(test_erlang_by_release),
		TEST(test_commands_are_recognised),
		TEST(test_a_node_gets_options_of_its_own),
		TEST(test_a_launcher_called_node_gets_none),
		TEST(test_installed_runtimes_are_found),
		TEST(test_an_unwritable_directory_saves_nodes_output),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
