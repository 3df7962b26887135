#!/usr/bin/env python3
"""polyperf top without a screen, on real programs.

    top_test.py POLYPERF CASE

Cases: node, java, python: names and shares are what the program says of itself, and what `record` and
`report` say; phases: what was hot leaves, and what is comes; exit: it ends with the process; system: new
processes are seen; terminated: nothing is left behind; churn: memory and files stay bounded.
"""
import collections
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import live
import polyperf

WORKLOADS = HERE / "workloads"
FOR_LONG = "300"  # what runs until it is ended
MEGABYTE = 1 << 20


def tool(name):
    path = shutil.which(name)
    if not path:
        polyperf.skip(f"{name} is not installed")
    return path


def node(place):
    return [tool("node"), WORKLOADS / "work.js", "3"]


def python(place):
    return [tool("python3"), WORKLOADS / "work.py", "3"]


def java(place):
    built = place.root / "built"
    built.mkdir()
    subprocess.run([tool("javac"), "-encoding", "UTF-8", "-d", built, WORKLOADS / "Work.java"], check=True)
    return [tool("java"), "-cp", built, "Work", "3"]


def read_intervals(text):
    return [json.loads(line) for line in text.splitlines()]


class Top:
    """One that runs; next() gives its intervals as they come."""

    def __init__(self, place, program, *words):
        self.process = place.start(program, "top", "--format", "json", *words, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()

    def next(self):
        line = self.process.stdout.readline()
        if not line:
            polyperf.fail(f"top ended: {self.process.stderr.read()[-1000:]}")
        return json.loads(line)

    def until(self, what, condition):
        """The first interval of which it is true."""
        end = time.monotonic() + live.PATIENCE
        while not condition(interval := self.next()):
            if time.monotonic() > end:
                polyperf.fail(f"waited in vain: {what}; the last rows: {interval['rows'][:5]}")
        return interval

    def rest(self):
        """What is left, after it was ended or ends."""
        output, errors = self.process.communicate(timeout=live.PATIENCE)
        return read_intervals(output), errors


def share_of(interval, word):
    return sum(row["overhead"] for row in interval["rows"] if word in row["symbol"])


def pids_of(interval):
    return {row["pid"] for row in interval["rows"] if "pid" in row}


def as_recorded(program, place, command):
    """All intervals summed up are what a recording of the same program says."""
    done = place.run(program, "top", "--format", "json", "--over", "all", "-d", "0.5", "-F", "1999", "--", *command)
    intervals = read_intervals(done.stdout)
    last = intervals[-1]
    faults = [] if last["last"] and len(intervals) >= 3 else [f"{len(intervals)} intervals, the last: {last['last']}"]
    counts = collections.Counter()
    for row in last["rows"]:
        counts[polyperf.worker_of(row["symbol"])] += row["samples"]
    faults += polyperf.share_faults(counts, polyperf.shares_printed(done.stderr))
    samples = sum(interval["interval_samples"] for interval in intervals)
    if round(last["samples"]) != samples or round(sum(last["trust"].values())) != samples:
        faults.append(f"{last['samples']} samples in the table of {samples}, trust {last['trust']}")
    believed = last["trust"]["exact"] + last["trust"]["early"]
    if believed < 0.97 * samples:
        faults.append(f"trust of {samples} samples: {last['trust']}")
    recording, _ = place.record_all(program, command)
    report = polyperf.read_report(polyperf.run(program, "report", "--format", "csv", "-i", recording).stdout)
    names = {(row["symbol"], row["runtime"], row["object"]) for row in report}
    for row in last["rows"]:
        if row["overhead"] >= 3 and (row["symbol"], row["runtime"], row["object"]) not in names:
            faults.append(f"report does not know {row}")
    own = [row for row in last["rows"] if polyperf.worker_of(row["symbol"]) and row["runtime"] != "native"]
    if not any(row.get("file", "").startswith(str(WORKLOADS)) or "ork." in row.get("file", "") for row in own):
        faults.append(f"no lines: {own[:3]}")
    return faults + live.left_behind(place, pids_of(last))


def phases(program, place):
    command = [tool("node"), WORKLOADS / "phases.js", "2.5", FOR_LONG]
    with Top(place, program, "-d", "0.4", "--window", "0.8", "--", *command) as top:
        top.until("the first phase", lambda i: share_of(i, "first") > 60)
        later = top.until("the second phase", lambda i: share_of(i, "second") > 60 and share_of(i, "first") < 1)
        tiers = {row["last_tier"] for row in later["rows"] if "second" in row["symbol"]}
        os.kill(top.process.pid, signal.SIGINT)
        top.rest()
    return [] if "turbofan" in tiers else [f"the second phase runs in {tiers}"]


def exit_of_process(program, place):
    with subprocess.Popen([tool("node"), WORKLOADS / "phases.js", FOR_LONG, FOR_LONG]) as other:
        with Top(place, program, "-d", "0.3", "-p", other.pid) as top:
            try:
                seen = top.until("samples", lambda i: i["samples"] > 50)
            finally:
                other.kill()
            rest, errors = top.rest()
    faults = [] if rest and rest[-1]["last"] else ["it did not say that this was the last"]
    if pids_of(seen) != {other.pid}:
        faults.append(f"processes {pids_of(seen)}, not {other.pid}")
    if top.process.returncode or "has ended" not in errors:
        faults.append(f"status {top.process.returncode}: {errors}")
    return faults


def system(program, place):
    """A process that was not there when it began, with names from a map that is found by its place."""
    with Top(place, program, "-a", "-d", "0.3", "--filter", "phases") as top:
        top.next()
        command = [tool("node"), "--perf-basic-prof", WORKLOADS / "phases.js", FOR_LONG, FOR_LONG]
        with subprocess.Popen(command, cwd=place.cwd, env=place.environment) as other:
            try:
                found = top.until("the new process", lambda i: any(
                    row.get("pid") == other.pid and "first" in row["symbol"] for row in i["rows"]))
            finally:
                other.kill()
        os.kill(top.process.pid, signal.SIGTERM)
        top.rest()
    pathlib.Path(f"/tmp/perf-{other.pid}.map").unlink(missing_ok=True)
    names = {row["process"] for row in found["rows"] if row.get("pid") == other.pid}
    return [] if names == {"node"} else [f"processes {names}"]


def terminated(program, place):
    faults = []
    for number in (signal.SIGTERM, signal.SIGHUP):
        with Top(place, program, "-d", "0.3", "--", tool("node"), WORKLOADS / "phases.js", FOR_LONG, FOR_LONG) as top:
            seen = top.until("samples", lambda i: i["samples"] > 50)
            if not any(place.tmp.iterdir()):
                faults.append("no private directory: this test shows nothing")
            os.kill(top.process.pid, number)
            top.rest()
        faults += live.left_behind(place, pids_of(seen))
    return faults


def resident_bytes(pid):
    fields = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(fields.partition("RssAnon:")[2].split()[0]) * 1024


def own_file_bytes(pid):
    """What is in files that it has open and nobody else can see: in memory, or without a name."""
    total = 0
    for link in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            name = os.readlink(link)
            if name.startswith("/memfd:") or name.endswith("(deleted)"):
                total += os.stat(link).st_blocks * 512
    return total


def churn(program, place):
    """New functions, and new processes, all the time."""
    script = place.cwd / "start"
    script.write_text('node "$1" 0 300 churn & while :; do /bin/true; done\n')
    faults = []
    with Top(place, program, "-d", "0.1", "--window", "1", "--", "sh", script, WORKLOADS / "phases.js") as top:
        for _ in range(15):
            top.next()
        before = resident_bytes(top.process.pid)
        for _ in range(35):
            last = top.next()
        grown = resident_bytes(top.process.pid) - before
        files = own_file_bytes(top.process.pid)
        os.killpg(top.process.pid, signal.SIGTERM)
        top.rest()
    print(f"  {before >> 20} MB, {grown >> 10} KB more, {files >> 10} KB in files")
    if grown > 24 * MEGABYTE:
        faults.append(f"memory grew by {grown >> 20} MB in 35 intervals")
    if files > 40 * MEGABYTE:
        faults.append(f"{files >> 20} MB in files of its own")
    if not last["samples"]:
        faults.append("no samples")
    return faults


CASES = {
    "node": lambda program, place: as_recorded(program, place, node(place)),
    "java": lambda program, place: as_recorded(program, place, java(place)),
    "python": lambda program, place: as_recorded(program, place, python(place)),
    "phases": phases, "exit": exit_of_process, "system": system, "terminated": terminated, "churn": churn,
}


def main():
    program, case = sys.argv[1:]
    reason = live.why_no_sampling()
    if reason:
        polyperf.skip(reason)
    if case == "system" and os.geteuid() != 0:
        polyperf.skip("only root may look at the whole machine")
    with live.place() as place:
        faults = CASES[case](program, place)
    if faults:
        polyperf.fail(*faults)


main()
