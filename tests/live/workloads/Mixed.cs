// Managed code under native code under managed code: comparing for the C library's qsort.
using System;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

public static unsafe class Mixed {
    [DllImport("libc")] static extern void qsort(void* items, nint count, nint size, delegate* unmanaged<int*, int*, int> compare);

    struct TimeSpec { public long Seconds, Nanoseconds; }
    [DllImport("libc")] static extern int clock_gettime(int clock, out TimeSpec time);

    static double Spent() {
        const int threadCpuTime = 3;
        clock_gettime(threadCpuTime, out TimeSpec time);
        return time.Seconds + time.Nanoseconds / 1e9;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Spend(int n) { int x = n; for (int i = 0; i < 2000; i++) x = (x * 31 + i) % 1000003; return x; }

    [UnmanagedCallersOnly]
    static int Compare(int* left, int* right) => Spend(*left) < 0 ? 0 : left->CompareTo(*right);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Sort(int[] items) {
        fixed (int* first = items) qsort(first, items.Length, sizeof(int), &Compare);
    }

    static void Run(double seconds) {
        var random = new Random(1);
        // Of the processor, not of the clock: on a busy machine there are to be as many samples.
        for (double start = Spent(); Spent() - start < seconds;) {
            var items = new int[100];
            for (int i = 0; i < items.Length; i++) items[i] = random.Next();
            Sort(items);
        }
    }

    public static void Main(string[] args) {
        double seconds = double.Parse(args[0], CultureInfo.InvariantCulture);
        var thread = new Thread(() => Run(seconds));
        thread.Start();
        thread.Join();
    }
}
