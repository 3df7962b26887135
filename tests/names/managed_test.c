#include "rows.h"

static void test_jvm_dump_and_map_join(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ "LWork;alpha(II)I", RUNTIME_JVM, "compiled", "Work.alpha(int, int)", NULL },
		{ "int Work.alpha(int, int)", RUNTIME_JVM, "compiled", "Work.alpha(int, int)",
		  NULL },
		{ "LWork;recompiled(LWork$Op;I)I", RUNTIME_JVM, "compiled",
		  "Work.recompiled(Work$Op, int)", NULL },
		{ "int Work.recompiled(Work$Op, int)", RUNTIME_JVM, "compiled",
		  "Work.recompiled(Work$Op, int)", NULL },
		{ "LWork;gr\u00f6\u00dfe(I)I", RUNTIME_JVM, "compiled", "Work.gr\u00f6\u00dfe(int)",
		  NULL },
		{ "int Work.gr\u00f6\u00dfe(int)", RUNTIME_JVM, "compiled",
		  "Work.gr\u00f6\u00dfe(int)", NULL },
		{ "Ljava/lang/String;<init>([BB)V", RUNTIME_JVM, "compiled",
		  "java.lang.String.<init>(byte[], byte)", NULL },
		{ "void java.lang.String.<init>(byte[], byte)", RUNTIME_JVM, "compiled",
		  "java.lang.String.<init>(byte[], byte)", NULL },
		{ "Ljava/util/HashMap;hash(Ljava/lang/Object;)I", RUNTIME_JVM, "compiled",
		  "java.util.HashMap.hash(Object)", NULL },
		{ "java.util.concurrent.ConcurrentHashMap$Node "
		  "java.util.concurrent.ConcurrentHashMap.tabAt(java.util.concurrent."
		  "ConcurrentHashMap$Node[], "
		  "int)",
		  RUNTIME_JVM, "compiled",
		  "java.util.concurrent.ConcurrentHashMap.tabAt(ConcurrentHashMap$Node[], int)",
		  NULL },
		{ "LA;all([[IZBCSJFD[Ljava/lang/String;)V", RUNTIME_JVM, "compiled",
		  "A.all(int[][], boolean, byte, char, short, long, float, double, String[])",
		  NULL },
		{ "int Work$$Lambda/0x0000000037040aa8.applyAsInt(int, int)", RUNTIME_JVM,
		  "compiled", "Work$$Lambda/0x0000000037040aa8.applyAsInt(int, int)", NULL },
		{ "void FooTest.a name of Kotlin()", RUNTIME_JVM, "compiled",
		  "FooTest.a name of Kotlin()", NULL },
		{ "java.lang.String Work.lambda$main$0()", RUNTIME_JVM, "compiled",
		  "Work.lambda$main$0()", NULL },
		{ "LWork;::alpha", RUNTIME_JVM, "compiled", "Work.alpha", NULL },
	};
	CHECK(ROWS, RUNTIME_JVM);
}

static void test_jvm_stubs(void **state)
{
	(void)state;
	static const struct row MARKED[] = {
		{ "I2C/C2I adapters", RUNTIME_JVM, "stub", "I2C/C2I adapters", NULL },
		{ "I2C/C2I adapters(0xbbbbeaa)", RUNTIME_JVM, "stub", "I2C/C2I adapters", NULL },
		{ "new_object_array Runtime1 stub", RUNTIME_JVM, "stub",
		  "new_object_array Runtime1 stub", NULL },
		{ "vtable chunks", RUNTIME_JVM, "stub", "vtable chunks", NULL },
		{ "DeoptimizationBlob", RUNTIME_JVM, "stub", "DeoptimizationBlob", NULL },
	};
	CHECK(MARKED, RUNTIME_JVM);
	static const struct row PLAIN[] = {
		{ "Interpreter", RUNTIME_JVM, "interpreter", "Interpreter", NULL },
		{ "jint_disjoint_arraycopy", RUNTIME_JVM, "stub", "jint_disjoint_arraycopy", NULL },
		{ "StackOverflowError throw_exception", RUNTIME_JVM, "stub",
		  "StackOverflowError throw_exception", NULL },
		{ "StubRoutines (initialstubs)", RUNTIME_JVM, "stub", "StubRoutines (initialstubs)",
		  NULL },
		{ "LA;bad(Q)V", RUNTIME_JVM, "stub", "LA;bad(Q)V", NULL },
	};
	CHECK_KNOWN(PLAIN, RUNTIME_JVM);
}

static void test_dotnet_methods(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ "int32 [Work] Work::alpha(int32,int32)[Optimized]", RUNTIME_DOTNET, "optimized",
		  "Work.alpha(int, int)", NULL },
		{ "void [cs] App.Core.Work::Main()[OptimizedTier1OSR]", RUNTIME_DOTNET, "osr",
		  "App.Core.Work.Main()", NULL },
		{ "void [cs] App.Core.Work::Main()[QuickJitted]", RUNTIME_DOTNET, "quick",
		  "App.Core.Work.Main()", NULL },
		{ "void [cs] App.Core.Work::Main()[InstrumentedTierOptimized]", RUNTIME_DOTNET,
		  "instrumented", "App.Core.Work.Main()", NULL },
		{ "int32 [System.Private.CoreLib] "
		  "System.SpanHelpers::IndexOf(char&,char,int32)[OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1", "System.SpanHelpers.IndexOf(ref char, char, int)",
		  NULL },
		{ "instance void [System.Private.CoreLib] "
		  "System.Threading.Mutex::ReleaseMutex()[PreJIT]",
		  RUNTIME_DOTNET, "prejit", "System.Threading.Mutex.ReleaseMutex()", NULL },
		{ "void [A] B::c()[MinOptJitted]", RUNTIME_DOTNET, "minopt", "B.c()", NULL },
		{ "int32 [Work] Work::alpha(int32,int32)", RUNTIME_DOTNET, "",
		  "Work.alpha(int, int)", NULL },
		{ "instance void [System.Text.Json] "
		  "System.Text.Json.JsonSerializerOptions::.ctor(class "
		  "System.Text.Json.JsonSerializerOptions)[QuickJitted]",
		  RUNTIME_DOTNET, "quick",
		  "System.Text.Json.JsonSerializerOptions..ctor(JsonSerializerOptions)", NULL },
		{ "void [Microsoft.Extensions.DependencyInjection] "
		  "Microsoft.Extensions.DependencyInjection.ServiceProvider+<>c::.cctor()["
		  "QuickJitted]",
		  RUNTIME_DOTNET, "quick",
		  "Microsoft.Extensions.DependencyInjection.ServiceProvider.<>c..cctor()", NULL },
		{ "instance bool [System.Private.CoreLib] "
		  "System.UInt16::System.IBinaryIntegerParseAndFormatInfo<System.UInt16>.get_"
		  "MaxDigitCount()[QuickJitted]",
		  RUNTIME_DOTNET, "quick",
		  "System.UInt16.IBinaryIntegerParseAndFormatInfo<ushort>.MaxDigitCount.get()",
		  NULL },
	};
	CHECK(ROWS, RUNTIME_DOTNET);
}

static void test_dotnet_types(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ "instance int32 [cs] "
		  "App.Core.Outer`1+Inner`1[System.Int32,System.__Canon]::Id(!0,!1,class "
		  "[System.Collections]System.Collections.Generic.List`1<!0>)[QuickJitted]",
		  RUNTIME_DOTNET, "quick",
		  "App.Core.Outer<int>.Inner<__Canon>.Id(int, __Canon, List<int>)", NULL },
		{ "int32 [cs] "
		  "App.Core.Work::Alpha(int32,int32&,int64&,int32[],int32[0...,0...],string,object["
		  "])"
		  "[OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1",
		  "App.Core.Work.Alpha(int, ref int, ref long, int[], int[,], string, object[])",
		  NULL },
		{ "int32 [cs] App.Core.Work::Ptr(uint8*,void*,method int32 *(int32),native "
		  "int,native "
		  "uint,int8,uint16,uint32,uint64,float32,float64,char,valuetype "
		  "[System.Runtime]System.Decimal,valuetype "
		  "[System.Runtime]System.Nullable`1<valuetype "
		  "[System.Runtime]System.DateTime>)[QuickJitted]",
		  RUNTIME_DOTNET, "quick",
		  "App.Core.Work.Ptr(byte*, void*, delegate*<int, int>, nint, nuint, sbyte, "
		  "ushort, "
		  "uint, ulong, float, double, char, decimal, DateTime?)",
		  NULL },
		{ "instance void "
		  "modreq([System.Private.CoreLib]System.Runtime.CompilerServices.IsExternalInit) "
		  "[System.Text.Json] "
		  "System.Text.Json.Serialization.Metadata.JsonPropertyInfoValues`1[System.Boolean]"
		  "::"
		  "set_PropertyName(string)[QuickJitted]",
		  RUNTIME_DOTNET, "quick",
		  "System.Text.Json.Serialization.Metadata.JsonPropertyInfoValues<bool>."
		  "PropertyName.set(string)",
		  NULL },
		{ "class System.Linq.IOrderedEnumerable`1<!!0> [System.Linq] "
		  "System.Linq.Enumerable::OrderBy(class "
		  "[System.Runtime]System.Collections.Generic.IEnumerable`1<!!0>,class "
		  "[System.Runtime]System.Func`2<!!0,!!1>)[QuickJitted]",
		  RUNTIME_DOTNET, "quick",
		  "System.Linq.Enumerable.OrderBy(IEnumerable<T0>, Func<T0, T1>)", NULL },
		{ "int32 [cs] App.Core.Work::<Local>g__L|4_0(int32,valuetype "
		  "App.Core.Work/<>c__DisplayClass4_0&)[QuickJitted]",
		  RUNTIME_DOTNET, "quick", "App.Core.Work.Local.L(int)", NULL },
		{ "instance void [System.Private.CoreLib] "
		  "System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1+AsyncStateMachineBox`1["
		  "System.Int32,"
		  "App.Core.Work+<As>d__1]::MoveNext(class System.Threading.Thread)[QuickJitted]",
		  RUNTIME_DOTNET, "quick",
		  "System.Runtime.CompilerServices.AsyncTaskMethodBuilder<int>."
		  "AsyncStateMachineBox<Work.As #1>.MoveNext(Thread)",
		  NULL },
		{ "instance void [X] "
		  "dynamicClass::IL_STUB_InstantiatingStub(Microsoft.Extensions.Logging.LogLevel "
		  "/* MT: 0x55c284f00aa0 */,System.Func`3 /* MT: 0x55c284e32150 "
		  "*/<System.Exception /* MT: "
		  "0x55c284a61cb0 */,string,int32>)[Optimized]",
		  RUNTIME_DOTNET, "stub",
		  "dynamicClass.IL_STUB_InstantiatingStub(LogLevel, Func<Exception, string, int>)",
		  NULL },
		{ "void [A] B::c(class [D]E`1)[PreJIT]", RUNTIME_DOTNET, "prejit", "B.c(E<>)",
		  NULL },
	};
	CHECK(ROWS, RUNTIME_DOTNET);
}

static void test_dotnet_stubs(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ "stub<17> AllocateTemporaryEntryPoints<PRECODE_FIXUP>", RUNTIME_DOTNET, "stub",
		  "precode stubs", NULL },
		{ "stub<4336> GenerateDispatchStub<GenerateDispatchStub>", RUNTIME_DOTNET, "stub",
		  "interface dispatch stubs", NULL },
		{ "stub ReportStubBlock<VSD_ResolveStub>", RUNTIME_DOTNET, "stub",
		  "interface resolve stubs", NULL },
		{ "stub GenerateLookupStub<GenerateLookupStub>", RUNTIME_DOTNET, "stub",
		  "interface lookup stubs", NULL },
		{ "stub CreateHelperArgMove<DynamicHelper>", RUNTIME_DOTNET, "stub",
		  "dynamic helpers", NULL },
		{ "stub Allocate<PInvokeImportPrecode>", RUNTIME_DOTNET, "stub",
		  "P/Invoke import stubs", NULL },
		{ "stub InitThreadManagerPerfMapData<JIT_CopiedWriteBarriers>", RUNTIME_DOTNET,
		  "stub", "write barriers", NULL },
		{ "stub New<Kind>", RUNTIME_DOTNET, "stub", "New<Kind>", NULL },
		{ "stub Allocate<FixupPrecode>", RUNTIME_DOTNET, "stub", "precode stubs", NULL },
		{ "stubborn(int)", RUNTIME_JIT, "", "stubborn(int)", NULL },
		{ "stub<x> Y<Z>", RUNTIME_JIT, "", "stub<x> Y<Z>", NULL },
	};
	for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++)
		check_row(&ROWS[i], RUNTIME_UNKNOWN);
	check_row(&ROWS[0], RUNTIME_DOTNET);
}

static void test_mono(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ "Work:alpha (int,int)", RUNTIME_MONO, "jit", "Work.alpha(int, int)", NULL },
		{ "Work:Main (string[])", RUNTIME_MONO, "jit", "Work.Main(string[])", NULL },
		{ "Work:<Main>m__0 (int)", RUNTIME_MONO, "jit", "Work.<Main>m__0(int)", NULL },
		{ "Gen`1<T_REF>:Id (T_REF)", RUNTIME_MONO, "jit", "Gen<T_REF>.Id(T_REF)", NULL },
		{ "Work/<iter>c__Iterator0:MoveNext ()", RUNTIME_MONO, "jit",
		  "Work.<iter>c__Iterator0.MoveNext()", NULL },
		{ "Work/"
		  "<iter>c__Iterator0:System.Collections.Generic.IEnumerable<int>.GetEnumerator ()",
		  RUNTIME_MONO, "jit",
		  "Work.<iter>c__Iterator0.System.Collections.Generic.IEnumerable<int>."
		  "GetEnumerator()",
		  NULL },
		{ "System.Collections.Generic.Dictionary`2<int, System.Threading.Tasks.Task>:.ctor "
		  "(int,System.Collections.Generic.IEqualityComparer`1<int>)",
		  RUNTIME_MONO, "jit",
		  "System.Collections.Generic.Dictionary<int, Task>..ctor(int, "
		  "IEqualityComparer<int>)",
		  NULL },
		{ "System.Threading.Tasks.Task:FromResult<int> (int)", RUNTIME_MONO, "jit",
		  "System.Threading.Tasks.Task.FromResult<int>(int)", NULL },
		{ "System.Buffer:Memmove<char> (char&,char&,ulong)", RUNTIME_MONO, "jit",
		  "System.Buffer.Memmove<char>(ref char, ref char, ulong)", NULL },
		{ "(wrapper managed-to-native) System.IO.MonoIO:Write "
		  "(intptr,byte[],int,int,System.IO.MonoIOError&)",
		  RUNTIME_MONO, "wrapper",
		  "System.IO.MonoIO.Write(nint, byte[], int, int, ref MonoIOError) "
		  "[managed-to-native]",
		  NULL },
		{ "(wrapper runtime-invoke) <Module>:runtime_invoke_void__this___object "
		  "(object,intptr,intptr,intptr)",
		  RUNTIME_MONO, "wrapper",
		  "<Module>.runtime_invoke_void__this___object(object, nint, nint, nint) "
		  "[runtime-invoke]",
		  NULL },
	};
	CHECK(ROWS, RUNTIME_MONO);
	static const struct row STUBS[] = {
		{ "generic_trampoline_jit", RUNTIME_MONO, "stub", "generic_trampoline_jit", NULL },
		{ "delegate_invoke_impl_has_target", RUNTIME_MONO, "stub",
		  "delegate_invoke_impl_has_target", NULL },
		{ "(null)", RUNTIME_MONO, "stub", "(null)", NULL },
		{ "restore_context", RUNTIME_MONO, "stub", "restore_context", NULL },
	};
	CHECK_KNOWN(STUBS, RUNTIME_MONO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jvm_dump_and_map_join), cmocka_unit_test(test_jvm_stubs),
		cmocka_unit_test(test_dotnet_methods),        cmocka_unit_test(test_dotnet_types),
		cmocka_unit_test(test_dotnet_stubs),          cmocka_unit_test(test_mono),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
