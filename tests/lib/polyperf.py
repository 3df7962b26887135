"""Runs polyperf and reads what it prints; shared by the tests that are scripts."""
import collections
import csv
import io
import re
import subprocess
import sys

Frame = collections.namedtuple("Frame", "address name")
Sample = collections.namedtuple("Sample", "pid tid time frames")

HEAD = re.compile(r"\s*(-?\d+)/(-?\d+)\s+(\d+)\.(\d{9}):\s*(.*)$")
FRAME = re.compile(r"\s*([0-9a-f]+)\b ?(.*)$")
SKIPPED = 77
CSV_HEADER = "overhead,samples,runtime,tier,trust,symbol,object"
CHILDREN_HEADER = "children,self,samples,runtime,tier,trust,symbol,object"


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def fail(*faults):
    for fault in faults:
        print(f"fault: {fault}")
    sys.exit(1)


def run(*command, **options):
    """The finished process, with its output as text; a failure ends the test."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          errors="surrogateescape", **options)
    if done.returncode != 0:
        print(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        fail(f"exit code {done.returncode}")
    return done


def read_frame(text):
    found = FRAME.match(text)
    if not found:
        fail(f"no frame: {text!r}")
    return Frame(int(found[1], 16), found[2].strip())


def read_script(text):
    """Samples from `script --ns -F pid,tid,time,ip,sym`, with or without call chains."""
    samples = []
    for line in text.split("\n"):
        if not line.strip():
            continue
        found = HEAD.match(line)
        if found:
            time = int(found[3]) * 10**9 + int(found[4])
            samples.append(Sample(int(found[1]), int(found[2]), time, []))
            if found[5]:
                samples[-1].frames.append(read_frame(found[5]))
        elif samples:
            samples[-1].frames.append(read_frame(line))
        else:
            fail(f"no sample: {line!r}")
    return samples


def read_report(text, header=CSV_HEADER):
    """Rows of `report --format csv` as dictionaries, with numbers as such."""
    lines = text.splitlines()
    if not lines or lines[0] != header:
        fail(f"report has no CSV header: {text[:500]!r}")
    rows = list(csv.DictReader(io.StringIO("\n".join(lines))))
    for row in rows:
        row["samples"] = int(row["samples"])
        if "children" in row:
            row["children"] = float(row["children"])
    return rows


# --- the share of alpha, beta and gamma, which every workload measures for itself ---

WORKERS = ("alpha", "beta", "gamma")
TOLERANCE = 5.0  # points
# Erlang's loops are la, lb and lg; lli's gamma is gamma_, since the C library has a gamma.
WORKER_NAME = re.compile(r"(?<![A-Za-z])(?:(alpha|la)|(beta|lb)|(gamma|lg))(?![A-Za-z0-9])")


def worker_of(name):
    found = WORKER_NAME.search(name)
    return WORKERS[found.lastindex - 1] if found else None


def shares_printed(text):
    """What the program itself measured, as percentages of the three together."""
    found = [re.search(rf"{worker}['\" (,:]*([0-9.]+)", text) for worker in WORKERS]
    if not all(found):
        found = re.search(r"share ([0-9.]+) ([0-9.]+) ([0-9.]+)", text)
        if not found:
            fail(f"the program printed no shares: {text[-300:]!r}")
        numbers = [float(number) for number in found.groups()]
    else:
        numbers = [float(one[1]) for one in found]
    return [100 * number / sum(numbers) for number in numbers]


def share_faults(counts, printed, minimum=100):
    """Compares samples by worker with the program's own word."""
    total = sum(counts[worker] for worker in WORKERS)
    if total < minimum:
        return [f"alpha, beta and gamma together have {total:g}, wanted {minimum} or more"]
    faults = []
    for worker, wanted in zip(WORKERS, printed):
        share = 100 * counts[worker] / total
        print(f"  {worker:6}{share:6.1f} %, the program says {wanted:.1f} %")
        if abs(share - wanted) > TOLERANCE:
            faults.append(f"{worker}: {share:.1f} %, the program says {wanted:.1f} %")
    return faults
