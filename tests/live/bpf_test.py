#!/usr/bin/env python3
"""Programs of BPF in a recording: every sample's line as libbpf tells it of the running kernel,
and stock perf finds the same programs in the file.

    bpf_test.py POLYPERF BPF_BURN CASE

Cases: before (loaded when the recording begins), during (loaded by what is recorded, twice),
beside (the same while others record), elsewhere (by a process that is not recorded, and only for two
seconds).
"""
import collections
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import live
import polyperf

SOURCE = HERE / "workloads" / "work.bpf.c"
Leaf = collections.namedtuple("Leaf", "time address name place")
FRAME = re.compile(r"\s*\d+ +(\d+\.\d+):\s+([0-9a-f]+) (bpf_prog_[0-9a-f]{16}_\w+)$")
LINE = re.compile(r"  (\S.*):(\d+)$")
PROGRAM = re.compile(r"^# bpf_prog_info (\d+):", re.M)


class Burn:
    """The client, which answers what it is asked."""

    def __init__(self, *command, **options):
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, **options)
        self.ids = self.read_ids()

    def read_block(self):
        lines = []
        while (line := self.process.stdout.readline().rstrip("\n")):
            lines.append(line)
        return lines

    def read_ids(self):
        block = self.read_block()
        if not block:
            code = self.process.wait()
            if code == polyperf.SKIPPED:
                polyperf.skip("BPF programs cannot be loaded here")
            polyperf.fail(f"no program was loaded: exit {code}")
        return {name: int(number) for name, number in map(str.split, block)}

    def tell(self, letter):
        self.process.stdin.write(letter + "\n")
        self.process.stdin.flush()

    def run(self):
        self.tell("r")
        if self.process.stdout.readline() != "ran\n":
            polyperf.fail("the programs did not run")

    def reload(self):
        self.tell("u")
        self.ids = self.read_ids()

    def lines(self):
        """The file and line of every address of code, as libbpf has it."""
        self.tell("l")
        rows = [row.split("\t") for row in self.read_block()]
        return {int(address, 16): (file, int(line)) for address, file, line in rows}

    def end(self):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        if self.process.wait(timeout=60):
            polyperf.fail(f"exit {self.process.returncode}: {rest[-300:]}")


def build(place):
    """The programs, compiled; a skip without a compiler or the right to load them."""
    if os.geteuid() != 0:
        polyperf.skip("only root may load programs")
    clang = shutil.which("clang")
    if not clang:
        polyperf.skip("clang is not installed")
    made = place.root / "work.bpf.o"
    polyperf.run(clang, "-O2", "-g", "-target", "bpf", "-c", SOURCE, "-o", made)
    return made


def leaf_lines(program, recording):
    """Of each sample in a program; its place is (file, line), or None."""
    text = polyperf.run(program, "script", "-i", recording, "-G", "--ns", "-F",
                        "tid,time,ip,sym,srcline").stdout.split("\n")
    leaves = []
    for line, after in zip(text, text[1:]):
        found = FRAME.match(line)
        if found:
            place = LINE.match(after)
            leaves.append(Leaf(float(found[1]), int(found[2], 16), found[3],
                               place and (place[1], int(place[2]))))
    return leaves


def line_faults(leaves, truth, minimum):
    """`truth` is a list of (time from which on it holds, lines of addresses)."""
    counts = collections.Counter(leaf.name.split("_", 3)[3] for leaf in leaves)
    print(f"  {len(leaves)} samples in programs: {dict(counts)}")
    wrong = []
    for leaf in leaves:
        lines = [lines for since, lines in truth if since <= leaf.time][-1]
        if leaf.place != lines.get(leaf.address):
            wrong.append(f"{leaf.address:x} {leaf.name}: {leaf.place}, "
                         f"libbpf says {lines.get(leaf.address)}")
    faults = [f"{len(wrong)} of {len(leaves)} lines are wrong: {wrong[:3]}"] if wrong else []
    if counts["alpha"] < minimum or counts["warm"] < minimum:
        faults.append(f"too few samples: {dict(counts)}")
    if len({leaf.place for leaf in leaves}) < 4:
        faults.append("fewer than four lines were seen")
    if not 1.2 < counts["alpha"] / max(counts["beta"], 1) < 3.5:
        faults.append(f"alpha takes twice as long as beta: {dict(counts)}")
    return faults


def told_symbols(perf, recording):
    """When which program lay where, a line each."""
    events = polyperf.run(perf, "script", "-i", recording, "--show-bpf-events").stdout
    return "\n".join(line for line in events.split("\n") if "PERF_RECORD_KSYMBOL" in line)


def perf_faults(program, place, recording, leaves, ids):
    """Perf reads the features, of the recording and of what inject makes of it."""
    perf = shutil.which("perf")
    if not perf:
        print("perf is not installed: not held against it")
        return []
    injected = place.out / "injected.data"
    polyperf.run(program, "inject", "-i", recording, "-o", injected)
    faults = []
    for file in (recording, injected):
        header = polyperf.run(perf, "report", "--header-only", "-i", file).stdout
        told = {int(number) for number in PROGRAM.findall(header)}
        if not ids <= told:
            faults.append(f"{file.name}: perf knows the programs {sorted(told)}, not {sorted(ids)}")
        if "# btf info of id" not in header:
            faults.append(f"{file.name}: perf finds no BTF")
        text = polyperf.run(perf, "script", "-G", "-F", "ip,sym", "-i", file).stdout
        named = collections.Counter(re.findall(r"bpf_prog_[0-9a-f]{16}_\w+", text))
        if named != collections.Counter(leaf.name for leaf in leaves):
            faults.append(f"{file.name}: perf names {named}, and knows\n{told_symbols(perf, file)}")
    # Perf joins addresses to programs by BPF_EVENTs; what it says next depends on how it was built.
    name = collections.Counter(leaf.name for leaf in leaves).most_common(1)[0][0]
    done = subprocess.run([perf, "annotate", "--stdio", "-i", str(recording), name],
                          capture_output=True, text=True, errors="replace")
    if "x = mix" not in done.stdout and "BPF annotation" not in done.stderr:
        faults.append(f"perf annotate: {done.stdout[:300]} {done.stderr[-300:]}")
    return faults


def record_options(program, recording):
    return (program, "record", "-q", "--no-auto", "-F", "997", "-e", "cpu-clock", "-o", recording)


def before(program, burn, place):
    made = build(place)
    client = Burn(burn, made)
    truth = [(0, client.lines())]
    recording = place.out / "recording.data"
    recorder = subprocess.Popen(list(map(str, (
        *record_options(program, recording), "-p", client.process.pid, "--", "sleep", "60"))),
        env=place.environment)
    for _ in range(3):
        client.run()
    recorder.terminate()
    recorder.wait(timeout=60)
    ids = set(client.ids.values())
    client.end()
    leaves = leaf_lines(program, recording)
    return (line_faults(leaves, truth, 50) +
            perf_faults(program, place, recording, leaves, ids))


@contextlib.contextmanager
def listeners(program, place, count):
    """Other recorders, because of which the kernel makes records of programs longer than it writes them."""
    others = [place.start(program, "record", "-q", "--no-auto", "--interpreters", "off", "-a", "-F", "10",
                          "-o", place.out / f"other{number}.data") for number in range(count)]
    try:
        for other in others:
            live.wait_until("another recorder", lambda: live.is_sampling(other))
        yield
    finally:
        for other in others:
            other.terminate()
            other.communicate()


def during(program, burn, place, others=0):
    """The second time they lie elsewhere, or where others of the first ones were."""
    made = build(place)
    recording = place.out / "recording.data"
    client = Burn(*record_options(program, recording), "--", burn, made, env=place.environment)
    ids = set(client.ids.values())
    truth = [(0, client.lines())]
    client.run()
    with listeners(program, place, others):
        client.reload()
        ids |= set(client.ids.values())
        # Nothing runs before it is asked to. The recording has the same clock.
        truth.append((time.monotonic(), client.lines()))
        client.run()
        client.end()
    leaves = leaf_lines(program, recording)
    return (line_faults(leaves, truth, 50) +
            perf_faults(program, place, recording, leaves, ids))


def beside(program, burn, place):
    """The same, and two others listen, which the kernel tells first: they came later."""
    return during(program, burn, place, 2)


def elsewhere(program, burn, place):
    """Their code may run in the recorded process all the same: on its packets, its system calls."""
    made = build(place)
    recording = place.out / "recording.data"
    recorder = Burn(*record_options(program, recording), "--", "sh", "-c", "echo up 1; echo; read x; true",
                    env=place.environment)
    client = Burn(burn, made)
    ids = set(client.ids.values())
    # Two seconds: the kernel can be asked for what a program is for as long as it is loaded.
    client.run()
    client.end()
    recorder.end()
    perf = shutil.which("perf")
    if not perf:
        polyperf.skip("perf is not installed: nobody else reads the file")
    header = polyperf.run(perf, "report", "--header-only", "-i", recording).stdout
    told = {int(number) for number in PROGRAM.findall(header)}
    symbols = re.findall(r"KSYMBOL addr \w+ len \d+ type 1 flags 0x0 name (bpf_prog_\w+_warm)",
                         told_symbols(perf, recording))
    faults = [] if ids <= told else [f"perf knows the programs {sorted(told)}, not {sorted(ids)}"]
    if len(symbols) != 1:
        faults.append(f"warm was told of {len(symbols)} times")
    return faults


CASES = {case.__name__: case for case in (before, during, beside, elsewhere)}


def main(program, burn, case):
    reason = live.why_no_sampling()
    if reason:
        polyperf.skip(reason)
    with live.place() as place:
        faults = CASES[case](program, burn, place)
    if faults:
        polyperf.fail(*faults)


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[3] not in CASES:
        sys.exit(f"{__doc__}")
    main(*(pathlib.Path(word).resolve() for word in sys.argv[1:3]), sys.argv[3])
