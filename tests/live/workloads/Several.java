/**
 * Four languages in one stack: Java calls C, which calls Python, which calls PHP, which works.
 * Several LIBRARY SECONDS SCRIPT.py SCRIPT.php
 */
public class Several {
    /** Runs the Python function of that name. */
    static native int python(String function, int n);
    static native void start(String script, String phpScript);

    static int javaInner(int n) {
        return python("python_outer", n) + 1;
    }

    static int javaOuter(int n) {
        int sum = 0;
        for (int i = 0; i < 5; i++)
            sum += javaInner(n + i);
        return sum;
    }

    public static void main(String[] args) {
        System.load(args[0]);
        start(args[2], args[3]);
        long start = System.nanoTime(), end = start + (long) (1e9 * Double.parseDouble(args[1]));
        int sum = 0;
        while (System.nanoTime() < end)
            sum += javaOuter(sum & 63);
        System.out.println("phase " + start + " " + System.nanoTime());
        System.exit(sum == 42 ? 1 : 0);
    }
}
