// alpha, beta and gamma share the time 60 : 30 : 10.
public class Work {
    static int spin(int x, int i) { return (x * 31 + i) % 1000003; }

    static int alpha(int n) { int x = 1; for (int i = 0; i < 6 * n; i++) x = spin(x, i); return x; }
    static int beta(int n) { int x = 1; for (int i = 0; i < 3 * n; i++) x = spin(x, i); return x; }
    static int gamma(int n) { int x = 1; for (int i = 0; i < n; i++) x = spin(x, i); return x; }

    public static void main(String[] args) {
        final long seconds = 1;
        long alphaNs = 0, betaNs = 0, gammaNs = 0, sum = 0;
        long start = System.nanoTime();
        while (System.nanoTime() - start < seconds * 1_000_000_000L) {
            long a = System.nanoTime();
            sum += alpha(20000);
            long b = System.nanoTime();
            sum += beta(20000);
            long c = System.nanoTime();
            sum += gamma(20000);
            long d = System.nanoTime();
            alphaNs += b - a;
            betaNs += c - b;
            gammaNs += d - c;
        }
        double total = alphaNs + betaNs + gammaNs;
        System.out.printf(java.util.Locale.ROOT, "alpha %.1f beta %.1f gamma %.1f%n",
                100 * alphaNs / total, 100 * betaNs / total, 100 * gammaNs / total);
        if (sum == 0) throw new IllegalStateException("the work was optimised away");
    }
}
