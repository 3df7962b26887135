"""What it costs to read the frames of Python at each sample: case `interpreters` of bench/run.

Slowdown: a fixed amount of work alone, under `perf record`, under `polyperf record`, and with
Python's own way, its trampolines for perf (-X perf); one after the other in each round, so that
what disturbs the machine disturbs all. What counts is the median of the rounds' CPU times: in a virtual
machine the least one is of a moment when the processor ran faster.

A sample: the kernel's own count of the time in the program that walks (kernel.bpf_stats_enabled),
by the depth of the stack.
"""
import glob
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import time

STACKS = pathlib.Path(__file__).resolve().parent / "stacks.py"
STATISTICS = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")
WORK_SECONDS = 0.4
ROUNDS = 15
RATES = (99, 999)
# Functions of their own that call each other, or one that calls itself, or 50 threads with the former;
# the innermost is busy.
DEPTH = """
import sys, threading
sys.setrecursionlimit(2000)
def spin():
    while True:
        for i in range(100000): pass
def same(depth):
    return same(depth - 1) if depth else spin()
names = {"f0": spin}
for i in range(1, int(sys.argv[1])):
    exec(f"def f{i}(): f{i - 1}()", names)
if sys.argv[2] == "itself":
    same(int(sys.argv[1]) - 3)
outermost = names[f"f{int(sys.argv[1]) - 2}"]
if sys.argv[2] == "threads":
    for i in range(49):
        threading.Thread(target=outermost, daemon=True).start()
outermost()
"""


def pythons():
    """Debian's, which most have, and one that has trampolines."""
    debian = "/usr/bin/python3"
    found = sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.12.*/bin/python3.12")))
    return debian, found[-1] if found else shutil.which("python3.12")


def version(python):
    return subprocess.run([python, "-V"], capture_output=True, text=True).stdout.split()[1]


class Bench:
    def __init__(self, folder, polyperf, environment):
        self.folder, self.polyperf, self.environment = folder, polyperf, environment

    def record(self, name, rate):
        """The command that records another, as little as that takes."""
        words = [self.polyperf, "record", "--interpreters=walk"] if name == "polyperf" else ["perf", "record"]
        return [*words, "-q", "-e", "cpu-clock", "-F", str(rate), "-o", f"{name}.data", "--"]

    def work(self, rounds, recorder, *python):
        """CPU seconds of the work."""
        done = subprocess.run([*recorder, *python, str(STACKS), "0", str(rounds)], cwd=self.folder,
                              env=self.environment, capture_output=True, text=True, errors="replace")
        found = re.search(r"^(\S+) \S+$", done.stdout, re.M)
        if done.returncode or not found:
            raise RuntimeError(f"{' '.join(map(str, recorder))}: exit {done.returncode}\n{done.stderr}")
        return float(found[1])

    def slowdowns(self, python, ways):
        """For each of `ways` = {name: (recorder, options of Python)} the share of CPU time on top, in percent."""
        count = max(1, int(20 * WORK_SECONDS / self.work(20, [], python)))
        ways = {"alone": ([], []), **ways}
        spent = {name: [] for name in ways}
        for _ in range(ROUNDS):
            for name, (recorder, options) in ways.items():
                spent[name].append(self.work(count, recorder, python, *options))
        alone = statistics.median(spent["alone"])
        return {name: 100 * (statistics.median(seconds) / alone - 1) for name, seconds in spent.items()}

    def cost(self, python, depth, how, rate, seconds=3):
        """Nanoseconds a sample while a stack of that depth is walked, and how many samples that was."""
        with subprocess.Popen([*self.record("polyperf", rate), python, "-c", DEPTH, str(depth), how], cwd=self.folder,
                              env=self.environment, stderr=subprocess.PIPE) as recorder:
            try:
                time.sleep(2)
                runs, spent = program_cost(recorder.pid)
                time.sleep(seconds)
                more_runs, more_spent = program_cost(recorder.pid)
            finally:
                recorder.send_signal(2)
                _, said = recorder.communicate(timeout=60)
        if more_runs - runs < rate * seconds / 10:
            raise RuntimeError(f"no walk was run: {said.decode(errors='replace')}")
        return (more_spent - spent) / (more_runs - runs), more_runs - runs


def program_cost(pid):
    """Runs and nanoseconds of the BPF program that a recorder has on its events: the one that ran."""
    found = [(0, 0)]
    for path in pathlib.Path(f"/proc/{pid}/fdinfo").iterdir():
        try:
            values = dict(line.split(":", 1) for line in path.read_text().splitlines() if ":" in line)
        except OSError:
            continue
        if "run_cnt" in values:
            found.append((int(values["run_cnt"]), int(values["run_time_ns"])))
    return max(found)


def measure_slowdown(bench, table):
    debian, newer = pythons()
    ways = {f"{name} {rate}": (bench.record(name, rate), []) for rate in RATES for name in ("perf", "polyperf")}
    found = bench.slowdowns(debian, ways)
    for rate, target in zip(RATES, (1, 3)):
        theirs, ours = found[f"perf {rate}"], found[f"polyperf {rate}"]
        table.add(f"busy Python {version(debian)}, {rate} Hz, CPU time", f"{theirs:+.2f} %", f"{ours:+.2f} %",
                  f"{ours - theirs:+.2f} %", f"at most +{target} %", ours - theirs <= target)
    if not newer:
        print("  no Python 3.12: not held against its trampolines")
        return
    ways = {"trampolines": ([], ["-X", "perf"])}
    for rate in RATES:
        ways[f"perf {rate}"] = (bench.record("perf", rate), ["-X", "perf"])
        ways[f"polyperf {rate}"] = (bench.record("polyperf", rate), [])
    found = bench.slowdowns(newer, ways)
    print(f"  trampolines alone, nothing recorded: {found['trampolines']:+.2f} %")
    for rate in RATES:
        theirs, ours = found[f"perf {rate}"], found[f"polyperf {rate}"]
        table.add(f"busy Python {version(newer)}, {rate} Hz, CPU time, against -X perf", f"{theirs:+.2f} %",
                  f"{ours:+.2f} %", f"{ours - theirs:+.2f} %", "less", ours < theirs)


def measure_samples(bench, table):
    before = STATISTICS.read_text()
    STATISTICS.write_text("1")
    try:
        for python in filter(None, pythons()):
            for depth, how, rate in ((5, "others", 99), (5, "others", 999), (50, "others", 999),
                                     (50, "threads", 999), (200, "others", 999), (200, "itself", 999)):
                cost, count = bench.cost(python, depth, how, rate)
                kind = {"others": "", "itself": " of one function", "threads": " in each of 50 threads"}[how]
                table.add(f"walk of {depth} frames{kind}, "
                          f"Python {version(python)}, {rate} Hz, {count} samples", "", f"{cost / 1000:.2f} us",
                          f"{cost * rate / 1e7:.2f} % of the time", "-", True)
    finally:
        STATISTICS.write_text(before)


def measure(table, folder, polyperf, environment):
    bench = Bench(folder, polyperf, environment)
    measure_slowdown(bench, table)
    if not os.access(STATISTICS, os.W_OK):
        print("  only root may have the kernel count what programs take")
        return
    measure_samples(bench, table)
