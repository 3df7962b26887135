using System;
using System.Collections.Generic;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

public class Gen<T> {
    [MethodImpl(MethodImplOptions.NoInlining)] public T Id(T x) { return x; }
}

/// alpha, beta and gamma do 60, 30 and 10 % of the hot loop. Runs in .NET and in mono.
public static class Work {
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int alpha(int n, int k) { int x = k; for (int i = 0; i < n * 6; i++) x = (x * 31 + i) % 1000003; return x; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int beta(int n, int k) { int x = k; for (int i = 0; i < n * 3; i++) x = (x * 31 + i) % 1000003; return x; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int gamma(int n, int k) { int x = k; for (int i = 0; i < n; i++) x = (x * 31 + i) % 1000003; return x; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int recur(int d) { return d < 2 ? d : recur(d - 1) + recur(d - 2); }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int größe(int n) { int x = 1; for (int i = 0; i < n; i++) x = (x * 7 + i) % 9973; return x; }
    struct TimeSpec { public long Seconds, Nanoseconds; }
    [DllImport("libc")] static extern int clock_gettime(int clock, out TimeSpec time);

    /// Of the processor, not of the clock: a busy machine must not shift the shares.
    static double Spent() {
        const int threadCpuTime = 3;
        TimeSpec time;
        clock_gettime(threadCpuTime, out time);
        return time.Seconds + time.Nanoseconds / 1e9;
    }

    static IEnumerable<int> Iterate(int n) { for (int i = 0; i < n; i++) yield return i; }

    public static int Main(string[] args) {
        double seconds = args.Length > 0 ? double.Parse(args[0], CultureInfo.InvariantCulture) : 3;
        var spent = new double[3];
        var ofInt = new Gen<int>();
        var ofString = new Gen<string>();
        var ofMap = new Gen<Dictionary<string, List<double>>>();
        Func<int, int> lambda = q => q * 3 % 7;
        long sink = 0;
        int rounds = 0;
        double start = Spent();
        while (Spent() - start < seconds) {
            double from = Spent();
            sink += alpha(40000, rounds & 1023);
            double afterAlpha = Spent();
            sink += beta(40000, rounds & 1023);
            double afterBeta = Spent();
            sink += gamma(40000, rounds & 1023);
            spent[2] += Spent() - afterBeta;
            spent[1] += afterBeta - afterAlpha;
            spent[0] += afterAlpha - from;
            sink += recur(16) + größe(2000) + lambda(rounds) + ofInt.Id(rounds);
            ofString.Id("a");
            ofMap.Id(null);
            foreach (int z in Iterate(10)) sink += z;
            rounds++;
        }
        double total = spent[0] + spent[1] + spent[2];
        Console.WriteLine(string.Format(CultureInfo.InvariantCulture,
            "rounds {0} share alpha {1:F1} beta {2:F1} gamma {3:F1} sink {4}", rounds,
            100 * spent[0] / total, 100 * spent[1] / total, 100 * spent[2] / total, sink % 1000));
        return 0;
    }
}
