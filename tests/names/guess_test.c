#include "names/names.h"
#include "test.h"

static enum runtime guess(const char *executable, const char *const *names, size_t count)
{
	struct bytes list[16];
	for (size_t i = 0; i < count; i++)
		list[i] = (struct bytes){ (const uint8_t *)names[i], strlen(names[i]) };
	const struct name_evidence evidence = { .executable = { (const uint8_t *)executable,
								strlen(executable) } };
	return names_guess(&evidence, list, count);
}

static void test_by_executable(void **state)
{
	(void)state;
	static const struct {
		const char *path;
		enum runtime runtime;
	} ROWS[] = {
		{ "/usr/bin/node", RUNTIME_V8 },
		{ "/usr/bin/nodejs", RUNTIME_V8 },
		{ "/opt/node-v24.1.0/bin/node24", RUNTIME_V8 },
		{ "/home/me/.deno/bin/deno", RUNTIME_V8 },
		{ "/usr/lib/chromium/chromium", RUNTIME_V8 },
		{ "/opt/google/chrome/chrome", RUNTIME_V8 },
		{ "bun", RUNTIME_JSC },
		{ "/usr/lib/jvm/java-17-openjdk-amd64/bin/java", RUNTIME_JVM },
		{ "/usr/lib/jvm/java-17-openjdk-amd64/bin/javac", RUNTIME_JVM },
		{ "/usr/share/dotnet/dotnet", RUNTIME_DOTNET },
		{ "/usr/bin/mono-sgen", RUNTIME_MONO },
		{ "/usr/bin/php8.2", RUNTIME_PHP },
		{ "/usr/sbin/php-fpm8.2", RUNTIME_PHP },
		{ "/usr/lib/erlang/erts-13.1.5/bin/beam.smp", RUNTIME_ERLANG },
		{ "/usr/bin/python3.12 (deleted)", RUNTIME_PYTHON },
		{ "/usr/bin/pypy3", RUNTIME_PYPY },
		{ "/usr/bin/ruby3.1", RUNTIME_RUBY },
		{ "/usr/bin/luajit-2.1.0-beta3", RUNTIME_LUAJIT },
		{ "/usr/lib/llvm-14/bin/lli", RUNTIME_LLVM },
		{ "/usr/bin/lli-14", RUNTIME_LLVM },
		{ "/usr/lib/postgresql/15/bin/postgres", RUNTIME_LLVM },
		{ "/usr/bin/julia", RUNTIME_JULIA },
		{ "/usr/bin/guile-3.0", RUNTIME_GUILE },
		{ "/usr/bin/monodevelop", RUNTIME_JIT },
		{ "/usr/bin/nodejoe", RUNTIME_JIT },
		{ "/usr/bin/bundle", RUNTIME_JIT },
		{ "/usr/bin/server", RUNTIME_JIT },
		{ "", RUNTIME_JIT },
	};
	for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++)
		assert_string_equal(runtime_name(guess(ROWS[i].path, NULL, 0)),
				    runtime_name(ROWS[i].runtime));
}

#define GUESS(path, names) guess((path), (names), sizeof(names) / sizeof((names)[0]))

static void test_by_names(void **state)
{
	(void)state;
	static const char *const DOTNET[] = {
		"stub Allocate<FixupPrecode>", "stub Link<InstantiatingStub>",
		"instance void [A] System.Threading.Mutex::ReleaseMutex()[PreJIT]"
	};
	assert_int_equal(GUESS("/opt/azmcp", DOTNET), RUNTIME_DOTNET);

	static const char *const JVM[] = { "Interpreter", "flush_icache_stub", "libmSin",
					   "I2C/C2I adapters", "int Work.alpha(int, int)" };
	assert_int_equal(GUESS("/opt/launcher", JVM), RUNTIME_JVM);

	static const char *const ERLANG[] = { "$global::apply_fun_shared", "$work:alpha/2" };
	assert_int_equal(GUESS("", ERLANG), RUNTIME_ERLANG);

	/* Names speak louder than the program. */
	static const char *const V8[] = { "Builtin:ArrayMap", "JS:~f /a.js:1:2" };
	assert_int_equal(GUESS("/usr/bin/python3", V8), RUNTIME_V8);

	/* Numba in Python: Python itself would have marked its own. */
	static const char *const OTHERS[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
	assert_int_equal(GUESS("/usr/bin/python3", OTHERS), RUNTIME_JIT);
	assert_int_equal(GUESS("/usr/bin/lli-14", OTHERS), RUNTIME_LLVM);
	assert_int_equal(GUESS("/usr/bin/guile", OTHERS), RUNTIME_GUILE);

	static const char *const MIXED[] = { "JS:~f /a.js:1:2", "py::f:/a.py", "x" };
	assert_int_equal(GUESS("", MIXED), RUNTIME_JIT);
}

static void test_by_pad(void **state)
{
	(void)state;
	const struct name_evidence evidence = { .is_jitdump = true, .is_v8_pad = true };
	assert_int_equal(names_guess(&evidence, NULL, 0), RUNTIME_V8);
}

static void test_runtime_names(void **state)
{
	(void)state;
	assert_string_equal(runtime_name(RUNTIME_V8), "v8");
	assert_string_equal(runtime_name(RUNTIME_UNKNOWN), "");
	assert_string_equal(runtime_name((enum runtime)1000), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_executable),
		cmocka_unit_test(test_by_names),
		cmocka_unit_test(test_by_pad),
		cmocka_unit_test(test_runtime_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
