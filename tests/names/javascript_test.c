#include "rows.h"

#define WORK "/home/user/corpus/work/work.js"

static void test_v8_tiers_join(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ "JS:~alpha " WORK ":2:15", RUNTIME_V8, "ignition", "alpha work.js:2:15",
		  WORK ":2:15" },
		{ "JS:^alpha " WORK ":2:15", RUNTIME_V8, "sparkplug", "alpha work.js:2:15",
		  WORK ":2:15" },
		{ "JS:+alpha " WORK ":2:15", RUNTIME_V8, "maglev", "alpha work.js:2:15",
		  WORK ":2:15" },
		{ "JS:+'alpha " WORK ":2:15", RUNTIME_V8, "maglev", "alpha work.js:2:15",
		  WORK ":2:15" },
		{ "JS:*alpha " WORK ":2:15", RUNTIME_V8, "turbofan", "alpha work.js:2:15",
		  WORK ":2:15" },
		{ "JS:*'alpha " WORK ":2:15", RUNTIME_V8, "turbofan", "alpha work.js:2:15",
		  WORK ":2:15" },
		{ "JS:o*alpha " WORK ":2:15", RUNTIME_V8, "turbofan", "alpha work.js:2:15",
		  WORK ":2:15" },
		{ "JS:o+'alpha " WORK ":2:15", RUNTIME_V8, "maglev", "alpha work.js:2:15",
		  WORK ":2:15" },
	};
	CHECK(ROWS, RUNTIME_V8);
}

static void test_v8_functions(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ "JS:~ " WORK ":9:144", RUNTIME_V8, "ignition", "(anonymous) work.js:9:144",
		  WORK ":9:144" },
		{ "JS:+' " WORK ":1:1", RUNTIME_V8, "maglev", "(anonymous) work.js:1:1",
		  WORK ":1:1" },
		{ "JS:*evald_2 :1:20", RUNTIME_V8, "turbofan", "evald_2 <anonymous>:1:20",
		  ":1:20" },
		{ "Eval:~ :1:1", RUNTIME_V8, "ignition", "(eval) <anonymous>:1:1", ":1:1" },
		{ "Eval:~ node:internal/histogram:1:1", RUNTIME_V8, "ignition",
		  "(eval) node:internal/histogram:1:1", "node:internal/histogram:1:1" },
		{ "JS:+na\u00efve gr\u00f6\u00dfe " WORK ":8:39", RUNTIME_V8, "maglev",
		  "na\u00efve gr\u00f6\u00dfe work.js:8:39", WORK ":8:39" },
		{ "JS:^get x /tmp/wasm.js:8:16", RUNTIME_V8, "sparkplug", "get x wasm.js:8:16",
		  "/tmp/wasm.js:8:16" },
		{ "JS:~#p /tmp/wasm.js:8:108", RUNTIME_V8, "ignition", "#p wasm.js:8:108",
		  "/tmp/wasm.js:8:108" },
		{ "JS:~Module._extensions..js node:internal/modules/cjs/loader:1586:37", RUNTIME_V8,
		  "ignition", "Module._extensions..js node:internal/modules/cjs/loader:1586:37",
		  "node:internal/modules/cjs/loader:1586:37" },
		{ "JS:~<instance_members_initializer> node:internal/perf/observe:243:1", RUNTIME_V8,
		  "ignition", "<instance_members_initializer> node:internal/perf/observe:243:1",
		  "node:internal/perf/observe:243:1" },
		{ "JS:~f /home/me/my app/a b.js:3:4", RUNTIME_V8, "ignition", "f a b.js:3:4",
		  "/home/me/my app/a b.js:3:4" },
		{ "JS:~f file:///home/me/a.mjs:3:4", RUNTIME_V8, "ignition", "f a.mjs:3:4",
		  "file:///home/me/a.mjs:3:4" },
		{ "JS:*nameOnly", RUNTIME_V8, "turbofan", "nameOnly", NULL },
	};
	CHECK(ROWS, RUNTIME_V8);
}

static void test_v8_files(void **state)
{
	(void)state;
	/* index.js and its like are told apart by their folder, packages by their path. */
	static const struct row ROWS[] = {
		{ "JS:*handle /srv/app/src/users/index.js:10:3", RUNTIME_V8, "turbofan",
		  "handle users/index.js:10:3", "/srv/app/src/users/index.js:10:3" },
		{ "JS:*handle /srv/app/node_modules/express/lib/router/index.js:136:20", RUNTIME_V8,
		  "turbofan", "handle express/lib/router/index.js:136:20",
		  "/srv/app/node_modules/express/lib/router/index.js:136:20" },
		{ "JS:*f /a/node_modules/b/node_modules/c/d.js:1:2", RUNTIME_V8, "turbofan",
		  "f c/d.js:1:2", "/a/node_modules/b/node_modules/c/d.js:1:2" },
		{ "JS:*f index.js:1:2", RUNTIME_V8, "turbofan", "f index.js:1:2", "index.js:1:2" },
		{ "JS:*f /index.js:1:2", RUNTIME_V8, "turbofan", "f /index.js:1:2",
		  "/index.js:1:2" },
	};
	CHECK(ROWS, RUNTIME_V8);
}

static void test_v8_other_code(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ "Builtin:ArrayPrototypeMap", RUNTIME_V8, "builtin", "ArrayPrototypeMap", NULL },
		{ "Builtin:InterpreterEntryTrampoline", RUNTIME_V8, "builtin",
		  "InterpreterEntryTrampoline", NULL },
		{ "BytecodeHandler:StaModuleVariable.ExtraWide", RUNTIME_V8, "bytecode",
		  "StaModuleVariable.ExtraWide handler", NULL },
		{ "RegExp:a*(\\d+)b", RUNTIME_V8, "regexp", "/a*(\\d+)b/", NULL },
		{ "RegExp:[{(]", RUNTIME_V8, "regexp", "/[{(]/", NULL },
		{ "Stub:CEntryStub", RUNTIME_V8, "stub", "CEntryStub", NULL },
		{ "KeyedLoadIC:x", RUNTIME_V8, "stub", "x", NULL },
		/* Tags and places (no column) of older V8. */
		{ "LazyCompile:~formatValue internal/util/inspect.js:456", RUNTIME_V8, "ignition",
		  "formatValue inspect.js:456", "internal/util/inspect.js:456" },
		{ "LazyCompile:*getPotentialParent "
		  "/usr/src/app/node_modules/heap-js/dist/heap-js.umd.js:764",
		  RUNTIME_V8, "turbofan", "getPotentialParent heap-js/dist/heap-js.umd.js:764",
		  "/usr/src/app/node_modules/heap-js/dist/heap-js.umd.js:764" },
		{ "LazyCompile:~lastIndexOf native array.js:618", RUNTIME_V8, "ignition",
		  "lastIndexOf native array.js:618", "native array.js:618" },
		{ "Script:~ evalmachine.<anonymous>:1", RUNTIME_V8, "ignition",
		  "(script) evalmachine.<anonymous>:1", "evalmachine.<anonymous>:1" },
	};
	CHECK(ROWS, RUNTIME_V8);
}

static void test_v8_wasm(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ "JS:alpha-1-liftoff", RUNTIME_WASM, "liftoff", "alpha", NULL },
		{ "JS:alpha-1-turbofan", RUNTIME_WASM, "turbofan", "alpha", NULL },
		{ "JS:wasm-function[7]-7-turbofan", RUNTIME_WASM, "turbofan", "wasm-function[7]",
		  NULL },
		{ "JS:turbofan", RUNTIME_V8, "", "turbofan", NULL },
	};
	CHECK(ROWS, RUNTIME_V8);
}

static void test_jsc(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ "JSC-Baseline: alpha#A9UDsN", RUNTIME_JSC, "baseline", "alpha #A9UDsN",
		  "#A9UDsN" },
		{ "JSC-DFG: alpha#A9UDsN", RUNTIME_JSC, "dfg", "alpha #A9UDsN", "#A9UDsN" },
		{ "JSC-FTL: alpha#A9UDsN", RUNTIME_JSC, "ftl", "alpha #A9UDsN", "#A9UDsN" },
		{ "JSC-FTL: #CzoQSb", RUNTIME_JSC, "ftl", "(anonymous) #CzoQSb", "#CzoQSb" },
		{ "JSC-DFG: #p#AjW9Yd", RUNTIME_JSC, "dfg", "#p #AjW9Yd", "#AjW9Yd" },
		{ "JSC-Baseline: /work/workloads/work.js#AP4MOv", RUNTIME_JSC, "baseline",
		  "work.js #AP4MOv", "#AP4MOv" },
		{ "JSC-YarrJIT: /a*(\\d+)b/", RUNTIME_JSC, "regexp", "/a*(\\d+)b/", NULL },
		{ "JSC-InlineCache: GetByVal NonStringPrimitiveKey Load handler", RUNTIME_JSC, "ic",
		  "GetByVal NonStringPrimitiveKey Load handler", NULL },
		{ "JSC-InlineCache: unspecified", RUNTIME_JSC, "ic", "InlineCache", NULL },
		{ "JSC-LLIntThunk: function for call", RUNTIME_JSC, "llint", "function for call",
		  NULL },
		{ "JSC-ExtraCTIThunk: checkException", RUNTIME_JSC, "thunk", "checkException",
		  NULL },
		{ "JSC-DFGOSRExit: unspecified", RUNTIME_JSC, "thunk", "DFGOSRExit", NULL },
		{ "JSC-Brandnew: unspecified", RUNTIME_JSC, "", "Brandnew", NULL },
		{ "JSC-WasmBBQ: .wasm-function[alpha]#ELQO4f", RUNTIME_WASM, "bbq", "alpha", NULL },
		{ "JSC-WasmOMG: .wasm-function[alpha]", RUNTIME_WASM, "omg", "alpha", NULL },
	};
	CHECK(ROWS, RUNTIME_JSC);
}

static void test_wasmtime(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ "wasm[0]::function[3]::alpha", RUNTIME_WASM, "cranelift", "alpha", NULL },
		{ "wasm[0]::function[3]", RUNTIME_WASM, "cranelift", "function[3]", NULL },
	};
	CHECK(ROWS, RUNTIME_WASM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_v8_tiers_join), cmocka_unit_test(test_v8_functions),
		cmocka_unit_test(test_v8_files),      cmocka_unit_test(test_v8_other_code),
		cmocka_unit_test(test_v8_wasm),       cmocka_unit_test(test_jsc),
		cmocka_unit_test(test_wasmtime),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
