#!/usr/bin/env python3
"""What else stock tools do with an injected recording.

    inject_tools_test.py POLYPERF annotate|diff|archive|debuginfod|pipe|record

annotate: machine code with source lines. diff: the same function in two runs.
archive: another home directory has the images from `perf archive`. debuginfod: another machine has them
by build id from a server. pipe: through pipes as through files. record: `record --inject`.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import debuginfod
import injected
import live
import polyperf
import runtime_test
import stock


def node(place):
    return [runtime_test.tool("node"), runtime_test.WORKLOADS / "work.js", "1"]


def record(program, place, name="recording.data", *options):
    """A recording of node; the injected one beside it."""
    recording, _ = place.record(program, node(place), "-F", "999", "-g", "fp", *options)
    return recording.rename(recording.with_name(name))


def inject(program, place, *options):
    return injected.inject(program, record(program, place), place.out / "injected.data", *options)


def hottest(perf, target, worker):
    """perf's name of the function with most samples among those of the worker."""
    names = [sample.frames[0].name for sample in perf.script(target, "-G")
             if polyperf.worker_of(sample.frames[0].name) == worker]
    return max(set(names), key=names.count)


def annotate(program, place):
    perf = stock.Perf(place.root)
    target = inject(program, place)
    faults = []
    for worker in polyperf.WORKERS[:2]:
        text = perf.run("annotate", "--stdio", "-l", "-i", target, "-s",
                        hottest(perf, target, worker)).stdout
        code = re.findall(r"^\s+\d+\.\d\d\s.*:\s+[0-9a-f]+:\s+[a-z]\S*", text, re.M)
        versions = text.count("Sorted summary")  # compiled again, it has the same name
        percent = sum(float(row.split()[0]) for row in code) / max(versions, 1)
        print(f"{worker}: {len(code)} instructions in {versions} versions, {percent:.1f} % of "
              "its samples in them")
        if len(code) < 20 or not 98 < percent < 102:
            faults.append(f"{worker}: no code with samples: {text[:1000]}")
        if f"function {worker}(n, k)" not in text:
            faults.append(f"{worker}: its source is not there")
        summary = text.rpartition("Sorted summary")[2]
        if not re.search(r"\d+\.\d+ work\.js:\d+", summary):
            faults.append(f"{worker}: no lines: {summary[:300]}")
    return faults


def diff(program, place):
    """Another process, at other addresses, in another image: the same file and symbol for perf."""
    perf = stock.Perf(place.root)
    targets = [injected.inject(program, record(program, place, f"{name}.data"),
                               place.out / f"{name}-injected.data") for name in ("old", "new")]
    text = perf.run("diff", *targets).stdout
    faults = []
    for worker in polyperf.WORKERS[:2]:
        rows = [row for row in text.splitlines() if f"JS:*{worker} " in row]
        found = [re.match(r"\s+(\d+\.\d+)%\s+[+-]\d+\.\d+%\s+jitted-node\.so\s", row) for row in rows]
        if not any(one and float(one[1]) > 5 for one in found):
            faults.append(f"{worker}: not in both: {rows}")
    return faults


def jit_frames(samples):
    return [(stock_sample.tid, stock_sample.time,
             [(frame.name, frame.offset) for frame in stock_sample.frames
              if stock.is_image(frame.dso)]) for stock_sample in samples]


def frames_faults(wanted, seen):
    named = sum(name != stock.UNKNOWN for _, _, frames in seen for name, _ in frames)
    print(f"{named} frames named")
    if named < injected.FLOOR:
        return [f"only {named} frames named"]
    return [] if seen == wanted else ["other names than where they were injected"]


def archive(program, place):
    runtime_test.tool("bzip2")
    perf = stock.Perf(place.root)
    target = inject(program, place, f"--buildid-dir={perf.build_ids}")
    if target.with_name(target.name + ".d").exists():
        return ["there is a folder of images beside the recording too"]
    wanted = jit_frames(perf.script(target))
    perf.run("archive", target)
    shutil.rmtree(perf.build_ids)
    perf.build_ids = place.root / "another-home"
    with tarfile.open(f"{target}.tar.bz2") as unpacked:
        unpacked.extractall(perf.build_ids)
    return frames_faults(wanted, jit_frames(perf.script(target)))


def by_debuginfod(program, place):
    debuginfod.enter_network()
    perf = stock.Perf(place.root)
    target = inject(program, place)
    wanted = jit_frames(perf.script(target))
    served, state = place.root / "served", place.root / "state"
    target.with_name(target.name + ".d").rename(served)
    state.mkdir()
    listed = re.findall(r"^([0-9a-f]{40}) (\S*/jitted-\S+)$",
                        perf.run("buildid-list", "-i", target).stdout, re.M)
    if len(listed) != 1:
        return [f"perf buildid-list shows {len(listed)} images"]
    build_id = listed[0][0]
    perf.build_ids = place.root / "another-home"
    if any(name != stock.UNKNOWN for _, _, frames in jit_frames(perf.script(target))
           for name, _ in frames):
        return ["perf has names without the images: this shows nothing"]
    with debuginfod.serving(served, state) as server:
        if not server.wait_for(build_id):
            return ["the server does not know the build id"]
        image = server.find("executable", build_id)
        if image is None or server.find("debuginfo", build_id) is None:
            return ["debuginfod-find finds nothing"]
        if server.find("executable", "00" * 20):
            return ["the server knows what is not there"]
        perf.run("buildid-cache", "-a", image)
    return frames_faults(wanted, jit_frames(perf.script(target)))


def pipe(program, place):
    perf = stock.Perf(place.root)
    recording = record(program, place)
    target = injected.inject(program, recording, place.out / "injected.data")
    # Where images go when there is no file to put them beside.
    perf.build_ids = place.home / ".debug"
    words = [[program, "inject", "-q", "-i", "-", "-o", "-"],
             [perf.program, "--buildid-dir", perf.build_ids, "script", "--no-inline", "--ns", "-F",
              stock.FIELDS, "-i", "-"]]
    with open(recording, "rb") as source:
        first = subprocess.Popen(words[0], stdin=source, stdout=subprocess.PIPE, cwd=place.cwd,
                                 env=place.environment)
        second = subprocess.run(words[1], stdin=first.stdout, capture_output=True, text=True,
                                cwd=place.cwd, env=perf.environment, errors="surrogateescape")
        first.stdout.close()
    if first.wait() or second.returncode:
        return [f"inject exits {first.returncode}, perf {second.returncode}: {second.stderr[-500:]}"]
    return frames_faults(jit_frames(perf.script(target)),
                         jit_frames(stock.read_script(second.stdout)))


def at_record(program, place):
    """The same bytes as from inject afterwards."""
    during = place.out / "during.data"
    recording = record(program, place, "recording.data", f"--inject={during}")
    after = injected.inject(program, recording, place.out / "after.data")
    both = [{path.name: path.read_bytes() for path in injected.images(target)}
            for target in (during, after)]
    faults = [] if both[0] == both[1] and both[0] else ["other images than from inject"]
    perf = stock.Perf(place.root)
    return faults + frames_faults(jit_frames(perf.script(after)), jit_frames(perf.script(during)))


CASES = {"annotate": annotate, "diff": diff, "archive": archive, "debuginfod": by_debuginfod,
         "pipe": pipe, "record": at_record}


def main(program, case):
    reason = live.why_no_sampling()
    if reason:
        polyperf.skip(reason)
    with live.place() as place:
        faults = CASES[case](program, place)
    if faults:
        polyperf.fail(*faults)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[2] not in CASES:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2])
