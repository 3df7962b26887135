#!/usr/bin/env python3
"""Records real programs, injects, and holds what stock perf then shows against the truth.

    inject_test.py POLYPERF truth TRUTH MODE [OPTION OF TRUTH]...
    inject_test.py POLYPERF runtime RUNTIME
    inject_test.py POLYPERF stock RUNTIME

truth: the truth client, recorded by polyperf; perf must be right as often as its log says.
runtime: a workload, recorded by polyperf; perf must show in JIT code what `polyperf script` shows,
the program's own shares, and the images must be sound ELF files.
stock: a workload, recorded by perf and told to write a dump; perf must show the same as in its
own injection, but for differences where the oracle says that perf is wrong.
"""
import argparse
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import injected
import live
import oracle
import polyperf
import readers
import runtime_test
import stock
import truth_check
from truth_test import is_map_alone, short

SECONDS = "1"  # of the processor
WORKLOADS = runtime_test.WORKLOADS


# --- the truth client ---

def right_share(counts):
    judged = truth_check.total(counts, "inside") + truth_check.total(counts, "boundary")
    return 100 * truth_check.total(counts, verdict="right") / max(judged, 1)


def truth(program, place, client, mode, *options):
    client = pathlib.Path(client).resolve()
    log, dumps = place.out / "truth.log", place.root / "dumps"
    dumps.mkdir()
    command = [client, mode, "--log", log, "--dir", dumps, *short(mode, options), *options]
    recording, _ = place.record(program, command, "-F", "4999", "-e", "cpu-clock", "-g", "no")
    target = injected.inject(program, recording, place.out / "injected.data")
    # -G: the address as it was, not as it is in the image.
    perf = stock.Perf(place.root)
    text = perf.run("script", "-G", "--ns", "-F", "tid,time,ip,sym", "-i", target).stdout
    map_alone = is_map_alone(mode, options)
    rules = argparse.Namespace(trust=False, min_right=0.0 if map_alone else 100.0,
                               min_samples=2000, show=20)
    faults = truth_check.check(log, text.splitlines(), rules)
    if map_alone:
        # A map has no times: perf can be no better than what we know ourselves.
        own = polyperf.run(program, "script", "-i", recording, "--ns", "-F", "tid,time,ip,sym").stdout
        runs = truth_check.read_log(log)
        shares = [right_share(truth_check.count(runs, truth_check.read_samples(
            lines.splitlines(), False))[0]) for lines in (own, text)]
        print(f"polyperf {shares[0]:.2f} % right, perf on what it injected {shares[1]:.2f} %")
        if shares[1] < shares[0]:
            faults.append(f"perf is right in {shares[1]:.2f} %, polyperf in {shares[0]:.2f} %")
    return faults


# --- workloads ---

def workers_in(samples, anywhere):
    """Samples in alpha, beta and gamma: by their leaf, or by the first of them in the chain."""
    counts = collections.Counter()
    for sample in samples:
        frames = sample.frames if anywhere else sample.frames[:1]
        workers = [polyperf.worker_of(frame.name) for frame in frames]
        counts[next((worker for worker in workers if worker), None)] += 1
    return counts


def runtime(program, place, name):
    command = runtime_test.RUNTIMES[name](place)
    callers_only = name in runtime_test.CALLERS_ONLY
    stacks = "dwarf" if callers_only else "fp"
    recording, printed = place.record(program, command, "-F", "1999", "-g", stacks)
    target = injected.inject(program, recording, place.out / "injected.data")
    perf = stock.Perf(place.root)
    chains, leaves = perf.script(target), perf.script(target, "-G")
    faults = faults_against_own(program, recording, target, (chains, leaves), callers_only)
    faults += polyperf.share_faults(workers_in(chains if callers_only else leaves, callers_only),
                                    polyperf.shares_printed(printed))
    images = injected.images(target)
    if not images:
        faults.append("no image")
    for path in images:
        faults += readers.structure_faults(path)
    return faults


def faults_against_own(program, recording, target, seen, callers_only):
    """Frame by frame, unless perf unwinds the stacks: then leaves alone, and chains by count."""
    sizes = injected.sizes_of(target)
    ours = injected.own_script(program, recording)
    chains, leaves = seen
    equal, faults = own_faults(leaves, injected.own_script(program, recording, "-G"), sizes)
    if callers_only:
        theirs, own = (sum(polyperf.worker_of(frame.name) is not None for sample in samples
                           for frame in sample.frames) for samples in (chains, ours))
        print(f"frames of the workload: {theirs} by perf, {own} by polyperf")
        if abs(theirs - own) > own // 50:
            faults.append(f"perf unwinds to {theirs} frames of the workload, polyperf to {own}")
        return faults
    in_chains, of_chains = own_faults(chains, ours, sizes)
    if equal + in_chains < injected.FLOOR:
        faults.append(f"only {equal + in_chains} frames in JIT code")
    return faults + of_chains


def own_faults(seen, wanted, sizes):
    equal, at_end, faults = injected.compare_with_own(seen, wanted, sizes)
    print(f"{equal} JIT frames equal, {at_end} where the code ends with a call, "
          f"{faults.total()} differ")
    return equal, [f"{count} times: {fault}" for fault, count in faults.most_common(15)]


# --- recorded by perf ---

def node_told(place):
    command = runtime_test.node(place)
    return [command[0], "--perf-prof", "--interpreted-frames-native-stack", command[1], SECONDS]


def java_told(place):
    command = runtime_test.java(place)
    return [command[0], "-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit",
            "-XX:+PreserveFramePointer", *command[1:]]


def php_told(place):
    program = runtime_test.tool("php")
    settings = {"opcache.enable_cli": "1", "opcache.jit_buffer_size": "64M",
                "opcache.jit": "function", "opcache.jit_debug": "0x20",
                "opcache.file_update_protection": "0"}
    words = [word for pair in settings.items() for word in ("-d", "=".join(pair))]
    return [program, *words, WORKLOADS / "work.php", SECONDS]


def erlang_told(place):
    command = runtime_test.erlang(place)
    place.environment["ERL_FLAGS"] = "+JPperf dump"  # not for the compiler, which is written in it, too
    return command


def lli_told(place):
    source = WORKLOADS / "work.c"
    runtime_test.tool("lli")
    built = runtime_test.compile_to(place, runtime_test.tool("clang"), "-O1", "-g", "-emit-llvm",
                                    "-fno-omit-frame-pointer", "-c", "-o", "work.bc", source)
    place.environment["JITDUMPDIR"] = str(place.root)
    return [runtime_test.tool("lli"), "-jit-kind=mcjit", built / "work.bc", "2"]  # it goes by the clock


def python_told(place):
    command = runtime_test.python313(place)
    place.environment["PYTHON_PERF_JIT_SUPPORT"] = "1"
    return [command[0], command[1], SECONDS]


def dotnet_told(place):
    command = runtime_test.dotnet(place)
    dumps = place.root / "dumps"
    dumps.mkdir()
    place.environment.update(DOTNET_PerfMapEnabled="1", DOTNET_PerfMapStubGranularity="2",
                             DOTNET_PerfMapJitDumpPath=str(dumps))
    return command


def mono_told(place):
    command = runtime_test.mono(place)
    place.environment["MONO_ENV_OPTIONS"] = "--jitmap"
    return command


TOLD = {"node": node_told, "java": java_told, "php": php_told, "erlang": erlang_told,
        "lli": lli_told, "python3.13": python_told, "dotnet": dotnet_told, "mono": mono_told}
UNWOUND = ("python3.13",)  # no frame pointers


def gather(place, recording, folder):
    """Moves what the recorded processes wrote to the folder; returns dumps and maps."""
    events = oracle.read_events(recording.read_bytes())
    pids = {event.pid for event in events}
    marked = {event.path for event in events if isinstance(event, oracle.Mapping)
              and re.search(r"/jit-\d+\.dump$", event.path)}
    found = [pathlib.Path(path) for path in sorted(marked)]
    for pid in pids:
        if f"perf-{pid}.map" not in place.there_before:
            found += [place.root / "dumps" / f"perf-{pid}.map", pathlib.Path(f"/tmp/perf-{pid}.map")]
    moved = [pathlib.Path(shutil.move(path, folder / path.name)) for path in found if path.exists()]
    return ([path for path in moved if path.suffix == ".dump"],
            [path for path in moved if path.suffix == ".map"])


def by_stock(program, place, name):
    folder = place.root / "stock"
    folder.mkdir()
    perf = stock.Perf(folder)
    command = TOLD[name](place)
    recording = place.out / "perf.data"
    stacks = "dwarf,8192" if name in UNWOUND else "fp"
    done = subprocess.run([perf.program, "record", "-q", "-k", "mono", "-F", "499", "-e",
                           "cpu-clock:u", "--call-graph", stacks, "-o", recording,
                           *map(str, command)], cwd=place.cwd, env=place.environment,
                          capture_output=True, text=True, timeout=120)
    if done.returncode:
        return [f"perf record: exit {done.returncode}: {done.stderr[-500:]}"]
    dumps, maps = gather(place, recording, folder)
    shutil.copy(recording, folder)
    recording = folder / recording.name
    if not dumps and not maps:
        return ["the program told nothing of its code"]
    theirs_at = perf.inject_jit(recording) if dumps else recording
    with stock.maps_in_tmp(maps):
        theirs = {option: perf.script(theirs_at, *option) for option in ((), ("-G",))}
    ours_at = injected.inject(program, recording, folder / "ours.data")
    faults, frames = [], 0
    known = injected.Truth(recording, dumps, maps)
    for option, samples in theirs.items():
        equal, explained, found = injected.compare_with_stock(
            samples, perf.script(ours_at, *option), known)
        in_code = sum(stock.is_code(frame.dso) for s in samples for frame in s.frames)
        print(f"{'leaves' if option else 'chains'}: {equal} frames equal, {in_code} of perf's in "
              f"JIT code, {explained.total()} where perf is wrong {dict(explained)}, "
              f"{found.total()} not explained")
        frames += in_code
        faults += [f"{count} times: {fault}" for fault, count in found.most_common(15)]
    if frames < injected.FLOOR:
        faults.append(f"only {frames} frames in JIT code")
    return faults


def main(program, what, *arguments):
    reason = live.why_no_sampling()
    if reason:
        polyperf.skip(reason)
    test = {"truth": truth, "runtime": runtime, "stock": by_stock}[what]
    with live.place() as place:
        faults = test(program, place, *arguments)
    if faults:
        polyperf.fail(*faults)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve(), *sys.argv[2:])
