#include "names/stable.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

struct row {
	enum runtime runtime;
	const char *name;
	const char *runs;   /* between two runs */
	const char *builds; /* between two builds */
	const char *numbers;
};

static char *folded(const char *name, size_t size, enum runtime runtime, enum stable_for what,
		    struct stable_numbers *numbers)
{
	/* Without a NUL behind it, so that ASan sees a read past the end. */
	uint8_t *copy = malloc(size ? size : 1);
	assert_non_null(copy);
	memcpy(copy, name, size);
	struct sink key = { 0 };
	names_stable((struct bytes){ copy, size }, runtime, what, &key, numbers);
	assert_false(sink_failed(&key));
	sink_u8(&key, '\0');
	free(copy);
	return (char *)key.data;
}

static void check_row(const struct row *row)
{
	struct stable_numbers numbers;
	const size_t size = strlen(row->name);
	char *key = folded(row->name, size, row->runtime, STABLE_RUNS, &numbers);
	assert_string_equal(key, row->runs);
	assert_int_equal(numbers.count, 0);
	free(key);
	key = folded(row->name, size, row->runtime, STABLE_BUILDS, &numbers);
	assert_string_equal(key, row->builds);
	char text[100] = "";
	for (unsigned i = 0; i < numbers.count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%lu", i ? " " : "",
			 (unsigned long)numbers.items[i]);
	assert_string_equal(text, row->numbers ? row->numbers : "");
	/* What is folded stays so. */
	char *again = folded(key, strlen(key), row->runtime, STABLE_BUILDS, &numbers);
	assert_string_equal(again, key);
	free(again);
	free(key);
	for (size_t i = 0; i < size; i++)
		free(folded(row->name, i, row->runtime, STABLE_BUILDS, &numbers));
}

#define CHECK(rows)                                                    \
	for (size_t at = 0; at < sizeof(rows) / sizeof(*(rows)); at++) \
	check_row(&(rows)[at])

static void test_scripts(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ RUNTIME_V8, "alpha work.js:2:15", "alpha work.js:2:15", "alpha work.js", "2 15" },
		{ RUNTIME_V8, "(anonymous) work.js:9:144", "(anonymous) work.js:9:144",
		  "(anonymous) work.js", "9 144" },
		{ RUNTIME_V8, "evald_2 <anonymous>:1:20", "evald_2 <anonymous>:1:20",
		  "evald_2 <anonymous>", "1 20" },
		{ RUNTIME_V8, "t main.8f3a2c1d.js:1:90", "t main.8f3a2c1d.js:1:90", "t main.js",
		  "1 90" },
		{ RUNTIME_V8, "LdaGlobal.Wide handler", "LdaGlobal.Wide handler",
		  "LdaGlobal.Wide handler", NULL },
		{ RUNTIME_V8, "ArrayPrototypeMap", "ArrayPrototypeMap", "ArrayPrototypeMap", NULL },
		{ RUNTIME_V8, "/a:12/", "/a:12/", "/a:12/", NULL },
		{ RUNTIME_JSC, "alpha #A9UDsN", "alpha #A9UDsN", "alpha", NULL },
		{ RUNTIME_JSC, "GetById Load handler", "GetById Load handler",
		  "GetById Load handler", NULL },
		{ RUNTIME_RUBY, "block in main work.rb:12", "block in main work.rb:12",
		  "block in main work.rb", "12" },
		{ RUNTIME_PYPY, "alpha work.py:2", "alpha work.py:2", "alpha work.py", "2" },
		{ RUNTIME_LUAJIT, "work.lua:4", "work.lua:4", "work.lua", "4" },
		{ RUNTIME_PHP, "{closure:/srv/a.php:12}", "{closure:/srv/a.php:12}",
		  "{closure:/srv/a.php}", "12" },
		{ RUNTIME_PYTHON, "Klass.method_m work.py", "Klass.method_m work.py",
		  "Klass.method_m work.py", NULL },
		{ RUNTIME_ERLANG, "work:'-main/0-fun-1-'/1", "work:'-main/0-fun-1-'/1",
		  "work:'-main/0-fun--'/1", "1" },
	};
	CHECK(ROWS);
}

static void test_jvm(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ RUNTIME_JVM, "Work$$Lambda$1/0x00007f5a20001228.applyAsInt(int)",
		  "Work$$Lambda.applyAsInt(int)", "Work$$Lambda.applyAsInt(int)", NULL },
		{ RUNTIME_JVM, "Work$$Lambda$1.0x00007f4cac001228.applyAsInt(int)",
		  "Work$$Lambda.applyAsInt(int)", "Work$$Lambda.applyAsInt(int)", NULL },
		{ RUNTIME_JVM, "Work$$Lambda/0x00007f5a20001228.run()", "Work$$Lambda.run()",
		  "Work$$Lambda.run()", NULL },
		{ RUNTIME_JVM, "Work$$Lambda+0x00007f5a20001228.run()", "Work$$Lambda.run()",
		  "Work$$Lambda.run()", NULL },
		{ RUNTIME_JVM, "Work$$Lambda$14/1234567.run()", "Work$$Lambda.run()",
		  "Work$$Lambda.run()", NULL },
		{ RUNTIME_JVM,
		  "java.lang.invoke.LambdaForm$DMH/0x0000000800c0b400.invokeStatic(Object)",
		  "java.lang.invoke.LambdaForm$DMH.invokeStatic(Object)",
		  "java.lang.invoke.LambdaForm$DMH.invokeStatic(Object)", NULL },
		{ RUNTIME_JVM, "com.sun.proxy.$Proxy12.run()", "com.sun.proxy.$Proxy.run()",
		  "com.sun.proxy.$Proxy.run()", NULL },
		{ RUNTIME_JVM, "jdk.proxy2.$Proxy12.run()", "jdk.proxy.$Proxy.run()",
		  "jdk.proxy.$Proxy.run()", NULL },
		{ RUNTIME_JVM,
		  "jdk.internal.reflect.GeneratedMethodAccessor7.invoke(Object, Object[])",
		  "jdk.internal.reflect.GeneratedMethodAccessor.invoke(Object, Object[])",
		  "jdk.internal.reflect.GeneratedMethodAccessor.invoke(Object, Object[])", NULL },
		{ RUNTIME_JVM, "App$$EnhancerBySpringCGLIB$$3a4b5c6d.run()",
		  "App$$EnhancerBySpringCGLIB$$.run()", "App$$EnhancerBySpringCGLIB$$.run()",
		  NULL },
		{ RUNTIME_JVM, "Work.lambda$main$0(int)", "Work.lambda$main$0(int)",
		  "Work.lambda$main$(int)", "0" },
		{ RUNTIME_JVM, "Work$1.run()", "Work$1.run()", "Work$.run()", "1" },
		{ RUNTIME_JVM, "Work$1$2.run()", "Work$1$2.run()", "Work$$.run()", "1 2" },
		{ RUNTIME_JVM, "Work.access$000(Work)", "Work.access$000(Work)",
		  "Work.access$(Work)", "0" },
		{ RUNTIME_JVM, "java.util.HashMap$Node.get()", "java.util.HashMap$Node.get()",
		  "java.util.HashMap$Node.get()", NULL },
		{ RUNTIME_JVM, "I2C/C2I adapters", "I2C/C2I adapters", "I2C/C2I adapters", NULL },
	};
	CHECK(ROWS);
}

static void test_clr(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ RUNTIME_DOTNET, "C.Run.lambda(int) #1_20", "C.Run.lambda(int) #1_20",
		  "C.Run.lambda(int) #", "1 20" },
		{ RUNTIME_DOTNET, "Ns.C.FooAsync #5", "Ns.C.FooAsync #5", "Ns.C.FooAsync #", "5" },
		{ RUNTIME_DOTNET, "X.AsyncStateMachineBox<C.FooAsync #5>.MoveNext()",
		  "X.AsyncStateMachineBox<C.FooAsync #5>.MoveNext()",
		  "X.AsyncStateMachineBox<C.FooAsync #>.MoveNext()", "5" },
		{ RUNTIME_DOTNET, "C.<>c__DisplayClass1_0..ctor()",
		  "C.<>c__DisplayClass1_0..ctor()", "C.<>c__DisplayClass..ctor()", "1 0" },
		{ RUNTIME_DOTNET, "dynamicClass.lambda_method12(Closure)",
		  "dynamicClass.lambda_method(Closure)", "dynamicClass.lambda_method(Closure)",
		  NULL },
		{ RUNTIME_DOTNET, "dynamicClass.Regex7_TryMatch(RegexRunner)",
		  "dynamicClass.Regex_TryMatch(RegexRunner)",
		  "dynamicClass.Regex_TryMatch(RegexRunner)", NULL },
		{ RUNTIME_DOTNET, "Ns.Regex7.Run(int)", "Ns.Regex7.Run(int)", "Ns.Regex7.Run(int)",
		  NULL },
		{ RUNTIME_DOTNET, "AnonymousType0<int>.Equals(object)",
		  "AnonymousType0<int>.Equals(object)", "AnonymousType<int>.Equals(object)", "0" },
	};
	CHECK(ROWS);
}

static void test_native(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ RUNTIME_NATIVE, "run.constprop.0.isra.1", "run.constprop.0.isra.1", "run", NULL },
		{ RUNTIME_NATIVE, "run.cold", "run.cold", "run", NULL },
		{ RUNTIME_NATIVE, "run.part.2.lto_priv.7", "run.part.2.lto_priv.7", "run", NULL },
		{ RUNTIME_NATIVE, "run.llvm.1234567890123456789", "run.llvm.1234567890123456789",
		  "run", NULL },
		{ RUNTIME_NATIVE, "count.5", "count.5", "count", "5" },
		{ RUNTIME_NATIVE, "app::run::h0123456789abcdef", "app::run::h0123456789abcdef",
		  "app::run", NULL },
		{ RUNTIME_NATIVE, "memcpy@@GLIBC_2.14", "memcpy@@GLIBC_2.14", "memcpy", NULL },
		{ RUNTIME_NATIVE, "memcpy@plt", "memcpy@plt", "memcpy@plt", NULL },
		{ RUNTIME_NATIVE, "main::{lambda(int)#2}::operator()",
		  "main::{lambda(int)#2}::operator()", "main::{lambda(int)#}::operator()", "2" },
		{ RUNTIME_NATIVE, "app::main::{closure#0}", "app::main::{closure#0}",
		  "app::main::{closure#}", "0" },
		{ RUNTIME_NATIVE, "main.main.func1.2", "main.main.func1.2", "main.main.func",
		  "1 2" },
		{ RUNTIME_NATIVE, "f<0x1234567890>", "f<0x1234567890>", "f<0x1234567890>", NULL },
		{ RUNTIME_KERNEL, "do_idle.isra.0", "do_idle.isra.0", "do_idle", NULL },
		{ RUNTIME_BPF, "bpf_prog_6deef7357e7b4530_sd_fw_egress",
		  "bpf_prog_6deef7357e7b4530_sd_fw_egress", "bpf_prog_sd_fw_egress", NULL },
		{ RUNTIME_JIT, "code at 0x7f5a20001228", "code at 0x", "code at 0x", NULL },
		{ RUNTIME_UNKNOWN, "", "", "", NULL },
	};
	CHECK(ROWS);
}

static void test_scope_and_namelessness(void **state)
{
	(void)state;
	static const struct {
		enum runtime runtime;
		const char *name;
		const char *scope;
		bool is_nameless;
	} ROWS[] = {
		{ RUNTIME_V8, "alpha work.js:2:15", "work.js", false },
		{ RUNTIME_V8, "(anonymous) work.js:9:1", "work.js", true },
		{ RUNTIME_LUAJIT, "work.lua:4", "work.lua", true },
		{ RUNTIME_JSC, "(anonymous) #A9UDsN", "(anonymous)", true },
		{ RUNTIME_JSC, "alpha #A9UDsN", "alpha", false },
		{ RUNTIME_JVM, "Work.lambda$main$0()", "Work.lambda$main$()", true },
		{ RUNTIME_DOTNET, "C.FooAsync #5", "C.FooAsync #", false },
		{ RUNTIME_DOTNET, "C.Run.lambda #1_5", "C.Run.lambda #", true },
		{ RUNTIME_NATIVE, "count.5", "count", false },
	};
	for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
		struct stable_numbers numbers;
		char *key = folded(ROWS[i].name, strlen(ROWS[i].name), ROWS[i].runtime,
				   STABLE_BUILDS, &numbers);
		assert_string_equal(key + numbers.scope, ROWS[i].scope);
		assert_int_equal(numbers.is_nameless, ROWS[i].is_nameless);
		free(key);
	}
}

static void test_objects(void **state)
{
	(void)state;
	static const struct {
		const char *object;
		const char *runs;
		const char *builds;
	} ROWS[] = {
		{ "[jit]", "[jit]", "[jit]" },
		{ "perf-123.map", "perf-.map", "perf-.map" },
		{ "jit-123.dump", "jit-.dump", "jit-.dump" },
		{ "jitted-123-45.so", "jitted-", "jitted-" },
		{ "_ruby_mjit_p123u4.so", "_ruby_mjit_p", "_ruby_mjit_p" },
		{ "memfd:doublemapper (deleted)", "memfd:doublemapper", "memfd:doublemapper" },
		{ "libc.so.6", "libc.so.6", "libc.so" },
		{ "libc-2.36.so", "libc-2.36.so", "libc.so" },
		{ "libpython3.11.so.1.0", "libpython3.11.so.1.0", "libpython.so" },
		{ "libz3.so", "libz3.so", "libz3.so" },
		{ "python3.11", "python3.11", "python" },
		{ "app", "app", "app" },
		{ "2048", "2048", "2048" },
		{ "", "", "" },
	};
	for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
		const struct bytes object = { (const uint8_t *)ROWS[i].object,
					      strlen(ROWS[i].object) };
		struct sink key = { 0 };
		names_stable_object(object, STABLE_RUNS, &key);
		sink_u8(&key, '\0');
		assert_string_equal(key.data, ROWS[i].runs);
		sink_reset(&key);
		names_stable_object(object, STABLE_BUILDS, &key);
		sink_u8(&key, '\0');
		assert_string_equal(key.data, ROWS[i].builds);
		sink_clear(&key);
	}
}

static void test_runtimes_are_found_again(void **state)
{
	(void)state;
	for (int i = 0; i < RUNTIME_COUNT; i++)
		assert_int_equal(runtime_find(runtime_name((enum runtime)i)), i);
	assert_int_equal(runtime_find("cobol"), RUNTIME_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scripts),
		cmocka_unit_test(test_jvm),
		cmocka_unit_test(test_clr),
		cmocka_unit_test(test_native),
		cmocka_unit_test(test_scope_and_namelessness),
		cmocka_unit_test(test_objects),
		cmocka_unit_test(test_runtimes_are_found_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
