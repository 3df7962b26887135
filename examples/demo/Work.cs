// .NET and mono: alpha, beta and gamma share the time 60 : 30 : 10.
using System;
using System.Diagnostics;
using System.Globalization;

public static class Work
{
    static int Alpha(int n) { int x = 1; for (int i = 0; i < 6 * n; i++) x = (x * 31 + i) % 1000003; return x; }
    static int Beta(int n) { int x = 1; for (int i = 0; i < 3 * n; i++) x = (x * 31 + i) % 1000003; return x; }
    static int Gamma(int n) { int x = 1; for (int i = 0; i < n; i++) x = (x * 31 + i) % 1000003; return x; }

    public static int Main()
    {
        const double seconds = 1;
        double alpha = 0, beta = 0, gamma = 0;
        long sum = 0;
        var clock = Stopwatch.StartNew();
        while (clock.Elapsed.TotalSeconds < seconds)
        {
            double a = clock.Elapsed.TotalSeconds;
            sum += Alpha(20000);
            double b = clock.Elapsed.TotalSeconds;
            sum += Beta(20000);
            double c = clock.Elapsed.TotalSeconds;
            sum += Gamma(20000);
            double d = clock.Elapsed.TotalSeconds;
            alpha += b - a;
            beta += c - b;
            gamma += d - c;
        }
        double total = alpha + beta + gamma;
        Console.WriteLine(string.Format(CultureInfo.InvariantCulture, "alpha {0:F1} beta {1:F1} gamma {2:F1}",
            100 * alpha / total, 100 * beta / total, 100 * gamma / total));
        return sum == 0 ? 1 : 0;
    }
}
