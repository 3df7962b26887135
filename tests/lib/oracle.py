#!/usr/bin/env python3
"""Names the samples of a recording the slow and obvious way, to compare polyperf with.

    oracle.py PERF_DATA [--dump FILE]... [--map FILE]...

prints a line for each frame in JIT code: tid, time, depth, address, name. Shares no
code with polyperf and reads only what the captures need: little-endian
recordings with one layout of samples, dumps named jit-PID.dump, maps named
perf-PID.map. tests/captures/README.md says how a frame gets its name.
"""
import argparse
import collections
import pathlib
import re
import shutil
import struct
import subprocess
import sys

SKEW_NS = 20_000_000
CONTEXT_FLOOR = 0xfffffffffffff000  # callchain entries from here on are marks, not addresses
CONTEXT_KERNEL, CONTEXT_USER = 2**64 - 128, 2**64 - 512
USER_END, KERNEL_START = 1 << 47, 0xffff800000000000
KERNEL = -1  # where a process id is wanted

Sample = collections.namedtuple("Sample", "pid tid time frames")
Mapping = collections.namedtuple("Mapping", "pid time start end path")
Fork = collections.namedtuple("Fork", "pid time parent")
# `index` and `code` are known of a jitdump's loads alone.
Code = collections.namedtuple("Code", "time start end name index code", defaults=(None, b""))
Line = collections.namedtuple("Line", "offset line column file")  # from this offset on


# --- perf.data ---

RECORD_MMAP, RECORD_FORK, RECORD_SAMPLE, RECORD_MMAP2, RECORD_HEADER_ATTR = 1, 7, 9, 10, 64
RECORD_KSYMBOL, RECORD_COMPRESSED, RECORD_COMPRESSED2 = 17, 81, 83
MISC_MMAP_DATA = 1 << 13
IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD, STREAM, IDENTIFIER = (
    1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 65536)


def sample_type_of_attr(attr):
    return struct.unpack_from("<Q", attr, 24)[0]


def addresses_of(chain):
    """Without the marks of kernel and user part, and without what wrong frame pointers led to."""
    addresses = []
    for word in chain:
        if word >= CONTEXT_FLOOR and word not in (CONTEXT_KERNEL, CONTEXT_USER):
            break
        if word < USER_END or KERNEL_START <= word < CONTEXT_FLOOR:
            addresses.append(word)
    return addresses


def stock_addresses_of(chain):
    """As stock perf walks it: with what is no address, but nothing at all if a mark is unknown."""
    if any(word >= CONTEXT_FLOOR and word not in (CONTEXT_KERNEL, CONTEXT_USER) for word in chain):
        return []
    return [word for word in chain if word < CONTEXT_FLOOR]


def read_sample(body, sample_type, walk=addresses_of):
    at = 8 if sample_type & IDENTIFIER else 0
    ip = pid = tid = time = 0
    if sample_type & IP:
        ip, at = struct.unpack_from("<Q", body, at)[0], at + 8
    if sample_type & TID:
        (pid, tid), at = struct.unpack_from("<II", body, at), at + 8
    if sample_type & TIME:
        time, at = struct.unpack_from("<Q", body, at)[0], at + 8
    at += 8 * sum(bool(sample_type & bit) for bit in (ADDR, ID, STREAM, CPU, PERIOD))
    frames = [ip]
    if sample_type & CALLCHAIN and not sample_type & READ:
        count = struct.unpack_from("<Q", body, at)[0]
        chain = struct.unpack_from(f"<{count}Q", body, at + 8)
        frames = walk(chain) or [ip]
    return Sample(pid, tid, time, frames)


def read_time(body, sample_type):
    """From the trailer that every record of the kernel has; 0 where the recorder made it up."""
    size = 8 * sum(bool(sample_type & bit) for bit in (TID, TIME, ID, STREAM, CPU, IDENTIFIER))
    at = len(body) - size + (8 if sample_type & TID else 0)
    return struct.unpack_from("<Q", body, at)[0] if sample_type & TIME else 0


def read_mapping(body, time, path_at):
    pid, _, start, size = struct.unpack_from("<IIQQ", body)
    path = body[path_at:].split(b"\0")[0].decode(errors="surrogateescape")
    return Mapping(pid, time, start, start + size, path)


def split_records(data):
    """(type, misc, body) of each record."""
    records, at = [], 0
    while at + 8 <= len(data):
        kind, misc, size = struct.unpack_from("<IHH", data, at)
        if size < 8 or at + size > len(data):
            break
        records.append((kind, misc, data[at + 8:at + size]))
        at += size
    return records


def unpack_compressed(chunks):
    if not shutil.which("zstd"):
        print("skipped: zstd is not installed")
        sys.exit(77)
    done = subprocess.run(["zstd", "-dcq"], input=b"".join(chunks), capture_output=True)
    return done.stdout


def read_records(data):
    """All records of the file, unpacked, and the sample type of its events."""
    if data[:8] != b"PERFILE2":
        sys.exit("oracle: not a perf.data file")
    header_size = struct.unpack_from("<Q", data, 8)[0]
    sample_type = 0
    if header_size > 16:
        attr_size, attrs_at, attrs_size, data_at, data_size = struct.unpack_from("<5Q", data, 16)
        types = {sample_type_of_attr(data[at:at + attr_size])
                 for at in range(attrs_at, attrs_at + attrs_size, attr_size)}
        assert len(types) == 1, "events of different layouts"
        sample_type = types.pop()
        data = data[data_at:data_at + data_size]
    else:
        data = data[header_size:]

    records, chunks = split_records(data), []
    for kind, _, body in records:
        if kind == RECORD_HEADER_ATTR:
            sample_type = sample_type_of_attr(body)
        elif kind == RECORD_COMPRESSED:
            chunks.append(body)
        elif kind == RECORD_COMPRESSED2:
            size = struct.unpack_from("<Q", body)[0]
            chunks.append(body[8:8 + size])
    if chunks:
        records += split_records(unpack_compressed(chunks))
    return records, sample_type


def read_recording(data):
    """All samples, in the order of the file."""
    records, sample_type = read_records(data)
    return [read_sample(body, sample_type) for kind, _, body in records if kind == RECORD_SAMPLE]


def read_pids(data):
    """Of the processes that have samples."""
    records, sample_type = read_records(data)
    at = 8 * (bool(sample_type & IDENTIFIER) + bool(sample_type & IP))
    return {struct.unpack_from("<I", body, at)[0] for kind, _, body in records if kind == RECORD_SAMPLE}


def read_events(data, walk=addresses_of):
    """Samples, forks and executable mappings in the order of time."""
    records, sample_type = read_records(data)
    events = []
    for kind, misc, body in records:
        if kind == RECORD_SAMPLE:
            events.append(read_sample(body, sample_type, walk))
        elif kind == RECORD_FORK:
            pid, parent = struct.unpack_from("<II", body)
            events.append(Fork(pid, struct.unpack_from("<Q", body, 16)[0], parent))
        elif kind in (RECORD_MMAP, RECORD_MMAP2) and not misc & MISC_MMAP_DATA:
            path_at = 32 if kind == RECORD_MMAP else 64
            events.append(read_mapping(body, read_time(body, sample_type), path_at))
    return sorted(events, key=lambda event: event.time)


ANONYMOUS = re.compile(r"//anon|\[anon|/memfd:|\[heap\]|/dev/zero|/SYSV")


def read_kernel_code(data):
    """BPF programs, as the kernel itself announces them."""
    records, sample_type = read_records(data)
    loads = []
    for kind, _, body in records:
        if kind == RECORD_KSYMBOL:
            start, size, _, flags = struct.unpack_from("<QIHH", body)
            assert not flags & 1, "no capture unloads a program"
            name = body[16:].split(b"\0")[0].decode()
            loads.append(Code(read_time(body, sample_type), start, start + size, name))
    return Process(sorted(loads, key=lambda load: load.time), [])


class Memory:
    """What was mapped executable where, as far as the events taken so far tell."""

    def __init__(self):
        self.mappings = collections.defaultdict(list)
        self.found = collections.defaultdict(dict)  # since the last mapping of the process

    def take(self, event):
        if isinstance(event, Mapping):
            self.mappings[event.pid].append(event)
            self.found[event.pid].clear()
        elif isinstance(event, Fork) and event.pid != event.parent:
            self.mappings[event.pid] = list(self.mappings[event.parent])
            self.found[event.pid].clear()

    def mapping_at(self, pid, address):
        found = self.found[pid]
        if address not in found:
            found[address] = next((mapping for mapping in reversed(self.mappings[pid])
                                   if mapping.start <= address < mapping.end), None)
        return found[address]

    def path_at(self, pid, address):
        mapping = self.mapping_at(pid, address)
        return mapping.path if mapping else None

    def in_file(self, pid, address):
        path = self.path_at(pid, address)
        return path is not None and not ANONYMOUS.match(path)


def samples_in_anonymous_code(data):
    """Samples whose leaf lies in executable memory that no file stands behind: JIT code."""
    memory, found = Memory(), []
    for event in read_events(data):
        memory.take(event)
        if isinstance(event, Sample):
            path = memory.path_at(event.pid, event.frames[0])
            if path is not None and ANONYMOUS.match(path):
                found.append(event)
    return found


# --- what the runtime says ---

def jitdump_records(data):
    """(kind, time, body) of each. A record that cannot be right ends the file."""
    assert data[:4] == b"DTiJ", "not a little-endian jitdump"
    at = struct.unpack_from("<I", data, 8)[0]
    while at + 16 <= len(data):
        kind, size, time = struct.unpack_from("<IIQ", data, at)
        if size < 16 or at + size > len(data):
            break
        yield kind, time, data[at + 16:at + size]
        at += size


def part_of_jitdump(data, indices):
    """The dump without the loads of other code indices, and without what belongs to those alone:
    the records from the load before to theirs.
    """
    at = struct.unpack_from("<I", data, 8)[0]
    kept, pending = [data[:at]], []
    for kind, time, body in jitdump_records(data):
        pending.append(struct.pack("<IIQ", kind, len(body) + 16, time) + body)
        if kind == 0:
            kept += pending if read_load(time, body).index in indices else []
            pending = []
    return b"".join(kept + pending)


def read_load(time, body):
    start, length, index = struct.unpack_from("<QQQ", body, 16)
    end_of_name = body.index(b"\0", 40)
    name = body[40:end_of_name].decode(errors="surrogateescape")
    return Code(time, start, start + length, name, index, body[end_of_name + 1:][:length])


def read_jitdump(data):
    """Loads in the order of time."""
    loads = []
    for kind, time, body in jitdump_records(data):
        assert kind != 1, "no capture has moved code"
        if kind == 0:
            loads.append(read_load(time, body))
    return sorted(loads, key=lambda load: load.time)


ELF_HEADER_SIZE = 0x40  # V8 and LLVM add it to the address of each line


def is_biased(data):
    """V8 fills the header's padding, LLVM knows no virtual address."""
    return struct.unpack_from("<I", data, 16)[0] == 0xdeadbeef or any(
        body[8:16] == bytes(8) for kind, _, body in jitdump_records(data) if kind == 0)


def read_lines(data):
    """(load, its lines) for each load with DEBUG_INFO before it."""
    pending, found = {}, []
    for kind, time, body in jitdump_records(data):
        if kind == 2:
            start, count = struct.unpack_from("<QQ", body)
            pending[start] = read_debug_entries(body[16:], start, count)
        elif kind == 0:
            load = read_load(time, body)
            if pending.get(load.start):
                found.append((load, pending.pop(load.start)))
    biased = is_biased(data)
    return [(load, put_right(load, lines, biased)) for load, lines in found]


def read_debug_entries(body, start, count):
    """All names of a V8 record are alike, which helps where they were overwritten, NULs and all."""
    if count == 0:
        return []
    stride = len(body.rstrip(b"\0")) // count + 1
    even = all(body[(k + 1) * stride - 1:(k + 1) * stride] == b"\0" for k in range(count))
    alike = even and len({body[k * stride + 16:(k + 1) * stride] for k in range(count)}) == 1
    lines, at = [], 0
    for _ in range(count):
        address, line, column = struct.unpack_from("<Qii", body, at)
        end = at + stride - 1 if alike else body.index(b"\0", at + 16)
        lines.append(Line(address - start, line, column, body[at + 16:end]))
        at = end + 1
    return lines


def is_damaged(file):
    """Whether other bytes were written over the name, by chance never text."""
    return not file.isascii() or any(byte < 32 for byte in file)


def damaged_lines(data):
    """Starts of the code of whose lines the file's name was overwritten."""
    return {struct.unpack_from("<Q", body)[0] for kind, _, body in jitdump_records(data)
            if kind == 2 and any(is_damaged(entry.file) for entry in read_debug_entries(
                body[16:], *struct.unpack_from("<QQ", body)))}


def put_right(load, lines, biased):
    """Without the 0x40, and with what the load's name says of an overwritten file name."""
    repaired = []
    for offset, line, column, file in lines:
        if is_damaged(file):
            symbol = re.sub(r":\d+:\d+$", "", load.name).encode(errors="surrogateescape")
            assert symbol.endswith(file[16:]) and len(file) > 16, f"{load.name}: {file}"
            file = symbol[-len(file):]
        offset -= ELF_HEADER_SIZE if biased else 0
        repaired.append(Line(max(offset, 0), line, column, file.decode(errors="surrogateescape")))
    return sorted(repaired, key=lambda entry: entry.offset)


def line_at(lines, offset):
    """The last line that begins at or before the offset; None if none does."""
    before = [entry for entry in lines if entry.offset <= offset]
    return before[-1] if before else None


def read_map(data):
    """Entries in the order of the file, which has no times."""
    entries = []
    for line in data.split(b"\n"):
        found = re.match(rb"\s*(?:0[xX])?([0-9a-fA-F]+)\s+(?:0[xX])?([0-9a-fA-F]+)\s(.*)$",
                         line.rstrip(b"\r"), re.DOTALL)
        if found:
            start, length = int(found[1], 16), int(found[2], 16)
            entries.append(Code(0, start, start + length,
                                found[3].decode(errors="surrogateescape")))
    return entries


class ByPage:
    """Finds all code that covers an address, in the order given, without walking all of it."""

    def __init__(self, codes):
        self.pages = collections.defaultdict(list)
        self.found_at, self.found_in = {}, {}  # what was asked for before
        for code in codes:
            for page in range(code.start >> 12, (max(code.end - 1, code.start) >> 12) + 1):
                self.pages[page].append(code)

    def at(self, address):
        if address not in self.found_at:
            self.found_at[address] = [code for code in self.pages.get(address >> 12, ())
                                      if code.start <= address < code.end]
        return self.found_at[address]

    def overlapping(self, start, end):
        if (start, end) not in self.found_in:
            found = []
            for page in range(start >> 12, (end - 1 >> 12) + 1):
                found += [c for c in self.pages.get(page, ()) if c.start < end and start < c.end]
            self.found_in[start, end] = found
        return self.found_in[start, end]


class Process:
    def __init__(self, loads, entries):
        self.loads = ByPage(loads)
        self.entries = ByPage(entries)
        self.all_names = {code.name for code in [*loads, *entries]}

    def find_load(self, address, time):
        """The newest load by then that nothing replaced; else one that comes soon, or is first."""
        covering = self.loads.at(address)
        for load in reversed(covering):
            if load.time <= time:
                later = [other for other in self.loads.overlapping(load.start, load.end)
                         if load.time < other.time <= time]
                return None if later else load
        if covering and covering[0].time - time <= SKEW_NS:
            return covering[0]
        # Nobody owned the address before, so whoever comes first is taken to be there already.
        return covering[0] if covering else None

    def names_ever(self, address):
        """Of all code that was here at some time."""
        return {code.name for code in [*self.loads.at(address), *self.entries.at(address)]}

    def name(self, address, time):
        return self.name_and_trust(address, time)[0]

    def name_and_trust(self, address, time):
        """The name, and how sure it is in the words of src/timeline/timeline.h."""
        load = self.find_load(address, time)
        if load:
            return load.name, "exact" if load.time <= time else "early"
        names = [entry.name for entry in self.entries.at(address)]
        if names:
            return names[-1], "untimed" if len(set(names)) == 1 else "ambiguous"
        return None, "unknown"


def pid_of(path, pattern):
    found = re.search(pattern, pathlib.Path(path).name)
    if not found:
        sys.exit(f"oracle: no process id in the name of {path}")
    return int(found[1])


def read_processes(recording, dumps, maps):
    """By process id; `recording` is content, dumps and maps are pairs of path and content."""
    loads, entries = collections.defaultdict(list), collections.defaultdict(list)
    for path, content in dumps:
        loads[pid_of(path, r"jit-(\d+)\.dump")] += read_jitdump(content)
    for path, content in maps:
        entries[pid_of(path, r"perf-(\d+)\.map")] += read_map(content)
    processes = {pid: Process(loads[pid], entries[pid]) for pid in {*loads, *entries}}
    processes[KERNEL] = read_kernel_code(recording)
    return processes


def name_samples(samples, processes):
    """(sample, [(depth, address, name)]) for each sample with a frame in JIT code.

    A caller's address is where it goes on after the call, so the byte before it decides.
    """
    for sample in samples:
        named = []
        for depth, address in enumerate(sample.frames):
            process = processes.get(KERNEL if address >= KERNEL_START else sample.pid)
            name = process.name(address - (depth > 0), sample.time) if process else None
            if name is not None:
                named.append((depth, address, name))
        if named:
            yield sample, named


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recording", type=pathlib.Path)
    parser.add_argument("--dump", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--map", type=pathlib.Path, action="append", default=[])
    given = parser.parse_args()
    recording = given.recording.read_bytes()
    processes = read_processes(recording, [(path, path.read_bytes()) for path in given.dump],
                               [(path, path.read_bytes()) for path in given.map])
    sys.stdout.reconfigure(errors="surrogateescape")
    for sample, named in name_samples(read_recording(recording), processes):
        for depth, address, name in named:
            print(sample.tid, sample.time, depth, f"{address:x}", name)


if __name__ == "__main__":
    main()
