#!/usr/bin/env python3
"""Methods that a JVM interprets, as recordings with copies of the stack show them.

    interpreted_test.py POLYPERF AGENT CASE

Cases: shares, lines, mixed, attach, plugins, redefined, checked, sanitized. Every case runs with
each JDK that java_test.py finds. Exit code 77: there is none.
"""
import collections
import pathlib
import re
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import java_test
import jitdump
import live
import polyperf
from java_test import WORKLOADS, JIT_SOURCE

SAMPLING = ("-F", "1999", "-g", "dwarf")
NAMED = 99.5  # percent of the samples in the interpreter's code
CLASSES = 50  # that a compiler is given
WORDS = ",interpreted=on"
LINE = re.compile(r"  (\S.*):(\d+)$")
SAMPLE = re.compile(r"\s*(\d+)/\d+ +[\d.]+: +([0-9a-f]+) (.*) (\w+)$")

Leaf = collections.namedtuple("Leaf", "pid address name trust line")


def leaves(case, recording):
    """The innermost frame of each sample, with its source line."""
    text = polyperf.run(case.program, "script", "-i", recording, "--ns", "-G", "-F",
                        "pid,tid,time,ip,sym,trust,srcline").stdout
    found = []
    for line in text.splitlines():
        if sample := SAMPLE.match(line):
            found.append(Leaf(int(sample[1]), int(sample[2], 16), sample[3].strip(), sample[4], None))
        elif (where := LINE.match(line)) and found:
            found[-1] = found[-1]._replace(line=(where[1], int(where[2])))
        elif line.strip():
            polyperf.fail(f"not understood: {line!r}")
    return found


def interpreted(case, recording, minimum=200):
    """The leaves in the interpreter's own code; nearly all must be somebody's."""
    code = next(code for code in java_test.bundled_code(case, recording) if code.name == "Interpreter")
    inside = [leaf for leaf in leaves(case, recording)
              if code.address <= leaf.address < code.address + code.size]
    named = [leaf for leaf in inside if leaf.name != "Interpreter" and leaf.trust in ("exact", "early")]
    share = 100 * len(named) / max(len(inside), 1)
    print(f"  {case.jdk.name}: {len(inside)} samples in the interpreter, {share:.2f} % named")
    case.expect(len(inside) >= minimum, f"only {len(inside)} samples in the interpreter")
    case.expect(share >= NAMED, f"{share:.2f} % named")
    return named


def record(case, *command, sampling=SAMPLING):
    recording, printed = case.place.record(case.program, command, *sampling)
    case.faults += live.left_behind(case.place, live.recorded_pids(recording))
    return recording, printed


def shares(case):
    """alpha, beta and gamma as the program measures them; and `interpreter` is said to be the tier."""
    case.compile(WORKLOADS / "Work.java")
    recording, printed = record(case, case.java, "-Xint", "-cp", case.classes, "Work", "0.8")
    interpreted(case, recording, 1000)
    case.faults += live.workload_faults(case.program, recording, printed)
    rows = polyperf.read_report(polyperf.run(case.program, "report", "--format", "csv", "-i",
                                             recording).stdout)
    alpha = [row for row in rows if row["symbol"] == "Work.alpha(int, int)"]
    case.expect(alpha and all(row["tier"] == "interpreter" and row["runtime"] == "jvm"
                              and row["object"] == "[jit]" for row in alpha), f"alpha: {alpha}")


def lines(case):
    """Two loops whose shares and lines are known."""
    case.compile(JIT_SOURCE)
    recording, _ = record(case, case.java, "-Xint", "-cp", case.classes, "Jit", "lines", "0.8")
    hit = collections.Counter(leaf.line for leaf in interpreted(case, recording, 1000)
                              if leaf.name == "Jit.lines(int)")
    hot = java_test.hot_lines()
    loops = {share: sum(hit["Jit.java", number] for number in (line - 1, line))  # with the loop's head
             for share, line in hot.items()}
    inside = sum(loops.values())
    case.expect(hit.total() > 900, f"only {hit.total()} samples in lines()")
    case.expect(inside >= 0.995 * hit.total(), f"{inside} of {hit.total()} samples in its loops: {hit}")
    for share, count in loops.items():
        got = 100 * count / max(inside, 1)
        case.expect(abs(got - share) < 5, f"the loop of {share} % has {got:.1f} % of the samples")


def callers(case, recording, name):
    """How often each other name stands right above `name` in a stack."""
    text = polyperf.run(case.program, "script", "-i", recording, "--ns", "-F",
                        "pid,tid,time,ip,sym").stdout
    found = collections.Counter()
    for sample in polyperf.read_script(text):
        names = [frame.name for frame in sample.frames]
        found.update(above for below, above in zip(names, names[1:]) if below == name)
    return found


def mixed(case):
    """A compiler that starts, compiles itself and is left: interpreted beside compiled frames."""
    sources = case.place.root / "sources"
    java_test.generate_classes(sources, CLASSES)
    out = case.place.root / "compiled"
    out.mkdir()
    recording, _ = record(case, case.jdk / "bin/javac", "-d", out, *sorted(sources.glob("*.java")),
                          sampling=("-F", "999", "-g", "dwarf"))
    case.expect(len(list(out.glob("*.class"))) == CLASSES, "not all was compiled")
    named = interpreted(case, recording)
    lined = [leaf for leaf in named if leaf.line]
    case.expect(len(lined) >= 0.9 * len(named), f"{len(lined)} of {len(named)} have lines")
    case.expect(len({leaf.name for leaf in named}) > 50, "few different methods")


def attach(case):
    """record -p: what was loaded before is named, and the JVM is as before afterwards."""
    case.compile(JIT_SOURCE)
    target, pid = case.start("-Xint")
    try:
        recording, _ = case.record_running(target, pid, *SAMPLING, early=0.7, late=0.6)
        maps = pathlib.Path(f"/proc/{pid}/maps").read_text()
    finally:
        java_test.expect_unharmed(case, target)
    named = collections.Counter(leaf.name for leaf in interpreted(case, recording, 1000))
    for name in ("Jit.early(int)", "Jit.late(int)"):
        case.expect(named[name] > 300, f"{name} has {named[name]} samples")
    above = callers(case, recording, "Jit.early(int)")
    case.expect(above["Jit.phases()"] > 0.98 * above.total(), f"called by {above}")
    case.expect("jit-" not in maps, "the dump is still mapped")
    case.faults += live.left_behind(case.place, {pid})


def plugins(case):
    """The same class again and again, unloaded in between: its methods' places are used again."""
    case.compile(JIT_SOURCE)
    recording, printed = record(case, case.java, "-Xint", "-XX:+UseSerialGC", "-cp", case.classes, "Jit",
                                "plugins", "1")
    case.expect(printed == "done plugins\n", f"printed {printed!r}")
    named = collections.Counter(leaf.name for leaf in interpreted(case, recording))
    plugin = named["Jit$Plugin.getAsInt()"]
    case.expect(plugin > 0.9 * named.total(), f"{plugin} of {named.total()}: {named.most_common(5)}")


REDEFINED = """
import java.lang.instrument.*;
import java.nio.file.*;
public class Redefined {
    static Instrumentation instrumentation;
    public static void premain(String words, Instrumentation given) { instrumentation = given; }
    static long spent() {
        return java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }
    static void work(double seconds) {
        for (long end = spent() + (long) (seconds * 1e9); spent() < end;)
            Hot.spin();
    }
    public static void main(String[] words) throws Exception {
        work(0.5);
        instrumentation.redefineClasses(
            new ClassDefinition(Hot.class, Files.readAllBytes(Paths.get(words[0]))));
        work(0.5);
        System.out.println("done " + Hot.sum);
    }
}
"""
HOT = """class Hot { static int sum;%s
    static void spin() {%s
        for (int i = 0; i < 10000; i++) sum = sum * 31 + i; // hot
    } }
"""


def write_hot(case, folder, *between):
    """Hot's loop in another line and at another place in its bytecode; the source, and the line."""
    source = case.place.root / folder / "Hot.java"
    source.parent.mkdir()
    source.write_text(HOT % between)
    return source, next(n for n, line in enumerate(source.read_text().splitlines(), 1) if "// hot" in line)


def redefined(case):
    """A class that is replaced while it runs: each time has the lines of its own."""
    source, after = write_hot(case, "after", "\n" * 30, " sum += 3; sum -= 2;")
    case.compile(source)
    replacement = case.place.root / "Hot.class"
    (case.classes / "Hot.class").rename(replacement)
    source, before = write_hot(case, "before", "", "")
    (case.place.root / "Redefined.java").write_text(REDEFINED)
    case.compile(source, case.place.root / "Redefined.java")
    jar = case.place.root / "agent.jar"
    with zipfile.ZipFile(jar, "w") as members:
        members.writestr("META-INF/MANIFEST.MF", "Premain-Class: Redefined\nCan-Redefine-Classes: true\n")
        members.write(case.classes / "Redefined.class", "Redefined.class")
    recording, printed = record(case, case.java, "-Xint", f"-javaagent:{jar}", "-cp", case.classes,
                                "Redefined", replacement)
    case.expect(printed.startswith("done "), f"printed {printed!r}")
    hit = collections.Counter(leaf.line[1] for leaf in interpreted(case, recording, 1000)
                              if leaf.name == "Hot.spin()" and leaf.line)
    both = hit[before] + hit[after]
    print(f"  {case.jdk.name}: {dict(hit)}")
    case.expect(both > 0.99 * hit.total(), f"lines {hit}, wanted {before} and {after}")
    case.expect(0.3 * both < hit[after] < 0.7 * both, f"{hit[before]} before, {hit[after]} after")


def told_methods(case):
    """How many methods a dump tells, and how many of them as existing."""
    data = case.only_dump().read_bytes()
    records = [time for kind, time in jitdump.kinds(data) if kind == jitdump.METHOD]
    return len(records), sum(time == 0 for time in records)


def checked(case):
    """The JVM's own check of its callers has nothing to say, while classes come and go."""
    case.compile(JIT_SOURCE)
    done, _ = case.run("plugins", 0.5, "-Xcheck:jni", words=WORDS)
    case.expect(not done.stderr and done.stdout == "done plugins\n",
                f"said: {done.stdout[:500]}{done.stderr[:500]}")
    count, existing = told_methods(case)
    case.expect(existing > 3000 and count > existing + 100, f"{count} methods, {existing} existed")


def sanitized(case):
    """The agent built with clang's address sanitizer, in a JVM."""
    case.compile(JIT_SOURCE)
    java_test.preload_sanitizer(case)
    done, _ = case.run("plugins", 0.5, words=WORDS)
    case.expect("Sanitizer" not in done.stderr and "runtime error" not in done.stderr, done.stderr[:800])
    case.expect(told_methods(case)[0] > 3000, "few methods")


CASES = {"shares": shares, "lines": lines, "mixed": mixed, "attach": attach, "plugins": plugins,
         "redefined": redefined, "checked": checked, "sanitized": sanitized}
WITHOUT_SAMPLING = ("checked", "sanitized")

if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[3] not in CASES:
        sys.exit(f"{__doc__}")
    java_test.run_case(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(),
                       CASES[sys.argv[3]], sys.argv[3] not in WITHOUT_SAMPLING)
