#!/usr/bin/env python3
"""Chrome's trace of the fixture, against the samples that it holds.

    chrome_test.py WRITE_FIXTURE

At the time of each sample, the events that are on there must be its stack: names, who is inlined, in the
order that readers make of a file.
"""
import collections
import decimal
import gzip
import json
import sys

import json_test

Event = collections.namedtuple("Event", "start_ns end_ns index name args")


def nanoseconds(microseconds):
    return int(microseconds * 1000)


def events_of(text):
    """Complete events by (pid, tid), and all others."""
    document = json.loads(text, parse_float=decimal.Decimal)
    calls, others = collections.defaultdict(list), []
    for index, event in enumerate(document["traceEvents"]):
        if event["ph"] == "X":
            start_ns = nanoseconds(event["ts"])
            calls[event["pid"], event["tid"]].append(
                Event(start_ns, start_ns + nanoseconds(event["dur"]), index, event["name"], event["args"]))
        else:
            others.append(event)
    return calls, others


def stack_at(calls, time_ns):
    on = [event for event in calls if event.start_ns < time_ns <= event.end_ns]
    return sorted(on, key=lambda event: (event.start_ns, -event.end_ns, event.index))


def check(calls, samples):
    for sample in samples:
        stack = stack_at(calls[sample.pid, sample.tid], sample.time_ns)
        assert [event.name for event in stack] == [frame.name for frame in sample.frames], (sample, stack)
        assert [event.args.get("inlined", False) for event in stack] == [
            frame.is_inlined for frame in sample.frames]
        for event, frame in zip(stack, sample.frames):
            source = f"{frame.file}:{frame.line}" if frame.line else frame.file
            assert event.args.get("source", "") == source, (event, frame)


def main():
    program, = sys.argv[1:]
    tracks = json_test.samples_of(program)
    count = 0
    for number, name in enumerate(json_test.EVENTS):
        samples = [sample for track in tracks for sample in track if sample.event == number]
        text = json_test.run(program, "chrome", str(number))
        assert gzip.decompress(json_test.run(program, "chrome-gz", str(number))) == text
        calls, others = events_of(text)
        check(calls, samples)
        assert json.loads(text)["otherData"]["event"] == name
        named = {(event["pid"], event["tid"]) for event in others if event["name"] == "thread_name"}
        assert named >= set(calls)
        count += len(samples)
    assert count > 50
    print(f"{count} samples")


main()
