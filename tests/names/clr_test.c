#include "rows.h"

/* Names that .NET 10.0.12 wrote into perf maps: of a program with every shape that the C# compiler
 * makes up, of an ASP.NET Core server, of MSBuild and the C# compiler at work.
 */

static void test_async_and_iterators(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ "class [System.Runtime]System.Threading.Tasks.Task`1<int32> [shapes] "
		  "Shapes.Core.Asyncs::FooAsync(int32)",
		  RUNTIME_DOTNET, "", "Shapes.Core.Asyncs.FooAsync(int)", NULL },
		{ "instance void [shapes] "
		  "Shapes.Core.Asyncs+<FooAsync>d__0::MoveNext()[QuickJitted]",
		  RUNTIME_DOTNET, "quick", "Shapes.Core.Asyncs.FooAsync #0", NULL },
		{ "instance void [shapes] "
		  "Shapes.Core.Asyncs+<GenAsync>d__5`1[System.Int32]::MoveNext()[OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1", "Shapes.Core.Asyncs.GenAsync<int> #5", NULL },
		{ "instance void [shapes] Shapes.Core.Asyncs+<VoidAsync>d__4::MoveNext()[PreJIT]",
		  RUNTIME_DOTNET, "prejit", "Shapes.Core.Asyncs.VoidAsync #4", NULL },
		{ "instance void [System.Private.CoreLib] "
		  "System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1+AsyncStateMachineBox`1["
		  "System.Int32,Shapes.Core.Asyncs+<FooAsync>d__0]::MoveNext(class "
		  "System.Threading.Thread)",
		  RUNTIME_DOTNET, "",
		  "System.Runtime.CompilerServices.AsyncTaskMethodBuilder<int>."
		  "AsyncStateMachineBox<Asyncs.FooAsync #0>.MoveNext(Thread)",
		  NULL },
		{ "instance void [System.Private.CoreLib] "
		  "System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1+AsyncStateMachineBox`1["
		  "System.__Canon,Shapes.Core.Shape+Nested+Deeper`1+<Wrap>d__2`1[System.Int32,"
		  "System.__Canon]]::MoveNext()[QuickJitted]",
		  RUNTIME_DOTNET, "quick",
		  "System.Runtime.CompilerServices.AsyncTaskMethodBuilder<__Canon>."
		  "AsyncStateMachineBox<Shape.Nested.Deeper<int>.Wrap<__Canon> #2>.MoveNext()",
		  NULL },
		{ "class "
		  "System.Runtime.CompilerServices.PoolingAsyncValueTaskMethodBuilder`1/"
		  "StateMachineBox`1<!0,!1> [System.Private.CoreLib] "
		  "System.Runtime.CompilerServices.PoolingAsyncValueTaskMethodBuilder`1+"
		  "StateMachineBox`1[System.Int32,Shapes.Core.Asyncs+<PooledAsync>d__6]::"
		  "RentFromCache()[OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1",
		  "System.Runtime.CompilerServices.PoolingAsyncValueTaskMethodBuilder<int>."
		  "StateMachineBox<Asyncs.PooledAsync #6>.RentFromCache()",
		  NULL },
		{ "instance void [System.Private.CoreLib] "
		  "System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1[System.Int32]::"
		  "AwaitUnsafeOnCompleted(!!0&,!!1&)[PreJIT]",
		  RUNTIME_DOTNET, "prejit",
		  "System.Runtime.CompilerServices.AsyncTaskMethodBuilder<int>."
		  "AwaitUnsafeOnCompleted(ref T0, ref T1)",
		  NULL },
		{ "void [System.Private.CoreLib] "
		  "System.Runtime.CompilerServices.AsyncMethodBuilderCore::Start(!!0&)",
		  RUNTIME_DOTNET, "",
		  "System.Runtime.CompilerServices.AsyncMethodBuilderCore.Start(ref T0)", NULL },
		{ "instance void [shapes] "
		  "Shapes.Core.Shape+Nested+Deeper`1+<Wrap>d__2`1[System.__Canon,System.Int32]::"
		  "MoveNext()[QuickJitted]",
		  RUNTIME_DOTNET, "quick", "Shapes.Core.Shape.Nested.Deeper<__Canon>.Wrap<int> #2",
		  NULL },
		{ "instance bool [shapes] "
		  "Shapes.Core.Shape+<Count>d__41::MoveNext()[OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1", "Shapes.Core.Shape.Count #41", NULL },
		{ "instance class [System.Runtime]System.Collections.Generic.IEnumerator`1<int32> "
		  "[shapes] "
		  "Shapes.Core.Shape+<Count>d__41::System.Collections.Generic.IEnumerable<System."
		  "Int32>.GetEnumerator()[PreJIT]",
		  RUNTIME_DOTNET, "prejit",
		  "Shapes.Core.Shape.Count.IEnumerable<int>.GetEnumerator() #41", NULL },
		{ "instance int32 [shapes] "
		  "Shapes.Core.Shape+<Count>d__41::System.Collections.Generic.IEnumerator<System."
		  "Int32>.get_Current()",
		  RUNTIME_DOTNET, "", "Shapes.Core.Shape.Count.IEnumerator<int>.Current.get() #41",
		  NULL },
		{ "instance void [shapes] "
		  "Shapes.Core.Shape+<Count>d__41::.ctor(int32)[QuickJitted]",
		  RUNTIME_DOTNET, "quick", "Shapes.Core.Shape.Count..ctor(int) #41", NULL },
		{ "instance void [shapes] "
		  "Shapes.Core.Shape+<GetEnumerator>d__42::<>m__Finally1()[OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1", "Shapes.Core.Shape.GetEnumerator.finally1() #42", NULL },
		{ "instance void [shapes] Shapes.Core.Shape+<AsyncCount>d__43::MoveNext()[PreJIT]",
		  RUNTIME_DOTNET, "prejit", "Shapes.Core.Shape.AsyncCount #43", NULL },
		{ "instance valuetype [System.Runtime]System.Threading.Tasks.ValueTask`1<bool> "
		  "[shapes] "
		  "Shapes.Core.Shape+<AsyncCount>d__43::System.Collections.Generic."
		  "IAsyncEnumerator<System.Int32>.MoveNextAsync()",
		  RUNTIME_DOTNET, "",
		  "Shapes.Core.Shape.AsyncCount.IAsyncEnumerator<int>.MoveNextAsync() #43", NULL },
		{ "instance class "
		  "[System.Runtime]System.Collections.Generic.IEnumerator`1<valuetype "
		  "[System.Runtime]System.Collections.Generic.KeyValuePair`2<!0,!1>> [shapes] "
		  "Shapes.Core.Shape+Nested+Deeper`1+<Pairs>d__3`1[System.__Canon,System.Double]::"
		  "System.Collections.Generic.IEnumerable<System.Collections.Generic.KeyValuePair<"
		  "T,U>>.GetEnumerator()[QuickJitted]",
		  RUNTIME_DOTNET, "quick",
		  "Shapes.Core.Shape.Nested.Deeper<__Canon>.Pairs<double>.IEnumerable<KeyValuePair<"
		  "T, U>>.GetEnumerator() #3",
		  NULL },
		{ "instance bool [shapes] "
		  "Shapes.Core.Ext+<Every>d__6`1[System.__Canon]::MoveNext()[OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1", "Shapes.Core.Ext.Every<__Canon> #6", NULL },
	};
	CHECK(ROWS, RUNTIME_DOTNET);
}

static void test_lambdas_and_local_functions(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ "instance int32 [shapes] Shapes.Core.Lambdas+<>c::<Run>b__1_0(int32)[PreJIT]",
		  RUNTIME_DOTNET, "prejit", "Shapes.Core.Lambdas.Run.lambda(int) #1_0", NULL },
		{ "instance int32 [shapes] Shapes.Core.Lambdas+<>c::<Run>b__1_1(int32)",
		  RUNTIME_DOTNET, "", "Shapes.Core.Lambdas.Run.lambda(int) #1_1", NULL },
		{ "instance int32 [shapes] "
		  "Shapes.Core.Lambdas+<>c::<Run>b__2_1(int32)[QuickJitted]",
		  RUNTIME_DOTNET, "quick", "Shapes.Core.Lambdas.Run.lambda(int) #2_1", NULL },
		{ "instance int32 [shapes] "
		  "Shapes.Core.Lambdas+<>c__DisplayClass1_0::<Run>b__2(int32)[OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1", "Shapes.Core.Lambdas.Run.lambda(int) #1_2", NULL },
		{ "instance int32 [shapes] "
		  "Shapes.Core.Lambdas+<>c__DisplayClass1_2::<Run>b__19(int32)[PreJIT]",
		  RUNTIME_DOTNET, "prejit", "Shapes.Core.Lambdas.Run.lambda(int) #1_19", NULL },
		{ "instance int32 [shapes] "
		  "Shapes.Core.Lambdas+<>c__DisplayClass1_2::<Run>b__20(int32)",
		  RUNTIME_DOTNET, "", "Shapes.Core.Lambdas.Run.lambda(int) #1_20", NULL },
		{ "instance int32 [shapes] "
		  "Shapes.Core.Lambdas+<>c__DisplayClass2_0::<Run>b__0(int32)[QuickJitted]",
		  RUNTIME_DOTNET, "quick", "Shapes.Core.Lambdas.Run.lambda(int) #2_0", NULL },
		{ "instance int32 [shapes] "
		  "Shapes.Core.Lambdas+<>c__3`1[System.Int32]::<RunGen>b__3_2(!0)[OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1", "Shapes.Core.Lambdas.RunGen<int>.lambda(int) #3_2",
		  NULL },
		{ "instance int32 [shapes] "
		  "Shapes.Core.Lambdas+<>c__DisplayClass3_0`1[System.__Canon]::<RunGen>b__0()["
		  "PreJIT]",
		  RUNTIME_DOTNET, "prejit", "Shapes.Core.Lambdas.RunGen<__Canon>.lambda() #3_0",
		  NULL },
		{ "instance int32 [shapes] "
		  "Shapes.Core.Lambdas+<>c__DisplayClass3_0`1[System.__Canon]::<RunGen>g__L|1(!!0)",
		  RUNTIME_DOTNET, "", "Shapes.Core.Lambdas.RunGen<__Canon>.L(T0)", NULL },
		{ "instance void [shapes] "
		  "Shapes.Core.Lambdas+<>c+<<Run>b__1_14>d::MoveNext()[QuickJitted]",
		  RUNTIME_DOTNET, "quick", "Shapes.Core.Lambdas.Run.lambda #1_14", NULL },
		{ "instance void [shapes] "
		  "Shapes.Core.Lambdas+<>c__DisplayClass1_0+<<Run>b__13>d::MoveNext()["
		  "OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1", "Shapes.Core.Lambdas.Run.lambda #1_13", NULL },
		{ "instance void [shapes] "
		  "Shapes.Core.Lambdas+<>c__DisplayClass1_0+<<Run>g__As|12>d::MoveNext()[PreJIT]",
		  RUNTIME_DOTNET, "prejit", "Shapes.Core.Lambdas.Run.As #1_12", NULL },
		{ "instance class [System.Runtime]System.Threading.Tasks.Task`1<int32> [shapes] "
		  "Shapes.Core.Lambdas+<>c__DisplayClass1_0::<Run>g__As|12()",
		  RUNTIME_DOTNET, "", "Shapes.Core.Lambdas.Run.As()", NULL },
		{ "instance bool [shapes] "
		  "Shapes.Core.Lambdas+<>c__DisplayClass1_0+<<Run>g__It|11>d::MoveNext()["
		  "QuickJitted]",
		  RUNTIME_DOTNET, "quick", "Shapes.Core.Lambdas.Run.It #1_11", NULL },
		{ "int32 [shapes] Shapes.Core.Lambdas::<Run>g__Local|1_6(int32)[OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1", "Shapes.Core.Lambdas.Run.Local(int)", NULL },
		{ "int32 [shapes] Shapes.Core.Lambdas::<Run>g__Inner|1_22(int32)[PreJIT]",
		  RUNTIME_DOTNET, "prejit", "Shapes.Core.Lambdas.Run.Inner(int)", NULL },
		{ "int32 [shapes] Shapes.Core.Lambdas::<Run>g__InLambda|1_23(int32,valuetype "
		  "Shapes.Core.Lambdas/<>c__DisplayClass1_4&)",
		  RUNTIME_DOTNET, "", "Shapes.Core.Lambdas.Run.InLambda(int)", NULL },
		{ "!!0 [shapes] Shapes.Core.Lambdas::<Run>g__Generic|1_10(!!0)[QuickJitted]",
		  RUNTIME_DOTNET, "quick", "Shapes.Core.Lambdas.Run.Generic(T0)", NULL },
		{ "instance int32 [shapes] "
		  "Shapes.Core.Lambdas+<>c__DisplayClass1_0::<Run>g__Captures|7(int32)["
		  "OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1", "Shapes.Core.Lambdas.Run.Captures(int)", NULL },
		{ "instance !1 [shapes] "
		  "Shapes.Core.GenLam`2+<>c__DisplayClass1_0[System.Int32,System.__Canon]::<Find>b_"
		  "_1()[PreJIT]",
		  RUNTIME_DOTNET, "prejit", "Shapes.Core.GenLam<int, __Canon>.Find.lambda() #1_1",
		  NULL },
		{ "instance !1 [shapes] "
		  "Shapes.Core.GenLam`2+<>c__DisplayClass1_0[System.__Canon,System.Int32]::<Find>g_"
		  "_Make|0()",
		  RUNTIME_DOTNET, "", "Shapes.Core.GenLam<__Canon, int>.Find.Make()", NULL },
		{ "instance void [shapes] "
		  "Shapes.Core.GenLam`2+<FindAsync>d__2[System.Int32,System.__Canon]::MoveNext()["
		  "QuickJitted]",
		  RUNTIME_DOTNET, "quick", "Shapes.Core.GenLam<int, __Canon>.FindAsync #2", NULL },
		{ "instance int32 [shapes] "
		  "Shapes.Core.GenLam`2+<>c[System.Int32,System.Int32]::<get_Count>b__5_0()["
		  "OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1", "Shapes.Core.GenLam<int, int>.Count.get.lambda() #5_0",
		  NULL },
		{ "instance int32 [shapes] Shapes.Core.Primary::<get_L>b__5_0()[PreJIT]",
		  RUNTIME_DOTNET, "prejit", "Shapes.Core.Primary.L.get.lambda() #5_0", NULL },
		{ "instance int32 [shapes] Shapes.Core.Shape+<>c::<.ctor>b__3_0(int32)",
		  RUNTIME_DOTNET, "", "Shapes.Core.Shape..ctor.lambda(int) #3_0", NULL },
		{ "instance int32 [shapes] "
		  "Shapes.Core.Shape+<>c__DisplayClass4_0::<.ctor>b__0()[QuickJitted]",
		  RUNTIME_DOTNET, "quick", "Shapes.Core.Shape..ctor.lambda() #4_0", NULL },
		{ "instance int32 [shapes] Shapes.Core.Shape::<Do>b__40_0(int32)[OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1", "Shapes.Core.Shape.Do.lambda(int) #40_0", NULL },
		{ "void [shapes] Shapes.Core.Lambdas+<>c::.cctor()[PreJIT]", RUNTIME_DOTNET,
		  "prejit", "Shapes.Core.Lambdas.<>c..cctor()", NULL },
		{ "instance void [shapes] Shapes.Core.Lambdas+<>c__DisplayClass1_0::.ctor()",
		  RUNTIME_DOTNET, "", "Shapes.Core.Lambdas.<>c__DisplayClass1_0..ctor()", NULL },
		{ "string [shapes] "
		  "Shapes.Core.Nest`1+Two`1[System.Int32,System.__Canon]::<Three>g__L|0_0("
		  "valuetype "
		  "Shapes.Core.Nest`1/Two`1/<>c__DisplayClass0_0`1<!0,!1,!!0>&)[QuickJitted]",
		  RUNTIME_DOTNET, "quick", "Shapes.Core.Nest<int>.Two<__Canon>.Three.L()", NULL },
	};
	CHECK(ROWS, RUNTIME_DOTNET);
}

static void test_programs_and_records(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ "class [System.Runtime]System.Threading.Tasks.Task [web] "
		  "Program::<Main>$(string[])[OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1", "Program.Main(string[])", NULL },
		{ "void [web] Program::<Main>(string[])[PreJIT]", RUNTIME_DOTNET, "prejit",
		  "Program.<Main>(string[])", NULL },
		{ "instance void [web] Program+<<Main>$>d__0::MoveNext()", RUNTIME_DOTNET, "",
		  "Program.Main #0", NULL },
		{ "instance int32 [shapes] "
		  "Program+<>c__DisplayClass0_0::<<Main>$>b__1(int32)[QuickJitted]",
		  RUNTIME_DOTNET, "quick", "Program.Main.lambda(int) #0_1", NULL },
		{ "instance int32 [shapes] "
		  "Program+<>c__DisplayClass0_0::<<Main>$>g__Top|0(int32)[OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1", "Program.Main.Top(int)", NULL },
		{ "int32 [shapes] Program::<<Main>$>g__Fib|0_2(int32)[PreJIT]", RUNTIME_DOTNET,
		  "prejit", "Program.Main.Fib(int)", NULL },
		{ "instance class Shapes.Core.Point3 [shapes] Shapes.Core.Point3::<Clone>$()",
		  RUNTIME_DOTNET, "", "Shapes.Core.Point3.with()", NULL },
		{ "instance bool [shapes] Shapes.Core.Point::PrintMembers(class "
		  "[System.Runtime]System.Text.StringBuilder)[QuickJitted]",
		  RUNTIME_DOTNET, "quick", "Shapes.Core.Point.PrintMembers(StringBuilder)", NULL },
		{ "instance class [System.Runtime]System.Type [shapes] "
		  "Shapes.Core.Point::get_EqualityContract()[OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1", "Shapes.Core.Point.EqualityContract.get()", NULL },
		{ "bool [shapes] Shapes.Core.Point::op_Equality(class Shapes.Core.Point,class "
		  "Shapes.Core.Point)[PreJIT]",
		  RUNTIME_DOTNET, "prejit", "Shapes.Core.Point.operator ==(Point, Point)", NULL },
		{ "instance void [shapes] Shapes.Core.Point::Deconstruct(int32&,int32&)",
		  RUNTIME_DOTNET, "", "Shapes.Core.Point.Deconstruct(ref int, ref int)", NULL },
		{ "int32 [shapes] "
		  "Shapes.Core.<Shapes>"
		  "F1A05D12CA39733EF8FB9CB8CEE7718E5F49FEA06D372D4125267A3FBBCD0ACE1__Hidden::Go("
		  "int32)[QuickJitted]",
		  RUNTIME_DOTNET, "quick", "Shapes.Core.Hidden@Shapes.Go(int)", NULL },
		{ "string [shapes] "
		  "Shapes.Core.<Shapes>"
		  "F1A05D12CA39733EF8FB9CB8CEE7718E5F49FEA06D372D4125267A3FBBCD0ACE1__Hidden+Deep`"
		  "1[System.Int32]::Name()[OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1", "Shapes.Core.Hidden@Shapes.Deep<int>.Name()", NULL },
	};
	CHECK(ROWS, RUNTIME_DOTNET);
}

static void test_accessors(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ "instance int32 [shapes] Shapes.Core.Shape::get_Size()[PreJIT]", RUNTIME_DOTNET,
		  "prejit", "Shapes.Core.Shape.Size.get()", NULL },
		{ "instance void [shapes] Shapes.Core.Shape::set_Size(int32)", RUNTIME_DOTNET, "",
		  "Shapes.Core.Shape.Size.set(int)", NULL },
		{ "instance void "
		  "modreq([System.Runtime]System.Runtime.CompilerServices.IsExternalInit) [shapes] "
		  "Shapes.Core.Shape::set_Auto(int32)[QuickJitted]",
		  RUNTIME_DOTNET, "quick", "Shapes.Core.Shape.Auto.set(int)", NULL },
		{ "instance int32 [shapes] Shapes.Core.Shape::get_Item(int32)[OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1", "Shapes.Core.Shape.this[int].get()", NULL },
		{ "instance string [shapes] Shapes.Core.Shape::get_Item(string,int32)[PreJIT]",
		  RUNTIME_DOTNET, "prejit", "Shapes.Core.Shape.this[string, int].get()", NULL },
		{ "instance void [shapes] Shapes.Core.Shape::set_Item(int32,int32)", RUNTIME_DOTNET,
		  "", "Shapes.Core.Shape.this[int].set(int)", NULL },
		{ "instance void [shapes] Shapes.Core.Shape::add_Moved(class "
		  "[System.Runtime]System.Action)[QuickJitted]",
		  RUNTIME_DOTNET, "quick", "Shapes.Core.Shape.Moved.add(Action)", NULL },
		{ "instance void [shapes] Shapes.Core.Shape::remove_Moved(class "
		  "[System.Runtime]System.Action)[OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1", "Shapes.Core.Shape.Moved.remove(Action)", NULL },
		{ "instance int32 [shapes] "
		  "Shapes.Core.Shape::Shapes.Core.IShape.get_Item(int32)[PreJIT]",
		  RUNTIME_DOTNET, "prejit", "Shapes.Core.Shape.IShape.this[int].get()", NULL },
		{ "instance int32 [shapes] Shapes.Core.Shape::Shapes.Core.IShape.get_Size()",
		  RUNTIME_DOTNET, "", "Shapes.Core.Shape.IShape.Size.get()", NULL },
		{ "instance void [shapes] Shapes.Core.Shape::Shapes.Core.IShape.add_Moved(class "
		  "[System.Runtime]System.Action)[QuickJitted]",
		  RUNTIME_DOTNET, "quick", "Shapes.Core.Shape.IShape.Moved.add(Action)", NULL },
		{ "instance string [shapes] "
		  "Shapes.Core.Shape::Shapes.Core.IGen<System.String>.Give(string)[OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1", "Shapes.Core.Shape.IGen<string>.Give(string)", NULL },
		{ "int32 [shapes] Shapes.Core.Ext::WordCount(string)[PreJIT]", RUNTIME_DOTNET,
		  "prejit", "Shapes.Core.Ext.WordCount(string)", NULL },
		{ "int32 [shapes] Shapes.Core.Ext::get_Len(string)", RUNTIME_DOTNET, "",
		  "Shapes.Core.Ext.Len.get(string)", NULL },
		{ "!!0 [shapes] Shapes.Core.Ext::FirstOr(class "
		  "[System.Runtime]System.Collections.Generic.IEnumerable`1<!!0>,!!0)[QuickJitted]",
		  RUNTIME_DOTNET, "quick", "Shapes.Core.Ext.FirstOr(IEnumerable<T0>, T0)", NULL },
	};
	CHECK(ROWS, RUNTIME_DOTNET);
}

static void test_operators(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ "instance void [shapes] "
		  "Shapes.Core.Vec::op_AdditionAssignment(int32)[OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1", "Shapes.Core.Vec.operator +=(int)", NULL },
		{ "valuetype Shapes.Core.Vec [shapes] "
		  "Shapes.Core.Vec::op_CheckedAddition(valuetype Shapes.Core.Vec,valuetype "
		  "Shapes.Core.Vec)[PreJIT]",
		  RUNTIME_DOTNET, "prejit", "Shapes.Core.Vec.operator checked +(Vec, Vec)", NULL },
		{ "valuetype Shapes.Core.Vec [shapes] Shapes.Core.Vec::op_CheckedExplicit(int64)",
		  RUNTIME_DOTNET, "", "Shapes.Core.Vec.explicit operator checked Vec(long)", NULL },
		{ "valuetype Shapes.Core.Vec [shapes] "
		  "Shapes.Core.Vec::op_Explicit(int64)[QuickJitted]",
		  RUNTIME_DOTNET, "quick", "Shapes.Core.Vec.explicit operator Vec(long)", NULL },
		{ "int32 [shapes] Shapes.Core.Vec::op_Implicit(valuetype "
		  "Shapes.Core.Vec)[OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1", "Shapes.Core.Vec.implicit operator int(Vec)", NULL },
		{ "valuetype Shapes.Core.Vec [shapes] Shapes.Core.Vec::op_Increment(valuetype "
		  "Shapes.Core.Vec)[PreJIT]",
		  RUNTIME_DOTNET, "prejit", "Shapes.Core.Vec.operator ++(Vec)", NULL },
		{ "valuetype Shapes.Core.Vec [shapes] "
		  "Shapes.Core.Vec::op_UnsignedRightShift(valuetype Shapes.Core.Vec,int32)",
		  RUNTIME_DOTNET, "", "Shapes.Core.Vec.operator >>>(Vec, int)", NULL },
		{ "bool [shapes] Shapes.Core.Vec::op_True(valuetype Shapes.Core.Vec)[QuickJitted]",
		  RUNTIME_DOTNET, "quick", "Shapes.Core.Vec.operator true(Vec)", NULL },
		{ "valuetype Shapes.Core.MyNum [shapes] "
		  "Shapes.Core.MyNum::Shapes.Core.INum<Shapes.Core.MyNum>.op_Addition(valuetype "
		  "Shapes.Core.MyNum,valuetype Shapes.Core.MyNum)[OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1", "Shapes.Core.MyNum.INum<MyNum>.operator +(MyNum, MyNum)",
		  NULL },
		{ "instance bool [shapes] "
		  "<>f__AnonymousType0`2[System.Int32,System.__Canon]::Equals(object)[PreJIT]",
		  RUNTIME_DOTNET, "prejit", "AnonymousType0<int, __Canon>.Equals(object)", NULL },
		{ "instance class <>f__AnonymousType1`1<int32> [shapes] "
		  "Shapes.Core.All+<>c::<Run>b__2_3(int32)",
		  RUNTIME_DOTNET, "", "Shapes.Core.All.Run.lambda(int) #2_3", NULL },
	};
	CHECK(ROWS, RUNTIME_DOTNET);
}

static void test_types(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ "int32 [shapes] Shapes.Core.Types::Tup(valuetype "
		  "[System.Runtime]System.ValueTuple`2<int32,string>,valuetype "
		  "[System.Runtime]System.ValueTuple`2<int32,valuetype "
		  "[System.Runtime]System.ValueTuple`2<int64,uint8>>)[QuickJitted]",
		  RUNTIME_DOTNET, "quick",
		  "Shapes.Core.Types.Tup((int, string), (int, (long, byte)))", NULL },
		{ "int32 [shapes] Shapes.Core.Types::Null(valuetype "
		  "[System.Runtime]System.Nullable`1<int32>,valuetype "
		  "[System.Runtime]System.Nullable`1<valuetype "
		  "[System.Runtime]System.DateTime>,valuetype "
		  "[System.Runtime]System.Nullable`1<valuetype "
		  "Shapes.Core.Types/Color>)[OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1", "Shapes.Core.Types.Null(int?, DateTime?, Types.Color?)",
		  NULL },
		{ "int32 [shapes] "
		  "Shapes.Core.Types::Arr(int32[],int32[0...,0...],int32[][],string[][0...,0...,0.."
		  ".])[PreJIT]",
		  RUNTIME_DOTNET, "prejit",
		  "Shapes.Core.Types.Arr(int[], int[,], int[][], string[,,][])", NULL },
		{ "int32 [shapes] Shapes.Core.Types::Refs(int32&,string&,int64&,float64&)",
		  RUNTIME_DOTNET, "",
		  "Shapes.Core.Types.Refs(ref int, ref string, ref long, ref double)", NULL },
		{ "int32 [shapes] Shapes.Core.Types::Ptr(int32*,void**,method int32 "
		  "*(int32),method unmanaged cdecl void *(int32))[QuickJitted]",
		  RUNTIME_DOTNET, "quick",
		  "Shapes.Core.Types.Ptr(int*, void**, delegate*<int, int>, delegate* "
		  "unmanaged[Cdecl]<int, void>)",
		  NULL },
		{ "int32 [shapes] Shapes.Core.Types::Sp(valuetype "
		  "[System.Runtime]System.Span`1<int32>,valuetype "
		  "[System.Runtime]System.ReadOnlySpan`1<char>,valuetype "
		  "[System.Runtime]System.Memory`1<uint8>)[OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1",
		  "Shapes.Core.Types.Sp(Span<int>, ReadOnlySpan<char>, Memory<byte>)", NULL },
		{ "int32 [shapes] Shapes.Core.Types::UseDel(class Shapes.Core.Types/Del,class "
		  "[System.Runtime]System.Action`1<class Shapes.Core.Types/Del>,class "
		  "[System.Runtime]System.EventHandler`1<int32>)[PreJIT]",
		  RUNTIME_DOTNET, "prejit",
		  "Shapes.Core.Types.UseDel(Types.Del, Action<Types.Del>, EventHandler<int>)",
		  NULL },
		{ "int32 [shapes] Shapes.Core.Types::Names(class "
		  "[System.Collections]System.Collections.Generic.Dictionary`2<string,class "
		  "[System.Collections]System.Collections.Generic.List`1<valuetype "
		  "[System.Runtime]System.Collections.Generic.KeyValuePair`2<int32,valuetype "
		  "Shapes.Core.Types/Color>>>,class "
		  "[System.Runtime]System.Collections.Generic.IList`1<string>[])",
		  RUNTIME_DOTNET, "",
		  "Shapes.Core.Types.Names(Dictionary<string, List<KeyValuePair<int, "
		  "Types.Color>>>, IList<string>[])",
		  NULL },
		{ "int32 [shapes] Shapes.Core.Types::class(int32)[QuickJitted]", RUNTIME_DOTNET,
		  "quick", "Shapes.Core.Types.class(int)", NULL },
		{ "int32 [shapes] Shapes.Core.Types::Callback(int32)[OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1", "Shapes.Core.Types.Callback(int)", NULL },
	};
	CHECK(ROWS, RUNTIME_DOTNET);
}

static void test_runtime(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ "void [System.Private.CoreLib] "
		  "dynamicClass::IL_STUB_PInvoke(System.Threading.ThreadHandle /* MT: "
		  "0x7f0000001000 */,Interop/BOOL /* MT: 0x7f0000001000 */)",
		  RUNTIME_DOTNET, "stub",
		  "dynamicClass.IL_STUB_PInvoke(ThreadHandle, Interop.BOOL)", NULL },
		{ "int32 [Anonymously Hosted DynamicMethods Assembly] "
		  "dynamicClass::lambda_method1(System.Runtime.CompilerServices.Closure /* MT: "
		  "0x7f0000001000 */,int32)",
		  RUNTIME_DOTNET, "", "dynamicClass.lambda_method1(Closure, int)", NULL },
		{ "int32 [Anonymously Hosted DynamicMethods Assembly] "
		  "dynamicClass::CallSite.Target(System.Runtime.CompilerServices.Closure /* MT: "
		  "0x7f0000001000 */,System.Runtime.CompilerServices.CallSite /* MT: "
		  "0x7f0000001000 */,object)[QuickJitted]",
		  RUNTIME_DOTNET, "quick",
		  "dynamicClass.CallSite.Target(Closure, CallSite, object)", NULL },
		{ "uint32 [shapes] "
		  "<PrivateImplementationDetails>::ComputeStringHash(string)[OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1",
		  "<PrivateImplementationDetails>.ComputeStringHash(string)", NULL },
		{ "valuetype System.Span`1<!!1> [System.Private.CoreLib] "
		  "<PrivateImplementationDetails>::InlineArrayAsSpan(!!0&,int32)[PreJIT]",
		  RUNTIME_DOTNET, "prejit",
		  "<PrivateImplementationDetails>.InlineArrayAsSpan(ref T0, int)", NULL },
		{ "native int [System.Private.CoreLib] "
		  "System.Diagnostics.Tracing.EventPipeInternal::CreateProvider(string,method "
		  "unmanaged void *(uint8*,int32,uint8,int64,int64,valuetype "
		  "Interop/Advapi32/EVENT_FILTER_DESCRIPTOR*,void*),void*)",
		  RUNTIME_DOTNET, "",
		  "System.Diagnostics.Tracing.EventPipeInternal.CreateProvider(string, delegate* "
		  "unmanaged<byte*, int, byte, long, long, "
		  "Interop.Advapi32.EVENT_FILTER_DESCRIPTOR*, void*, void>, void*)",
		  NULL },
		{ "void [System.Private.CoreLib] System.RuntimeTypeHandle::GetActivationInfo(class "
		  "System.RuntimeType,method object *(void*)&,void*&,method void *(object)&,method "
		  "void *(uint8&)&,bool&)[QuickJitted]",
		  RUNTIME_DOTNET, "quick",
		  "System.RuntimeTypeHandle.GetActivationInfo(RuntimeType, ref delegate*<void*, "
		  "object>, ref void*, ref delegate*<object, void>, ref delegate*<ref byte, void>, "
		  "ref bool)",
		  NULL },
		{ "void [System.Text.RegularExpressions.Generator] "
		  "System.Text.RegularExpressions.Generator.RegexGenerator+<>c::.cctor()["
		  "OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1",
		  "System.Text.RegularExpressions.Generator.RegexGenerator.<>c..cctor()", NULL },
		{ "instance void [System.Private.CoreLib] "
		  "System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1+AsyncStateMachineBox`1["
		  "System.__Canon,Microsoft.CodeAnalysis.Diagnostics.AnalyzerDriver+<"
		  "GetPerSymbolAnalyzerActionsAsync>d__155]::MoveNext(class "
		  "System.Threading.Thread)[PreJIT]",
		  RUNTIME_DOTNET, "prejit",
		  "System.Runtime.CompilerServices.AsyncTaskMethodBuilder<__Canon>."
		  "AsyncStateMachineBox<AnalyzerDriver.GetPerSymbolAnalyzerActionsAsync "
		  "#155>.MoveNext(Thread)",
		  NULL },
		{ "instance bool [Microsoft.SourceLink.GitHub] "
		  "Microsoft.Build.Tasks.SourceControl.TranslateRepositoryUrlsGitTask+<GetHostUris>"
		  "d__30::MoveNext()",
		  RUNTIME_DOTNET, "",
		  "Microsoft.Build.Tasks.SourceControl.TranslateRepositoryUrlsGitTask.GetHostUris "
		  "#30",
		  NULL },
		{ "instance void [System.Private.CoreLib] "
		  "System.Collections.Generic.Dictionary`2[System.Guid,System.__Canon]::set_Item(!"
		  "0,!1)[QuickJitted]",
		  RUNTIME_DOTNET, "quick",
		  "System.Collections.Generic.Dictionary<Guid, __Canon>.this[Guid].set(__Canon)",
		  NULL },
		{ "void [System.Private.CoreLib] "
		  "System.Runtime.Intrinsics.Vector256`1[System.UInt16]::System.Runtime.Intrinsics."
		  "ISimdVector<System.Runtime.Intrinsics.Vector256<T>,T>.Store(valuetype "
		  "System.Runtime.Intrinsics.Vector256`1<!0>,!0*)[OptimizedTier1]",
		  RUNTIME_DOTNET, "tier1",
		  "System.Runtime.Intrinsics.Vector256<ushort>.ISimdVector<Vector256<T>, "
		  "T>.Store(Vector256<ushort>, ushort*)",
		  NULL },
		{ "instance void "
		  "modreq([System.Runtime]System.Runtime.CompilerServices.IsExternalInit) "
		  "[System.Text.Json] "
		  "System.Text.Json.Serialization.Metadata.JsonPropertyInfoValues`1[System.Boolean]"
		  "::set_PropertyName(string)[PreJIT]",
		  RUNTIME_DOTNET, "prejit",
		  "System.Text.Json.Serialization.Metadata.JsonPropertyInfoValues<bool>."
		  "PropertyName.set(string)",
		  NULL },
	};
	CHECK(ROWS, RUNTIME_DOTNET);
}

/* Shapes that only look like what the compiler makes up stay as they are. */
static void test_unfamiliar(void **state)
{
	(void)state;
	static const struct row ROWS[] = {
		{ "void [A] B::<Run>b__1_0#1()", RUNTIME_DOTNET, "", "B.<Run>b__1_0#1()", NULL },
		{ "void [A] B::<Run>b__1()", RUNTIME_DOTNET, "", "B.<Run>b__1()", NULL },
		{ "void [A] B::<>b__1_0()", RUNTIME_DOTNET, "", "B.<>b__1_0()", NULL },
		{ "void [A] B::<Run>g__|1_0()", RUNTIME_DOTNET, "", "B.<Run>g__|1_0()", NULL },
		{ "void [A] B::<Run>g__L1_0()", RUNTIME_DOTNET, "", "B.<Run>g__L1_0()", NULL },
		{ "void [A] B+<>c__DisplayClass1::<Run>b__0()", RUNTIME_DOTNET, "",
		  "B.<>c__DisplayClass1.<Run>b__0()", NULL },
		{ "void [A] B+<>c__DisplayClass1_0::<Run>b__1_0()", RUNTIME_DOTNET, "",
		  "B.<>c__DisplayClass1_0.<Run>b__1_0()", NULL },
		{ "void [A] B+<Run>d::MoveNext()", RUNTIME_DOTNET, "", "B.<Run>d.MoveNext()",
		  NULL },
		{ "void [A] B+<Run>d__x::MoveNext()", RUNTIME_DOTNET, "", "B.<Run>d__x.MoveNext()",
		  NULL },
		{ "void [A] B+<Run>c__Iterator0::MoveNext()", RUNTIME_DOTNET, "",
		  "B.<Run>c__Iterator0.MoveNext()", NULL },
		{ "void [A] <Run>d__1::MoveNext()", RUNTIME_DOTNET, "", "<Run>d__1.MoveNext()",
		  NULL },
		{ "void [A] <F>F12__Hidden::Go()", RUNTIME_DOTNET, "", "<F>F12__Hidden.Go()",
		  NULL },
		/* Methods that are no accessors. */
		{ "void [A] B::get_x()", RUNTIME_DOTNET, "", "B.get_x()", NULL },
		{ "int32 [A] B::set_x(int32)", RUNTIME_DOTNET, "", "B.set_x(int)", NULL },
		{ "void [A] B::set_x()", RUNTIME_DOTNET, "", "B.set_x()", NULL },
		{ "void [A] B::add_x(int32,int32)", RUNTIME_DOTNET, "", "B.add_x(int, int)", NULL },
		{ "int32 [A] B::get_()", RUNTIME_DOTNET, "", "B.get_()", NULL },
		{ "int32 [A] B::op_Pow(int32)", RUNTIME_DOTNET, "", "B.op_Pow(int)", NULL },
		/* What a language writes that has names with blanks and dots. */
		{ "void [A] Tests::When x. Then y. Works()", RUNTIME_DOTNET, "",
		  "Tests.When x. Then y. Works()", NULL },
		{ "int32 [A] B+clo@5-1::Invoke(int32)", RUNTIME_DOTNET, "", "B.clo@5-1.Invoke(int)",
		  NULL },
	};
	CHECK(ROWS, RUNTIME_DOTNET);
	static const struct row RAW[] = {
		{ "void [A] B::c(method int32 (int32))", RUNTIME_DOTNET, "",
		  "void [A] B::c(method int32 (int32))", NULL },
	};
	CHECK_KNOWN(RAW, RUNTIME_DOTNET);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_async_and_iterators),
		cmocka_unit_test(test_lambdas_and_local_functions),
		cmocka_unit_test(test_programs_and_records),
		cmocka_unit_test(test_accessors),
		cmocka_unit_test(test_operators),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_runtime),
		cmocka_unit_test(test_unfamiliar),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
