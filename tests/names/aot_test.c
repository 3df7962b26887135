#include "names/names.h"
#include "test.h"

#include <stdlib.h>

/* Symbols that the compiler of .NET 10.0.12 gave the methods of aot.dll, and such as they would be
 * if they were damaged.
 */
static const struct {
	const char *raw;
	const char *tier;
	const char *human;
} ROWS[] = {
	{ "String__Equals_2", "aot", "System.String.Equals_2" },
	{ "S_P_CoreLib_System_Collections_Generic_HashSet_1<aot_Shapes_Core_Vec>__AddIfNotPresent",
	  "aot", "System.Collections.Generic.HashSet<Vec>.AddIfNotPresent" },
	{ "S_P_CoreLib_System_Collections_Generic_HashSet_1<aot_Shapes_Core_Vec>___ctor_0", "aot",
	  "System.Collections.Generic.HashSet<Vec>..ctor_0" },
	{ "S_P_CoreLib_System_Tuple_2<Bool__System___Canon>__GetHashCode", "aot",
	  "System.Tuple<bool, __Canon>.GetHashCode" },
	{ "System_Linq_Expressions_System_Linq_Expressions_Error__"
	  "ExtensionNodeMustOverrideProperty",
	  "aot", "System.Linq.Expressions.Error.ExtensionNodeMustOverrideProperty" },
	{ "aot_Shapes_Core_Lambdas___Run_g__Local_1_6", "aot", "Shapes.Core.Lambdas.Run.Local" },
	{ "aot_Shapes_Core_Lambdas___c__DisplayClass1_0___Run_g__It_11_d__System_IDisposable_"
	  "Dispose",
	  "aot", "Shapes.Core.Lambdas.Run.It.System_IDisposable_Dispose #1_11" },
	{ "aot_Shapes_Core_Shape___c__DisplayClass4_0____ctor_b__0", "aot",
	  "Shapes.Core.Shape..ctor.lambda #4_0" },
	{ "aot_Shapes_Core_Asyncs__VoidAsync_d__4__MoveNext", "aot",
	  "Shapes.Core.Asyncs.VoidAsync #4" },
	{ "aot_Shapes_Core_Lambdas___c__DisplayClass1_0___Run_g__As_12_d__MoveNext", "aot",
	  "Shapes.Core.Lambdas.Run.As #1_12" },
	{ "aot_Shapes_Core_Lambdas___c___Run_b__1_0", "aot",
	  "Shapes.Core.Lambdas.Run.lambda #1_0" },
	{ "aot_Shapes_Core_Lambdas___c__DisplayClass1_0___Run_b__2", "aot",
	  "Shapes.Core.Lambdas.Run.lambda #1_2" },
	{ "S_P_CoreLib_System_Threading_PortableThreadPool_WorkerThread___c____cctor_b__16_0",
	  "aot", "System.Threading.PortableThreadPool.WorkerThread..cctor.lambda #16_0" },
	{ "S_P_CoreLib_System_Runtime_CompilerServices_AsyncMethodBuilderCore__Start<aot_Program___"
	  "Main___d__0>",
	  "aot", "System.Runtime.CompilerServices.AsyncMethodBuilderCore.Start<Program.Main #0>" },
	{ "aot_Program___Main___d__0__MoveNext", "aot", "Program.Main #0" },
	{ "aot_Program____Main___g__Fib_0_2", "aot", "Program.Main.Fib" },
	{ "aot_Program___Main__", "aot", "Program.Main" },
	{ "unbox_Int32__ToString_1", "stub", "System.Int32.ToString_1 [unbox]" },
	{ "RhNewObject", "aot", "RhNewObject" },
	{ "S_P_CoreLib_System___DTString__Match_0", "aot",
	  "S_P_CoreLib_System___DTString__Match_0" },
	{ "System_Linq_Expressions_System_Linq_Expressions_Interpreter_HybridReferenceDictionary_2_"
	  "_GetEnumeratorWorker_d__7<System___Canon__System___Canon>__MoveNext",
	  "aot",
	  "System.Linq.Expressions.Interpreter.HybridReferenceDictionary<__Canon, "
	  "__Canon>.GetEnumeratorWorker #7" },
	{ "S_P_CoreLib_System_Reflection_Runtime_FieldInfos_RuntimeFieldInfo__get_DeclaringType",
	  "aot", "System.Reflection.Runtime.FieldInfos.RuntimeFieldInfo.DeclaringType.get" },
	{ "aot_Shapes_Core_GenLam_2___c__DisplayClass1_0<Int32__System___Canon>___Find_b__1", "aot",
	  "Shapes.Core.GenLam<int, __Canon>.Find.lambda #1_1" },
	{ "S_P_CoreLib_System_Runtime_CompilerServices_AsyncTaskMethodBuilder_1_"
	  "AsyncStateMachineBox_1<Int32__aot_Shapes_Core_Asyncs__FooAsync_d__0>__MoveNext_0",
	  "aot",
	  "System.Runtime.CompilerServices.AsyncTaskMethodBuilder<int>.AsyncStateMachineBox<Asyncs."
	  "FooAsync #0>.MoveNext_0" },
	{ "<Boxed>aot_Shapes_Core_Shape_Nested_Deeper_1__Wrap_d__2_1<Int32__System___Canon>__<"
	  "unbox>aot_Shapes_Core_Shape_Nested_Deeper_1__Wrap_d__2_1__MoveNext",
	  "stub", "Shapes.Core.Shape.Nested.Deeper<int>.Wrap<__Canon> #2 [unbox]" },
	{ "Internal_CompilerGenerated__Module___<DynamicInvoke>None<Int32>", "aot",
	  "Internal_CompilerGenerated__Module___<DynamicInvoke>None<Int32>" },
	{ "aot___f__AnonymousType0_2<Int32__System___Canon>__Equals", "aot",
	  "aot___f__AnonymousType0_2<Int32__System___Canon>__Equals" },
	{ "aot_Shapes_Core_GenLam_2___c<Int32__Int32>___get_Count_b__5_0", "aot",
	  "Shapes.Core.GenLam<int, int>.Count.get.lambda #5_0" },
	{ "aot_Shapes_Core_Lambdas___c__3_1<Int32>___RunGen_b__3_2", "aot",
	  "Shapes.Core.Lambdas.RunGen<int>.lambda #3_2" },
	{ "aot_Shapes_Core_Lambdas__RunGen<Int32>", "aot", "Shapes.Core.Lambdas.RunGen<int>" },
	{ "aot_Shapes_Core_Nest_1_Two_1<Int32__System___Canon>___Three_g__L_0_0<Double>", "aot",
	  "Shapes.Core.Nest<int>.Two<__Canon>.Three.L<double>" },
	{ "aot_Shapes_Core__Shapes_"
	  "FD9A626C90170E3FD881EFDAA2C15DB53835E61ECC25D4BDD3E4039F52B2C5D85__Hidden__Go",
	  "aot", "Shapes.Core.Hidden@Shapes.Go" },
	{ "<Boxed>S_P_CoreLib_System_Collections_Generic_Dictionary_2_Entry<Int32__System___Canon>_"
	  "_<unbox>S_P_CoreLib_System_Collections_Generic_Dictionary_2_Entry____GetFieldHelper",
	  "stub",
	  "System.Collections.Generic.Dictionary<int, __Canon>.Entry.__GetFieldHelper [unbox]" },
	{ "S_P_CoreLib_System_Type__MakeByRefType", "aot", "System.Type.MakeByRefType" },
	{ "aot_Shapes_Core_Shape_Nested_Deeper_1__Pairs_d__3_1<Int32__System___Canon>__MoveNext",
	  "aot", "Shapes.Core.Shape.Nested.Deeper<int>.Pairs<__Canon> #3" },
	{ "aot_Shapes_Core__Shapes_"
	  "FD9A626C90170E3FD881EFDAA2C15DB53835E61ECC25D4BDD3E4039F52B2C5D85__Hidden_Deep_1<Int32>_"
	  "_Name",
	  "aot", "Shapes.Core.Hidden@Shapes.Deep<int>.Name" },
	{ "__GetGCStaticBase_S_P_CoreLib_System_Text_UTF8Encoding", "stub",
	  "__GetGCStaticBase_S_P_CoreLib_System_Text_UTF8Encoding" },
	{ "S_P_CoreLib_System_Array__Resize<__Array<S_P_CoreLib_System_Decimal>>", "aot",
	  "System.Array.Resize<decimal[]>" },
	{ "S_P_CoreLib_System_Array__Resize<Int32", "aot",
	  "S_P_CoreLib_System_Array__Resize<Int32" },
	{ "S_P_CoreLib_System_Tuple_2<Bool>__GetHashCode", "aot",
	  "S_P_CoreLib_System_Tuple_2<Bool>__GetHashCode" },
	{ "Other_Lib_Cart__Add", "aot", "Other.Lib.Cart.Add" },
	{ "work_Work__alpha", "aot", "work.Work.alpha" },
	{ "main", "aot", "main" },
};

/* On copies without a NUL behind them, so that ASan sees a read past the end. */
static void split(const uint8_t *raw, size_t size, struct name_parts *parts, struct sink *human)
{
	static const char PROGRAM[] = "/srv/my.app/aot";
	uint8_t *copy = malloc(size ? size : 1);
	assert_non_null(copy);
	memcpy(copy, raw, size);
	names_split_aot((struct bytes){ copy, size },
			(struct bytes){ (const uint8_t *)PROGRAM, strlen(PROGRAM) }, parts, human);
	assert_int_equal(parts->runtime, RUNTIME_DOTNET);
	free(copy);
}

static void test_symbols(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
		struct name_parts parts;
		struct sink human = { 0 };
		split((const uint8_t *)ROWS[i].raw, strlen(ROWS[i].raw), &parts, &human);
		sink_u8(&human, '\0');
		assert_string_equal((const char *)human.data, ROWS[i].human);
		assert_string_equal(parts.tier, ROWS[i].tier);
		sink_clear(&human);
	}
}

static void test_damaged(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
		const size_t size = strlen(ROWS[i].raw);
		for (size_t k = 0; k < size * 2; k++) {
			uint8_t changed[512];
			assert_true(size <= sizeof(changed));
			memcpy(changed, ROWS[i].raw, size);
			const size_t left = k < size ? k : size;
			if (k >= size)
				changed[k - size] ^= (uint8_t)(1 << (k & 7));
			struct name_parts parts;
			struct sink human = { 0 };
			split(changed, left, &parts, &human);
			assert_false(sink_failed(&human));
			assert_true(left == 0 || human.size > 0);
			sink_clear(&human);
		}
	}
}

/* The assembly is known by the program's file: with a dot, as a library, as a debug file. */
static void test_programs(void **state)
{
	(void)state;
	static const char *const PROGRAMS[] = { "/opt/My.App", "My.App.dbg", "/opt/My.App.so" };
	static const char RAW[] = "My_App_Shop_Cart__Add";
	for (size_t i = 0; i < sizeof(PROGRAMS) / sizeof(PROGRAMS[0]); i++) {
		struct name_parts parts;
		struct sink human = { 0 };
		names_split_aot((struct bytes){ (const uint8_t *)RAW, strlen(RAW) },
				(struct bytes){ (const uint8_t *)PROGRAMS[i], strlen(PROGRAMS[i]) },
				&parts, &human);
		sink_u8(&human, '\0');
		assert_string_equal((const char *)human.data, "Shop.Cart.Add");
		sink_clear(&human);
	}
}

/* Brackets in brackets in brackets are given up, as is what is too long. */
static void test_limits(void **state)
{
	(void)state;
	struct sink raw = { 0 };
	for (size_t i = 0; i < 1000; i++)
		sink_text(&raw, "A_1<");
	for (size_t size = raw.size; raw.size < 6000; sink_text(&raw, "x__B>")) {
		struct name_parts parts;
		struct sink human = { 0 };
		split(raw.data, raw.size, &parts, &human);
		assert_int_equal(human.size, raw.size);
		sink_clear(&human);
		assert_true(raw.size >= size);
	}
	sink_clear(&raw);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
