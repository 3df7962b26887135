#!/usr/bin/env python3
"""A plain copy of a recording, as file and as pipe: stock perf must see in it what it saw before.

    output_perf_test.py POLYPERF COPY_RECORDING CASE

Cases: events, group, compressed, system, tracepoint, dwarf, buildid, polyperf. All but the last
record with perf, both to a file and to a pipe.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import live
import polyperf

LOOP = ["sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; sleep 0.05"]
RECORD = {
    "events": ["-e", "cpu-clock,task-clock:u"],
    "group": ["-e", "{cpu-clock,task-clock:u}", "-g"],
    "compressed": ["-z", "-e", "cpu-clock,task-clock:u"],
    "system": ["-a", "-F", "200", "-e", "cpu-clock", "-g"],
    "tracepoint": ["-e", "sched:sched_switch,cpu-clock", "-g"],
    "dwarf": ["-F", "1000", "--call-graph", "dwarf"],
    "buildid": ["--buildid-mmap", "-B", "-d"],
}
THERE_AND_BACK = ("events", "tracepoint", "polyperf")
# What must differ: where things lie, when the file was made, and a hint that perf chooses by chance.
OF_THE_FILE = re.compile(r"^# (captured on|data offset|data size|feat offset|compressed) |^# \(Tip")
# Programs of the whole machine: they may be more than a pipe's records of features can hold.
OF_THE_MACHINE = re.compile(r"^# (bpf_prog_info|btf info|\tsub_prog) |(?<=\s)BPF_(PROG_INFO|BTF) ")
# Perf shows these alike for a file and a pipe. It finds no offsets into symbols in a pipe.
# What is inlined it would ask objects for, at length, and not the recording.
FIELDS = ["--no-inline", "-F", "comm,pid,tid,time,event,period,ip,sym,dso"]


class Form:
    """A recording as perf reads it: by name, or on its standard input."""

    def __init__(self, path, is_pipe):
        self.path, self.is_pipe = path, is_pipe
        self.seen = {}  # a file is written once, before

    def perf(self, *words):
        command = ["perf", *words, "-i", "-" if self.is_pipe else str(self.path)]
        with open(self.path, "rb") as standard_input:
            done = subprocess.run(command, stdin=standard_input, capture_output=True, text=True,
                                  errors="replace", timeout=240)
        if done.returncode:
            polyperf.fail(f"{' '.join(command)}: exit {done.returncode}: {done.stderr[-500:]}")
        return done.stdout + done.stderr

    def lines(self, *words, again=False):
        """Without what only tells that records are no longer compressed, or had room in a pipe."""
        if words in self.seen and not again:
            return self.seen[words]
        lines = [line for line in self.perf(*words).splitlines() if not OF_THE_FILE.match(line)]
        lines = [line.replace("COMPRESSED ", "") if line.startswith("# missing") else line
                 for line in lines]
        self.seen[words] = [line.replace(", size: 112,", ", size: 128,") for line in lines]
        return self.seen[words]


def record(case, path, is_pipe):
    command = ["perf", "record", "-q", *RECORD[case], "-o", "-" if is_pipe else str(path)]
    with open(path, "wb") as output:
        done = subprocess.run([*command, "--", *LOOP], stdout=output, stderr=subprocess.PIPE,
                              text=True, timeout=240)
    if done.returncode:
        polyperf.skip(f"{' '.join(command)}: {done.stderr.strip()[:300]}")
    return Form(path, is_pipe)


def record_ours(program, path):
    polyperf.run(program, "record", "-o", path, "--", *LOOP)
    return Form(path, False)


def copy(program, form, path, is_pipe):
    if not is_pipe:
        polyperf.run(program, form.path, path)
        return Form(path, False)
    with open(path, "wb") as output:
        subprocess.run([program, form.path, "-"], stdout=output, check=True)
    return Form(path, True)


def first_difference(one, other):
    for number, pair in enumerate(zip(one, other), 1):
        if pair[0] != pair[1]:
            return f"line {number}: {pair[0]!r} and {pair[1]!r}"
    return f"{len(one)} and {len(other)} lines"


def compare(name, original, copied, was_in_pipe=False):
    """In the same form everything is the same; in the other one all that perf shows of both."""
    views = [("script", *FIELDS), ("report", "--no-inline", "--stdio", "-g", "none", "--no-children")]
    if original.is_pipe == copied.is_pipe:
        views = [("script", "--no-inline"), ("report", "--no-inline", "--stdio"),
                 ("report", "--header-only", "-I"), ("evlist", "-v")]
    faults = []

    def both(view, again=False):
        seen = original.lines(*view, again=again), copied.lines(*view, again=again)
        if was_in_pipe:
            seen = ([OF_THE_MACHINE.sub("", line) for line in lines if not OF_THE_MACHINE.match(line)]
                    for lines in seen)
        return seen

    for view in views:
        before, after = both(view)
        if before != after:
            # Other processes' maps in /tmp, from which perf takes names, come and go.
            before, after = both(view, again=True)
        if view[0] == "script" and len(before) < 20:
            faults.append(f"{name}: perf {' '.join(view)} shows next to nothing: {before}")
        if before != after:
            faults.append(f"{name}: perf {' '.join(view)}: {first_difference(before, after)}")
    return faults


def perf_inject_faults(name, form, folder):
    """Perf's own injection takes the copy for input, and gives the same samples."""
    path = folder / "injected"
    path.unlink(missing_ok=True)
    form.perf("inject", "-b", "-o", str(path))
    with open(path, "rb") as injected:
        is_pipe = int.from_bytes(injected.read(16)[8:], "little") == 16
    before = form.lines("script", *FIELDS)
    after = Form(path, is_pipe).lines("script", *FIELDS)
    return [] if before == after else [f"{name}: perf inject: {first_difference(before, after)}"]


def case_faults(case, polyperf_program, copy_program, folder):
    if case == "polyperf":
        originals = [record_ours(polyperf_program, folder / "original.data")]
    else:
        originals = [record(case, folder / "original.data", False),
                     record(case, folder / "original.pipe", True)]
    faults = []
    for original in originals:
        copies = []
        for is_pipe in (False, True):
            path = folder / f"copy{len(copies)}"
            copies.append(copy(copy_program, original, path, is_pipe))
            name = f"{original.path.name} to {'pipe' if is_pipe else 'file'}"
            faults += compare(name, original, copies[-1])
            # Perf 6.1 loses its way in its own pipes with tracepoints when it injects into them.
            if case != "tracepoint":
                faults += perf_inject_faults(name, copies[-1], folder)
        if case not in THERE_AND_BACK:
            continue
        other = Form(folder / "back", original.is_pipe)
        copy(copy_program, copies[not original.is_pipe], other.path, other.is_pipe)
        faults += compare(f"{original.path.name} there and back", copies[original.is_pipe], other,
                          was_in_pipe=True)
    return faults


def main():
    polyperf_program, copy_program, case = sys.argv[1:]
    if not shutil.which("perf"):
        polyperf.skip("perf is not installed")
    reason = live.why_no_sampling()
    if reason:
        polyperf.skip(reason)
    with tempfile.TemporaryDirectory(prefix="output-test-") as name:
        faults = case_faults(case, polyperf_program, copy_program, pathlib.Path(name))
    if faults:
        polyperf.fail(*faults)
    print("1 passed, 0 failed, 0 skipped")


if __name__ == "__main__":
    main()
