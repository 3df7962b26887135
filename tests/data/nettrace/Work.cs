using System;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;

public static class Work
{
    static int sink;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    static int Inner(int x)
    {
        sink += x;
        return x * 3 + sink;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    static int Middle(int x)
    {
        sink ^= x;
        int y = Inner(x + 1);
        sink += y;
        return y + Inner(y);
    }

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    static int Outer(int n)
    {
        int sum = 0;
        for (int i = 0; i < n; i++)
        {
            sum += Middle(i);
            sum ^= 5;
            sum += Inner(sum);
        }
        return sum;
    }

    static T Pick<T>(T a, T b, bool first) { return first ? a : b; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Huge(int x)
    {
        x = x * 3 + sink; sink += x;
        x = x * 4 + sink; sink += x;
        x = x * 5 + sink; sink += x;
        x = x * 6 + sink; sink += x;
        x = x * 7 + sink; sink += x;
        x = x * 8 + sink; sink += x;
        x = x * 9 + sink; sink += x;
        x = x * 10 + sink; sink += x;
        x = x * 11 + sink; sink += x;
        x = x * 12 + sink; sink += x;
        x = x * 13 + sink; sink += x;
        x = x * 14 + sink; sink += x;
        return x;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Made()
    {
        var method = new DynamicMethod("Made", typeof(int), new[] { typeof(int) });
        ILGenerator il = method.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldc_I4, 7);
        il.Emit(OpCodes.Mul);
        il.Emit(OpCodes.Ret);
        var made = (Func<int, int>)method.CreateDelegate(typeof(Func<int, int>));
        return made(6);
    }

    public static int Main()
    {
        Func<int, int> lambda = x => x + 1;
        int sum = Made() + lambda(1) + Pick(1, 2, true) + Pick("a", "b", false).Length;
        sum += Outer(1000000);
        sum += Huge(sum);
        for (int i = 0; i < 3; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        Console.WriteLine("caf\u00e9 " + (sum == 0));
        return 0;
    }
}
