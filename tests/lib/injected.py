"""Holds an injected recording against perf's own injection, against polyperf script, and both
against the oracle where they differ.
"""
import collections
import functools
import os
import re

import elf
import oracle
import polyperf
import stock

NOBODY = oracle.Process([], [])
FLOOR = 100  # frames in JIT code, so that a comparison of nothing does not pass


JAVA_TYPES = {"B": "byte", "C": "char", "D": "double", "F": "float", "I": "int", "J": "long",
              "S": "short", "V": "void", "Z": "boolean"}
JAVA_NAME = re.compile(r"L([^;()]+);([^();]+)\(((?:\[*(?:[BCDFIJSVZ]|L[^;]+;))*)\)"
                       r"\[*(?:[BCDFIJSVZ]|L[^;]+;)$")


@functools.cache
def shown(name):
    """As perf shows it: it translates what the Java virtual machine calls a method, in whatever
    file it is. Without brackets, which it puts behind the wrong argument.
    """
    found = JAVA_NAME.match(name)
    if found:
        types = re.findall(r"[BCDFIJSVZ]|L[^;]+;", found[3])
        words = [JAVA_TYPES.get(one) or one[1:-1].replace("/", ".") for one in types]
        point = "" if found[2].startswith("<") else "."  # java.lang.Object<init>()
        name = f"{found[1].replace('/', '.')}{point}{found[2]}({', '.join(words)})"
    return name.strip().replace("[]", "")


class Truth:
    """Addresses of each sample's frames, and what the oracle says of them."""

    def __init__(self, recording, dumps, maps):
        content = recording.read_bytes()
        pairs = [[(path, path.read_bytes()) for path in paths] for paths in (dumps, maps)]
        self.processes = oracle.read_processes(content, *pairs)
        # perf names a file a load by its index in one process.
        self.reused_indices = collections.Counter()
        for path, dump in pairs[0]:
            pid = oracle.pid_of(path, r"jit-(\d+)\.dump")
            self.reused_indices.update((pid, load.index) for load in oracle.read_jitdump(dump))
        self.samples = collections.defaultdict(list)
        memory = oracle.Memory()
        for event in oracle.read_events(content, oracle.stock_addresses_of):
            memory.take(event)
            if isinstance(event, oracle.Sample):
                mapped = [memory.mapping_at(event.pid, address) for address in event.frames]
                self.samples[event.tid, event.time].append((event, mapped))

    def process(self, pid):
        return self.processes.get(pid, NOBODY)

    def sampled_indices(self, pid):
        """Code indices of all loads that some time had the address of a frame, or the byte before it."""
        loads = self.process(pid).loads
        addresses = {address - back for samples in self.samples.values() for sample, _ in samples
                     if sample.pid == pid for address in sample.frames for back in (0, 1)}
        return {load.index for address in addresses for load in loads.at(address)}

    def owner(self, sample, address):
        """The name, the offset and the trust that the address had at the sample's time."""
        process = self.process(sample.pid)
        name, trust = process.name_and_trust(address, sample.time)
        if name is None:
            return None, None, trust
        load = process.find_load(address, sample.time)
        start = load.start if load else process.entries.at(address)[-1].start
        return shown(name), address - start, trust


def unit_of(sample):
    return sample.tid, sample.time, sample.event


def paired(left, right, faults):
    """Samples of both that are the same one, in the order of the first."""
    waiting = collections.defaultdict(list)
    for sample in right:
        waiting[unit_of(sample)].append(sample)
    for sample in left:
        same = waiting[unit_of(sample)]
        if same:
            yield sample, same.pop(0)
        else:
            faults["a sample is missing"] += 1
    faults["a sample too many"] += sum(map(len, waiting.values()))


def overlaps(process, address):
    """Whether lines of the map that cover the address, or overlap those, contend."""
    entries = process.entries.at(address)
    return any(len(process.entries.overlapping(one.start, one.end)) > 1 for one in entries)


def is_file(mapping):
    """Whether perf looks for symbols in a file there, and so neither in a map nor in a dump."""
    return mapping is not None and not re.match(r"//anon|\[anon|\[heap\]|/dev/zero", mapping.path)


def why_stock_is_wrong(truth, sample, address, mapping, theirs):
    """For a frame that we name as the oracle does, and perf does not."""
    process = truth.process(sample.pid)
    load = process.find_load(address, sample.time)
    if load and truth.reused_indices[sample.pid, load.index] > 1:
        return "the code index is there twice"
    if load and load.time > sample.time:
        return "before its load"
    if shown(theirs.name) in {shown(name) for name in process.names_ever(address)}:
        return "an owner at another time" if load else "lines of the map overlap"
    if not load and is_file(mapping) and theirs.offset is None:
        return "the map's code is in a mapped file"
    if not load and overlaps(process, address):
        return "lines of the map overlap"
    return None


def is_behind_end(truth, sample, address):
    """Whether what is at a return address is not what called: a call ends that, or it is nobody's."""
    owner, before = truth.owner(sample, address), truth.owner(sample, address - 1)
    return owner[:2] != (before[0], None if before[1] is None else before[1] + 1)


def judge(truth, sample, depth, mapping, frames):
    """Which of both is right, by the oracle, and why the other is not."""
    theirs, ours = frames
    address = sample.frames[depth]
    # perf takes the address itself: what follows called nobody.
    if depth > 0 and ours.name == stock.UNKNOWN and is_behind_end(truth, sample, address):
        return "not the code that called"
    name, offset, _ = truth.owner(sample, address)
    if (shown(ours.name), ours.offset) == (name, offset):
        return why_stock_is_wrong(truth, sample, address, mapping, theirs)
    process = truth.process(sample.pid)
    if name is None and ours.name == stock.UNKNOWN:
        dead = {shown(name) for name in process.names_ever(address)}
        return "the code was overwritten" if shown(theirs.name) in dead else None
    # The symbol of a mapped file may stand where only the map, which has no times, has one; or
    # where a dump's code begins at a return address: the byte before is the file's.
    if (process.find_load(address - (depth > 0), sample.time) is None and is_file(mapping)
            and not stock.is_image(ours.dso) and ours.offset is not None):
        return "a symbol of the file"
    return None


def same(theirs, ours):
    return (shown(theirs.name), theirs.offset) == (shown(ours.name), ours.offset)


def compare_with_stock(theirs, ours, truth, leaf_only=False):
    """Returns counts: of equal frames, of differences by what explains them, and the faults."""
    faults, explained, equal = collections.Counter(), collections.Counter(), 0
    cursor = collections.Counter()
    for their_sample, our_sample in paired(theirs, ours, faults):
        key = their_sample.tid, their_sample.time
        known = truth.samples.get(key, [])
        event, mapped = known[min(cursor[key], len(known) - 1)] if known else (None, [])
        cursor[key] += 1
        if len(their_sample.frames) != len(our_sample.frames):
            faults[f"{len(our_sample.frames)} frames, perf has {len(their_sample.frames)}"] += 1
            continue
        for depth, frames in enumerate(zip(their_sample.frames, our_sample.frames)):
            if same(*frames):
                equal += 1
                continue
            reason = None
            if event and depth < len(event.frames):
                reason = judge(truth, event, depth, mapped[depth], frames)
            if reason:
                explained[reason] += 1
            else:
                faults[f"{'caller' if depth else 'leaf'}: {show(frames[1])}, "
                       f"perf has {show(frames[0])}"] += 1
    return equal, explained, +faults


def show(frame):
    offset = "" if frame.offset is None else f"+{frame.offset:#x}"
    return f"{frame.name}{offset} ({frame.dso.rpartition('/')[2]})"


def sizes_of(target):
    """The sizes of the functions in the images of an injected recording, by name."""
    sizes = collections.defaultdict(set)
    for path in images(target):
        for symbol in elf.Image(path.read_bytes()).functions():
            sizes[symbol.name.strip()].add(symbol.size)
    return sizes


def is_at_end(seen, wanted, depth, sizes):
    """Whether code ends with a call: perf looks at the return address, not at the call."""
    if depth == 0:
        return False
    if stock.is_code(wanted.dso) and wanted.offset is not None:
        return wanted.offset in sizes[wanted.name]
    return stock.is_image(seen.dso) and seen.offset == 0


def compare_with_own(stock_samples, own_samples, sizes):
    """perf on what we injected against `polyperf script` on the input: JIT names alone."""
    faults, at_end, equal = collections.Counter(), 0, 0
    for seen, wanted in paired(stock_samples, own_samples, faults):
        if not seen.frames:  # an unknown mark in the chain: perf shows none of it
            continue
        if len(seen.frames) != len(wanted.frames):
            faults[f"perf shows {len(seen.frames)} frames, polyperf {len(wanted.frames)}"] += 1
            continue
        for depth, (one, other) in enumerate(zip(seen.frames, wanted.frames)):
            in_code = stock.is_code(other.dso) and other.name != stock.UNKNOWN
            if not in_code and not stock.is_image(one.dso):
                continue
            # A method that was compiled ahead polyperf finds in its assembly, which perf does not read.
            if stock.is_image(one.dso) and same(one, other):
                equal += 1
            elif other.trust == "stale" and one.name == stock.UNKNOWN:
                continue  # the code was overwritten: no name is as good as its old one
            elif is_at_end(one, other, depth, sizes):
                at_end += 1
            else:
                faults[f"{'caller' if depth else 'leaf'}: perf shows {show(one)}, "
                       f"polyperf {show(other)}"] += 1
    return equal, at_end, +faults


def environment(folder):
    """Where nothing leads out of the folder."""
    return {**os.environ, "HOME": str(folder), "PERF_CONFIG": "/dev/null", "DEBUGINFOD_URLS": ""}


def inject(program, recording, target, *options):
    polyperf.run(program, "inject", "-i", recording, "-o", target, *options,
                 env=environment(target.parent))
    return target


def images(target):
    """The ELF files that lie beside an injected recording."""
    return sorted(target.with_name(target.name + ".d").glob("*/*.so"))


def own_script(program, recording, *options):
    # perf, too, is asked for functions as they are in memory.
    fields = ("--ns", "--raw-names", "--no-inline", "-F", stock.FIELDS + ",trust")
    return stock.read_script(polyperf.run(program, "script", "-i", recording, *fields,
                                          *options).stdout)
