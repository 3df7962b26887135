import java.util.Arrays;

/**
 * A known chain of calls, interpreted and compiled: Chain SECONDS. Prints the times (CLOCK_MONOTONIC,
 * ns) between which main > outer > middle > inner is on the stack. Run it with middle() interpreted.
 */
public class Chain {
    static int leaf(int rounds) {
        int x = 1;
        for (int i = 0; i < rounds; i++)
            x = (x * 31 + i) % 1000003;
        return x;
    }

    static int compared;

    static int inner(int n) {
        Integer[] values = { 5, n % 11, 9, n % 3, 1 };
        Arrays.sort(values, (a, b) -> { compared += leaf(200); return a - b; });
        return leaf(3000) + values[0] + compared;
    }

    interface Step { int run(int n); }

    static class Middle implements Step {
        public int run(int n) {
            int sum = 0;
            for (int i = 0; i < 20; i++)
                sum += inner(n + i);
            return sum;
        }
    }

    static int outer(Step step, int n) {
        int sum = 0;
        for (int i = 0; i < 10; i++)
            sum += step.run(n + i);
        return sum;
    }

    public static void main(String[] args) {
        Step step = new Middle();
        long start = System.nanoTime(), end = start + (long) (1e9 * Double.parseDouble(args[0]));
        int sum = 0;
        while (System.nanoTime() < end)
            sum += outer(step, sum & 63);
        System.out.println("phase " + start + " " + System.nanoTime());
        if (sum == 42)
            System.out.println();
    }
}
