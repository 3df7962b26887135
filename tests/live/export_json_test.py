#!/usr/bin/env python3
"""Exports that are JSON, opened by their own readers, against report and script.

    export_json_test.py POLYPERF speedscope CAPTURE
    export_json_test.py POLYPERF firefox CAPTURE
    export_json_test.py POLYPERF fixture WRITE_FIXTURE

A capture is a folder of tests/data/captures. speedscope runs in Chromium: its sandwich table must be
that of report, and what it saves again must be script's samples. For the Firefox Profiler that is its
command line.
"""
import collections
import decimal
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
sys.path.insert(0, str(HERE.parent / "captures"))
import captures_test
import firefox
import jitdump
import polyperf
import profiler_cli
import readers
import stacks

LEAST_SAMPLES = 500


def export(program, recording, name):
    path = recording.parent / name
    polyperf.run(program, "export", "-i", recording, "-o", path)
    return path


def differences(what, got, wanted):
    """What two counters do not have in common, the largest first."""
    keys = sorted(got.keys() | wanted.keys(), key=lambda key: -abs(got[key] - wanted[key]))
    return [f"{what}: {key}: {got[key]}, not {wanted[key]}" for key in keys
            if got[key] != wanted[key]][:5]


# --- speedscope ---

def runs_of(stacks_and_weights):
    """Equal neighbours as one: a saved profile does not tell where one sample ended."""
    runs = []
    for stack, weight in stacks_and_weights:
        if runs and runs[-1][0] == stack:
            runs[-1][1] += weight
        else:
            runs.append([stack, weight])
    return runs


def saved_runs(profile, frames):
    """The stacks of a profile that speedscope saved as times when frames open and close."""
    stack, found, at = [], [], 0
    for event in profile["events"]:
        if event["at"] > at:
            found.append((tuple(stack), event["at"] - at))
            at = event["at"]
        if event["type"] == "O":
            stack.append(frames[event["frame"]]["name"])
        else:
            stack.pop()
    return runs_of(found)


UNITS = {"ns": 1, "\N{MICRO SIGN}s": 10**3, "\N{GREEK SMALL LETTER MU}s": 10**3, "ms": 10**6, "s": 10**9}


def shown_range(text):
    """Between which nanoseconds "1.10s (58%)" is."""
    found = re.match(r"([0-9.]+)\s*(\D+) \(", text)
    if found[2] not in UNITS:
        polyperf.fail(f"no time: {text!r}")
    value, half = decimal.Decimal(found[1]), decimal.Decimal("0.0051")
    return (value - half) * UNITS[found[2]], (value + half) * UNITS[found[2]]


def row_faults(rows, frames, total, own):
    """Each row that speedscope shows against report's, but for names that several objects have."""
    names = collections.Counter(frame["name"] for frame in frames)
    found = []
    for total_text, own_text, name in rows:
        if names[name] > 1:
            continue
        for text, weight in ((total_text, total[name]), (own_text, own[name])):
            low, high = shown_range(text)
            if not low <= weight <= high:
                found.append(f"{name}: {text}, in the report {weight}")
    print(f"{len(rows)} rows of the sandwich table")
    if len(rows) < 15:
        found.append(f"{len(rows)} rows are shown")
    return found


def line_faults(frames, samples):
    """speedscope's lines are the lowest of a function in its file."""
    lines = collections.defaultdict(lambda: collections.defaultdict(set))
    for sample in samples:
        for frame in sample.frames:
            if frame.line:
                lines[frame.name][frame.file].add(frame.line)
    found = [f"{frame}: not {dict(lines[frame['name']])}" for frame in frames if "line" in frame
             and frame["line"] != min(lines[frame["name"]].get(frame["file"], {0}))]
    with_lines = {frame["name"] for frame in frames if "line" in frame}
    print(f"{len(with_lines)} functions have lines")
    return found + [f"{name} has no line" for name in lines.keys() - with_lines]


def check_speedscope(program, recording):
    path = export(program, recording, "capture.speedscope.json")
    readers.chromium()
    shown = json.loads(readers.node("speedscope.cjs", path, recording.parent))
    saved, samples = shown["saved"], stacks.script(program, recording)
    threads = stacks.by_thread(samples)
    faults = [] if len(saved["profiles"]) == len(threads) else [f"{len(saved['profiles'])} profiles"]
    for profile, ((pid, tid, comm), of) in zip(saved["profiles"], threads.items()):
        if profile["name"].split() != f"{comm} {pid}/{tid}".split():
            faults.append(f"{profile['name']} is {comm} {pid}/{tid}")
        wanted = runs_of((tuple(f.name for f in sample.frames), sample.period) for sample in of)
        got = saved_runs(profile, saved["shared"]["frames"])
        # Speedscope counts in floating point.
        if [stack for stack, _ in got] != [stack for stack, _ in wanted if stack] or any(
                abs(a[1] - b[1]) > 1 for a, b in zip(got, wanted)):
            faults.append(f"{profile['name']}: {len(got)} runs of stacks, wanted {len(wanted)}")
    heaviest = max(threads, key=lambda key: sum(sample.period for sample in threads[key]))
    which = ("--tid", str(heaviest[1]), "--comm", heaviest[2])
    _, total = stacks.report(program, recording, "--children", *which)
    _, own = stacks.report(program, recording, *which)
    frames = json.loads(path.read_text())["shared"]["frames"]
    faults += row_faults(shown["rows"], frames, total, own)
    return faults + line_faults(frames, samples), len(samples)


# --- the Firefox Profiler ---

def exact_faults(document, samples):
    """The file itself, sample by sample."""
    threads = firefox.Reader(document).threads()
    wanted, found, counts = stacks.by_thread(samples), firefox.faults(document), collections.Counter()
    if [(t.pid, t.tid, t.name.strip()) for t in threads] != list(wanted):
        found.append(f"threads: {[t.name for t in threads]}")
    zero_ms = threads[0].samples[0].time_ms - decimal.Decimal(samples[0].time_ns) / 1000000
    for thread, of in zip(threads, wanted.values()):
        if len(thread.samples) != len(of):
            found.append(f"{thread.name}: {len(thread.samples)} samples, not {len(of)}")
        for sample, one in zip(thread.samples, of):
            frames = [stacks.Frame(f.name, f.file if f.line else "", f.line, f.inline_depth > 0)
                      for f in sample.frames]
            counts["frames"] += len(frames)
            counts["inlined"] += sum(frame.is_inlined for frame in frames)
            counts["lines"] += sum(frame.line > 0 for frame in frames)
            if (sample.time_ms, frames) != (zero_ms + decimal.Decimal(one.time_ns) / 1000000,
                                            list(one.frames)):
                found.append(f"{thread.name} at {one.time_ns}: {frames[-1]}, not {one.frames[-1]}")
    print(dict(counts))
    return found[:5]


TASK = re.compile(r"(\d+)\.(\d{9}): PERF_RECORD_(FORK|EXIT)\((\d+):(\d+)\)")


def life_faults(document, recording, samples):
    """When threads began and ended, as perf reads it. A pid does not come again in a capture."""
    readers.need("perf")
    text = readers.run(["perf", "script", "--ns", "--show-task-events", "-F", "comm,tid,time,event", "-i",
                        recording]).stdout
    told = {(found[4], int(found[5]), found[3]): int(found[1]) * 10**9 + int(found[2])
            for found in TASK.finditer(text)}
    zero_ns = samples[0].time_ns - int(document["threads"][0]["samples"]["time"][0] * 1000000)
    found, known = [], 0
    for thread in document["threads"]:
        for key, kind, none in (("registerTime", "FORK", 0), ("unregisterTime", "EXIT", None)):
            time_ns = told.get((thread["pid"], thread["tid"], kind), 0)
            wanted = decimal.Decimal(max(time_ns - zero_ns, 0)) / 1000000 if time_ns else none
            known += time_ns > 0
            if thread[key] != wanted:
                found.append(f"{thread['name']}: {key} {thread[key]}, not {wanted}")
    print(f"{known} times of threads")
    return found


def paths_of(node, path=()):
    """Samples by stack, of a tree."""
    counts = collections.Counter({path: node["selfSamples"]} if path and node["selfSamples"] else {})
    for child in node.get("children", []):
        counts += paths_of(child, (*path, child["name"]))
    return counts


def annotated_faults(ask, thread, function, of):
    """Own samples by line of the function's file, whichever functions they are of."""
    ask("thread", "select", thread)
    shown = ask("function", "annotate", function["functionHandle"], "--context", "0")["srcAnnotation"]
    got = {line["lineNumber"]: line["selfSamples"] for line in shown["lines"]}
    wanted = collections.Counter(sample.frames[-1].line for sample in of
                                 if sample.frames and sample.frames[-1].line
                                 and sample.frames[-1].file == shown["filename"])
    print(f"{shown['filename']}: {dict(wanted)}")
    return differences(shown["filename"], +collections.Counter(got), wanted)


def thread_faults(program, recording, ask, thread, of):
    handle, name = thread["threadHandle"], thread["name"]
    tree = ask("thread", "samples-top-down", "--thread", handle, "--max-lines", "1000000")
    wanted = collections.Counter(tuple(f.name for f in sample.frames) for sample in of)
    faults = differences(name, paths_of(tree["regularCallTree"]), wanted)
    functions = ask("thread", "functions", "--thread", handle, "--limit", "0")["functions"]
    own, total = collections.Counter(), collections.Counter()
    for function in functions:
        own[function["name"]] += function["selfSamples"]
        total[function["name"]] += function["totalSamples"]
    which = ("--tid", str(thread["tid"]), "--comm", name)
    faults += differences(name, +own, stacks.report(program, recording, *which)[0])
    # Of functions of one name, a report takes those in several files for one.
    split = {n for n, count in collections.Counter(f["name"] for f in functions).items() if count > 1}
    wanted = stacks.report(program, recording, "--children", *which)[0]
    faults += differences(name, collections.Counter({n: c for n, c in total.items() if n not in split}),
                          collections.Counter({n: c for n, c in wanted.items() if n not in split}))
    print(f"{name}: {len(own)} functions")
    # The hottest that has lines.
    lines = collections.Counter(sample.frames[-1].name for sample in of
                                if sample.frames and sample.frames[-1].line)
    name = lines.most_common(1)[0][0]
    return faults + annotated_faults(ask, handle, next(f for f in functions if f["name"] == name), of)


def torn_count(data):
    """1 where a dump ends inside of a record for code, whose head is there."""
    at = struct.unpack_from("<I", data, 8)[0]
    while at + 16 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if size < 16:
            return 0
        if at + size > len(data):
            return int(kind == jitdump.LOAD and at + 64 < len(data))
        at += size
    return 0


def marker_faults(ask, threads, dumps):
    """Each piece of code that was announced since recording began is a marker."""
    kinds = collections.Counter()
    for thread in threads:
        if thread["markerCount"]:
            listed = ask("thread", "markers", "--thread", thread["threadHandle"])
            kinds.update({kind["markerName"]: kind["count"] for kind in listed["byType"]})
    told = sum(len(jitdump.read(dump.read_bytes())) + torn_count(dump.read_bytes()) for dump in dumps)
    announced = kinds["Compiled"] + kinds["Code loaded"]
    print(f"markers: {dict(kinds)}; {told} pieces of code in the dumps")
    return [] if announced == told else [f"{announced} markers of {told} pieces of code"]


def tier_faults(program, recording, document):
    """Below categories stand runtimes and tiers, by which report counts them."""
    text = polyperf.run(program, "report", "-s", "runtime,tier", "--format", "json", "-i", recording).stdout
    wanted = collections.Counter()
    for row in json.loads(text)["events"][0]["rows"]:
        known = row["runtime"] and row["runtime"] not in ("native", "kernel")
        wanted[f"{row['runtime']} {row['tier']}".strip() if known else "Other"] += row["samples"]
    got = collections.Counter(sample.frames[-1].subcategory if sample.frames else "Other"
                              for thread in firefox.Reader(document).threads()
                              for sample in thread.samples)
    print(f"tiers: {dict(got)}")
    return differences("tiers", got, wanted)


def category_faults(ask, thread, read):
    shown = ask("thread", "samples", "--thread", thread["threadHandle"])["categoryBreakdown"]
    return differences(thread["name"], collections.Counter(
        {(row["name"], sub["name"]): sub["samples"] for row in shown["categories"]
         for sub in row["subcategories"] if sub["name"] != "Other"}), collections.Counter(
        (sample.frames[-1].category, sample.frames[-1].subcategory) for sample in read.samples
        if sample.frames and sample.frames[-1].subcategory != "Other"))


def check_firefox(program, recording, dumps):
    path = export(program, recording, "capture.firefox.json.gz")
    samples = stacks.script(program, recording)
    document = firefox.load(path)
    faults = exact_faults(document, samples) + tier_faults(program, recording, document)
    faults += life_faults(document, recording, samples)
    threads_of = stacks.by_thread(samples)
    with tempfile.TemporaryDirectory(prefix="fx-") as folder, profiler_cli.session(path, folder) as ask:
        threads = ask("thread", "list")["threads"]
        hottest = threads[0]
        read = firefox.Reader(document).threads()[hottest["threadIndex"]]
        of = threads_of[int(hottest["pid"]), hottest["tid"], hottest["name"].strip()]
        faults += category_faults(ask, hottest, read)
        faults += thread_faults(program, recording, ask, hottest, of)
        faults += marker_faults(ask, threads, dumps)
    return faults, len(samples)


def inlined_of(node, depth=0):
    found = [(depth, node["name"])] if node.get("inlineStatus") == "inlined" else []
    for child in node.get("children", []):
        found += inlined_of(child, depth + 1)
    return found


def check_fixture(write_fixture):
    """What the reader makes of hostile names, of functions inlined twice deep, and of several events."""
    faults = []
    with tempfile.TemporaryDirectory(prefix="fx-") as folder:
        path = pathlib.Path(folder) / "x.firefox.json.gz"
        path.write_bytes(subprocess.run([write_fixture, "firefox", "all"], check=True,
                                        capture_output=True).stdout)
        with profiler_cli.session(path, folder) as ask:
            threads = {t["threadHandle"]: t for t in ask("thread", "list")["threads"]}
            if len(threads) != 6 or threads["t-5"]["name"] != "evil;\n<b> 3 (cpu-clock)":
                faults.append(f"threads: {threads}")
            tree = ask("thread", "samples-top-down", "--thread", "t-2")["regularCallTree"]
            if inlined_of(tree) != [(3, "middle"), (4, "inner")]:
                faults.append(f"inlined: {inlined_of(tree)}")
            names = {f["name"] for f in ask("thread", "functions", "--thread", "t-5", "--limit", "0")
                     ["functions"]}
            hostile = 'a;b\nc\t<script>alert("x")</script>&amp;\' --> ]]> \x1b[31m'
            if not {hostile, "", "\ufffd\ufffd bytes \u202e left", "x" * 65536} <= names:
                faults.append(f"names: {[name[:50] for name in names]}")
            markers = ask("thread", "markers", "--thread", "t-3")["byType"]
            if [(m["markerName"], m["topMarkers"][0]["label"]) for m in markers] != [
                    ("Fell back", "alpha (turbofan to sparkplug)")]:
                faults.append(f"markers: {markers}")
    polyperf.fail(*faults) if faults else print("1 passed")


def main():
    program, case, argument = sys.argv[1:]
    if case == "fixture":
        check_fixture(argument)
        return
    readers.modules()
    with tempfile.TemporaryDirectory() as name:
        recording, dumps, _ = captures_test.unpack(argument, pathlib.Path(name))
        if case == "speedscope":
            faults, count = check_speedscope(program, recording)
            readers.node("speedscope_schema.cjs", recording.parent / "capture.speedscope.json")
        else:
            faults, count = check_firefox(program, recording, dumps)
    if count < LEAST_SAMPLES:
        faults.append(f"{count} samples are too few to tell")
    if faults:
        polyperf.fail(*faults)
    print(f"{count} samples")


main()
