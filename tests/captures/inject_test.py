#!/usr/bin/env python3
"""Stock perf must see in an injected capture what it sees in its own injection.

    inject_test.py POLYPERF stock|own CAPTURE

stock: frame by frame against `perf inject --jit`, or against perf with the map in /tmp where the
runtime wrote no dump. Every difference must be one where the oracle says that perf is wrong.
own: frame by frame against `polyperf script` of the capture: the same names at the same
places, and none where it has none. And the images against the dumps, code for code.
"""
import collections
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import captures_test
import elf
import injected
import oracle
import polyperf
import stock

SHOWN = 15
# perf shows no chain of theirs through JIT code, or no JIT code at all.
FEW_FRAMES = {"py3.12-perfmap": 0, "py3.13-jitdump": 1, "py3.13-jitdump-dwarf": 0,
              "luajit21-none": 0, "ruby31-mjit": 0}


def report(faults):
    return [f"{count} times: {fault}" for fault, count in faults.most_common(SHOWN)]


def of_stock(program, capture, folder):
    (folder / "perf").mkdir()
    perf = stock.Perf(folder / "perf")
    recording, dumps, maps = captures_test.unpack(capture, folder)
    truth = injected.Truth(recording, dumps, maps)
    # perf makes a file a function, thousands: those alone that samples are in, at whatever time.
    for path in dumps:
        kept = truth.sampled_indices(oracle.pid_of(path, r"jit-(\d+)\.dump"))
        (perf.folder / path.name).write_bytes(oracle.part_of_jitdump(path.read_bytes(), kept))
    theirs = {}
    with stock.maps_in_tmp(maps):
        theirs_at = perf.inject_jit(recording) if dumps else recording
        for option in ((), ("-G",)):
            theirs[option] = perf.script(theirs_at, *option)

    ours_at = injected.inject(program, recording, folder / "ours.data")
    faults, frames = collections.Counter(), 0
    for option, samples in theirs.items():
        equal, explained, found = injected.compare_with_stock(
            samples, perf.script(ours_at, *option), truth)
        print(f"{'leaves' if option else 'chains'}: {equal} frames equal, {explained.total()} "
              f"where perf is wrong {dict(explained)}, {found.total()} not explained")
        faults += found
        frames += equal + explained.total()
    if frames < injected.FLOOR:
        faults["hardly a frame to compare"] += 1
    return report(faults)


def of_own(program, capture, folder):
    recording, dumps, maps = captures_test.unpack(capture, folder)
    ours_at = injected.inject(program, recording, folder / "ours.data")
    sizes = injected.sizes_of(ours_at)
    perf = stock.Perf(folder)
    faults, frames = collections.Counter(), 0
    for option in ((), ("-G",)):
        equal, at_end, found = injected.compare_with_own(
            perf.script(ours_at, *option), injected.own_script(program, recording, *option), sizes)
        print(f"{'leaves' if option else 'chains'}: {equal} JIT frames equal, {at_end} where the "
              f"code ends with a call, {found.total()} differ")
        faults += found
        frames += equal
    if frames < FEW_FRAMES.get(capture, injected.FLOOR):
        faults[f"only {frames} frames in JIT code"] += 1
    whole = injected.inject(program, recording, folder / "all.data", "--all")
    return report(faults) + image_faults(whole, dumps)


def image_faults(ours_at, dumps):
    """Each load of the dumps must be in the process's image, with its name, size and code."""
    found, faults = collections.defaultdict(set), []
    for path in injected.images(ours_at):
        image = elf.Image(path.read_bytes())
        pid = int(path.parent.name.partition("-")[0])
        found[pid] |= {(s.name, s.size, image.code(s)) for s in image.functions()}
    for path in dumps:
        wanted = {(load.name, load.end - load.start, load.code)
                  for load in oracle.read_jitdump(path.read_bytes()) if load.end > load.start}
        missing = wanted - found[oracle.pid_of(path, r"jit-(\d+)\.dump")]
        if missing:
            example = [(name, size) for name, size, _ in sorted(missing)[:3]]
            faults.append(f"{len(missing)} of {len(wanted)} functions are not in the image "
                          f"with their code: {example}")
    if dumps and not found:
        faults.append("there is no image")
    return faults


def main(program, what, capture):
    with tempfile.TemporaryDirectory(prefix="inject-test-") as name:
        test = {"stock": of_stock, "own": of_own}[what]
        faults = test(program, capture, pathlib.Path(name))
    if faults:
        polyperf.fail(*faults)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve(), *sys.argv[2:])
