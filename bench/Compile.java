/* Compiles the same generated classes with javac again and again in one JVM: `Compile CLASSES ROUNDS`.
 * After each round it prints the CPU time that its threads have spent, in us: all of them, and those
 * in which agents are told of compiled code, and our agent tells of methods that are interpreted.
 */
import java.io.File;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

public class Compile {
    static class Source extends SimpleJavaFileObject {
        final String text;

        Source(int i, int count) {
            super(URI.create("string:///G" + i + ".java"), Kind.SOURCE);
            text = "class G" + i + " { int f; static int m(int a, String s) { int r = a * " + i
                + " + s.length(); for (int k = 0; k < r; k++) { r ^= k * " + (i + 1)
                + "; if (r > 100) r -= G" + (i * 7 % count) + ".g(k); } return r; }"
                + " static int g(int b) { return new java.util.ArrayList<Integer>().size() + b; } }";
        }

        public CharSequence getCharContent(boolean ignoreErrors) {
            return text;
        }
    }

    static class Nowhere extends ForwardingJavaFileManager<JavaFileManager> {
        Nowhere(JavaFileManager manager) {
            super(manager);
        }

        public JavaFileObject getJavaFileForOutput(Location location, String name,
                                                   JavaFileObject.Kind kind, javax.tools.FileObject beside) {
            return new SimpleJavaFileObject(URI.create("mem:///" + name), kind) {
                public OutputStream openOutputStream() {
                    return OutputStream.nullOutputStream();
                }
            };
        }
    }

    static void printThreads() throws Exception {
        long all = 0, telling = 0;
        for (File task : new File("/proc/self/task").listFiles()) {
            String spent = new String(Files.readAllBytes(task.toPath().resolve("schedstat")));
            String name = new String(Files.readAllBytes(task.toPath().resolve("comm"))).trim();
            long us = Long.parseLong(spent.split(" ")[0]) / 1000;
            all += us;
            if (name.equals("Service Thread") || name.equals("polyperf method"))
                telling += us;
        }
        System.out.println(all + " " + telling);
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        List<Source> sources = new ArrayList<>();
        for (int i = 0; i < count; i++)
            sources.add(new Source(i, count));
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        for (int round = Integer.parseInt(args[1]); round > 0; round--) {
            Nowhere manager = new Nowhere(compiler.getStandardFileManager(null, null, null));
            if (!compiler.getTask(null, manager, null, List.of("-proc:none"), null, sources).call())
                System.exit(1);
            printThreads();
        }
    }
}
