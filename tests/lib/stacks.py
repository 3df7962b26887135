"""What `polyperf script` and `report` say of a recording, for what other readers say to be held
against: every sample with its whole stack, and tables of functions.
"""
import collections
import json
import re

import polyperf

# A frame that was inlined says so in script; its line stands below it.
Frame = collections.namedtuple("Frame", "name file line is_inlined")
Sample = collections.namedtuple("Sample", "comm pid tid time_ns period frames")

HEAD = re.compile(r"(.*?)\s+(\d+)/(\d+)\s+(\d+)\.(\d{9}):\s+(\d+)\s*$")
FRAME = re.compile(r"\t\s*[0-9a-f]+ (.*)$")
PLACE = re.compile(r"  (.+):(\d+)$")
INLINED = " (inlined)"


def frame_of(name, place):
    file, line = (place[1], int(place[2])) if place else ("", 0)
    return Frame(name.removesuffix(INLINED), file, line, name.endswith(INLINED))


def read_script(text):
    """Samples of `script --ns -F comm,pid,tid,time,period,ip,sym,srcline`, stacks outermost first."""
    found, frames = [], []
    for line in text.split("\n"):
        head, frame = HEAD.match(line), FRAME.match(line)
        if frame:
            frames.append([frame[1], None])
        elif frames and PLACE.match(line):
            frames[-1][1] = PLACE.match(line)
        elif head:
            frames = []
            found.append((head, frames))
        elif line.strip():
            polyperf.fail(f"neither a sample nor a frame: {line!r}")
    return [Sample(head[1].strip(), int(head[2]), int(head[3]), int(head[4]) * 10**9 + int(head[5]),
                   int(head[6]), tuple(frame_of(*frame) for frame in reversed(frames)))
            for head, frames in found]


def script(program, recording):
    text = polyperf.run(program, "script", "--ns", "-i", recording,
                        "-F", "comm,pid,tid,time,period,ip,sym,srcline").stdout
    return read_script(text)


def by_thread(samples):
    """In the order in which threads appear; one that was renamed is another."""
    found = collections.defaultdict(list)
    for sample in samples:
        found[sample.pid, sample.tid, sample.comm].append(sample)
    return found


def report(program, recording, *options):
    """Rows of `report` by name: how many samples and what weight."""
    text = polyperf.run(program, "report", "--format", "json", "-i", recording, *options).stdout
    samples, weights = collections.Counter(), collections.Counter()
    for row in json.loads(text)["events"][0]["rows"]:
        samples[row["symbol"]] += row["samples"]
        weights[row["symbol"]] += row["weight"]
    return samples, weights
