"""Whose walk of a dumped stack is right: polyperf's, stock perf's, and that of callframes.py."""
import collections
import re

import callframes
import polyperf
import stock
import userstack

# `address` is the offset in the object's file, as both tools print it.
Frame = collections.namedtuple("Frame", "address name path")
FRAME = re.compile(r"\s*([0-9a-f]+) (.*) \((.*)\)(?: .*)?$")
FIELDS = ("--no-inline", "--ns", "-F", "pid,tid,time,ip,sym,dso")
MAX_STACK = 2000  # perf stops at 127 where nobody says more
WALKER = callframes.Walker()  # of all recordings: what files say is read once
ENTRY_BYTES = 64  # of the _start of ld.so, which no table describes


def read_chains(text):
    """The frames of each sample by thread and time."""
    chains, frames = {}, None
    for line in text.split("\n"):
        if not line.strip():
            continue
        head = polyperf.HEAD.match(line)
        if head:
            frames = []
            chains[int(head[2]), int(head[3]) * 10**9 + int(head[4])] = frames
            line = head[5]
        found = FRAME.match(line)
        if found:
            frames.append(Frame(int(found[1], 16), found[2], found[3]))
        elif line.strip():
            polyperf.fail(f"no frame: {line!r}")
    return chains


def of_polyperf(program, recording):
    return read_chains(polyperf.run(program, "script", *FIELDS, "-i", recording).stdout)


def of_perf(perf, recording):
    done = perf.run("script", *FIELDS, "--max-stack", MAX_STACK, "-f", "-i", recording)
    return read_chains(done.stdout)


class Sample:
    """One sample with the slow walk of it."""

    def __init__(self, walker, raw, memory):
        self.key, self.pid, self.raw = (raw.tid, raw.time), raw.pid, raw
        self.dump_end = raw.registers[userstack.RSP] + len(raw.stack)
        self.addresses, self.end = walker.walk(raw, memory, MAX_STACK)
        self.places = [self.place(memory, address) for address in self.addresses]
        self.is_call = [False] + [not walker.is_signal_frame(*place) for place in self.places]
        self.is_described = [walker.object_of(path) is not None for path, _ in self.places]
        self.base, self.was_restored = walker.last_stack_pointer, walker.was_restored

    def place(self, memory, address):
        """Path and offset. The kernel's object is mapped where no file says: it stays as it is."""
        mapping = memory.find(self.pid, address)
        if not mapping:
            return None, address
        return mapping.path, address - mapping.start + mapping.offset


class Recording:
    """All samples, and whether their stacks were kept up to the thread's first frame."""

    def __init__(self, path):
        self.walker = WALKER
        data = path.read_bytes()
        self.samples = [Sample(self.walker, raw, memory) for raw, memory in userstack.samples(data)]
        bases = collections.defaultdict(collections.Counter)
        for sample in self.samples:
            if sample.end == "whole":
                bases[sample.raw.tid][sample.base] += 1
        # Before and after exec, a thread has different ones.
        self.bases = {tid: counts for tid, counts in bases.items()}
        # Dumps that are shorter than they could be end where the thread's stack does, most of them.
        self.tops = collections.defaultdict(int)
        # Where tables have led beyond the end of one, there is more than the kernel found.
        self.gaps = set()
        for sample in self.samples:
            if not sample.raw.is_cut:
                self.tops[sample.raw.tid] = max(self.tops[sample.raw.tid], sample.dump_end)
                if sample.end == callframes.TRUNCATED:
                    self.gaps.add((sample.raw.tid, sample.dump_end))

    def is_cut(self, sample):
        """Whether what was kept has none of the thread's first frames in it: there was more than
        fits, a signal handler has a stack of its own, or the kernel came to a page that was not
        there, as those of large variables that nobody has written to.
        """
        if sample.end in ("whole", callframes.TRUNCATED):
            return sample.end != "whole"
        if not sample.raw.is_cut and (sample.dump_end < self.tops[sample.raw.tid]
                                      or (sample.raw.tid, sample.dump_end) in self.gaps):
            return True
        start = sample.raw.registers[userstack.RSP]
        bases = self.bases.get(sample.raw.tid)
        return bool(bases) and not any(0 <= base - start <= len(sample.raw.stack) for base in bases)

    def is_whole(self, frames):
        """Whether the outermost frame is a thread's first: its caller is undefined, or it is where
        the kernel enters a program.
        """
        if not frames:
            return False
        last = frames[-1]
        step = self.walker.step_at(last.path, last.address - (len(frames) > 1))
        if step:
            return step.rules.get(step.return_register) == ("undefined",)
        found = self.walker.object_of(last.path)
        return bool(found) and 0 <= last.address - found.entry_offset < ENTRY_BYTES


def same(sample, frames, is_perf):
    """How many frames, from the leaf on, are those of the slow walk, which ends where no file says
    anything. perf takes one from each return address.
    """
    for index, place in enumerate(sample.places):
        if index == len(frames):
            return index
        # An injected recording has images where V8's builtins lie.
        if not sample.is_described[index] or is_perf and stock.is_image(frames[index].path):
            return len(sample.places)
        back = is_perf and sample.is_call[index]
        # The vdso lies in no file: we tell its addresses as they were.
        if frames[index].address not in (place[1] - back, sample.addresses[index] - back):
            return index
    return len(sample.places)
