#include "rows.h"

#define WORK_PHP "/home/user/corpus/work/work.php"
#define WORK_PY "/home/user/corpus/corpus/py3.12-perfmap/../../work/work.py"

static void test_php(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ "JIT$alpha", RUNTIME_PHP, "jit", "alpha", NULL },
		{ "TRACE-1$alpha$2", RUNTIME_PHP, "trace", "alpha", NULL },
		{ "JIT$Klass::method_m", RUNTIME_PHP, "jit", "Klass::method_m", NULL },
		{ "TRACE-11$Klass::method_m$7", RUNTIME_PHP, "trace", "Klass::method_m", NULL },
		{ "JIT$gr\u00f6\u00dfe", RUNTIME_PHP, "jit", "gr\u00f6\u00dfe", NULL },
		{ "JIT${closure}", RUNTIME_PHP, "jit", "{closure}", NULL },
		{ "TRACE-2$App\\Svc\\{closure}$3", RUNTIME_PHP, "trace", "App\\Svc\\{closure}",
		  NULL },
		{ "JIT$" WORK_PHP, RUNTIME_PHP, "jit", "{main} work.php", WORK_PHP },
		{ "TRACE-17$" WORK_PHP "$9", RUNTIME_PHP, "trace", "{main} work.php", WORK_PHP },
		{ "JIT$$undefined_index_ex", RUNTIME_PHP, "stub", "undefined_index_ex", NULL },
		{ "JIT$$hybrid_loop_hot_counter", RUNTIME_PHP, "stub", "hybrid_loop_hot_counter",
		  NULL },
		{ "jit$$trace_exit_0", RUNTIME_PHP, "stub", "trace_exit_0", NULL },
	};
	CHECK(ROWS, RUNTIME_PHP);
}

static void test_erlang(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ "$work:alpha/2", RUNTIME_ERLANG, "jit", "work:alpha/2", NULL },
		{ "work:alpha/2", RUNTIME_ERLANG, "jit", "work:alpha/2", NULL },
		{ "$work:alpha/2-CodeInfoPrologue", RUNTIME_ERLANG, "jit", "work:alpha/2", NULL },
		{ "work:alpha/2-CodeInfoPrologue", RUNTIME_ERLANG, "jit", "work:alpha/2", NULL },
		{ "$work:gr\u00f6\u00dfe/1", RUNTIME_ERLANG, "jit", "work:gr\u00f6\u00dfe/1",
		  NULL },
		{ "$unicode:'-o_trans/1-fun-3-'/1-CodeInfoPrologue", RUNTIME_ERLANG, "jit",
		  "unicode:'-o_trans/1-fun-3-'/1", NULL },
		{ "$filename:'-basedir/3-lc$^0/1-0-'/2", RUNTIME_ERLANG, "jit",
		  "filename:'-basedir/3-lc$^0/1-0-'/2", NULL },
		{ "work::codeHeader", RUNTIME_ERLANG, "stub", "work::codeHeader", NULL },
		{ "$application::codeFooter", RUNTIME_ERLANG, "stub", "application::codeFooter",
		  NULL },
		{ "$global::apply_fun_shared", RUNTIME_ERLANG, "stub", "global::apply_fun_shared",
		  NULL },
		{ "global::call_light_bif_shared", RUNTIME_ERLANG, "stub",
		  "global::call_light_bif_shared", NULL },
	};
	CHECK(ROWS, RUNTIME_ERLANG);
}

static void test_python(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ "py::alpha:" WORK_PY, RUNTIME_PYTHON, "trampoline", "alpha work.py", WORK_PY },
		{ "py::gr\u00f6\u00dfe:" WORK_PY, RUNTIME_PYTHON, "trampoline",
		  "gr\u00f6\u00dfe work.py", WORK_PY },
		{ "py::Klass.method_m.<locals>.<genexpr>:" WORK_PY, RUNTIME_PYTHON, "trampoline",
		  "Klass.method_m.<locals>.<genexpr> work.py", WORK_PY },
		{ "py::<module>:" WORK_PY, RUNTIME_PYTHON, "trampoline", "<module> work.py",
		  WORK_PY },
		{ "py::_ModuleLock.acquire:<frozen importlib._bootstrap>", RUNTIME_PYTHON,
		  "trampoline", "_ModuleLock.acquire <frozen importlib._bootstrap>",
		  "<frozen importlib._bootstrap>" },
		{ "py::evald_0:<string>", RUNTIME_PYTHON, "trampoline", "evald_0 <string>",
		  "<string>" },
		{ "py::hot:/home/usr/peer/exp/py/dir with space/a b.py", RUNTIME_PYTHON,
		  "trampoline", "hot a b.py", "/home/usr/peer/exp/py/dir with space/a b.py" },
		{ "py::decode:/opt/lib/python3.13/encodings/__init__.py", RUNTIME_PYTHON,
		  "trampoline", "decode encodings/__init__.py",
		  "/opt/lib/python3.13/encodings/__init__.py" },
		{ "py::we", RUNTIME_PYTHON, "trampoline", "we", NULL },
		{ "py::<lambda>:" WORK_PY, RUNTIME_PYTHON, "trampoline", "<lambda> work.py",
		  WORK_PY },
	};
	CHECK(ROWS, RUNTIME_PYTHON);
	/* What a name with a newline leaves behind in a map. */
	static const struct row TORN[] = {
		{ "ird; (x):<string>", RUNTIME_PYTHON, "", "ird; (x):<string>", NULL },
	};
	CHECK_KNOWN(TORN, RUNTIME_PYTHON);
}

static void test_pypy(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ "Loop 3 (<code object alpha. file 'work.py'. line 2> #12 FOR_ITER)", RUNTIME_PYPY,
		  "trace", "alpha work.py:2", "work.py" },
		{ "Loop 0 (<code object f, file '/home/me/a.py', line 10> #5 JUMP)", RUNTIME_PYPY,
		  "trace", "f a.py:10", "/home/me/a.py" },
		{ "bridge (<code object f, file '/home/me/a.py', line 10> #5 JUMP)", RUNTIME_PYPY,
		  "bridge", "f a.py:10", "/home/me/a.py" },
	};
	CHECK(ROWS, RUNTIME_PYPY);
}

static void test_ruby(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ "[YJIT] alpha@/work/workloads/work.rb:1", RUNTIME_RUBY, "yjit", "alpha work.rb:1",
		  "/work/workloads/work.rb:1" },
		{ "[YJIT] <=>@/usr/lib/ruby/vendor_ruby/rubygems/version.rb:347", RUNTIME_RUBY,
		  "yjit", "<=> version.rb:347",
		  "/usr/lib/ruby/vendor_ruby/rubygems/version.rb:347" },
		{ "[YJIT] block in expand@/usr/lib/ruby/3.1.0/rbconfig.rb:288", RUNTIME_RUBY,
		  "yjit", "block in expand rbconfig.rb:288",
		  "/usr/lib/ruby/3.1.0/rbconfig.rb:288" },
		{ "[YJIT] prerelease?@/usr/lib/ruby/vendor_ruby/rubygems/version.rb:297",
		  RUNTIME_RUBY, "yjit", "prerelease? version.rb:297",
		  "/usr/lib/ruby/vendor_ruby/rubygems/version.rb:297" },
		{ "[JIT] Integer#times@<internal:numeric>:237", RUNTIME_RUBY, "jit",
		  "Integer#times <internal:numeric>:237", "<internal:numeric>:237" },
		{ "[YJIT] code gc", RUNTIME_RUBY, "yjit", "code gc", NULL },
	};
	CHECK(ROWS, RUNTIME_RUBY);
}

static void test_luajit(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ "TRACE_1::work.lua:1", RUNTIME_LUAJIT, "trace", "work.lua:1", "work.lua:1" },
		{ "TRACE_11::work.lua:4 side 10/1", RUNTIME_LUAJIT, "trace", "work.lua:4",
		  "work.lua:4" },
		{ "TRACE_3::@/srv/app/a.lua:12", RUNTIME_LUAJIT, "trace", "a.lua:12",
		  "/srv/app/a.lua:12" },
		{ "TRACE_3::alpha /srv/app/a.lua:12", RUNTIME_LUAJIT, "trace", "alpha a.lua:12",
		  "/srv/app/a.lua:12" },
		{ "TRACE_12::?", RUNTIME_LUAJIT, "trace", "?", "?" },
	};
	CHECK(ROWS, RUNTIME_LUAJIT);
}

static void test_julia(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ "julia_getindex_3", RUNTIME_JULIA, "specialized", "getindex", NULL },
		{ "jfptr_getindex_4", RUNTIME_JULIA, "wrapper", "getindex", NULL },
		{ "japi1_top-level scope_8", RUNTIME_JULIA, "generic", "top-level scope", NULL },
		{ "japi1___FILE___5", RUNTIME_JULIA, "generic", "__FILE__", NULL },
		{ "julia_include_0", RUNTIME_JULIA, "specialized", "include", NULL },
	};
	CHECK(ROWS, RUNTIME_JULIA);
}

static void test_llvm(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ "alpha", RUNTIME_LLVM, "jit", "alpha", NULL },
		{ "gamma_", RUNTIME_LLVM, "jit", "gamma_", NULL },
		{ "_ZN4work5alphaEii", RUNTIME_LLVM, "jit", "work::alpha", NULL },
		{ "evalexpr_0_1", RUNTIME_LLVM, "jit", "evalexpr_0_1", NULL },
	};
	CHECK_KNOWN(ROWS, RUNTIME_LLVM);
}

static void test_names_of_no_shape(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ "first_owner", RUNTIME_JIT, "", "first_owner", NULL },
		{ "", RUNTIME_JIT, "", "", NULL },
		{ "\x01\x1b[2J\xff", RUNTIME_JIT, "", "\x01\x1b[2J\xff", NULL },
		{ "void foo::bar<int>(int)", RUNTIME_JIT, "", "void foo::bar<int>(int)", NULL },
		{ "std::vector<int, std::allocator<int> >::push_back(int const&)", RUNTIME_JIT, "",
		  "std::vector<int, std::allocator<int> >::push_back(int const&)", NULL },
		{ "m_spin_0", RUNTIME_JIT, "", "m_spin_0", NULL },
	};
	for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++)
		check_row(&ROWS[i], RUNTIME_UNKNOWN);

	/* Native, kernel and BPF names are whole, whatever they look like. */
	static const struct row WHOLE[] = {
		{ "JS:*alpha /a.js:1:2", RUNTIME_KERNEL, "", "JS:*alpha /a.js:1:2", NULL },
	};
	CHECK_KNOWN(WHOLE, RUNTIME_KERNEL);

	/* A strong mark wins over what the process is: Python in a node addon. */
	static const struct row GUEST[] = {
		{ "py::alpha:/a/work.py", RUNTIME_PYTHON, "trampoline", "alpha work.py",
		  "/a/work.py" },
	};
	check_row(GUEST, RUNTIME_V8);
}

static void test_long_names_pass(void **state)
{
	(void)state;
	enum { SIZE = 100000 };
	char *raw = malloc(SIZE);
	assert_non_null(raw);
	memset(raw, 'a', SIZE);
	memcpy(raw, "JS:*", 4);
	struct name_parts parts;
	struct sink human = { 0 };
	names_split((struct bytes){ (uint8_t *)raw, SIZE }, RUNTIME_V8, &parts, &human);
	assert_int_equal(human.size, SIZE);
	assert_memory_equal(human.data, raw, SIZE);

	/* Each !0 stands for the long argument: the text would grow to a million bytes. */
	sink_reset(&human);
	struct sink made = { 0 };
	sink_text(&made, "void [A] B`1[");
	for (int i = 0; i < 1000; i++)
		sink_text(&made, "x");
	sink_text(&made, "]::c(!0");
	for (int i = 0; i < 900; i++)
		sink_text(&made, ",!0");
	sink_text(&made, ")[PreJIT]");
	names_split(sink_bytes(&made), RUNTIME_DOTNET, &parts, &human);
	assert_int_equal(human.size, made.size);
	assert_int_equal(parts.runtime, RUNTIME_DOTNET);
	sink_clear(&made);
	sink_clear(&human);
	free(raw);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_php),
		cmocka_unit_test(test_erlang),
		cmocka_unit_test(test_python),
		cmocka_unit_test(test_pypy),
		cmocka_unit_test(test_ruby),
		cmocka_unit_test(test_luajit),
		cmocka_unit_test(test_julia),
		cmocka_unit_test(test_llvm),
		cmocka_unit_test(test_names_of_no_shape),
		cmocka_unit_test(test_long_names_pass),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
