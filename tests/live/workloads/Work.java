import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Locale;
import java.util.function.IntBinaryOperator;

/** alpha, beta and gamma do 60, 30 and 10 % of the hot loop. */
public class Work {
    static int alpha(int n, int k) { int x = k; for (int i = 0; i < n * 6; i++) x = (x * 31 + i) % 1000003; return x; }
    static int beta(int n, int k) { int x = k; for (int i = 0; i < n * 3; i++) x = (x * 31 + i) % 1000003; return x; }
    static int gamma(int n, int k) { int x = k; for (int i = 0; i < n; i++) x = (x * 31 + i) % 1000003; return x; }
    static int recur(int d) { return d < 2 ? d : recur(d - 1) + recur(d - 2); }
    static int größe(int n) { int x = 1; for (int i = 0; i < n; i++) x = (x * 7 + i) % 9973; return x; }

    interface Op { int apply(int x); }
    static class First implements Op { public int apply(int x) { return x + 1; } }
    static class Second implements Op { public int apply(int x) { return x + 2; } }
    static class Third implements Op { public int apply(int x) { return x ^ 3; } }

    /** Compiled for one kind of Op, then thrown away for two, then for three. */
    static int recompiled(Op op, int n) { int x = 0; for (int i = 0; i < n; i++) x = op.apply(x); return x; }

    public static void main(String[] args) {
        double seconds = args.length > 0 ? Double.parseDouble(args[0]) : 3;
        Op[] ops = { new First(), new Second(), new Third() };
        IntBinaryOperator lambda = (x, y) -> { int q = x; for (int i = 0; i < y; i++) q = (q * 13 + i) % 77777; return q; };
        long[] spent = new long[3];
        int rounds = 0;
        // Of the processor, not of the clock: a busy machine must not shift the shares, nor leave fewer samples.
        ThreadMXBean clock = ManagementFactory.getThreadMXBean();
        long start = clock.getCurrentThreadCpuTime(), sink = 0;
        while (clock.getCurrentThreadCpuTime() - start < seconds * 1e9) {
            long from = clock.getCurrentThreadCpuTime();
            sink += alpha(40000, rounds & 1023);
            long afterAlpha = clock.getCurrentThreadCpuTime();
            sink += beta(40000, rounds & 1023);
            long afterBeta = clock.getCurrentThreadCpuTime();
            sink += gamma(40000, rounds & 1023);
            spent[2] += clock.getCurrentThreadCpuTime() - afterBeta;
            spent[1] += afterBeta - afterAlpha;
            spent[0] += afterAlpha - from;
            Op op = ops[rounds < 200 ? 0 : rounds < 400 ? 1 : rounds % 3];
            sink += recur(16) + recompiled(op, 2000) + größe(2000) + lambda.applyAsInt(rounds, 2000);
            rounds++;
        }
        double total = spent[0] + spent[1] + spent[2];
        System.out.printf(Locale.ROOT, "rounds %d share alpha %.1f beta %.1f gamma %.1f sink %d%n", rounds,
            100 * spent[0] / total, 100 * spent[1] / total, 100 * spent[2] / total, sink % 1000);
    }
}
