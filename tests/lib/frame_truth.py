"""Holds the stacks of a recording's samples against what the recorded program itself logged.

The log and its marks: tests/interp/programs/truth.py. A sample belongs to an interval of its thread
when its time lies in it, some way from both stamps. Every such sample counts; those without a
frame of the language are wrong. C functions that the language called, and the kernel, count for
the frame that called them.
"""
import bisect
import collections
import functools
import re

import polyperf

# Behind the first stamp and before the last. What is sampled between the code in question and the
# last stamp delays that stamp by what it takes to sample.
FIRST_NS, LAST_NS = 30_000, 150_000
FIELDS = "tid,time,sym,dso,srcline"
HEAD = re.compile(r"\s*(\d+)\s+(\d+)\.(\d{9}):\s*$")
FRAME = re.compile(r"\s+(?:[0-9a-f]+ )?(.*?)(?: \(([^()]*(?:\([^()]*\)[^()]*)*)\))$")
LINE = re.compile(r"  (.*):(\d+)$")
MARK = re.compile(r"(?:#|--|//|/\*) @(\w+)(?: \*/)?$")

Frame = collections.namedtuple("Frame", "name line file")
Interval = collections.namedtuple("Interval", "case begin end stacks")


class Truth:
    """Intervals by thread, in the order of time, with stacks of (function, line)."""

    def __init__(self, logs, source, short_names=False):
        self.short_names = short_names
        lines = source.read_text().splitlines()
        marks = [(found[1], number) for number, line in enumerate(lines, 1) if (found := MARK.search(line))]
        self.marks = dict(marks)
        assert len(self.marks) == len(marks), "a mark is there twice"
        self.intervals = collections.defaultdict(list)
        for log in logs:
            for row in log.read_text().splitlines():
                case, tid, begin, end, stacks = row.split("\t")
                stacks = [[self.frame(word) for word in stack.split()] for stack in stacks.split("|")]
                self.intervals[int(tid)].append(Interval(case, int(begin), int(end), stacks))
        for intervals in self.intervals.values():
            intervals.sort(key=lambda interval: interval.begin)
            for one, next_one in zip(intervals, intervals[1:]):
                assert one.end <= next_one.begin, f"two truths at once: {one} {next_one}"

    def frame(self, word):
        if word == "...":
            return None
        if found := re.fullmatch(r"(.*)@(\w+)", word):
            return Frame(self.name(found[1]), self.marks[found[2]], "")
        found = re.fullmatch(r"(.*):(\d+)(?:=(.*))?", word)
        return Frame(self.name(found[1]), int(found[2]), (found[3] or "").replace("~", " "))

    def name(self, name):
        """Code has no qualified name before Python 3.11. A space in a name is `~` in the log."""
        return re.sub(r"^.*\.", "", name) if self.short_names else name.replace("~", " ")

    def find(self, sample, intervals):
        at = bisect.bisect_right(intervals, sample.time - FIRST_NS, key=lambda interval: interval.begin) - 1
        if at >= 0 and sample.time <= intervals[at].end - LAST_NS:
            return intervals[at]
        return None


# Frames are those of the language, natives the names of all others; innermost first.
Sample = collections.namedtuple("Sample", "tid time frames natives")
Seen = collections.namedtuple("Seen", "name dso line")


def is_native(dso, cache={}):
    """A frame's object is its source file, or where its code lies."""
    if dso not in cache:
        cache[dso] = dso in ("", "inlined") or dso.startswith("[")
        try:
            with open(dso, "rb") as file:
                cache[dso] = file.read(4) == b"\x7fELF"
        except OSError:
            pass
    return cache[dso]


def read_samples(program, recording):
    text = polyperf.run(program, "script", "-i", recording, "--no-inline", "--ns", "-F", FIELDS).stdout
    samples = []
    for block in text.split("\n\n"):
        head, *rows = block.strip("\n").split("\n")
        if not head:
            continue
        found = HEAD.match(head) or polyperf.fail(f"not understood: {head!r}")
        frames, natives = [], []
        for seen in frames_of(rows):
            if is_native(seen.dso):
                natives.append(seen.name)
            else:
                frames.append(seen)
        samples.append(Sample(int(found[1]), int(found[2]) * 10**9 + int(found[3]), frames, natives))
    return samples


@functools.cache
def frame_of(row, line):
    """The frame of a row and of the row of its line, or "". Of those that differ there are few."""
    frame, place = FRAME.match(row), LINE.match(line)
    if not frame or line and not place:
        polyperf.fail(f"not understood: {row!r} {line!r}")
    return Seen(frame[1], frame[2], int(place[2]) if place else 0)


def frames_of(rows):
    """Rows of frames, each with that of its line behind it, if it has one."""
    at = 0
    while at < len(rows):
        has_line = at + 1 < len(rows) and rows[at + 1].startswith("  ")
        yield frame_of(rows[at], rows[at + 1] if has_line else "")
        at += 2 if has_line else 1


def is_right(seen, frame):
    return seen.name == frame.name and seen.line == frame.line and frame.file in ("", seen.dso)


def judge(frames, stack):
    """Whether (function, line, stack) are right. The function is its file's, where that is known."""
    if not frames or frames[0].name != stack[0].name or stack[0].file not in ("", frames[0].dso):
        return False, False, False
    known = stack[:-1] if stack[-1] is None else stack
    is_whole = len(frames) >= len(known) if stack[-1] is None else len(frames) == len(stack)
    return True, frames[0].line == stack[0].line, is_whole and all(map(is_right, frames, known))


def count(samples, truth, wrong=None):
    """By case: how many samples there are, and right of which kind; the (function, line)s that there were."""
    counts, places = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    for sample in samples:
        interval = truth.find(sample, truth.intervals.get(sample.tid, []))
        if not interval:
            continue
        function, line, whole = max(judge(sample.frames, stack) for stack in interval.stacks)
        counts[interval.case].update(samples=1, functions=function, lines=line, stacks=whole,
                                     none=not sample.frames, unlined=function and not sample.frames[0].line)
        places[interval.case][interval.stacks[0][0][:2]] += 1
        if wrong is not None and not (line and whole):
            wrong.append((sample, interval))
    return counts, places


def shifted(truth):
    """A truth that is wrong: what is said of each interval is said of another place."""
    distinct = {str(one.stacks[0]): one.stacks for of_thread in truth.intervals.values() for one in of_thread}
    following = dict(zip(distinct, [*distinct.values()][1:] + [*distinct.values()][:1]))
    other = Truth.__new__(Truth)
    other.intervals = {tid: [one._replace(stacks=following[str(one.stacks[0])]) for one in of_thread]
                       for tid, of_thread in truth.intervals.items()}
    return other


def table(counts, places):
    print(f"{'case':14}{'samples':>8}{'places':>7}{'function':>10}{'line':>9}{'stack':>9}{'none':>6}")
    for case, count in counts.items():
        shares = [f"{100 * count[kind] / count['samples']:8.2f}%" for kind in ("functions", "lines", "stacks")]
        print(f"{case:14}{count['samples']:8}{len(places[case]):7} {''.join(shares)}{count['none']:6}")


def total(counts):
    return sum(counts.values(), collections.Counter())
