"""Holds what stock perf shows of an injected recording against `polyperf script` of the recording:
frame by frame, for functions of interpreters by name, file and line, for all others by address."""
import collections
import re

import polyperf
import stock

FIELDS = "tid,time,event,ip,sym,dso,srcline"
IMAGE = "jitted-interpreted.so"
HEAD = re.compile(r"\s*(-?\d+)\s+(\d+)\.(\d{9}):\s+(\S+?):(?:\s+(\S.*)?)?$")
FRAME = re.compile(r"\s*([0-9a-f]+) (.*) \(([^()]*(?:\([^()]*\)[^()]*)*)\)$")

Sample = collections.namedtuple("Sample", "tid time event frames")
# `line` is "FILE:LINE", in perf's without the folder, or "".
Frame = collections.namedtuple("Frame", "ip name dso line")


def read_frame(text):
    found = FRAME.match(text)
    if not found:
        polyperf.fail(f"no frame: {text!r}")
    return Frame(found[1], found[2].strip(), found[3], "")


def read(text):
    """Samples from `script --no-inline --ns -F FIELDS`, of perf and of polyperf."""
    samples = []
    for line in text.split("\n"):
        if not line.strip():
            continue
        if found := HEAD.match(line):
            samples.append(Sample(int(found[1]), int(found[2] + found[3]), found[4], []))
            line = found[5] or ""
        if not line:
            continue
        frames = samples[-1].frames
        if line.startswith("  ") and frames and not FRAME.match(line):
            place = line[2:]
            frames[-1] = frames[-1]._replace(line="" if place.startswith(("??", "[")) else place)
        else:
            frames.append(read_frame(line))
    return samples


def is_image(frame):
    return frame.dso.endswith("/" + IMAGE)


def is_source(frame):
    return re.search(r"\.(py|php|rb|pl|pm)$|\.toy$", frame.dso) is not None


def same_line(seen, wanted):
    """Readers split at colons, so that a path has none in the image."""
    path, _, number = wanted.rpartition(":")
    names = [f"{path.replace(':', '/').rpartition('/')[2]}:{number}", wanted.rpartition("/")[2]]
    return seen.rpartition("/")[2] in names if wanted else not seen


def same_address(seen, wanted):
    """What the language called, a C function known by where it begins, is written as if it had called.
    Of the vDSO perf prints the place in it."""
    return int(seen.ip, 16) - int(wanted.ip, 16) in (0, 1) or "[vdso]" in seen.dso == wanted.dso


def compare(seen, wanted, unwinds=False):
    """Counts what is equal, and what is not by what it is. `unwinds`: samples without frames of
    interpreters have pieces of stack, which perf unwinds in its own way."""
    counts, faults = collections.Counter(), collections.Counter()
    waiting = collections.defaultdict(list)
    for sample in wanted:
        waiting[sample.tid, sample.time, sample.event].append(sample)
    for sample in seen:
        same = waiting[sample.tid, sample.time, sample.event]
        if not same:
            faults["a sample too many"] += 1
            continue
        other = same.pop(0).frames
        if not unwinds or any(map(is_image, sample.frames)):
            compare_frames(sample.frames, other, counts, faults)
        elif any(is_source(frame) for frame in other):
            faults["an interpreter's functions are missing"] += 1
    faults["a sample is missing"] += sum(map(len, waiting.values()))
    return counts, +faults


def compare_frames(seen, wanted, counts, faults):
    counts["samples"] += 1
    counts["in an interpreter"] += any(map(is_image, seen))
    # An unknown mark in the chain, of frame pointers: perf, which may be either, shows none of it.
    both = [*seen, *wanted]
    if (not seen or not wanted) and not any(is_source(frame) or is_image(frame) for frame in both):
        counts["damaged"] += 1
        return
    if len(seen) != len(wanted):
        faults[f"{len(seen)} frames for {len(wanted)}"] += 1
        return
    for one, other in zip(seen, wanted):
        if not is_image(one):
            counts["native"] += 1
            if stock.is_image(one.dso):
                # In the image it has another address, and the line, which frames tell, is not in it.
                counts["compiled"] += 1
                name = one.name
                if name != other.name or not stock.is_code(other.dso):
                    faults[f"{one.name} ({one.dso}) for {other.name} ({other.dso})"] += 1
            elif not same_address(one, other):
                faults[f"{one.ip} {one.name} ({one.dso}) for {other.ip} {other.name} ({other.dso})"] += 1
            continue
        counts["interpreted"] += 1
        counts["with a line"] += bool(one.line)
        if one.name != other.name or not same_line(one.line, other.line):
            faults[f"{one.name} {one.line} for {other.name} {other.line} ({other.dso})"] += 1
