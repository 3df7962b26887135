#!/usr/bin/env python3
"""Every real capture must give the names that the oracle gives, by address and time.

    captures_test.py POLYPERF CAPTURE
    captures_test.py --accept [CAPTURE]...

A capture is a folder of tests/data/captures. `names.tsv` in it holds what the
oracle said when it was last accepted, so that a change of the oracle shows too.
"""
import collections
import functools
import lzma
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import oracle
import polyperf

CAPTURES = HERE.parent / "data" / "captures"
MAX_ROWS = 100
KERNEL_BUILD_ID = bytes.fromhex("e4f18d9dc1d0e6fc2b17e93e885a647b3c0a6fc1")
NOBODY = oracle.Process([], [])


def unpack(capture, folder):
    """Copies the capture's recording, dumps and maps; returns all three kinds by name."""
    found = {"data": [], "dump": [], "map": []}
    for path in sorted((CAPTURES / capture).iterdir()):
        name = path.name.removesuffix(".xz")
        kind = name.rpartition(".")[2]
        if kind not in found:
            continue
        content = lzma.open(path).read() if path.suffix == ".xz" else path.read_bytes()
        target = folder / name
        target.write_bytes(content)
        found[kind].append(target)
    assert len(found["data"]) == 1, f"{capture}: one recording wanted"
    return found["data"][0], found["dump"], found["map"]


def ask_oracle(recording, dumps, maps):
    content = recording.read_bytes()
    processes = oracle.read_processes(content, [(path, path.read_bytes()) for path in dumps],
                                      [(path, path.read_bytes()) for path in maps])
    return oracle.read_recording(content), processes


def table_of(samples, processes):
    """How often each name was the leaf, and how often it was in a chain."""
    leaf, anywhere = collections.Counter(), collections.Counter()
    for _, named in oracle.name_samples(samples, processes):
        for depth, _, name in named:
            leaf[name] += depth == 0
            anywhere[name] += 1
    rows = sorted(anywhere, key=lambda name: (-leaf[name], -anywhere[name], name))
    total = f"# {len(rows)} names, {leaf.total()} leaves, {anywhere.total()} frames; the first:\n"
    return total + "".join(f"{leaf[name]}\t{anywhere[name]}\t{name}\n" for name in rows[:MAX_ROWS])


def acceptable(process, memory, sample, address):
    """Name and trust that the frame must have: see README.md; None where any but a JIT function's."""
    wanted, trust = process.name_and_trust(address, sample.time)
    if wanted is None:
        return None, None
    if process.find_load(address, sample.time) is None and memory.in_file(sample.pid, address):
        return None, None
    return wanted.strip(), trust


@functools.cache
def foreign_kernel():
    """Whether another kernel than that of the captures runs here: then its symbols say nothing."""
    try:
        return KERNEL_BUILD_ID not in pathlib.Path("/sys/kernel/notes").read_bytes()
    except OSError:
        return True


def compare_frames(sample, frames, processes, memory, faults):
    """Counts the JIT frames whose name differs from the oracle's."""
    jit_count = 0
    # Stacks that were recorded as memory have no chain here, only the leaf.
    if len(frames) < len(sample.frames):
        faults[f"{len(frames)} frames, recorded were {len(sample.frames)}"] += 1
        return 0
    for depth, (frame, recorded) in enumerate(zip(frames, sample.frames)):
        address = recorded - (depth > 0)
        in_kernel = address >= oracle.KERNEL_START
        process = processes.get(oracle.KERNEL if in_kernel else sample.pid, NOBODY)
        wanted, wanted_trust = acceptable(process, memory, sample, address)
        name, _, trust = frame.name.rpartition(" ")
        name = name.strip()
        if wanted is None and in_kernel and foreign_kernel() and name != "[unknown]":
            faults[f"{name}: a symbol of another kernel"] += 1
        jit_count += wanted is not None
        if wanted is None:
            if name in process.all_names and name not in process.names_ever(address):
                faults[f"{name}: it never was there"] += 1
        elif (name, trust) != (wanted, wanted_trust):
            faults[f"{'caller' if depth else 'leaf'}: {name} is {trust}, "
                   f"not {wanted} {wanted_trust}"] += 1
    return jit_count


def compare(events, got, processes):
    """Matches samples by thread, time and address; returns the faults with their counts."""
    faults, frame_count = collections.Counter(), 0
    by_key = collections.defaultdict(list)
    for sample in got:
        by_key[sample.pid, sample.tid, sample.time].append(sample.frames)
    memory = oracle.Memory()
    for event in events:
        memory.take(event)
        if not isinstance(event, oracle.Sample):
            continue
        alike = by_key.get((event.pid, event.tid, event.time))
        if not alike:
            faults["sample not printed"] += 1
            continue
        frame_count += compare_frames(event, alike.pop(0), processes, memory, faults)
    if any(by_key.values()):
        faults["sample printed that was not recorded"] += sum(map(len, by_key.values()))
    print(f"{len(got)} samples, {frame_count} frames in JIT code")
    return faults


def count_workers(samples, processes):
    """The oracle's samples in alpha, beta and gamma; of leaves alone."""
    counts = collections.Counter()
    for _, named in oracle.name_samples(samples, processes):
        depth, _, name = named[0]
        counts[polyperf.worker_of(name) if depth == 0 else None] += 1
    return counts


def compare_shares(capture, samples, processes, text):
    """The report's rows against the oracle's, and against what the program measured itself."""
    wanted, counts = count_workers(samples, processes), collections.Counter()
    for row in polyperf.read_report(text):
        counts[polyperf.worker_of(row["symbol"])] += row["samples"]
    faults = [f"{worker}: {counts[worker]} samples in the report, {wanted[worker]} by the oracle"
              for worker in polyperf.WORKERS if counts[worker] != wanted[worker]]
    printed = CAPTURES / capture / "out.txt"
    # Python's functions are never the leaf, and LuaJIT and MJIT announced nothing.
    if not any(wanted[worker] for worker in polyperf.WORKERS) or not printed.exists():
        return faults
    if capture == "lli14-mcjit":  # a round took as long as the sampling period
        return faults
    return faults + polyperf.share_faults(counts, polyperf.shares_printed(printed.read_text()))


def test(program, capture):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        beside = folder / "beside"
        apart = folder / "apart"
        beside.mkdir()
        apart.mkdir()
        recording, dumps, maps = unpack(capture, beside)
        samples, processes = ask_oracle(recording, dumps, maps)
        stored = (CAPTURES / capture / "names.tsv").read_text(errors="surrogateescape")
        if stored != table_of(samples, processes):
            polyperf.fail("the oracle differs from names.tsv (--accept rewrites it)")

        # The oracle knows functions as they are in memory.
        fields = ("--ns", "--raw-names", "--no-inline", "-F", "pid,tid,time,ip,sym,trust")
        script = polyperf.run(program, "script", "-i", recording, *fields).stdout
        events = oracle.read_events(recording.read_bytes())
        faults = compare(events, polyperf.read_script(script), processes)

        # The same with the dumps elsewhere, named on the command line.
        recording = recording.rename(apart / recording.name)
        options = [f"--dump={path}" for path in dumps] + [f"--map={path}" for path in maps]
        if polyperf.run(program, "script", "-i", recording, *options, *fields).stdout != script:
            faults["--dump and --map give another result than files beside the recording"] += 1
        report = polyperf.run(program, "report", "-i", recording, *options, "--format", "csv").stdout
        found = [f"{count} times: {fault}" for fault, count in faults.most_common(20)]
        found += compare_shares(capture, samples, processes, report)
        if found:
            polyperf.fail(*found)


def accept(captures):
    for capture in captures or sorted(path.parent.name for path in CAPTURES.glob("*/*.data.xz")):
        with tempfile.TemporaryDirectory() as name:
            recording, dumps, maps = unpack(capture, pathlib.Path(name))
            table = table_of(*ask_oracle(recording, dumps, maps))
        (CAPTURES / capture / "names.tsv").write_text(table, errors="surrogateescape")
        print(f"{capture}: {table.splitlines()[0]}")


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "--accept":
        accept(sys.argv[2:])
    elif len(sys.argv) == 3:
        test(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2])
    else:
        sys.exit(__doc__)
