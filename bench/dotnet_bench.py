"""Recordings of .NET: case `dotnet` of bench/run.

Reading: Roslyn compiles generated sources, recorded by perf with the runtime's jitdump; what `perf inject --jit` and
`perf report` make of it, and polyperf of the same files: time, and the share of samples in managed code that have a
name. Managed is what tests/lib/managed.py takes for it.

Recording: CPU time of the compiler, and of `dotnet build` of a console project, alone, under `perf record` with the
variables that perf needs, and under `polyperf record`; by turns, so that what disturbs the machine disturbs all.
Medians, with the recorder's own time.
"""
import pathlib
import shutil
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
import dotnet  # noqa: E402
import live  # noqa: E402
import managed  # noqa: E402
import polyperf as ours  # noqa: E402
import stock  # noqa: E402

FILES = 60
RATE = "999"


class Bench:
    def __init__(self, folder, program, measure, environment):
        self.folder, self.program, self.measure, self.environment = folder, program, measure, environment
        self.perf = ["perf", "--buildid-dir", "buildid"]
        self.dumps = folder / "dumps"

    def perf_record(self, command, output):
        """By perf, told as .NET's own documents tell it: a jitdump in the samples' clock."""
        shutil.rmtree(self.dumps, ignore_errors=True)
        self.dumps.mkdir()
        return ["env", "DOTNET_PerfMapEnabled=1", "DOTNET_PerfMapStubGranularity=2",
                f"DOTNET_PerfMapJitDumpPath={self.dumps}", *self.perf, "record", "-q", "-k", "mono", "-e", "cpu-clock",
                "-F", RATE, "-g", "-o", output, "--", *command]

    def polyperf_record(self, command, output):
        return [self.program, "record", "-q", "--interpreters=off", "-e", "cpu-clock", "-F", RATE, "-g", "fp", "-o",
                output, "--", *command]

    def run(self, command, folder=None):
        return self.measure([str(word) for word in command], folder or self.folder, 1)


def named_by(samples, leaves):
    return 100 * sum(leaves.get((s.sample.tid, s.sample.time), "[unknown]") != "[unknown]" for s in samples) / len(samples)


def perf_leaves(bench, recording):
    text = ours.run(*bench.perf, "script", "-G", "--ns", "-F", "tid,time,event,ip,sym,symoff,dso", "-i", recording,
                    cwd=bench.folder, env=bench.environment).stdout
    return {(sample.tid, sample.time): sample.frames[0].name for sample in stock.read_script(text) if sample.frames}


def polyperf_leaves(bench, recording):
    return {key: "[unknown]" if trust == "unknown" else name
            for key, (name, trust) in live.leaf_names(bench.program, recording).items()}


def measure_reading(bench, table, command):
    bench.run(bench.perf_record(command, "net.data"))
    injected = bench.run([*bench.perf, "inject", "--jit", "-i", "net.data", "-o", "net.injected"])
    reported = bench.run([*bench.perf, "report", "--stdio", "-g", "none", "--no-children", "-i", "net.injected"])
    dump, = bench.dumps.glob("jit-*.dump")
    dumps = ("--dump", str(dump))
    report = bench.run([bench.program, "report", *dumps, "-i", "net.data"])
    inject = bench.run([bench.program, "inject", *dumps, "-i", "net.data", "-o", "ours.injected"])
    theirs = injected.seconds + reported.seconds
    table.add("Roslyn, perf inject --jit + report", f"{theirs:.2f} s", f"{report.seconds:.3f} s",
              f"{theirs / report.seconds:.1f}x", "at least 20x", theirs >= 20 * report.seconds)
    table.add("Roslyn, perf inject --jit", f"{injected.seconds:.2f} s", f"{inject.seconds:.3f} s",
              f"{injected.seconds / inject.seconds:.1f}x", "at least 20x", injected.seconds >= 20 * inject.seconds)
    samples = managed.samples_in_managed_code(bench.folder / "net.data")
    bench.run(bench.polyperf_record(command, "own.data"))
    own_samples = managed.samples_in_managed_code(bench.folder / "own.data")
    perfs = named_by(samples, perf_leaves(bench, bench.folder / "net.injected"))
    own = named_by(own_samples, polyperf_leaves(bench, bench.folder / "own.data"))
    table.add(f"Roslyn, share of managed samples named ({len(samples)}, {len(own_samples)})", f"{perfs:.1f} %",
              f"{own:.1f} %", f"{own - perfs:+.1f}", "at least 99 %", own >= 99)


def measure_recording(bench, table, title, command, runs, folder=None, clean=lambda: None):
    ways = {"alone": lambda: command, "perf": lambda: bench.perf_record(command, bench.folder / "r.data"),
            "polyperf": lambda: bench.polyperf_record(command, bench.folder / "r.data")}
    spent = {name: [] for name in ways}
    for _ in range(runs):
        for name, words in ways.items():
            clean()
            spent[name].append(bench.run(words(), folder).cpu)
    alone, theirs, mine = (statistics.median(spent[name]) for name in ("alone", "perf", "polyperf"))
    table.add(f"{title}, {alone:.1f} s of the processor alone", f"{theirs / alone:.2f}x", f"{mine / alone:.2f}x",
              f"{mine / theirs:.2f}x", "at most 1.5x perf's", mine <= 1.5 * theirs)


def measure(table, folder, program, measure_runs, environment, runs):
    if not shutil.which("dotnet"):
        print("  no .NET")
        return
    bench = Bench(folder, program, measure_runs, environment)
    command = dotnet.compiler_command(folder, FILES)
    measure_reading(bench, table, command)
    measure_recording(bench, table, f"Roslyn compiling {FILES} files", command, runs)
    project = folder / "console"
    build = dotnet.project_to_build(project)

    def clean():
        for name in ("bin", "obj"):
            shutil.rmtree(project / name, ignore_errors=True)
    measure_recording(bench, table, "dotnet build", build, runs, project, clean)
