#!/usr/bin/env python3
"""Every real capture must give the names that the oracle gives, by address and time.

    captures_test.py POLYPERF CAPTURE
    captures_test.py --accept [CAPTURE]...

A capture is a folder of tests/data/captures. `names.tsv` in it holds what the
oracle said when it was last accepted, so that a change of the oracle shows too.
"""
import collections
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
    processes = oracle.read_processes([(path, path.read_bytes()) for path in dumps],
                                      [(path, path.read_bytes()) for path in maps])
    samples = oracle.read_recording(recording.read_bytes())
    return samples, processes


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


def compare_frames(sample, frames, process, faults):
    """Counts the JIT frames whose name differs from the oracle's."""
    wanted_count = 0
    # Stacks that were recorded as memory have no chain here, only the leaf.
    if len(frames) < len(sample.frames):
        faults[f"{len(frames)} frames, recorded were {len(sample.frames)}"] += 1
        return 0
    for depth, (frame, recorded) in enumerate(zip(frames, sample.frames)):
        wanted = process.name(recorded - (depth > 0), sample.time)
        if wanted is None:
            dead = process.dead_names(recorded - (depth > 0), sample.time)
            if frame.name in process.all_names - dead:
                faults[f"{frame.name}: in code of nobody"] += 1
            continue
        wanted_count += 1
        if frame.name != wanted:
            faults[f"{'caller' if depth else 'leaf'}: {frame.name}, not {wanted}"] += 1
    return wanted_count


def compare(samples, got, processes):
    """Matches samples by thread, time and address; returns the faults with their counts."""
    faults, frame_count = collections.Counter(), 0
    if len(got) != len(samples):
        faults[f"{len(got)} samples, recorded were {len(samples)}"] += 1
    by_key = collections.defaultdict(list)
    for sample in got:
        by_key[sample.pid, sample.tid, sample.time].append(sample.frames)
    for sample in samples:
        alike = by_key.get((sample.pid, sample.tid, sample.time))
        if not alike:
            faults["sample not printed"] += 1
        elif sample.pid in processes:
            frame_count += compare_frames(sample, alike.pop(0), processes[sample.pid], faults)
    print(f"{len(samples)} samples, {frame_count} frames in JIT code")
    return faults


def compare_shares(capture, text):
    """The report's rows against what the program printed about itself, where it did."""
    printed = CAPTURES / capture / "out.txt"
    if not printed.exists():
        return []
    counts = collections.Counter()
    for row in polyperf.read_report(text):
        counts[polyperf.worker_of(row["symbol"])] += row["samples"]
    # Frames of Python and of LuaJIT without a map are not the leaf: nothing to compare.
    if not any(counts[worker] for worker in polyperf.WORKERS):
        return []
    return polyperf.share_faults(counts, polyperf.shares_printed(printed.read_text()))


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

        fields = ("--ns", "--raw-names", "-F", "pid,tid,time,ip,sym")
        script = polyperf.run(program, "script", "-i", recording, *fields).stdout
        faults = compare(samples, polyperf.read_script(script), processes)

        # The same with the dumps elsewhere, named on the command line.
        recording = recording.rename(apart / recording.name)
        options = [f"--dump={path}" for path in dumps] + [f"--map={path}" for path in maps]
        if polyperf.run(program, "script", "-i", recording, *options, *fields).stdout != script:
            faults["--dump and --map give another result than files beside the recording"] += 1
        report = polyperf.run(program, "report", "-i", recording, *options, "--format", "csv").stdout
        found = [f"{count} times: {fault}" for fault, count in faults.most_common(20)]
        found += compare_shares(capture, report)
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
