#!/usr/bin/env python3
"""Exports of the fixture that are JSON, against the samples that it holds.

    json_test.py WRITE_FIXTURE FORMAT

Every sample must be there, in the order of time, with the names, files, lines and weights that the
fixture has, whatever bytes they are made of.
"""
import collections
import json
import subprocess
import sys

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
    print(f"{sum(map(len, samples))} samples in {len(samples)} tracks")


main()
