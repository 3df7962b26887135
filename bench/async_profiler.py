#!/usr/bin/env python3
"""Compares polyperf's self shares with async-profiler's, of the same runs (docs/BENCH.md).

  bench/async_profiler.py LIBRARY      path of libasyncProfiler.so (or $ASYNC_PROFILER)
  --runs N             runs of each workload (default 3)
  --work FILE          a Java program to run as well, as `java FILE.java SECONDS` would
  --seconds N          how long it runs (default 10)
  --classes N          how many generated classes javac compiles (default 2000)
  --stacks fp|dwarf    how polyperf records stacks (default fp)
  --top N              rows to compare (default 20)
  --keep DIR           leave the recordings there, as RUN.data and RUN.collapsed
  --again DIR          compare what --keep left, without running anything

async-profiler runs in the JVM, polyperf records the JVM from outside, both by cpu-clock at
999 Hz and each with its own timers. Without the library this is skipped, and exits with 0.
Exits with 1 when shares differ by more than noise.
"""
import argparse
import collections
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
POLYPERF = os.environ.get("POLYPERF") or str(
    next((p for p in (ROOT / "build/release/polyperf", ROOT / "build/dev/polyperf") if p.exists()),
         ROOT / "build/release/polyperf"))
# 999 Hz of CPU time. `cpu` is perf_event_open's clock: SIGPROF timers (itimer, ctimer) go no
# faster than the kernel's tick, which is 250 Hz in Debian.
AGENT = "start,event=cpu,interval=1001001,cstack=vm,collapsed,dot,norm,ann"
# Kernel functions that only bring async-profiler's signals, which it cannot see itself.
SIGNALS = re.compile(r"sysvec_irq_work|do_signal|get_signal|signal_deliver|_rt_sigreturn|rt_sigframe|send_sig|"
                     r"kill_fasync|perf_pending|restore_sigcontext|fpu__restore_sig|"
                     r"_perf_ioctl|perf_event_for_each|perf_ioctl")
# Noise: three standard errors of a difference, in which one row of 370 falls by chance.
SIGMAS = 3


def java_class(number, count):
    other = (number * 7 + 1) % count
    return f"""package gen;
import java.util.*;
import java.util.function.*;
import java.util.stream.*;
public class C{number}<T extends Comparable<T>> implements Supplier<List<T>> {{
    private final Map<String, List<T>> byName = new TreeMap<>();
    private int total = {number};
    enum Kind {{ FIRST, SECOND, THIRD }}
    record Pair<A, B>(A first, B second) {{ }}
    public List<T> get() {{
        return byName.values().stream().flatMap(List::stream).sorted()
            .collect(Collectors.toList());
    }}
    public int count(Kind kind, C{other}<String> other) {{
        switch (kind) {{
        case FIRST: return total + other.get().size();
        case SECOND: return new Pair<>(total, "x" + total).second().length();
        default: return byName.size() * {number % 97 + 1};
        }}
    }}
    public void add(String name, T item) {{
        byName.computeIfAbsent(name, k -> new ArrayList<>()).add(item);
        for (int i = 0; i < {number % 13 + 2}; i++) {{
            try {{ total += Integer.parseInt(name.substring(i)) ^ i; }}
            catch (NumberFormatException | IndexOutOfBoundsException e) {{ total--; }}
        }}
    }}
    static <K, V extends Comparable<V>> Map<V, List<K>> turn(Map<K, V> map) {{
        return map.entrySet().stream().collect(Collectors.groupingBy(Map.Entry::getValue,
            TreeMap::new, Collectors.mapping(Map.Entry::getKey, Collectors.toList())));
    }}
}}
"""


def plain(name):
    """A function's name without arguments, versions, clones, and the numbers of lambdas."""
    name = re.sub(r" \(inlined\)$|\+0x[0-9a-f]+$", "", name)
    name = re.sub(r" ?\[clone [^]]*\]|@@?GLIBC\S*|(\.(constprop|part|isra|cold)(\.\d+)?)+$", "",
                  name)
    name = name.replace("(anonymous namespace)", "{anonymous}")
    depth, cut = 0, len(name)
    for at, letter in enumerate(name):
        depth += (letter == "<") - (letter == ">" and depth > 0)
        if letter == "(" and depth == 0 and not name[:at].endswith("operator"):
            cut = at
            break
    name = name[:cut].strip()
    # Demanglers give templates' functions their result's type, or do not.
    name = re.sub(r"^(void|bool|int|unsigned \w+|long|char)[ *]+(?=\S)", "", name)
    # async-profiler's `norm` takes digits off the ends of names.
    name = re.sub(r"\d+$|(?<=Lambda)[\d.$/]+|\$\$Lambda[^.]*", "", name)
    return name.replace("$$Lambda", "")


class Shares:
    """Samples by function that was running itself."""

    def __init__(self):
        self.counts, self.total, self.own = collections.Counter(), 0, 0

    def add(self, name, weight=1):
        self.counts[name] += weight
        self.total += weight

    def share(self, name):
        return self.counts[name] / self.total if self.total else 0


INTERPRETER = "(interpreter)"


def read_async(path, by_method):
    shares = Shares()
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            stack, _, weight = line.rstrip("\n").rpartition(" ")
            # What ran before the JVM was up: async-profiler begins in the midst of it.
            if "JNI_CreateJavaVM" in stack:
                shares.own += int(weight)
                continue
            leaf = stack.rpartition(";")[2]
            kind = leaf[-4:] if leaf[-4:] in ("_[0]", "_[1]", "_[i]", "_[j]", "_[k]") else ""
            name = plain(leaf[:len(leaf) - len(kind)])
            if kind == "_[0]" and not by_method:
                name = INTERPRETER
            shares.add(name, int(weight))
    return shares


def samples(recording):
    """(time, frames from the innermost, each as text) of a recording."""
    script = subprocess.Popen([POLYPERF, "script", "-i", str(recording), "-F",
                               "tid,time,ip,sym,dso", "--ns"],
                              stdout=subprocess.PIPE, text=True, errors="replace")
    time, frames = None, []
    for line in script.stdout:
        if line.startswith("\t"):
            if found := re.match(r"\s*[0-9a-f]+ (.*)$", line):
                name, _, dso = found[1].rpartition(" (")
                frames.append((name, dso.rstrip(")")))
            continue
        if frames:
            yield time, frames
            frames = []
        if found := re.search(r"(\d+\.\d+):", line):
            time = float(found[1])
    if frames:
        yield time, frames
    if script.wait():
        raise RuntimeError(f"{recording}: polyperf script failed")


def of_async_profiler(frames):
    return any("libasyncProfiler" in dso or (dso.startswith("[k") and SIGNALS.search(name))
               for name, dso in frames)


def read_polyperf(path, by_method):
    """Only samples of the time in which async-profiler was at work, and without its own."""
    up, down, kept, own = 0, math.inf, [], 0
    for time, frames in samples(path):
        if any(name.startswith("JNI_CreateJavaVM") for name, _ in frames):
            up = time
            continue
        if time > up and "post_vm_death" in " ".join(name for name, _ in frames[-20:]):
            down = min(down, time)
        is_own = of_async_profiler(frames)
        own += is_own
        if not is_own:
            kept.append((time, frames[0]))
    shares = Shares()
    shares.own = own
    for time, (name, dso) in kept:
        if not up <= time <= down:
            continue
        name = plain(name)
        if name == "Interpreter" or (not by_method and "Interpreter" in dso):
            name = INTERPRETER
        shares.add(name)
    return shares


def agent_option(library, output):
    return f"-agentpath:{library}={AGENT},file={output}"


def run_once(name, command, options, folder):
    recording, output = folder / f"{name}.data", folder / f"{name}.collapsed"
    command = [part.replace("AGENT", agent_option(options.library, output)) for part in command]
    with open(folder / f"{name}.log", "w") as log:
        status = subprocess.run([POLYPERF, "record", "-q", "-F", "999", "-g", options.stacks, "-o",
                                 str(recording), "--", *command], stdout=log, stderr=log,
                                check=False).returncode
    if status or not output.exists():
        raise RuntimeError(f"{name}: exit {status}\n" + (folder / f"{name}.log").read_text())


def run_all(options, folder):
    commands = {}
    if options.work:
        classes = folder / "work"
        subprocess.run(["javac", "-d", str(classes), options.work], check=True)
        commands["work"] = ["java", "AGENT", "-cp", str(classes), pathlib.Path(options.work).stem,
                            str(options.seconds)]
    if options.classes:
        sources = folder / "gen"
        sources.mkdir(exist_ok=True)
        for number in range(options.classes):
            (sources / f"C{number}.java").write_text(java_class(number, options.classes))
        listing = folder / "gen.list"
        listing.write_text("".join(f"{path}\n" for path in sorted(sources.glob("*.java"))))
        commands["javac"] = ["javac", "-J" + "AGENT", "-proc:none", "-d", str(folder / "out"),
                             f"@{listing}"]
    for number in range(options.runs):
        for workload, command in commands.items():
            print(f"{workload}, run {number + 1} of {options.runs}", file=sys.stderr, flush=True)
            run_once(f"{workload}-{number + 1}", command, options, folder)


def deviation(pairs, name):
    """(mean difference, its standard error): what chance gives samples, or, if that is more,
    what runs show."""
    differences = [a.share(name) - p.share(name) for a, p in pairs]
    mean = sum(differences) / len(pairs)
    of_runs = statistics.stdev(differences) / math.sqrt(len(pairs)) if len(pairs) > 2 else 0
    counts = [sum(side.counts[name] for side in sides) for sides in zip(*pairs)]
    totals = [sum(side.total for side in sides) for sides in zip(*pairs)]
    both = sum(counts) / sum(totals)
    chance = math.sqrt(both * (1 - both) * (1 / totals[0] + 1 / totals[1]))
    return mean, max(of_runs, chance)


def compare(workload, pairs, top):
    totals = [sum(side.total for side in sides) for sides in zip(*pairs)]
    own = sum(p.own for _, p in pairs) / (totals[1] + sum(p.own for _, p in pairs))
    print(f"\n{workload}: {len(pairs)} runs, {totals[0]:,} samples of async-profiler, "
          f"{totals[1]:,} of polyperf; async-profiler itself took {own:.1%}, left out\n")
    print("| function | async-profiler | polyperf | difference | noise (3 sigma) | |\n"
          "| --- | --- | --- | --- | --- | --- |")

    def mean(side, name):
        return sum(pair[side].share(name) for pair in pairs) / len(pairs)

    names = {name for pair in pairs for side in pair for name in side.counts}
    ranked = sorted(names, key=lambda n: max(mean(0, n), mean(1, n)), reverse=True)
    apart, sums = 0, [0, 0]
    for name in ranked[:top]:
        difference, error = deviation(pairs, name)
        agrees = abs(difference) <= SIGMAS * error
        apart += not agrees
        sums = [sums[0] + mean(0, name), sums[1] + mean(1, name)]
        print(f"| `{name}` | {mean(0, name):.2%} | {mean(1, name):.2%} | {-difference * 100:+.2f} "
              f"| {SIGMAS * error * 100:.2f} | {'' if agrees else 'APART'} |")
    overlap = sum(min(mean(0, name), mean(1, name)) for name in names)
    print(f"\n{min(top, len(ranked)) - apart} of {min(top, len(ranked))} agree within noise; they "
          f"are {sums[0]:.1%} and {sums[1]:.1%} of all; of all functions' shares {overlap:.1%} "
          "are common", flush=True)
    return apart


def options_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", nargs="?", default=os.environ.get("ASYNC_PROFILER"))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--work", type=os.path.abspath)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--classes", type=int, default=2000)
    parser.add_argument("--stacks", choices=["fp", "dwarf"], default="fp")
    parser.add_argument("--top", type=int, default=20)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--again", type=pathlib.Path)
    return parser.parse_args(arguments)


def main():
    options = options_of(sys.argv[1:])
    folder = options.again or options.keep
    if not options.again:
        if not options.library or not os.path.exists(options.library):
            print("async_profiler: SKIP: no libasyncProfiler.so "
                  f"({options.library or 'give its path'})")
            return 0
        if missing := [tool for tool in ("java", "javac", POLYPERF) if not shutil.which(tool)]:
            print(f"async_profiler: SKIP: no {' '.join(missing)}")
            return 0
        options.library = os.path.abspath(options.library)
    with tempfile.TemporaryDirectory() as temporary:
        folder = (folder or pathlib.Path(temporary)).absolute()
        if not options.again:
            folder.mkdir(parents=True, exist_ok=True)
            run_all(options, folder)
        found = collections.defaultdict(list)
        by_method = options.stacks == "dwarf"
        for recording in sorted(folder.glob("*-*.data")):
            found[recording.stem.rpartition("-")[0]].append(
                (read_async(recording.with_suffix(".collapsed"), by_method),
                 read_polyperf(recording, by_method)))
        return int(sum(compare(workload, pairs, options.top)
                       for workload, pairs in found.items()) > 0)


sys.exit(main())
