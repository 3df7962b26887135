#!/usr/bin/env python3
"""Compares what a profiler says about samples with what the program itself logged.

    truth_check.py LOG SAMPLES [--trust] [--min-right PERCENT] [--min-samples N]

LOG is written by tests/clients/truth. SAMPLES has a line a sample, as
`perf script --ns -F tid,time,ip,sym` prints them; with --trust a last word
follows that tells how sure the profiler is (polyperf's field of that name).

The rule, for every sample of a thread that logged:
  inside    a run of that thread covers the sample's time, and its code the address;
  boundary  the address lies in code that ran within BOUNDARY_NS of the sample's
            time, but not at it: judged by the run that is nearest in time;
  astray    the address lies in logged code, at a time when it did not run: the
            log or the clock is at fault, and more than one in a thousand fails;
  elsewhere the address is in no logged code: not judged.
Every judged sample is right (the name is that of the run), unnamed, or wrong;
nothing judged is left out of the percentage. With --trust a wrong name that is
called exact fails however rare it is.
"""
import argparse
import bisect
import collections
import itertools
import re
import sys

BOUNDARY_NS = 50_000
ASTRAY_LIMIT = 0.001
TRUSTS = ("exact", "early", "untimed", "ambiguous", "stale", "unknown")
UNNAMED = ("", "[unknown]", "unknown")

Run = collections.namedtuple("Run", "start end name address size")
Sample = collections.namedtuple("Sample", "tid time ip name trust")
LINE = re.compile(r"\s*(\d+)\s+(\d+)\.(\d{9}):\s+([0-9a-f]+)\b[ \t]*(.*)$")


def read_log(path):
    """Runs of each thread in the order of time."""
    runs = collections.defaultdict(list)
    with open(path) as log:
        for line in log:
            if line.startswith("#"):
                continue
            tid, start, end, name, address, size = line.split()
            runs[int(tid)].append(Run(int(start), int(end), name, int(address, 16), int(size)))
    for of_thread in runs.values():
        of_thread.sort()
    return runs


def read_pids(path):
    """The processes that logged, for whoever must remove their perf maps."""
    with open(path) as log:
        return [int(line.split()[2]) for line in log if line.startswith("# pid ")]


def read_samples(lines, with_trust):
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        found = LINE.match(line)
        if not found:
            sys.exit(f"samples, line {number}: not understood: {line.rstrip()}")
        name, trust = found[5].strip(), None
        if with_trust:
            name, _, trust = name.rpartition(" ")
            name = name.strip()
            if trust not in TRUSTS:
                sys.exit(f"samples, line {number}: no trust at the end: {line.rstrip()}")
        yield Sample(int(found[1]), int(found[2]) * 10**9 + int(found[3]), int(found[4], 16),
                     name, trust)


def read_code(path):
    """The bytes of each function, by process and name."""
    with open(path) as log:
        words = [line.split() for line in log]
    return {(int(pid), name): bytes.fromhex(code) for pid, name, _, code in words}


def code_faults(runs, made, maps, min_right):
    """What was read from memory against what the program put there. While a function runs, its
    bytes are in their place: read before the end of its first run they must be right.
    """
    ends = {}
    for run in sorted(itertools.chain(*runs.values()), reverse=True):
        ends[run.name] = run.end  # of its first run
    right = 0
    for told in maps:
        for load in told.loads:
            name = load.name.decode()
            is_right = load.code == made.get((told.pid, name))
            right += is_right
            if not is_right and load.time <= ends.get(name, 0):
                yield f"wrong code of {name}, read {ends[name] - load.time} ns before its end"
    share = 100 * right / len(made) if made else 0
    print(f"right code of {right} of {len(made)} functions: {share:.2f} %")
    if share < min_right:
        yield f"right code of {share:.2f} % of the functions, wanted {min_right} %"


def holds(run, ip):
    return run.address <= ip < run.address + run.size


def judge(runs, sample):
    """Where the sample belongs, and the run that it is judged by."""
    at = bisect.bisect_right(runs, sample.time, key=lambda run: run.start) - 1
    if at >= 0 and sample.time <= runs[at].end and holds(runs[at], sample.ip):
        return "inside", runs[at]
    near = []
    for run in runs[max(at - 1, 0):at + 3]:
        distance = max(run.start - sample.time, sample.time - run.end, 0)
        if holds(run, sample.ip) and distance <= BOUNDARY_NS:
            near.append((distance, run))
    if near:
        return "boundary", min(near)[1]
    return "astray", None


class Code:
    """All addresses that a thread ever ran, as merged intervals."""

    def __init__(self, runs):
        self.starts, self.ends = [], []
        for address, end in sorted({(run.address, run.address + run.size) for run in runs}):
            if self.ends and address <= self.ends[-1]:
                self.ends[-1] = max(self.ends[-1], end)
            else:
                self.starts.append(address)
                self.ends.append(end)

    def __contains__(self, ip):
        at = bisect.bisect_right(self.starts, ip) - 1
        return at >= 0 and ip < self.ends[at]


def count(runs, samples):
    """Counts by (place, verdict, trust), and the first wrong ones to show."""
    code = {tid: Code(of_thread) for tid, of_thread in runs.items()}
    counts, wrong = collections.Counter(), []
    for sample in samples:
        if sample.tid not in code or sample.ip not in code[sample.tid]:
            counts["elsewhere", "", sample.trust] += 1
            continue
        place, run = judge(runs[sample.tid], sample)
        if run is None:
            verdict = ""
        elif sample.name == run.name:
            verdict = "right"
        elif sample.name in UNNAMED:
            verdict = "unnamed"
        else:
            verdict = "wrong"
        counts[place, verdict, sample.trust] += 1
        if verdict in ("wrong", "unnamed"):
            wrong.append((sample, run))
    return counts, wrong


def total(counts, place=None, verdict=None, trust=None):
    return sum(n for (p, v, t), n in counts.items()
               if place in (None, p) and verdict in (None, v) and trust in (None, t))


def print_table(counts, with_trust):
    columns = TRUSTS if with_trust else ()
    print(f"{'':10}{'samples':>9}{'right':>9}{'unnamed':>9}{'wrong':>9}")
    for place in ("inside", "boundary", "astray", "elsewhere"):
        row = [total(counts, place), *(total(counts, place, v) for v in ("right", "unnamed", "wrong"))]
        print(f"{place:10}" + "".join(f"{n:9}" for n in row))
    for trust in columns:
        row = [sum(total(counts, p, v, trust) for p in ("inside", "boundary"))
               for v in (None, "right", "unnamed", "wrong")]
        if row[0]:
            print(f"  {trust:8}" + "".join(f"{n:9}" for n in row))


def find_faults(counts, options):
    judged = total(counts, "inside") + total(counts, "boundary")
    right = total(counts, verdict="right")
    astray = total(counts, "astray")
    share = 100 * right / judged if judged else 0
    print(f"{right} of {judged} right: {share:.2f} %")
    if judged < options.min_samples:
        yield f"only {judged} samples to judge, wanted {options.min_samples}"
    if share < options.min_right:
        yield f"{share:.2f} % right, wanted {options.min_right} %"
    if astray > ASTRAY_LIMIT * max(judged, 1):
        yield f"{astray} samples in logged code at times when it did not run"
    silent = total(counts, verdict="wrong", trust="exact")
    if silent:
        yield f"{silent} wrong names are called exact"


def check(log, lines, options):
    """Prints the table; returns the list of what is wrong."""
    counts, wrong = count(read_log(log), read_samples(lines, options.trust))
    print_table(counts, options.trust)
    for sample, run in wrong[:options.show]:
        print(f"  tid {sample.tid} time {sample.time} ip {sample.ip:x}: {sample.name} "
              f"[{sample.trust}], was {run.name}, {sample.time - run.start} ns into its run")
    return list(find_faults(counts, options))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("log")
    parser.add_argument("samples", help="a file, or - for standard input")
    parser.add_argument("--trust", action="store_true", help="each line ends with a trust")
    parser.add_argument("--min-right", type=float, default=100.0, metavar="PERCENT")
    parser.add_argument("--min-samples", type=int, default=500, metavar="N")
    parser.add_argument("--show", type=int, default=10, metavar="N", help="wrong samples to print")
    return parser.parse_args()


if __name__ == "__main__":
    given = parse_arguments()
    with (sys.stdin if given.samples == "-" else open(given.samples, errors="replace")) as text:
        faults = check(given.log, text, given)
    for fault in faults:
        print(f"fault: {fault}")
    sys.exit(bool(faults))
