#!/usr/bin/env python3
"""Holds the reader and the writer against stock perf, where it is installed.

  compare_perf.py COUNTS SWAP WRITE DATA_DIR

1. Every recording in DATA_DIR: as many records of each type as perf dumps.
2. The same recordings in the other byte order: perf prints the same samples.
3. Files of our writer, plain and packed: perf reads all of them without complaint.
4. Fresh recordings of this machine, in a file, a pipe, packed: as in 1.

Exits with 77, which ctest calls skipped, where there is no perf.
"""
import collections, os, pathlib, re, subprocess, sys, tempfile

COUNTS, SWAP, WRITE, DATA_DIR = sys.argv[1:5]
# Perf's names for its own records lack the prefix.
NAMES = {"ATTR": "HEADER_ATTR", "FEATURE": "HEADER_FEATURE", "BUILD_ID": "HEADER_BUILD_ID",
         "TRACING_DATA": "HEADER_TRACING_DATA", "EVENT_TYPE": "HEADER_EVENT_TYPE"}
passed, failed, skipped = 0, 0, 0


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, errors="replace",
                          timeout=120, **options)


def check(what, condition, detail=""):
    global passed, failed
    passed, failed = passed + bool(condition), failed + (not condition)
    if not condition:
        print(f"FAILED: {what}\n{detail}")


def skip(what, why):
    global skipped
    skipped += 1
    print(f"skipped: {what}: {why}")


def our_counts(path):
    got = run(COUNTS, str(path))
    return {name: int(count) for name, count in (line.split() for line in got.stdout.splitlines())}


def perf_counts(path):
    """What perf dumps, or None with the reason if it cannot read the file to its end."""
    got = run("perf", "report", "-D", "-i", str(path))
    if got.returncode != 0 or re.search("incompatible|failed to process", got.stderr):
        return None, "perf: " + " ".join(got.stderr.split())[:100]
    found = re.findall(r": PERF_RECORD_([A-Z0-9_]+)", got.stdout)
    counts = collections.Counter(NAMES.get(name, name) for name in found)
    for name in ("COMPRESSED", "COMPRESSED2"):
        counts.pop(name, None)
    return dict(counts), ""


def compare_counts(path):
    if "compressed2" in path.name and perf_version() < (6, 17):
        return skip(path.name, "COMPRESSED2 is newer than this perf")
    theirs, why = perf_counts(path)
    if theirs is None:
        return skip(path.name, why)
    ours = our_counts(path)
    check(f"counts of {path.name}", ours == theirs, f"  ours {ours}\n  perf {theirs}")


def perf_version():
    found = re.search(r"(\d+)\.(\d+)", run("perf", "--version").stdout)
    return tuple(map(int, found.groups())) if found else (0, 0)


def compare_swapped(path, scratch):
    swapped = scratch / "swapped.data"
    if run(SWAP, str(path), str(swapped)).returncode != 0:
        return
    plain, turned = (run("perf", "script", "-i", str(p)) for p in (path, swapped))
    if "incompatible file format" in plain.stderr:
        return skip(f"{path.name} swapped", "attrs newer than this perf")
    check(f"{path.name} swapped", plain.stdout and plain.stdout == turned.stdout,
          turned.stderr + turned.stdout[:400])


def judge_written(scratch, *options):
    path = scratch / "written.data"
    what = f"written file {' '.join(options)}"
    check(what, run(WRITE, *options, str(path)).returncode == 0)
    report = run("perf", "report", "--stdio", "-g", "none", "-i", str(path))
    script = run("perf", "script", "-F", "comm,tid,time,event,ip", "-i", str(path))
    ids = run("perf", "buildid-list", "-i", str(path))
    header = run("perf", "report", "--header-only", "-i", str(path))
    for name, got in (("report", report), ("script", script), ("buildid-list", ids)):
        check(f"{what}: perf {name}", got.returncode == 0, got.stderr)
        check(f"{what}: perf {name} has no complaint", not got.stderr.strip(), got.stderr)
    check(f"{what}: samples", script.stdout.count("cpu-clock") == 2500 and
          script.stdout.count("task-clock") == 2500, script.stdout[:400])
    check(f"{what}: object", "program" in report.stdout and "Total Lost Samples: 5" in report.stdout,
          report.stdout[:800])
    check(f"{what}: build ids", "0102030405060708090a0b0c0d0e0f10 " in ids.stdout and
          "0102030405060708090a0b0c0d0e0f1011121314 /opt/example/library.so" in ids.stdout, ids.stdout)
    for text in ("hostname : example", "nrcpus online : 2", "cmdline : /opt/example/polyperf record",
                 "name = task-clock", "clockid: monotonic"):
        check(f"{what}: header has {text}", text in header.stdout, header.stdout)
    check(f"{what}: counts", our_counts(path) == perf_counts(path)[0])


def record_fresh(scratch):
    busy = [sys.executable, "-c", "import time\nend=time.process_time()+.2\nwhile time.process_time()<end: pass"]
    ways = {
        "plain.pipe": ["-e", "cpu-clock"],
        "chains": ["-e", "cpu-clock,task-clock", "-g"],
        "group": ["-e", "{cpu-clock,task-clock}:S"],
        "packed": ["-e", "cpu-clock", "-z", "--call-graph", "dwarf"],
        "packed.pipe": ["-e", "cpu-clock", "-z", "-g"],
        "fields": ["-e", "cpu-clock", "-d", "-W", "-T", "--namespaces", "--switch-events", "--all-cgroups"],
    }
    for name, options in ways.items():
        path = scratch / f"fresh-{name}.data"
        is_pipe = name.endswith("pipe")
        command = ["perf", "record", "-q", "-N", "-F", "500", *options, "-o", "-" if is_pipe else str(path), *busy]
        with open(path if is_pipe else os.devnull, "wb") as out:
            got = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, timeout=120)
        if got.returncode != 0:
            skip(path.name, "perf cannot record here")
        else:
            compare_counts(path)


try:
    found = run("perf", "--version")
except OSError:
    found = None
if not found or found.returncode != 0:
    print("SKIPPED: no working perf on this machine")
    sys.exit(77)
os.environ["PERF_CONFIG"] = "/dev/null"
with tempfile.TemporaryDirectory() as folder:
    files = sorted(pathlib.Path(DATA_DIR).glob("*.data"))
    for file in files:
        compare_counts(file)
        # Stacks are opaque bytes: perf unwinds them, and cannot in the other byte order.
        if "dwarf" not in file.name:
            compare_swapped(file, pathlib.Path(folder))
    judge_written(pathlib.Path(folder))
    judge_written(pathlib.Path(folder), "-z")
    record_fresh(pathlib.Path(folder))
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(failed > 0 or not passed)
