#!/usr/bin/env python3
"""Exports of the fixture that are JSON, against the samples that it holds.

    json_test.py WRITE_FIXTURE FORMAT

Every sample must be there, in the order of time, with the names, files, lines and weights that the
fixture has, whatever bytes they are made of.
"""
import collections
import decimal
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import firefox

EVENTS = ("cpu-clock", "cycles:u")
Frame = collections.namedtuple("Frame", "name file line is_inlined id")
Sample = collections.namedtuple("Sample", "pid tid event time_ns period frames")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True).stdout


def text_of(digits):
    return bytes.fromhex(digits).decode(errors="replace")


def frame_of(word):
    name, _, rest = word.partition("/")
    file, line, is_inlined, id = rest.split(":")
    return Frame(text_of(name), text_of(file), int(line), is_inlined == "1", int(id))


def samples_of(program):
    """By (thread, event), as formats order them."""
    found = collections.defaultdict(list)
    for line in run(program, "samples").decode().splitlines():
        words = line.split()
        thread, pid, tid, event, time_ns, period = map(int, words[:6])
        found[thread, event].append(
            Sample(pid, tid, event, time_ns, period, tuple(map(frame_of, words[6:]))))
    return [found[key] for key in sorted(found)]


def lines_of(samples):
    """The lowest line of each function, by which speedscope tells where it is."""
    lines = {}
    for of_track in samples:
        for sample in of_track:
            for frame in sample.frames:
                key = frame.name, frame.file
                if frame.line:
                    lines[key] = min(lines.get(key, frame.line), frame.line)
    return lines


def check_speedscope(document, samples):
    frames = document["shared"]["frames"]
    lines = lines_of(samples)
    assert len({json.dumps(frame) for frame in frames}) == len(frames), "a frame is there twice"
    assert len(document["profiles"]) == len(samples)
    for profile, wanted in zip(document["profiles"], samples):
        assert profile["name"].endswith(f" {wanted[0].pid}/{wanted[0].tid} {EVENTS[wanted[0].event]}")
        assert profile["unit"] == ("none" if wanted[0].event else "nanoseconds")
        assert profile["weights"] == [sample.period for sample in wanted]
        assert (profile["startValue"], profile["endValue"]) == (0, sum(profile["weights"]))
        assert len(profile["samples"]) == len(wanted)
        for stack, sample in zip(profile["samples"], wanted):
            assert [frames[id]["name"] for id in stack] == [frame.name for frame in sample.frames]
            for id, frame in zip(stack, sample.frames):
                assert frames[id].get("line", 0) == lines.get((frame.name, frame.file), 0), frame
                if frame.file:
                    assert frames[id]["file"] == frame.file, (frames[id], frame)
    weights = [profile["endValue"] for profile in document["profiles"]]
    assert weights[document["activeProfileIndex"]] == max(weights)


CATEGORIES = {
    "main": ("Native", "Other"), "beta": ("Optimised", "v8 turbofan"),
    "do_syscall_64": ("Kernel", "Other"), "[unknown]": ("Unknown", "Other"), "": ("Unknown", "Other"),
    "job.run": ("Interpreter", "python interpreter"),
    "zlib.compress": ("Stubs and built-ins", "python builtin"),
    "inner": ("Optimised", "jvm c2"),
}
ZERO_NS = 999500000 # when the first code event was
ALPHA = {3: ("Baseline", "v8 sparkplug"), 4: ("Optimised", "v8 turbofan")} # by its line


def check_frame(frame, wanted):
    assert (frame.name, frame.line) == (wanted.name, wanted.line), (frame, wanted)
    assert not wanted.file or frame.file == wanted.file, (frame, wanted)
    kind = ALPHA[wanted.line] if wanted.name == "alpha" else CATEGORIES.get(wanted.name)
    assert not kind or (frame.category, frame.subcategory) == kind, (frame, kind)
    assert (frame.inline_depth > 0) == wanted.is_inlined


def check_track(thread, wanted):
    """One event counts; the other's samples are not all alike."""
    assert (thread.pid, thread.tid) == (wanted[0].pid, wanted[0].tid)
    assert thread.name.endswith(f" ({EVENTS[wanted[0].event]})")
    assert len(thread.samples) == len(wanted)
    for sample, of in zip(thread.samples, wanted):
        assert sample.time_ms == decimal.Decimal(of.time_ns - ZERO_NS) / 1000000
        assert sample.weight == (of.period if of.event else decimal.Decimal(of.period) / 1000000)
        assert len(sample.frames) == len(of.frames)
        for around, frame, frame_of in zip((None, *sample.frames), sample.frames, of.frames):
            check_frame(frame, frame_of)
            if frame.inline_depth: # a frame that was inlined is where the one around it is
                assert frame.inline_depth == around.inline_depth + 1
                assert frame.place == around.place and None not in frame.place


def marker(name, time, category, function, **data):
    return firefox.Marker(name, decimal.Decimal(time), {
        "runtime": "v8", "object": "[jit]", "function": function, "known": "the runtime", **data}, category)


# By track. What nobody said to be of a thread that has samples is with its process's own.
MARKERS = [
    [marker("Compiled", "0", "Baseline", "alpha", type="compiled", tier="sparkplug", size=256),
     marker("Code unloaded", "40.5", "Optimised", "alpha", type="unloaded", tier="turbofan", size=512)],
    [],
    [marker("Compiled", "5.5", "Optimised", "alpha", type="compiled", tier="turbofan", size=512,
            notBefore=decimal.Decimal("4.5"))],
    [marker("Fell back", "30.5", "Baseline", "alpha", type="fell_back", tier="sparkplug",
            **{"from": "turbofan"}, notBefore=decimal.Decimal("28.5"),
            known="what else was told, or samples")],
    [],
    [marker("Code loaded", "50.5", "Compiled", "\ufffd</script>\u202e \"", type="loaded", tier="",
            size=64)],
]


def check_firefox(document, samples):
    assert not firefox.faults(document), firefox.faults(document)
    meta = document["meta"]
    assert (meta["startTime"], meta["interval"]) == (decimal.Decimal("1700000000122.956789"), 1)
    assert (meta["product"], meta["arguments"]) == ("app", "polyperf record -- app a b")
    assert [color["color"] for color in meta["categories"]].count("grey") == 1
    threads = firefox.Reader(document).threads()
    assert len(threads) == len(samples)
    for thread, wanted in zip(threads, samples):
        check_track(thread, wanted)
    assert [thread.is_main for thread in threads] == [True, False, False, False, False, True]
    assert [thread.markers for thread in threads] == MARKERS, [thread.markers for thread in threads]
    assert {thread.process for thread in threads} == {"app", "evil\n"}
    program = next(lib for lib in document["libs"] if lib["path"] == "/usr/bin/app")
    assert program["codeId"] == "abcd0123" and program["breakpadId"].startswith("2301CDAB0000")
    times = ("registerTime", "unregisterTime", "processStartupTime", "processShutdownTime")
    half = decimal.Decimal("0.5")
    assert [[thread[time] for time in times] for thread in document["threads"]] == [
        [0, 200 + half, 0, 200 + half], [0, 200 + half, 0, 200 + half], [2 + half, None, 0, 200 + half],
        [0, None, 0, 200 + half], [0, None, 0, 200 + half], [0, None, 0, None]]
    for thread in document["threads"]:
        has_deltas = thread["name"].endswith("(cpu-clock)")
        assert has_deltas == ("threadCPUDelta" in thread["samples"])
        kind = thread["samples"]["weightType"]
        assert kind == ("tracing-ms" if has_deltas else "samples")


def one_event(program, check, samples):
    """Of one event, nothing tells of others."""
    document = json.loads(run(program, "speedscope", "1"))
    assert [profile["name"] for profile in document["profiles"]] == ["app 7/7", "app 7/9"]
    assert [len(p["samples"]) for p in document["profiles"]] == [len(of) for of in samples
                                                                 if of[0].event == 1]


def main():
    program, format = sys.argv[1:]
    samples = samples_of(program)
    assert sum(map(len, samples)) > 50
    text = run(program, format, "all")
    if format == "speedscope":
        check_speedscope(json.loads(text), samples)
        one_event(program, check_speedscope, samples)
    elif format == "firefox":
        check_firefox(firefox.parse(text), samples)
    print(f"{sum(map(len, samples))} samples in {len(samples)} tracks")


if __name__ == "__main__":
    main()
