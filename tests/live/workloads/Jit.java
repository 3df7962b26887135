/* What the agent says of code, in a program where it is known: which lines are hot, what is
 * inlined where, what is compiled late, what is unloaded. `Jit CASE SECONDS`, of the processor; `Jit phases`.
 */
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.util.function.IntSupplier;

public class Jit {
    static volatile int sink;
    static volatile boolean isLate, isOver;
    public static int[] data = new int[4096];

    /* Two loops of three to one. The tests find their lines by these words. */
    static int lines(int n) {
        int a = 1;
        for (int i = 0; i < 3 * n; i++)
            a = a * 31 + data[(a ^ i) & 4095]; // hot 75
        for (int i = 0; i < n; i++)
            a = a * 31 + data[(a ^ i) & 4095]; // hot 25
        return a;
    }

    static int leaf(int x) {
        return x / (data[x & 4095] | 1);
    }

    static int middle(int x) {
        return leaf(x + 1) + leaf(x ^ 5);
    }

    static int never(int x) {
        return x / (data[(x + 7) & 4095] | 1);
    }

    static int outer(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++)
            sum += middle(i) + leaf(i + sum) + never(i);
        return sum;
    }

    static int early(int n) {
        int a = 2;
        for (int i = 0; i < n; i++)
            a = a * 33 + data[(a ^ i) & 4095];
        return a;
    }

    static int late(int n) {
        int a = 3;
        for (int i = 0; i < n; i++)
            a = a * 35 + data[(a ^ i) & 4095];
        return a;
    }

    /* A method that is compiled in every class loader anew, and goes with it. */
    public static class Plugin implements IntSupplier {
        public int getAsInt() {
            int a = 5;
            for (int i = 0; i < 2500; i++)
                a = a * 37 + data[(a ^ i) & 4095];
            return a;
        }
    }

    static class Loader extends ClassLoader {
        Class<?> define(byte[] bytes) {
            return defineClass("Jit$Plugin", bytes, 0, bytes.length);
        }
    }

    static byte[] pluginBytes() throws Exception {
        try (InputStream in = Jit.class.getResourceAsStream("Jit$Plugin.class")) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            byte[] buffer = new byte[4096];
            for (int got; (got = in.read(buffer)) > 0;)
                out.write(buffer, 0, got);
            return out.toByteArray();
        }
    }

    static void plugins(long end) throws Exception {
        byte[] bytes = pluginBytes();
        for (int round = 0; round < 64 || cpuTime() < end; round++) {
            IntSupplier plugin =
                (IntSupplier) new Loader().define(bytes).getDeclaredConstructor().newInstance();
            for (int i = 0; i < 200; i++)
                sink += plugin.getAsInt();
            if (round % 8 == 7)
                System.gc();
        }
    }

    static long cpuTime() {
        return java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    /* Works in early() until it reads "late", then in late() until there is nothing more to read. */
    static void phases() {
        Thread reader = new Thread(() -> {
            try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in))) {
                for (String line; (line = lines.readLine()) != null;)
                    isLate |= line.equals("late");
            } catch (java.io.IOException e) {
                e.printStackTrace();
            }
            isOver = true;
        });
        reader.setDaemon(true);
        reader.start();
        System.out.println("ready");
        while (!isOver)
            sink = isLate ? late(100000) : early(100000);
    }

    static void run(String what, long end) throws Exception {
        IntSupplier lambda = () -> data[sink & 4095] + 1;
        while (cpuTime() < end) {
            switch (what) {
            case "lines": sink = lines(100000); break;
            case "outer": sink = outer(100000); break;
            case "plugins": plugins(end); break;
            case "lambda":
                for (int i = 0; i < 1000000; i++)
                    sink += lambda.getAsInt();
                break;
            default: throw new IllegalArgumentException(what);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < data.length; i++)
            data[i] = i * 7 + 3;
        // Of the processor: on a busy machine there are to be as many samples.
        if (args[0].equals("phases"))
            phases();
        else
            run(args[0], cpuTime() + (long) (Double.parseDouble(args[1]) * 1e9));
        System.out.println("done " + args[0]);
    }
}
