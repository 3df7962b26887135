#!/usr/bin/env python3
"""The timeline, the tiers and the pages of functions in a real browser: views_test.py POLYPERF SCREENS CASE[,CASE...].
What the cases do there is in views.cjs; page_test.py has the rest of the page.
"""
import collections
import json
import re
import struct
import sys

import page_test
from page_test import Recording, browse, capture, hostile_recording
import handmade
import polyperf

MS = 1000 * 1000
START = 1000 * MS
# The human name of a function whose raw names these are.
WORK = {name: rf"JS:o?[~^+*]'?{name} .*/work\.js:{line}" for name, line in
        (("alpha", "2:15"), ("beta", "3:14"), ("gamma", "4:15"))}


def buckets_of(report):
    """How the page cuts a run into buckets, where it has few distinct stacks: (nanoseconds, how many)."""
    shift = 18
    while (report["last_ns"] - report["first_ns"]) >> shift >= 2000:
        shift += 1
    return 1 << shift, ((report["last_ns"] - report["first_ns"]) >> shift) + 1


def seconds(ns):
    return f"{ns // 10**9}.{ns % 10**9:09}"


def self_rows(report):
    return {f"{row['symbol']}\t{row['object']}": row["samples"] for row in report["rows"]}


def tier_rows(report):
    """[[samples, runtime, tier]], as report has them."""
    return sorted([row["samples"], row["runtime"], row["tier"]] for row in report["rows"])


def wanted_of_brush(recording):
    """The keyboard chooses a time: all views are as `report --time` of it."""
    whole = recording.report()
    bucket_ns, count = buckets_of(whole)
    step = round(count / 200)
    first, end = 40 * step, count - 61 * step
    edges = ",".join(seconds(whole["first_ns"] + bucket * bucket_ns) for bucket in (first, end))
    part = recording.report("--time", edges)
    assert 0 < part["samples"] < whole["samples"]
    return {
        "step": step, "count": count, "from": first, "to": end, "samples": part["samples"], "all": whole["samples"],
        "self": self_rows(part), "tiers": tier_rows(recording.report("--time", edges, "--sort", "runtime,tier")),
        "wholeTiers": tier_rows(recording.report("--sort", "runtime,tier"))}


def threads_recording(program, folder):
    """60 processes, the nth with n samples; and one with 300 threads, which has most."""
    recording = handmade.Recording()
    for pid in range(1, 61):
        recording.comm(pid, START, f"small-{pid}")
        recording.mmap(pid, START, 0x1000, 0x1000, f"/bin/small-{pid}")
        for i in range(pid):
            recording.sample(pid, START + (i + 1) * 10 * MS, 0x1010)
    recording.comm(900, START, "large")
    recording.mmap(900, START, 0x1000, 0x1000, "/bin/large")
    for tid in range(900, 1200):
        for i in range(10):
            body = struct.pack("<QIIQQQ2Q", 0x1010, 900, tid, START + (tid - 900 + 1) * 2 * MS + i, 1, 2,
                               handmade.CONTEXT_USER, 0x1010)
            recording.records += handmade.record(9, handmade.USER, body)
    recording.write(folder / "perf.data")
    return Recording(program, folder)


def test_lanes(program, folder):
    recording = threads_recording(program, folder)
    pid = recording.report("--pid", "900")
    tid = recording.report("--tid", "903")
    browse(recording.page(), {"lanes": {
        "all": recording.report()["samples"], "large": pid["samples"], "thread": tid["samples"]}})


def loads_of(path):
    """Names of the LOAD records of a dump."""
    data = path.read_bytes()
    at = struct.unpack_from("<I", data, 8)[0]
    names = []
    while at + 16 <= len(data):
        kind, size, _ = struct.unpack_from("<IIQ", data, at)
        if kind == 0:
            names.append(data[at + 56:data.index(b"\0", at + 56)].decode(errors="replace"))
        at += size
    return names


def wanted_of_events(recording):
    """What is compiled is what the dump's records say; most often, too."""
    names = loads_of(next(recording.folder.glob("jit-*.dump")))
    # What V8 makes for itself, and not of a function, has another tag.
    stubs = sum(bool(re.match(r"(Builtin|Stub|Handler|LoadIC|StoreIC|Key\w+|CallIC|Callback):", name)) for name in names)
    return {
        "compiled": len(names) - stubs, "loaded": stubs, "functions": {
            f"{name} work.js:{pattern.rsplit(':', 2)[1]}:{pattern.rsplit(':', 1)[1]}":
                sum(bool(re.fullmatch(pattern, raw)) for raw in names) for name, pattern in WORK.items()}}


def test_many_events(program, folder):
    """.NET's: tens of thousands, some of code compiled ahead, some without a time."""
    recording = capture(program, folder, "dotnet10-azmcp-g2")
    names = loads_of(next(folder.rglob("jit-*.dump")))
    browse(recording.page(), {"manyEvents": {"count": len(names)}})


def falls_recording(program, folder):
    """alpha is optimised at 10 ms and runs until 40 ms; then in the interpreter; at 70 ms optimised again."""
    recording = handmade.Recording()
    dump = handmade.Dump(7)
    recording.comm(7, START, "app")
    recording.mmap(7, START, 0x1000, 0x10000, "//anon")
    recording.mmap(7, START, 0x100000, 0x1000, str(folder / "jit-7.dump"))
    for time, start, mark in ((0, 0x1000, "~"), (10, 0x2000, "*"), (70, 0x3000, "*")):
        dump.load(START + time * MS, start, 0x100, f"JS:{mark}alpha /home/me/app.js:3:7")
    for time in range(2, 100, 2):
        code = 0x1000 if time < 10 or 40 <= time < 70 else 0x2000 if time < 40 else 0x3000
        recording.sample(7, START + time * MS + 1, code + 0x10)
    dump.write(folder / "jit-7.dump")
    recording.write(folder / "perf.data")
    made = Recording(program, folder)
    made.add(folder / "jit-7.dump")
    return made


def test_falls(program, folder):
    browse(falls_recording(program, folder).page(), {"falls": None})


def annotated(recording, name):
    path = recording.folder / "annotated.json"
    polyperf.run(recording.program, "annotate", "-i", recording.path, *recording.extra, "--self-contained", "-o", path, name)
    return json.loads(path.read_text())


def rows_of(document, version):
    """Samples by line of one version, and of its instructions in their order."""
    lines = collections.Counter()
    for line in version["lines"]:
        lines[str(line["line"]) if line["line"] else ""] += line["samples"]
    return {"tier": version["tier"], "samples": version["samples"], "lines": lines, "name": document["functions"][0]["symbol"],
            "instructions": [[row.get("offset"), row["samples"], row.get("text", "")] for row in version.get("instructions", [])]}


def wanted_of_function(recording):
    document = annotated(recording, "alpha work.js:2:15")
    versions = document["functions"][0]["versions"]
    hottest = max(range(len(versions)), key=lambda i: versions[i]["samples"])
    return {"versions": [rows_of(document, version) for version in versions], "hottest": hottest}


def test_views(program, folder):
    recording = capture(program, folder)
    browse(recording.page(), {
        "brush": wanted_of_brush(recording), "drag": None, "events": wanted_of_events(recording),
        "function": wanted_of_function(recording), "looksOfViews": None})


def test_inlined(program, folder):
    """A JVM's code with inlined calls and notes, and an interpreter's, which has none."""
    recording = capture(program, folder, "java17-jvmti")
    hottest = max(recording.report("--no-inline")["rows"], key=lambda row: row["samples"])
    document = annotated(recording, hottest["symbol"])
    version = max(document["functions"][0]["versions"], key=lambda version: version["samples"])
    browse(recording.page(), {"inlined": rows_of(document, version)})


def test_absent(program, folder):
    """A page without functions by instruction says how to get them."""
    recording = capture(program, folder)
    page = folder / "few.html"
    polyperf.run(program, "report", "-i", recording.path, *recording.extra, "--self-contained", "--functions=1", f"--html={page}")
    browse(page, {"absent": {
        "with": "alpha work.js:2:15", "without": "beta work.js:3:14", "input": str(recording.path)}})


def test_hostile_views(program, folder):
    browse(hostile_recording(program, folder).page(), {"hostileViews": None})


page_test.CASES.update({name.removeprefix("test_"): test for name, test in list(globals().items()) if name.startswith("test_")})

if __name__ == "__main__":
    page_test.main(*sys.argv[1:])
